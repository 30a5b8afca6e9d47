"""Which tools a session has, and which of them it offers."""

from collections.abc import Iterable, Sequence

from arc_workbench.errors import SettingsError
from arc_workbench.permissions.modes import ACCESS
from arc_workbench.tools.tool import Tool

RESERVED_NAMES = frozenset({"multiedit", "multi_edit"})

BUILT_IN_TOOL_NAMES = frozenset(
    {
        *("workspace_list", "workspace_read", "workspace_search", "workspace_document_inspect"),
        *("workspace_document_read", "workspace_document_search", "workspace_write"),
        *("workspace_edit", "workspace_history", "workspace_recovery_status", "workspace_undo"),
        *("shell_exec", "shell_output", "shell_job", "finish", "remind", "wait", "save_notes"),
        *("web_fetch", "web_search", "mcp_output", "submit_plan", "answer_user", "computer"),
        *("read", "write", "edit", "bash", "grep", "glob", "ls", "fetch", "websearch", "todo"),
        *("plan", "search_code", "tool_search", "memory", "subagent", "skill", "symbols"),
        *("find_references", "brain", "bash_job"),
    }
)
"""Names of the two pages, built or still to come, that nobody else's tool may take (S1-023)."""


class Toolset:
    """The tools of a session in a fixed order; names are unique.

    `names` that nobody may take are refused with `SettingsError` (decision 1, S1-023).
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools or tool.name in RESERVED_NAMES:
                raise SettingsError(
                    f"The tool name {tool.name} is taken; nothing ran. Choose another."
                )
            self._tools[tool.name] = tool

    def offered(self, access: str, *, has_project: bool) -> Sequence[Tool]:
        """The tools a model is told of: safe access hides the shell and the desktop.

        Without a project folder a tool that needs one is not offered (chat only).
        """
        return [
            tool
            for tool in self._tools.values()
            if (has_project or not tool.needs_project) and tool.offered_as in ACCESS[access]
        ]

    def find(self, name: str) -> Tool | None:
        """The tool of that name, offered or not."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in order."""
        return tuple(self._tools)
