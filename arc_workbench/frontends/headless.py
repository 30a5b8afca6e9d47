"""A run with nobody there: events as JSON lines, or the final text."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Generator
from typing import Literal

from arc_workbench.agent.session import Session
from arc_workbench.events import Event
from arc_workbench.frontends import history, plain
from arc_workbench.frontends.exits import COMPLETED, DENIED, FAILED
from arc_workbench.frontends.odd import escaped
from arc_workbench.frontends.policy import Policing
from arc_workbench.settings import Policy
from arc_workbench.views import CardView, NoteView, TurnView


async def run(
    session: Session, prompt: str, *, policy: Policy, events: Literal["jsonl", ""]
) -> int:
    """Run one turn; prints events (one JSON object a line, `type` first) or the final text.

    Returns the exit code of decision 32; 3 also where the policy denied a call. SIGINT and SIGTERM
    interrupt the turn, however often they come. Where standard output cannot be written the turn
    is interrupted, too.
    """
    policing = Policing(session, policy)
    printer = _Lines(session)
    stops = [session.listen(policing)]
    if events:
        stops.append(session.listen(printer))
    try:
        with stopped_by_signals(session):
            turn = await session.send(prompt)
    finally:
        for stop in stops:
            stop()
    if not events:
        _print_turn(turn)
    if session.dry_run:
        _print_dry_run(session)
    return _code(turn, policing, printer)


@contextlib.contextmanager
def stopped_by_signals(session: Session) -> Generator[None]:
    """While this is entered, SIGINT and SIGTERM interrupt the turn and nothing else."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(name, session.cancel)
            caught.append(name)
    try:
        yield
    finally:
        for name in caught:
            loop.remove_signal_handler(name)


class _Lines:
    """Prints each event; when nobody can read them any more, it stops the turn."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.fault: OSError | None = None

    def __call__(self, event: Event) -> None:
        if self.fault is not None:
            return
        try:
            print(event_line(event), flush=True)
        except OSError as fault:
            self.fault = fault
            self._session.cancel()


def event_line(event: Event) -> str:
    """One event as JSON with its `type` first."""
    data = event.model_dump(mode="json")
    return json.dumps({"type": data.pop("type"), **data}, ensure_ascii=False)


def _code(turn: TurnView, policing: Policing, printer: _Lines) -> int:
    if printer.fault is not None:
        raise printer.fault
    if turn.detail and turn.reason != "completed":
        print(escaped(turn.detail), file=sys.stderr)
    if turn.reason in {"error", "limit"}:
        return FAILED
    return DENIED if policing.denied or turn.reason == "aborted" else COMPLETED


def _print_dry_run(session: Session) -> None:
    """What would change, for people; the session keeps it."""
    diffs = session.dry_run_diffs()
    for diff in diffs:
        print(plain.block(diff), file=sys.stderr)
    print(f"Dry run: {history.differ(len(diffs))}; nothing was written.", file=sys.stderr)


def _print_turn(turn: TurnView) -> None:
    """Lines for people on stderr, the final words on stdout."""
    parts = [*turn.lead, *(part for step in turn.steps for part in step.parts)]
    for part in parts:
        if isinstance(part, NoteView | CardView):
            print(plain.part(turn, part), file=sys.stderr)
    print(escaped(turn.text))
