"""How a running turn is shown and asked about: with buttons, in words, or by policy."""

# pyright: basic

import asyncio
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol
from uuid import uuid4

from arc_workbench.agent.session import Session
from arc_workbench.events import Event, PermissionRequested
from arc_workbench.frontends import plain
from arc_workbench.frontends.notebook import clients
from arc_workbench.frontends.notebook.clients import Client
from arc_workbench.frontends.notebook.codes import Verb
from arc_workbench.frontends.notebook.live import Live
from arc_workbench.frontends.notebook.static import static_bundle
from arc_workbench.frontends.policy import Policing
from arc_workbench.frontends.printing import Printer
from arc_workbench.frontends.tinted import has_colour
from arc_workbench.settings import Settings
from arc_workbench.views import NoteView, fold

NO_BUTTONS = "Buttons do not reach this front end; the question follows as text."
NOBODY = "Nobody can answer; policy {policy} decides. Set outside: ARC_WORKBENCH_POLICY"
REDRAW_SEC = 0.1
MOST_LOOKS = 20


class Show(Protocol):
    """What a cell draws with. `take` is called on the main thread, several times a second."""

    client: Client

    def interruptible(self) -> AbstractContextManager[None]:
        """While this is entered, an interrupt from the keyboard stops the turn."""
        ...

    def say(self, text: str) -> None:
        """A line before the first step."""
        ...

    def aside(self, line: str) -> None:
        """A line about something beside the turn; only a terminal has no other place for it."""
        ...

    def at_once(self, event: Event) -> None:
        """Called with each event where it arises; must only take note, or answer by policy."""
        ...

    def take(self, events: "deque[Event]") -> None:
        """Draw these events, and ask what is to be asked."""
        ...

    def finish(self) -> None:
        """Leave what reopens anywhere: static HTML and plain text."""
        ...


def make_show(
    session: Session, client: Client, settings: Settings, shell: Any, *, awaited: bool
) -> Show:
    """The way of showing that fits who is there."""
    if client == "policy":
        return PolicyShow(session, shell, settings)
    in_kernel = getattr(shell, "kernel", None) is not None
    if client == "buttons":
        try:
            return ButtonShow(session, shell, settings)
        except ImportError:  # the package of widgets is there and broken
            return TypedShow(session, shell, told=True)
    if not in_kernel:
        return TerminalShow(session, shell)
    return TypedShow(session, shell, told=not awaited)


class _Drawing:
    """The view of one turn and the place in the notebook where it is drawn."""

    client: Client = "input"

    def __init__(self, session: Session, shell: Any) -> None:
        self.session = session
        session.cap(on=False)
        self.view = session.blank_view()
        self.questions: deque[PermissionRequested] = deque()
        self._publisher = shell.display_pub
        self._display_id = uuid4().hex
        self._drawn = False

    def interruptible(self) -> AbstractContextManager[None]:
        """A kernel cancels the cell by itself."""
        return nullcontext()

    def say(self, text: str) -> None:
        """Add a line before the first step."""
        self.view.lead.append(NoteView("info", text))

    def aside(self, line: str) -> None:
        """What goes on beside the turn has an output of its own."""

    def at_once(self, event: Event) -> None:
        """Nothing is answered without a person."""

    def fold(self, events: "deque[Event]") -> list[Any]:
        """Take events into the view; what they touched, in order."""
        touched: list[Any] = []
        while events:
            event = events.popleft()
            touched.append(fold(self.view, event))
            if isinstance(event, PermissionRequested):
                self.questions.append(event)
        return touched

    def draw(self, bundle: dict[str, Any]) -> None:
        """Show a bundle in this cell's own place."""
        where = {"display_id": self._display_id}
        self._publisher.publish(data=bundle, transient=where, update=self._drawn)
        self._drawn = True

    def finish(self) -> None:
        """Swap what was live for what reopens anywhere."""
        self.draw(static_bundle(self.view))


class PolicyShow(_Drawing):
    """Nobody is there: the policy answers at once, and the turn is drawn once, at its end."""

    client: Client = "policy"

    def __init__(self, session: Session, shell: Any, settings: Settings) -> None:
        super().__init__(session, shell)
        self._policing = Policing(session, settings.policy)
        self.say(NOBODY.format(policy=settings.policy))

    def at_once(self, event: Event) -> None:
        """Answer where the question arises."""
        self._policing(event)

    def take(self, events: "deque[Event]") -> None:
        """Only take note."""
        self.fold(events)


