"""A tool context for tools that run commands."""

import threading
from pathlib import Path

from arc_workbench.content import JsonObject
from arc_workbench.shell import Shell
from arc_workbench.tools.tool import OnUpdate, PermissionAnswer, ToolContext
from arc_workbench.workspace import Change, FilePlan


def make_context(
    shell: Shell | None,
    cwd: Path,
    *,
    signal: threading.Event | None = None,
    on_update: OnUpdate | None = None,
) -> ToolContext:
    """A context with this shell; it has no project, asks nobody and shows nothing."""
    return ToolContext(
        cwd=cwd,
        signal=signal or threading.Event(),
        session_id="s",
        tool_call_id="c",
        on_update=on_update or _show_nothing,
        request_permission=_allow,
        on_change=_tell_nobody,
        project=None,
        commands=shell,
    )


def _show_nothing(text: str = "", details: JsonObject | None = None) -> None:
    del text, details


def _tell_nobody(plan: FilePlan, change: Change) -> None:
    del plan, change


async def _allow(
    *, tool_name: str, tool_call_id: str, subject: str, description: str
) -> PermissionAnswer:
    del tool_name, tool_call_id, subject, description
    return PermissionAnswer("allow")
