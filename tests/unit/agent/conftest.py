"""Sessions with a laid-out model, over a real folder and a real state folder."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arc_workbench.agent.session import Session
from arc_workbench.content import Answer, UserMessage
from arc_workbench.events import Event, PermissionRequested, Scope, ToolCallFinished
from arc_workbench.settings import Settings
from arc_workbench.tools.foreign import PublicTool
from arc_workbench.workbench import open_session
from tests.fakes.provider import FakeProvider, Piece


@dataclass
class Bench:
    """One session and everything it said."""

    session: Session
    provider: FakeProvider
    project: Path
    events: list[Event] = field(default_factory=list[Event])

    def of(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    @property
    def results(self) -> dict[str, ToolCallFinished]:
        """The result of each call, by its id; a second one would be seen by `of`."""
        return {e.call_id: e for e in self.events if isinstance(e, ToolCallFinished)}

    def answers(self, request: int) -> dict[str, Answer]:
        """What the model was told of its calls, in the last message of a request."""
        last = self.provider.requests[request].messages[-1]
        assert isinstance(last, UserMessage)
        return {block.call_id: block for block in last.content if isinstance(block, Answer)}

    def answer_with(self, *, allow: bool, reason: str = "", scope: Scope = "once") -> None:
        """Answer every question at once, from inside the listener."""

        def sink(event: Event) -> None:
            if isinstance(event, PermissionRequested):
                self.session.resolve(event.prompt, allow=allow, reason=reason, scope=scope)

        self.session.listen(sink)


class AsyncBench:
    """Opens a bench where a loop runs."""

    def __init__(self, project: Path, opened: list[Session]) -> None:
        self._project = project
        self._opened = opened

    async def __call__(
        self,
        *replies: Iterable[Piece],
        tools: Iterable[PublicTool] = (),
        **changes: object,
    ) -> Bench:
        """A session in a fresh project whose model gives these replies."""
        chosen = Settings.of({"project": str(self._project), "toolset": "both", **changes})
        session = await open_session(chosen, tools=tools)
        self._opened.append(session)
        provider = FakeProvider(*replies)
        session.set_provider(provider)
        bench = Bench(session, provider, self._project)
        session.listen(bench.events.append)
        return bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[AsyncBench]:
    """Makes sessions and lets them go."""
    project = tmp_path / "project"
    project.mkdir()
    opened: list[Session] = []
    yield AsyncBench(project, opened)
    for session in opened:
        session.close()
