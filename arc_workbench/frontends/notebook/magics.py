"""`%%agent` and `%agent`: arguments only; what they do is elsewhere."""

# pyright: basic

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand, output_can_be_silenced

from arc_workbench.frontends.options import usage

if TYPE_CHECKING:
    from arc_workbench.frontends.notebook.desk import Desk

NAME = "agent"


def register(shell: Any, desk: Callable[[], "Desk"]) -> None:
    """Make `%agent` and `%%agent` known; their help is the usage text."""

    @no_var_expand
    @output_can_be_silenced
    def agent(line: str, cell: str | None = None) -> object:
        if cell is not None:
            from arc_workbench.frontends.notebook.cell import run_blocking

            return run_blocking(desk(), line, cell)
        from arc_workbench.frontends.notebook.looking import run_line

        return run_line(desk(), line)

    agent.__doc__ = usage()
    shell.register_magic_function(agent, magic_kind="line_cell", magic_name=NAME)


def unregister(shell: Any) -> None:
    """Forget them."""
    kinds: dict[str, dict[str, Callable[..., Any]]] = shell.magics_manager.magics
    for kind in ("line", "cell"):
        kinds[kind].pop(NAME, None)
