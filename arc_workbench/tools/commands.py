"""What tools that run commands share: what is shown of their output, and the sandbox in words."""

from arc_workbench.content import JsonObject, Output
from arc_workbench.errors import ToolError
from arc_workbench.shell import KEPT_BYTES, JobState, Shell, Tail
from arc_workbench.shell.colours import styled
from arc_workbench.shell.notes import NO_SANDBOX
from arc_workbench.tools.tool import ToolContext

SANDBOX_NOTE = f"{NO_SANDBOX}\n"


def shown(tail: Tail, first_line: str = "") -> Output:
    """The end of an output as plain text with its colours; `first_line` comes before it."""
    text, styles = styled(tail.raw, KEPT_BYTES)
    if first_line:
        return Output(text=first_line + text, cut_bytes=tail.cut_bytes)
    return Output(
        text=text,
        cut_bytes=tail.cut_bytes,
        styles=styles,
        styled_chars=len(text) if styles else 0,
    )


def first_line(ctx: ToolContext, state: JobState) -> str:
    """What stands before the output of a command that should have been confined and was not."""
    return SANDBOX_NOTE if _unconfined(ctx, state) else ""


def sandbox_details(ctx: ToolContext, state: JobState) -> JsonObject:
    """What programs are told of the sandbox: nothing where none was asked for."""
    if ctx.shell.sandbox == "off":
        return {}
    if _unconfined(ctx, state):
        return {"sandbox": None, "sandboxUnavailable": True}
    return {"sandbox": state.backend or None}


def sandbox_binds(ctx: ToolContext) -> dict[str, str]:
    """What an approval of a command holds for."""
    return {} if ctx.shell.sandbox == "off" else {"sandbox": ctx.shell.sandbox}


def require_background(shell: Shell) -> None:
    """Raises `ToolError` where a background command of `bash` cannot run.

    The page never confines one, so under `workspace-write` it would be a way out (S1-086).
    """
    if shell.sandbox == "workspace-write":
        raise ToolError(
            "The sandbox is on (workspace-write), and a background command would run outside it; "
            "nothing ran. Run it without background, bounded by timeoutMs."
        )
    shell.require_room()


def task_facts(state: JobState) -> JsonObject:
    """How the page tells of a task: times in milliseconds, no exit code after a signal."""
    began = round(state.started_at * 1000)
    facts: JsonObject = {
        "taskId": state.job_id,
        "spoolId": state.spool_id,
        "command": state.command,
        "running": state.running,
        "exitCode": state.exit_code,
        "signal": state.signal_name,
        "startedAt": began,
    }
    if not state.running:
        facts["endedAt"] = began + round(state.duration_sec * 1000)
    return facts


def _unconfined(ctx: ToolContext, state: JobState) -> bool:
    return ctx.shell.sandbox != "off" and not state.backend
