"""Running a command of the model: watched, so that a person can take back what it did.

In a dry run it works on a copy of the project, and what it changed joins the dry run.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, Unpack

from arc_workbench.content import CommandChanges, Display
from arc_workbench.errors import ToolError
from arc_workbench.shell import JobState, Result
from arc_workbench.tools.tool import ToolContext
from arc_workbench.workspace import Author

_SHOWN_DIFFS = 20
_NAMED = 5
NOT_IN_DRY_RUN = (
    "A dry run is on, and a background job could change files after it; nothing ran. Run it in the "
    "foreground, within its time limit."
)


class How(TypedDict, total=False):
    """What `Shell.run` is told beside the command, its folder and its time limit."""

    stdin_text: str | None
    on_output: Callable[[str], None]
    block_budget_sec: float | None


@dataclass(frozen=True)
class Ran:
    """What came of a command; `blocks` and `said` are about the project's files."""

    result: Result
    blocks: tuple[Display, ...] = ()
    said: tuple[str, ...] = ()


def run(ctx: ToolContext, command: str, cwd: Path, timeout_sec: float, **how: Unpack[How]) -> Ran:
    """Run a command for a call and wait, as `Shell.run` does; raises what that raises."""
    if ctx.project is not None and ctx.workspace.dry_run:
        return _on_a_copy(ctx, command, cwd, timeout_sec, how)
    with _Watch(ctx) as watch:
        result = ctx.shell.run(
            command,
            cwd=cwd,
            timeout_sec=timeout_sec,
            signal=ctx.signal,
            call_id=ctx.tool_call_id,
            when_over=watch.over,
            **how,
        )
        watch.goes_on(result.state)
    return Ran(result, watch.blocks)


def start(ctx: ToolContext, command: str, cwd: Path) -> JobState:
    """Start a background job for a call, as `Shell.start` does; raises what that raises."""
    require_no_dry_run(ctx)
    with _Watch(ctx, in_background=True) as watch:
        state = ctx.shell.start(command, cwd=cwd, call_id=ctx.tool_call_id, when_over=watch.over)
        watch.goes_on(state)
        return state


def require_no_dry_run(ctx: ToolContext) -> None:
    """Raise `ToolError` for what cannot be held back in a dry run."""
    if ctx.project is not None and ctx.workspace.dry_run:
        raise ToolError(NOT_IN_DRY_RUN)


class _Watch:
    """A look at the project before a command, and one when it is over or could not start."""

    def __init__(self, ctx: ToolContext, *, in_background: bool = False) -> None:
        self.blocks: tuple[Display, ...] = ()
        self._ctx = ctx
        self._in_background = in_background
        self._thread = threading.get_ident()
        watched = ctx.snapshots and ctx.project is not None
        self._before = ctx.workspace.before_command(ctx.signal) if watched else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.over("")

    def goes_on(self, state: JobState) -> None:
        """Let it be known which command runs still, if this one does."""
        before = self._before
        if before is not None:
            author = Author(self._ctx.session_id, self._ctx.tool_call_id)
            self._ctx.workspace.command_goes_on(before, state.spool_id, author)

    def over(self, spool_id: str) -> str:
        """What is to be noted of a job; a call that waited shows it instead."""
        before, self._before = self._before, None
        if before is None:
            return ""
        author = Author(self._ctx.session_id, self._ctx.tool_call_id)
        changes = self._ctx.workspace.after_command(before, spool_id, author)
        if not self._in_background and threading.get_ident() == self._thread:
            self.blocks = (changes,) if _says_something(changes) else ()
            return ""
        return _in_words(changes)


def _says_something(changes: CommandChanges) -> bool:
    return bool(changes.rows or changes.note)


def _in_words(changes: CommandChanges) -> str:
    count = len(changes.rows) + changes.more
    if not count:
        return changes.note
    names = ", ".join(row.path for row in changes.rows[:_NAMED])
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    files = "file" if count == 1 else "files"
    return f"{changes.note} It changed {count} {files} of the project: {names}{more}.".strip()


def _on_a_copy(ctx: ToolContext, command: str, cwd: Path, timeout_sec: float, how: How) -> Ran:
    """The dry run's own way: nothing of the project is written."""
    ctx.shell.require_sandbox(dry_run=True)
    how["block_budget_sec"] = None  # a job could outlive the copy
    with ctx.workspace.dry_copy(ctx.signal) as copy:
        result = ctx.shell.run(
            command,
            cwd=cwd,
            timeout_sec=timeout_sec,
            signal=ctx.signal,
            call_id=ctx.tool_call_id,
            overlay=copy.folder,
            **how,
        )
        diffs = sorted(ctx.workspace.take_dry_copy(copy), key=lambda diff: diff.path)
        note = copy.note
    held = f"Dry run: {len(diffs)} file{'s' * (len(diffs) != 1)} of the project would change."
    return Ran(result, tuple(diffs[:_SHOWN_DIFFS]), (held, note) if note else (held,))
