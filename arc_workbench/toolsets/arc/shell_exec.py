"""Arc's `shell_exec`."""

import hashlib
from typing import Annotated

from pydantic import Field

from arc_workbench.content import Command, JsonObject, Output, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import Finished, Status, notes, shell_words
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext

_TIMEOUT_SEC = 120
_BLOCK_BUDGET_SEC = 15
_MAX_STDIN_BYTES = 65_536
_STATUS: dict[Status, str] = {
    "completed": "completed",
    "failed": "failed",
    "timed_out": "timed_out",
    "aborted": "killed",
    "overflowed": "killed",
}


class Args(ExactArgs):
    """Run one non-interactive host command."""

    command: str = Field(description="non-interactive command")
    cwd: Omittable[str] = Field(
        None, description="relative to the project folder, or any existing absolute host directory"
    )
    timeout_sec: Omittable[Annotated[float, Field(gt=0, le=900)]] = Field(
        None, description="default 120, max 900 s; also bounds a backgrounded job"
    )
    block_budget_sec: Omittable[Annotated[float, Field(gt=0, le=60)]] = Field(
        None,
        description=(
            "seconds before backgrounding to a job_id (the turn continues); default 15, max 60"
        ),
    )
    stdin_text: Omittable[Annotated[str, Field(max_length=_MAX_STDIN_BYTES)]] = Field(
        None, description="UTF-8 stdin written once then EOF; max 65536 bytes; closed when omitted"
    )


def describe() -> str:
    return (
        f"Run one non-interactive command on this host with {shell_words()}. Returns JSON: "
        "status (completed, failed, timed_out or killed), exit_code (of the last command of a "
        "pipeline), duration_sec, output (the end of what was printed, errors among it, in the "
        "order written), and a note where there is more to say. No background jobs are available "
        "yet: a command past block_budget_sec goes on in the foreground until timeout_sec, and "
        "spool_id and job_id are null. What the command started is ended with it; only a daemon "
        "that leaves its parent and session and clears its environment can escape, so start none. "
        "stdin_text is given once and is not an interactive terminal; editors fail and pagers are "
        "off. Variables that hold secrets, by their name or value, are not set. What a command "
        "changes is neither journaled nor undoable."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[str]:
    ctx.shell.check(args.command)
    stdin = _stdin_bytes(args)
    cwd = str(ctx.shell.directory(args.cwd))
    input_words = f" with {len(stdin)} bytes on its standard input" if stdin else ""
    subject = _subject(args, stdin, cwd, str(ctx.shell.directory(None)))
    return Planned(
        what=cwd,
        subject=subject,
        description=f"Run a command in {cwd}{input_words}",
        display=(Command(command=args.command, cwd=cwd),),
        binds={"cwd": cwd},
        suggested_rule=subject,
    )


def run(args: Args, ctx: ToolContext, cwd: str) -> ToolResult:
    done = ctx.shell.run(
        args.command,
        cwd=ctx.shell.directory(cwd),
        timeout_sec=args.timeout_sec or _TIMEOUT_SEC,
        stdin_text=args.stdin_text,
        signal=ctx.signal,
        on_output=ctx.on_update,
    )
    told = _told(done, args.block_budget_sec or _BLOCK_BUDGET_SEC)
    result = ToolResult.of_json(
        told,
        note=f"exit {done.exit_code}" if done.exit_code is not None else _STATUS[done.status],
        display=(Output(text=done.text, cut_bytes=done.cut_bytes),),
    )
    return result.model_copy(update={"is_error": _is_error(done)})


def _stdin_bytes(args: Args) -> bytes:
    """The schema counts characters, the promise counts bytes (S2-105)."""
    stdin = (args.stdin_text or "").encode("utf-8", "surrogatepass")
    if len(stdin) > _MAX_STDIN_BYTES:
        raise ToolError(
            f"stdin_text has {len(stdin)} bytes; at most {_MAX_STDIN_BYTES} are taken, and nothing "
            "ran. Write the text to a file and let the command read it."
        )
    return stdin


def _subject(args: Args, stdin: bytes, cwd: str, root: str) -> str:
    """The command, with what else decides about its meaning: a grant for one is not for another."""
    lines = [args.command]
    if cwd != root:
        lines.append(f"(in {cwd})")
    if stdin:
        lines.append(f"(standard input: {hashlib.sha256(stdin).hexdigest()})")
    return "\n".join(lines)


def _told(done: Finished, block_budget_sec: float) -> JsonObject:
    told: JsonObject = {
        "status": _STATUS[done.status],
        "exit_code": done.exit_code,
        "duration_sec": round(done.duration_sec, 3),
        "spool_id": None,
        "job_id": None,
        "output": done.text,
    }
    said = [*_past_budget(done, block_budget_sec), *notes(done)]
    return {**told, "note": " ".join(said)} if said else told


def _past_budget(done: Finished, block_budget_sec: float) -> list[str]:
    if done.duration_sec <= block_budget_sec:
        return []
    return [
        f"The command took longer than block_budget_sec ({block_budget_sec:g}) and stayed in the "
        "foreground: background jobs are not available yet."
    ]


def _is_error(done: Finished) -> bool:
    """An exit code is an answer; to be ended from outside is a failure."""
    return done.exit_code is None or done.status not in ("completed", "failed")


TOOL = Tool.planned("shell_exec", Args, plan, run, effect="execute", describe=describe)
