"""One tool, or a batch of calls, through the whole dispatch without a model."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable

from arc_workbench.agent.arguments import parse_arguments
from arc_workbench.agent.session import Session
from arc_workbench.content import JsonObject, Usage
from arc_workbench.errors import ToolError
from arc_workbench.events import Event, ToolCallFinished
from arc_workbench.frontends.exits import COMPLETED, DENIED, FAILED
from arc_workbench.frontends.headless import stopped_by_signals
from arc_workbench.frontends.policy import Policing
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from arc_workbench.settings import Settings
from arc_workbench.workbench import open_session

WOULD_ASK = (
    "This call asks before it runs, and nobody can answer here; nothing ran. Let it run with "
    "--mode acceptEdits (changes of files) or --mode yolo (everything)."
)


class OneCall:
    """A stand-in for a model that makes exactly the call it was given, then ends the turn."""

    label = "tool"
    notice = ""

    def __init__(self) -> None:
        self.name = ""
        self.arguments = ""
        self._count = 0
        self._made = True

    def load(self, name: str, arguments: str) -> None:
        """The next call to make."""
        self.name, self.arguments, self._made = name, arguments, False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The call, or the end."""
        if self._made:
            yield ReplyEnded("end_turn", Usage())
            return
        self._made = True
        self._count += 1
        yield CallOpened(f"call_{self._count}", self.name)
        yield ArgumentsPiece(self.arguments)
        yield CallClosed()
        yield ReplyEnded("tool_use", Usage())


async def one(settings: Settings, name: str, arguments: str) -> int:
    """Run one call and print `{"is_error", "content", "details"}`; exit code by decision 32."""
    async with await _session(settings) as session:
        caller = _Caller(session)
        shown = await caller.call(name, arguments)
        print(json.dumps(shown, ensure_ascii=False))
        if caller.policing.denied or caller.stopped:
            return DENIED
        return FAILED if shown["is_error"] else COMPLETED


def batch(settings: Settings, lines: Iterable[str]) -> int:
    """Run each `{"name", "input"}` line in one session; one result a line, in order.

    An interrupt between two calls ends the batch at once; one during a call answers that call.
    """
    with asyncio.Runner() as runner:
        session = runner.run(_session(settings))
        caller = _Caller(session)
        try:
            for line in lines:
                if line.strip():
                    shown = runner.run(_answer(caller, line))
                    print(json.dumps(shown, ensure_ascii=False), flush=True)
                if caller.stopped:
                    return DENIED
        finally:
            session.close()
    return COMPLETED


async def _session(settings: Settings) -> Session:
    fresh = {"new": True, "session": "tool", "model": "script:tour"}
    return await open_session(settings.model_copy(update=fresh))


class _Caller:
    """Runs calls in one session, one turn each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._provider = OneCall()
        self.stopped = False
        self.policing = Policing(session, "rules", reason=WOULD_ASK)
        session.set_provider(self._provider)
        session.listen(self.policing)

    async def call(self, name: str, arguments: str) -> JsonObject:
        """The result of one call, as programs read it."""
        results: list[ToolCallFinished] = []

        def keep(event: Event) -> None:
            if isinstance(event, ToolCallFinished):
                results.append(event)

        self._provider.load(name, arguments)
        stop = self._session.listen(keep)
        try:
            with stopped_by_signals(self._session):
                turn = await self._session.send(f"Run {name}.")
        finally:
            stop()
        self.stopped = turn.reason == "aborted"
        if not results:
            return _refused(turn.detail)
        data = results[0].result.model_dump(mode="json")
        return {key: data[key] for key in ("is_error", "content", "details")}


async def _answer(caller: _Caller, line: str) -> JsonObject:
    try:
        data = parse_arguments(line)
    except ToolError as fault:
        return _refused(str(fault))
    name, value = data.get("name"), data.get("input", {})
    if not isinstance(name, str) or not name:
        return _refused('The line names no tool ("name"); nothing ran.')
    return await caller.call(name, json.dumps(value))


def _refused(text: str) -> JsonObject:
    return {"is_error": True, "content": [{"type": "text", "text": text}], "details": {}}