class TypedShow(_Drawing):
    """Somebody can type: the turn is redrawn ten times a second, questions go through `input`."""

    def __init__(self, session: Session, shell: Any, *, told: bool = False) -> None:
        super().__init__(session, shell)
        self._last = 0.0
        self._stale = False
        if told:
            self.say(NO_BUTTONS)

    def take(self, events: "deque[Event]") -> None:
        """Redraw when something changed, at most every tenth of a second, then ask."""
        changed = bool(events)
        self.fold(events)
        now = time.monotonic()
        self._stale = self._stale or changed
        if self._stale and (self.questions or now - self._last >= REDRAW_SEC):
            self._stale, self._last = False, now
            self.draw(static_bundle(self.view))
        while self.questions:
            question = self.questions.popleft()
            if question.prompt in self.session.open_prompts:
                ask_in_words(self.session, question)


class TerminalShow(_Drawing):
    """A terminal: what happened is printed line by line."""

    def __init__(self, session: Session, shell: Any) -> None:
        super().__init__(session, shell)
        self._printer = Printer(colour=has_colour(os.environ, sys.stdout))

    def take(self, events: "deque[Event]") -> None:
        """Print what is complete, then ask."""
        while events:
            event = events.popleft()
            self.fold(deque([event]))
            self._write(self._printer.after(self.view, event))
        while self.questions:
            with _keyboard_interrupts():
                ask_in_words(self.session, self.questions.popleft())

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Ctrl-C in a terminal would leave the loop in its middle; here it stops the turn."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self.session.cancel)
        except (NotImplementedError, RuntimeError, ValueError):
            yield  # another platform, or not the main thread
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def aside(self, line: str) -> None:
        """Print it on a line of its own."""
        self._write(self._printer.aside(line))

    def finish(self) -> None:
        """Everything is printed already."""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class ButtonShow(TypedShow):
    """Buttons: one live widget while it runs. Where no page answers, it goes on in words."""

    client: Client = "buttons"

    def __init__(self, session: Session, shell: Any, settings: Settings) -> None:
        super().__init__(session, shell)
        self._live: Live | None = Live(self.view, self._pressed)
        self._patience_sec = clients.ready_within(settings.ask)
        self._began = time.monotonic()
        self._looks = 0
        self.draw(self._live.bundle())

    def take(self, events: "deque[Event]") -> None:
        """Send what changed; when no page has answered in time, go on in words."""
        if self._live is None:
            super().take(events)
            return
        for touched in self.fold(events):
            self._live.touch(touched)
        self._live.flush()
        if not self._live.arrived and self._waited_enough():
            self._live.close()
            self._live = None
            self.say(NO_BUTTONS)
            self.draw(static_bundle(self.view))

    def finish(self) -> None:
        """The static drawing takes the widget's place."""
        super().finish()
        if self._live is not None:
            self._live.close()

    def _waited_enough(self) -> bool:
        """By the clock, and by looks: a loop that was blocked may not have heard the page yet."""
        self._looks += 1
        return self._looks > MOST_LOOKS and time.monotonic() - self._began > self._patience_sec

    def _pressed(self, verb: Verb) -> None:
        """From any thread: hand the decision over and do nothing else."""
        if verb.do == "stop":
            self.session.cancel()
            return
        self.session.resolve(
            verb.prompt,
            allow=verb.do == "allow",
            scope=verb.scope,
            reason=verb.reason,
            digest=verb.digest,
        )
        if verb.then_stop:
            self.session.cancel()


@contextmanager
def _keyboard_interrupts() -> Iterator[None]:
    """While somebody types, Ctrl-C raises `KeyboardInterrupt` in `input`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ask_in_words(session: Session, question: PermissionRequested) -> None:
    """Put one question to the person through `input`, on the main thread."""
    answer = clients.typed_answer(plain.question_text(question), question.scopes)
    if answer is None:
        session.resolve(question.prompt, allow=False, by="policy", digest=question.digest)
        return
    session.resolve(
        question.prompt,
        allow=answer.verdict == "allow",
        scope=answer.scope,
        reason=answer.reason,
        digest=question.digest,
    )
