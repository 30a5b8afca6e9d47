"""Waiting for background jobs in tests of tools."""

import time
from collections.abc import Callable

from arc_workbench.shell import JobState
from arc_workbench.tools.tool import ToolContext

_PATIENCE_SEC = 8.0
_PAUSE_SEC = 0.02


def within(met: Callable[[], bool]) -> None:
    """Returns once something that happens in another thread has happened."""
    give_up = time.monotonic() + _PATIENCE_SEC
    while not met():
        assert time.monotonic() < give_up
        time.sleep(_PAUSE_SEC)


def ended(ctx: ToolContext, job_id: str) -> JobState:
    """The state of a job once it is over."""
    within(lambda: not ctx.shell.job(job_id).running)
    return ctx.shell.job(job_id)


def printed(ctx: ToolContext, job_id: str, text: str) -> None:
    """Returns once a job has printed this."""
    within(lambda: text in ctx.shell.tail(job_id, 1 << 20).raw)
