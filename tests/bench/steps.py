"""What the engine itself costs a tool step, at the beginning and at the end of a long turn."""

import itertools
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from arc_workbench.content import Usage
from arc_workbench.events import Event
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from arc_workbench.workbench import open_session

STEPS = 1_000
WINDOW = 100
FLAT = 1.5


class Ticking:
    """A model that lists the folder a thousand times."""

    label = "bench:ls"
    notice = ""

    def __init__(self) -> None:
        self._count = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call, or the end."""
        if self._count == STEPS:
            yield ReplyEnded("end_turn", Usage())
            return
        self._count += 1
        yield CallOpened(f"call_{self._count}", "ls")
        yield ArgumentsPiece("{}")
        yield CallClosed()
        yield ReplyEnded("tool_use", Usage())


async def measure() -> bool:
    """Time each of 1,000 steps; the last hundred may cost little more than the first."""
    began: list[float] = []

    def note(event: Event) -> None:
        if event.type == "StepStarted":
            began.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        async with await open_session(
            project=folder,
            toolset="arcturn",
            session_dir=str(Path(folder, ".s")),
            max_steps=STEPS + 1,
        ) as session:
            session.set_provider(Ticking())
            session.listen(note)
            await session.send("List the folder a thousand times.")
    took = [later - earlier for earlier, later in itertools.pairwise(began)]
    first, last = statistics.median(took[5:WINDOW]), statistics.median(took[-WINDOW:])
    print(
        f"steps: {first * 1000:.2f} ms a step at the start, {last * 1000:.2f} ms after {STEPS}, "
        f"ratio {last / first:.2f} (goal {FLAT})"
    )
    return last / first <= FLAT
