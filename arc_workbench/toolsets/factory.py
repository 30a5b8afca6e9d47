"""The built-in tools of Arcturn for other people's programs, outside any session (decision 17)."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.settings import Sandbox, Settings, home, sessions_folder
from arc_workbench.shell import (
    KEPT_BYTES,
    Guarded,
    JobBegan,
    JobNews,
    JobOver,
    JobSaid,
    JobState,
    Shell,
)
from arc_workbench.tools.commands import require_background, shown, task_facts
from arc_workbench.tools.foreign import PublicTool, ToolDefinition
from arc_workbench.tools.tool import Prepared, Tool, ToolContext
from arc_workbench.toolsets.arcturn import bash, edit, glob, grep, ls, read, write
from arc_workbench.workspace import Change, FilePlan, Workspace
from arc_workbench.workspace.names import is_protected

TaskSink = Callable[[str, JsonObject], None]
"""Takes the name of an event of the page, such as `backgroundTaskEnd`, and its payload."""


class BackgroundTasks:
    """The background commands of one set of tools; may be used from any thread."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def start(self, command: str) -> str:
        """Start a command in the background and return its id.

        Raises `ToolError` where four run, and under the sandbox `workspace-write`.
        """
        require_background(self._shell)
        return self._shell.start(command).job_id

    def poll(self, task_id: str) -> JsonObject | None:
        """How a task stands, with the last 50 KiB of its output; None for an unknown id."""
        try:
            state = self._shell.job(task_id)
            return self._told(state)
        except ToolError:
            return None

    def kill(self, task_id: str) -> bool:
        """Ask a task to end, and kill what has not after 2 s; False for an unknown id."""
        try:
            self._shell.kill(task_id)
        except ToolError:
            return False
        return True

    def list(self) -> list[JsonObject]:
        """Every task, the newest first."""
        return [self._told(state) for state in self._shell.jobs()]

    def listen(self, sink: TaskSink) -> Callable[[], None]:
        """Hand every event of a task to `sink`, from whatever thread; returns what ends it."""

        def take(news: JobNews) -> None:
            match news:
                case JobBegan(state=state):
                    given: JsonObject = {"taskId": state.job_id, "command": state.command}
                    sink("backgroundTaskStart", given)
                case JobSaid(job_id=job, text=text):
                    sink("backgroundTaskOutput", {"taskId": job, "chunk": text})
                case JobOver(state=state):
                    ended: JsonObject = {"taskId": state.job_id, "exitCode": state.exit_code}
                    sink("backgroundTaskEnd", ended)

        return self._shell.listen(take)

    def _told(self, state: JobState) -> JsonObject:
        tail = self._shell.tail(state.job_id, max_bytes=KEPT_BYTES)
        return {
            **task_facts(state),
            "output": shown(tail).text,
            "outputTruncated": tail.cut_bytes > 0,
        }


class DefaultTool:
    """One of our tools in the public form: it asks by the context's `request_permission`."""

    asks_itself = True

    def __init__(self, tool: Tool, root: Path, workspace: Workspace, shell: Shell) -> None:
        self._tool = tool
        self._root = root
        self._workspace = workspace
        self._shell = shell

    @property
    def definition(self) -> ToolDefinition:
        """Name, description and parameters."""
        told = self._tool.definition
        return ToolDefinition(
            name=told.name, description=told.description, parameters=told.input_schema
        )

    async def execute(self, input: JsonObject, ctx: ToolContext) -> ToolResult:
        """Run one call; what fails as expected is a result with `is_error`.

        Reading asks nobody. Everything else asks once, and a denial is such a result.
        """
        try:
            return await self._run(input, ctx)
        except ToolError as fault:
            details: JsonObject = json.loads(json.dumps(fault.details, default=str))
            return ToolResult.error(str(fault), details=details)

    async def _run(self, given: JsonObject, ctx: ToolContext) -> ToolResult:
        inside = self._context(ctx)
        arguments = json.dumps(given, ensure_ascii=False)
        prepared = await asyncio.to_thread(self._tool.prepare, arguments, inside)
        if self._tool.effect != "read":
            await self._require_permission(prepared, ctx)
        result = await asyncio.to_thread(prepared.run)
        return await result if isinstance(result, Awaitable) else result

    async def _require_permission(self, prepared: Prepared, ctx: ToolContext) -> None:
        answer = await ctx.request_permission(
            tool_name=self._tool.name,
            tool_call_id=ctx.tool_call_id,
            subject=prepared.subject,
            description=prepared.description,
        )
        if answer.behavior != "allow":
            said = f" They said: {answer.message}" if answer.message else ""
            raise ToolError(f"This call was denied; nothing ran.{said}")

    def _context(self, ctx: ToolContext) -> ToolContext:
        return ToolContext(
            cwd=self._root,
            signal=ctx.signal,
            session_id=ctx.session_id,
            tool_call_id=ctx.tool_call_id,
            on_update=ctx.on_update,
            request_permission=ctx.request_permission,
            on_change=_tell_nobody,
            project=self._workspace,
            commands=self._shell,
        )


@dataclass(frozen=True)
class DefaultTools:
    """The tools over one folder, with a job table of their own; `close` ends what still runs."""

    tools: tuple[PublicTool, ...]
    read: PublicTool
    write: PublicTool
    edit: PublicTool
    bash: PublicTool
    grep: PublicTool
    glob: PublicTool
    ls: PublicTool
    background_tasks: BackgroundTasks
    close: Callable[[], None]


def create_default_tools(*, cwd: str | Path, sandbox: Sandbox = "off") -> DefaultTools:
    """Arcturn's built-in tools over the folder `cwd`, each call with its own background tasks.

    `fetch` and `websearch` join them when they are built. Raises `ToolError` where there is no such
    folder.
    """
    root = _folder(cwd)
    environment = dict(os.environ)
    own = home(environment)
    protected = (own, sessions_folder(Settings(), environment))
    workspace = Workspace(root, own / "workspaces", protected=protected)
    guarded = Guarded(tuple(folder.absolute() for folder in protected), is_protected)
    shell = Shell(root, environment, sandbox=sandbox, guarded=guarded)

    def public(tool: Tool) -> DefaultTool:
        return DefaultTool(tool, root, workspace, shell)

    named = {
        tool.name: public(tool)
        for tool in (
            read.TOOL,
            write.TOOL,
            edit.TOOL,
            bash.TOOL,
            grep.TOOL,
            glob.TOOL,
            ls.TOOL,
        )
    }

    def close() -> None:
        shell.close()
        workspace.close()

    return DefaultTools(
        tools=tuple(named.values()),
        **named,
        background_tasks=BackgroundTasks(shell),
        close=_once(close),
    )


def _folder(cwd: str | Path) -> Path:
    folder = Path(cwd).expanduser().resolve()
    if not folder.is_dir():
        raise ToolError(f"{cwd} is no folder; name an existing one.")
    return folder


def _once(work: Callable[[], None]) -> Callable[[], None]:
    """`work`, which a second call does not repeat."""
    done = threading.Event()

    def once() -> None:
        if not done.is_set():
            done.set()
            work()

    return once


def _tell_nobody(plan: FilePlan, change: Change) -> None:
    del plan, change
