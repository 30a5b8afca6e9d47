"""A workbench for LLM agents in Jupyter: `%load_ext arc_workbench`, then `%%agent`.

From Python: `session = await open_session(project=".")`, then `await session.send("...")`.
Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arc_workbench.agent.session import Session
    from arc_workbench.content import ToolResult
    from arc_workbench.frontends.notebook.extension import (
        load_ipython_extension,
        unload_ipython_extension,
    )
    from arc_workbench.settings import Settings
    from arc_workbench.tools.foreign import PublicTool, ToolDefinition
    from arc_workbench.tools.tool import PermissionAnswer, ToolContext
    from arc_workbench.toolsets.factory import DefaultTools, create_default_tools
    from arc_workbench.workbench import open_session

__version__ = "0.1.0"

__all__ = [
    "DefaultTools",
    "PermissionAnswer",
    "PublicTool",
    "Session",
    "Settings",
    "ToolContext",
    "ToolDefinition",
    "ToolResult",
    "create_default_tools",
    "load_ipython_extension",
    "open_session",
    "unload_ipython_extension",
]

_HOMES = {
    "DefaultTools": "arc_workbench.toolsets.factory",
    "PermissionAnswer": "arc_workbench.tools.tool",
    "PublicTool": "arc_workbench.tools.foreign",
    "Session": "arc_workbench.agent.session",
    "Settings": "arc_workbench.settings",
    "ToolContext": "arc_workbench.tools.tool",
    "ToolDefinition": "arc_workbench.tools.foreign",
    "ToolResult": "arc_workbench.content",
    "create_default_tools": "arc_workbench.toolsets.factory",
    "load_ipython_extension": "arc_workbench.frontends.notebook.extension",
    "open_session": "arc_workbench.workbench",
    "unload_ipython_extension": "arc_workbench.frontends.notebook.extension",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
