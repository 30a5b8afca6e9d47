"""Calls file tools in a project folder, as the dispatcher does: plan, then run."""

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.tool import PermissionAnswer, Prepared, Tool, ToolContext
from arc_workbench.workspace import Change, FilePlan, Workspace


@dataclass
class FileTools:
    """A project folder and what the tools changed in it."""

    root: Path
    changes: list[tuple[FilePlan, Change]] = field(default_factory=list[tuple[FilePlan, Change]])
    signal: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.reopen()

    def reopen(self) -> None:
        """The folder as another session finds it."""
        self.workspace = Workspace(self.root, Path(os.environ["ARC_WORKBENCH_HOME"]) / "workspaces")

    def prepare(self, tool: Tool, **arguments: object) -> Prepared:
        """The call as a person would be asked about it."""
        return tool.prepare(json.dumps(arguments), self._context())

    def call(self, tool: Tool, **arguments: object) -> ToolResult:
        """The result of a call that is allowed; an expected failure is an error result."""
        try:
            result = self.prepare(tool, **arguments).run()
        except ToolError as fault:
            details: JsonObject = json.loads(json.dumps(fault.details))
            return ToolResult.error(str(fault), details=details)
        assert isinstance(result, ToolResult)
        return result

    def write(self, **files: str) -> None:
        """Files of the project; `_` in a keyword stands for a dot."""
        for name, text in files.items():
            (self.root / name.replace("_", ".")).write_bytes(text.encode())

    def _context(self) -> ToolContext:
        async def allow(
            *, tool_name: str, tool_call_id: str, subject: str, description: str
        ) -> PermissionAnswer:
            raise AssertionError((tool_name, tool_call_id, subject, description))

        def on_update(text: str = "", details: JsonObject | None = None) -> None:
            raise AssertionError((text, details))

        return ToolContext(
            cwd=self.root,
            signal=self.signal,
            session_id="s1",
            tool_call_id="t1",
            on_update=on_update,
            request_permission=allow,
            on_change=lambda plan, change: self.changes.append((plan, change)),
            project=self.workspace,
            commands=None,
        )
