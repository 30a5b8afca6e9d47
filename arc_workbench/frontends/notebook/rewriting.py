"""Rewrites a `%%agent` cell into an awaited call, so that clicks reach it while it runs."""

# pyright: basic

import ast
import inspect
import re
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

HEADER = re.compile(r"%%agent(?=\s|$)")
MAGIC_CALLS = (
    InteractiveShell.run_cell_magic.__code__,
    InteractiveShell.run_line_magic.__code__,
)
CALL = "await get_ipython().arc_workbench.cell({line!r}, {body!r})\n"
HELP = "get_ipython().run_line_magic('agent', 'help')\n"
MISPLACED = "get_ipython().arc_workbench.misplaced()\n"


class AwaitedCell:
    """An input transformer: `%%agent` on the first line becomes an awaited call.

    With autoawait off and below another cell magic (`%%time`) the lines stay as they are and the
    plain cell magic takes them. A header that ends in `?`, without a task, shows the help;
    `%%agent?` itself is IPython's own.
    """

    has_side_effects = True  # else a terminal would send the cell after its first line

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """Rewrite a cell's lines, or hand them back."""
        first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
        cell = lines[first:]
        if not cell or not HEADER.match(cell[0]):
            return [MISPLACED] if _stands_too_low(cell) else lines
        line, body = cell[0].removeprefix("%%agent").strip(), "".join(cell[1:])
        if line.endswith("?") and not body.strip():
            return [HELP]
        if not self._shell.autoawait or _in_a_magic():
            return cell
        return [CALL.format(line=line, body=body)]


def _stands_too_low(cell: list[str]) -> bool:
    """Whether `%%agent` stands below other lines of Python, and not inside a text of theirs."""
    if not any(HEADER.match(line) for line in cell[1:]) or cell[0].startswith("%%"):
        return False
    try:
        ast.parse("".join(cell))
    except SyntaxError:
        return True
    return False


def _in_a_magic() -> bool:
    """Whether this cell is the body of another magic, which cannot await."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code in MAGIC_CALLS:
            return True
        frame = frame.f_back
    return False
