"""Loading and unloading: the magics, the awaited cell, completion, and `%config ArcWorkbench`.

Loading imports nothing that the first cell does not use, and starts nothing (REQ-S18).
"""

# pyright: basic

import atexit
from typing import TYPE_CHECKING, Any

from arc_workbench.frontends.notebook.rewriting import AwaitedCell

if TYPE_CHECKING:
    from arc_workbench.frontends.notebook.desk import Desk

ATTRIBUTE = "arc_workbench"


class Extension:
    """What is loaded into one IPython shell; reached as `get_ipython().arc_workbench`."""

    def __init__(self, shell: Any) -> None:
        from arc_workbench.frontends.notebook.config import ArcWorkbench

        self.shell = shell
        self.config = ArcWorkbench(parent=shell)
        self.rewrite = AwaitedCell(shell)
        self._desk: Desk | None = None

    @property
    def desk(self) -> "Desk":
        """The kernel's sessions; made with the first cell that needs one."""
        if self._desk is None:
            from arc_workbench.frontends.notebook.desk import Desk

            self._desk = Desk(self.shell, self.config)
        return self._desk

    async def cell(self, line: str, body: str) -> None:
        """Run one `%%agent` cell; this is what the rewritten cell awaits."""
        from arc_workbench.frontends.notebook.cell import run_awaited

        await run_awaited(self.desk, line, body)

    def misplaced(self) -> None:
        """Say that `%%agent` stands below other lines; what a cell of that kind becomes."""
        from arc_workbench.frontends.notebook.cell import AgentError

        raise AgentError("%%agent must open the cell; nothing ran. Move what stands above it.")

    def at_end(self) -> None:
        """The kernel ends: what stands in a notebook gives way to what it came to.

        The session is closed first, so that the cards of its jobs can say how they ended.
        """
        if self._desk is not None:
            self._desk.close()

    def close(self) -> None:
        """Let every session of this kernel go."""
        if self._desk is not None:
            self._desk.close()


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext arc_workbench`; a second time changes nothing."""
    if getattr(shell, ATTRIBUTE, None) is not None:
        return
    from arc_workbench.frontends.notebook import completion, magics

    extension = Extension(shell)
    setattr(shell, ATTRIBUTE, extension)
    magics.register(shell, lambda: extension.desk)
    shell.input_transformer_manager.cleanup_transforms.insert(0, extension.rewrite)
    shell.configurables.append(extension.config)
    completion.register(shell)
    atexit.register(extension.at_end)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext arc_workbench`: nothing of it stays; a second time changes nothing."""
    extension: Extension | None = getattr(shell, ATTRIBUTE, None)
    if extension is None:
        return
    from arc_workbench.frontends.notebook import completion, magics

    completion.unregister(shell)
    shell.configurables.remove(extension.config)
    shell.input_transformer_manager.cleanup_transforms.remove(extension.rewrite)
    magics.unregister(shell)
    atexit.unregister(extension.at_end)
    extension.close()
    delattr(shell, ATTRIBUTE)
