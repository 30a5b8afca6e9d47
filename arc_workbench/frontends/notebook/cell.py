"""A `%%agent` cell: parse, find who can answer, run the turn, keep what it came to."""

# pyright: basic

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from arc_workbench.agent.session import Session
from arc_workbench.errors import ArcError, SettingsError
from arc_workbench.events import Event
from arc_workbench.frontends.notebook import clients
from arc_workbench.frontends.notebook.clients import Client
from arc_workbench.frontends.notebook.desk import Desk, Seat
from arc_workbench.frontends.notebook.rewinding import below_turn
from arc_workbench.frontends.notebook.showing import Show, make_show
from arc_workbench.frontends.options import (
    CELL_OPTIONS,
    IN_A_CELL,
    Parsed,
    parse,
    refuse_words,
    split,
)
from arc_workbench.settings import Settings
from arc_workbench.views import TurnView

T = TypeVar("T")

TICK_SEC = 0.045
EMPTY = "The cell has no task; nothing ran. Write it below the first line."


class AgentError(Exception):
    """What a cell fails with: one line and no traceback, so that Run All stops there."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class AgentStopped(AgentError):
    """The person interrupted the cell."""


@dataclass(frozen=True)
class _Asked:
    """What a cell asked for, before a session is chosen."""

    parsed: Parsed
    prompt: str
    settings: Settings
    client: Client


async def run_awaited(desk: Desk, line: str, body: str) -> None:
    """Run the cell on the kernel's loop; raises `AgentError` where the turn did not complete."""
    try:
        asked = _read(desk, line, body, awaited=True)
        seat = await desk.seat(asked.parsed, asked.client)
        with desk.for_one_turn(seat.session, asked.parsed):
            show = make_show(seat.session, asked.client, asked.settings, desk.shell, awaited=True)
            turn = await _drive(seat, asked.prompt, show)
        if asked.client == "buttons":
            below_turn(desk, seat.session, turn)
    except ArcError as fault:
        raise AgentError(str(fault)) from None
    _keep(desk, asked.parsed, turn)


def run_blocking(desk: Desk, line: str, body: str) -> None:
    """Run the cell while the kernel's loop is blocked (`%%time`, autoawait off).

    The agent works in a thread with a loop of its own; questions are asked here, in words.
    """
    try:
        asked = _read(desk, line, body, awaited=False)
        seat = _in_own_loop(desk.seat(asked.parsed, asked.client))
        with desk.for_one_turn(seat.session, asked.parsed):
            show = make_show(seat.session, asked.client, asked.settings, desk.shell, awaited=False)
            turn = _pump(seat, asked.prompt, show)
    except ArcError as fault:
        raise AgentError(str(fault)) from None
    _keep(desk, asked.parsed, turn)


def _read(desk: Desk, line: str, body: str, *, awaited: bool) -> _Asked:
    parsed = parse(split(line), CELL_OPTIONS, desk.shell.user_ns, IN_A_CELL)
    refuse_words(parsed, CELL_OPTIONS, IN_A_CELL)
    if not body.strip():
        raise SettingsError(EMPTY)
    settings = desk.settings(parsed.options)
    client = clients.who(desk.shell, settings.ask, awaited=awaited)
    if parsed.text("ask") == "policy" and settings.policy == "allow":
        settings = settings.model_copy(update={"policy": "rules"})
    return _Asked(parsed, body.removesuffix("\n"), settings, client)


async def _drive(seat: Seat, prompt: str, show: Show) -> TurnView:
    """Send the prompt and draw what happens until the turn is over."""
    pending: deque[Event] = deque()
    stop = _listen(seat, show, pending.append)
    task = asyncio.create_task(seat.session.send(prompt))
    try:
        with show.interruptible():
            while not task.done():
                await asyncio.wait({task}, timeout=TICK_SEC)
                show.take(pending)
                seat.background.place(show)
        await task
    except (asyncio.CancelledError, KeyboardInterrupt):
        await _interrupted(task)
        raise _stopped(seat.session) from None
    finally:
        await _interrupted(task)
        stop()
        show.take(pending)
        show.finish()
        seat.background.cell_is_over(show)
    return seat.session.turns[-1]


def _pump(seat: Seat, prompt: str, show: Show) -> TurnView:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    stop = _listen(seat, show, events.put)
    faults: list[BaseException] = []
    over = threading.Event()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            asyncio.run(seat.session.send(prompt))
        except BaseException as fault:
            faults.append(fault)
        finally:
            over.set()

    threading.Thread(target=context.run, args=(work,), name="arc-turn", daemon=True).start()
    interrupted = False
    while not over.is_set():
        # Not Thread.join: an interrupt inside it would make the thread look dead.
        try:
            over.wait(TICK_SEC)
            show.take(_drained(events))
            seat.background.place(show)
        except KeyboardInterrupt:
            interrupted = True
            seat.session.cancel()
    stop()
    show.take(_drained(events))
    show.finish()
    seat.background.cell_is_over(show)
    if interrupted:
        raise _stopped(seat.session)
    if faults:
        raise faults[0]
    return seat.session.turns[-1]


def _drained(events: "queue.SimpleQueue[Event]") -> deque[Event]:
    found: deque[Event] = deque()
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(events.get_nowait())
    return found


def _listen(seat: Seat, show: Show, keep: Any) -> Any:
    for note in seat.notes:
        show.say(note)

    def sink(event: Event) -> None:
        keep(event)
        show.at_once(event)

    return seat.session.listen(sink)


async def _interrupted(task: "asyncio.Task[TurnView]") -> None:
    """End the turn and wait for it, however often the person interrupts meanwhile."""
    task.cancel()
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})


def _stopped(session: Session) -> AgentStopped:
    detail = session.turns[-1].detail if session.turns else ""
    return AgentStopped(detail or "Interrupted before the first step; nothing ran.")


def _keep(desk: Desk, parsed: Parsed, turn: TurnView) -> None:
    """The turn goes into `_` and, with `-o`, into a variable; one that failed raises a line."""
    name = parsed.text("o")
    if name:
        desk.shell.user_ns[name] = turn
    desk.shell.displayhook.update_user_ns(turn)
    if turn.reason == "aborted":
        raise AgentStopped(turn.detail)
    if turn.reason in {"error", "limit"}:
        raise AgentError(turn.detail)


def _in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits for the person in a thread with a loop of its own."""
    results: list[T] = []
    faults: list[BaseException] = []

    def target() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return results[0]
