"""What tools that look around share: the remark of a dry run, and counts in words."""

from collections.abc import Generator
from contextlib import contextmanager

from arc_workbench.errors import ToolError
from arc_workbench.tools.tool import ToolContext


@contextmanager
def on_disk(ctx: ToolContext) -> Generator[None]:
    """A `ToolError` raised in here also says that a dry run's files are not looked at."""
    try:
        yield
    except ToolError as fault:
        note = ctx.workspace.dry_run_note
        if not note:
            raise
        raise ToolError(f"{fault} {note}", details=fault.details) from fault


def counted(count: int, one: str, more: str) -> str:
    """ "1 match", "6 matches" """
    return f"{count} {one if count == 1 else more}"
