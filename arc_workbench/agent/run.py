"""What one session's turns work with: its services, and the state that commands change."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.agent.gate import Gate
from arc_workbench.agent.history import History
from arc_workbench.agent.jobs import JobWatch
from arc_workbench.agent.log import EventLog
from arc_workbench.content import ToolSpec
from arc_workbench.events import Access
from arc_workbench.models.provider import Provider
from arc_workbench.shell import Shell
from arc_workbench.tools.tool import Tool
from arc_workbench.tools.toolset import Toolset
from arc_workbench.workspace import Workspace


@dataclass
class Run:
    """One session at work. `signal` is set while the person wants everything to stop."""

    session_id: str
    name: str
    cwd: Path
    log: EventLog
    gate: Gate
    history: History
    toolset: Toolset
    provider: Provider
    access: Access
    system: Callable[["Run"], str]
    workspace: Workspace | None
    shell: Shell | None
    jobs: JobWatch | None
    max_steps: int
    snapshots: bool = False
    announced: str = ""
    steering: deque[str] = field(default_factory=deque[str])
    signal: threading.Event = field(default_factory=threading.Event)

    def offered(self) -> Sequence[Tool]:
        """The tools this session offers now, by access and project alone (decision 23)."""
        return self.toolset.offered(self.access, has_project=self.workspace is not None)

    @property
    def dry_run(self) -> bool:
        """Whether changes of files are kept beside the project."""
        return self.workspace is not None and self.workspace.dry_run

    def specs(self) -> Sequence[ToolSpec]:
        """Their definitions, as a model gets them."""
        return [tool.definition for tool in self.offered()]
