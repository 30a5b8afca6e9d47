"""The live view of a run: one widget that says what changed and takes what a person presses.

The cell calls `touch` for each event and `flush` some twenty times a second, both on its loop. What
a page sends may arrive in another thread: it is only handed on, to `on_verb` or to the next
`flush`, and nothing here prints or displays.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import cast

from pydantic import JsonValue

from arc_workbench.content import JsonObject
from arc_workbench.events import PermissionRequested
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.changes import Changes, put
from arc_workbench.frontends.notebook.codes import Codes, Verb
from arc_workbench.frontends.notebook.elements import ROOT_CLASS, Element, el, to_html, to_json
from arc_workbench.views import Touched, TurnView

REDRAW_SEC = 0.25
TEXT_SEC = 0.06
"""Between two messages that only append text; most of such a message is its envelope."""
MOST_WAITING = 16
MOST_LOADS = 2
MIME = "application/vnd.jupyter.widget-view+json"

RUNNING = "Running. What it comes to takes this place when it is over."
FOOT = "Live view. Save the notebook before you reload this page: only then it is found again."
RELOADED = (
    "This page was loaded while the run went on. What follows is drawn here but not kept in the "
    "notebook. See all: "
)
TOO_LATE = "Already answered in another window."

# The page load, and the place in it: an output may be shown twice, and is made anew when moved.
_PLACE = re.compile(r"([a-z0-9]{1,16})-[a-z0-9]{1,16}")


class Live:
    """Draws `view` while it is folded; hands what a person decides to `on_verb`.

    `on_verb` may be called from any thread, once per prompt and once for Stop; it must return at
    once.
    """

    def __init__(self, view: TurnView, on_verb: Callable[[Verb], None]) -> None:
        # Here, because loading the extension must not import ipywidgets.
        from arc_workbench.frontends.notebook.widget import RunWidget

        self._view = view
        self._on_verb = on_verb
        self._codes = Codes()
        self._changes = Changes(view)
        self._waiting: deque[str] = deque(maxlen=MOST_WAITING)
        self._late: deque[str] = deque(maxlen=MOST_WAITING)
        self._loads: set[str] = set()
        self._announced: dict[str, str] = {}
        self._stopped = False
        self._closed = False
        self._drawn_at = self._text_due = float("-inf")
        self._widget = RunWidget(self._hear, self._codes.drop)

    @property
    def arrived(self) -> bool:
        """Whether a page has drawn the view; true for good once it did."""
        return bool(self._loads)

    @property
    def dropped(self) -> int:
        """How many messages of pages were not taken."""
        return self._codes.dropped

    @property
    def _was_reloaded(self) -> bool:
        return len(self._loads) > 1

    def bundle(self) -> dict[str, object]:
        """What to display: the widget, and what a reader without it sees instead."""
        note = el("div", ROOT_CLASS, el("p", "aw-note", RUNNING))
        view = {"version_major": 2, "version_minor": 1, "model_id": self._widget.model_id}
        return {MIME: view, "text/html": to_html(note), "text/plain": RUNNING}

    def touch(self, touched: Touched) -> None:
        """Take note of what an event changed."""
        self._changes.note(touched)

    def flush(self) -> None:
        """Send what changed since the last time: to each page at most one message."""
        if self._closed or not self._loads:
            return
        now = time.monotonic()
        waits = self._changes.only_text and now < self._text_due
        changes = [] if waits else self._changes.take(now)
        if changes:
            self._text_due = max(self._text_due + TEXT_SEC, now)
        clock = [] if all(op["op"] == "append" for op in changes) else [self._clock()]
        operations = [*self._new_codes(), *clock, *changes, *self._too_late()]
        if operations:
            self._send(operations)
        if self._waiting and now - self._drawn_at >= REDRAW_SEC:
            self._drawn_at = now
            self._draw_for(self._waiting.popleft())

    def close(self) -> None:
        """The run is over, and the cell has put the final output in the widget's place.

        A page that was loaded meanwhile cannot be reached by that, so there the view stays, dead.
        """
        if self._closed:
            return
        self._closed = True
        self._codes.keep(())
        if not self._was_reloaded:
            self._widget.close()
            return
        self._send([self._clock(), *self._changes.take(float("inf")), {"op": "end"}])
        while self._waiting:
            self._draw_for(self._waiting.popleft())

    # ---- what is sent -----------------------------------------------------------------------

    def _send(self, operations: Iterable[JsonObject], page: str | None = None) -> None:
        message: JsonObject = {"ops": [*operations]}
        if page is not None:
            message["page"] = page
        self._widget.tell(message)

    def _draw_for(self, page: str) -> None:
        """The whole view for one page; the others have it."""
        self._announced = self._codes.keep(self._asked())
        tree = to_json(el("div", "", render.turn(self._view), self._foot(), key="all"))
        codes = [_code(prompt, code) for prompt, code in self._announced.items()]
        ends: list[JsonObject] = [{"op": "end"}] if self._closed else []
        self._send([{"op": "all", "tree": tree}, self._clock(), *codes, *ends], page)
        if self._was_reloaded:
            self._send([put(self._foot())])

    def _foot(self) -> Element:
        where = el("code", "", f"%agent transcript t{self._view.number}")
        words = [RELOADED, where] if self._was_reloaded else [FOOT]
        return el("div", ROOT_CLASS, el("p", "aw-foot", *words), key="foot")

    def _clock(self) -> JsonObject:
        runs = self._view.started_at and not self._view.ended_at
        elapsed: JsonValue = max(0.0, time.time() - self._view.started_at) if runs else None
        return {"op": "clock", "elapsed": elapsed}

    def _asked(self) -> list[PermissionRequested]:
        return [call.question for call in self._view.asking if call.question is not None]

    def _new_codes(self) -> list[JsonObject]:
        """The codes of prompts that have only just opened; closed prompts lose theirs."""
        codes = self._codes.keep(self._asked())
        new = [
            _code(prompt, code) for prompt, code in codes.items() if prompt not in self._announced
        ]
        self._announced = codes
        return new

    def _too_late(self) -> list[JsonObject]:
        operations: list[JsonObject] = []
        while self._late:
            prompt = self._late.popleft()
            operations.append({"op": "answered", "prompt": prompt, "text": TOO_LATE})
        return operations

    # ---- what is heard, in any thread -------------------------------------------------------

    def _hear(self, content: object) -> None:
        match content:
            case {"do": "ready", "page": str() as page} if _PLACE.fullmatch(page):
                self._arrive(page)
            case {"do": "stop"} if not self._stopped and not self._closed:
                self._stopped = True
                self._on_verb(Verb("stop"))
            case {"prompt": str() as prompt} if not self._closed:
                self._answer(prompt, cast("JsonObject", content))
            case _:
                self._codes.drop()

    def _arrive(self, page: str) -> None:
        if page in self._waiting or len(self._waiting) == MOST_WAITING:
            self._codes.drop()
            return
        if len(self._loads) < MOST_LOADS:
            self._loads.add(page.partition("-")[0])
        if self._closed:
            self._draw_for(page)
        else:
            self._waiting.append(page)

    def _answer(self, prompt: str, content: JsonObject) -> None:
        verb = self._codes.accept(content)
        if verb is None:
            if self._codes.was_answered(prompt):
                self._late.append(prompt)
            return
        self._on_verb(verb)


def _code(prompt: str, code: str) -> JsonObject:
    return {"op": "code", "prompt": prompt, "code": code}
