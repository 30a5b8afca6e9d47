"""Arc's `shell_exec`."""

import hashlib
from typing import Annotated

from pydantic import Field

from arc_workbench.content import Command, JsonObject, Output, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import JobState, Result, Tail, notes, shell_words
from arc_workbench.shell.notes import asked, how_it_ended, question
from arc_workbench.tools import running
from arc_workbench.tools.commands import first_line, sandbox_binds, sandbox_details, shown
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext

_TIMEOUT_SEC = 120
_BLOCK_BUDGET_SEC = 15
_MAX_STDIN_BYTES = 65_536


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

    @property
    def limit_sec(self) -> float:
        """When the command is ended, in the foreground or as a job."""
        return self.timeout_sec or _TIMEOUT_SEC

    @property
    def budget_sec(self) -> float | None:
        """When it becomes a job; None where its limit comes first."""
        budget = self.block_budget_sec or _BLOCK_BUDGET_SEC
        return budget if budget < self.limit_sec else None


def describe() -> str:
    return (
        f"Run one non-interactive command on this host with {shell_words()}. Returns JSON: "
        "status (running, completed, failed, timed_out or killed), exit_code (of the last command "
        "of a pipeline), duration_sec, spool_id, job_id, output (the end of what was printed, "
        "errors among it, in the order written), and a note where there is more to say. What "
        "still runs after block_budget_sec becomes a background job: status is running, job_id is "
        "set, your turn goes on, and it ends at timeout_sec at the latest. At most 4 jobs run at "
        "once. All output is kept under spool_id: read it with shell_output, look at a job with "
        "shell_job (find both by search if they are not in your list). With block_budget_sec not "
        "below timeout_sec it stays in the foreground. What a command started is ended with it. "
        "stdin_text is given once and is not an interactive terminal; editors fail and pagers are "
        "off. Variables that hold secrets, by their name or value, are not set. What a command "
        "changes is neither journaled nor undoable."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[str]:
    ctx.shell.check(args.command)
    ctx.shell.refuse_hanging(args.command)
    ctx.shell.require_sandbox()
    _require_room(args, ctx)
    stdin = _stdin_bytes(args)
    cwd = str(ctx.shell.directory(args.cwd))
    input_words = f" with {len(stdin)} bytes on its standard input" if stdin else ""
    subject = _subject(args, stdin, cwd, str(ctx.shell.directory(None)))
    return Planned(
        what=cwd,
        subject=subject,
        description=f"Run a command in {cwd}{input_words}",
        display=(Command(command=args.command, cwd=cwd),),
        binds={"cwd": cwd, **sandbox_binds(ctx)},
        suggested_rule=subject,
    )


def run(args: Args, ctx: ToolContext, cwd: str) -> ToolResult:
    ran = running.run(
        ctx,
        args.command,
        ctx.shell.directory(cwd),
        args.limit_sec,
        stdin_text=args.stdin_text,
        on_output=ctx.on_update,
        block_budget_sec=args.budget_sec,
    )
    done = ran.result
    state = done.state
    tail = ctx.shell.news(state.job_id) if state.running else done.tail
    block = shown(tail, first_line(ctx, state))
    said = (
        *_goes_on(args, state),
        *_cut(state, tail),
        *_asked(args, done),
        *notes(state),
        *ran.said,
    )
    told = {**_told(state, block), **({"note": " ".join(said)} if said else {})}
    result = ToolResult.of_json(
        {**told, **sandbox_details(ctx, state)}, note=_row(state), display=(block, *ran.blocks)
    )
    return result.model_copy(update={"is_error": _is_error(state)})


def _require_room(args: Args, ctx: ToolContext) -> None:
    """What can become a job needs room for one before anybody is asked."""
    if args.budget_sec is None:
        return
    try:
        ctx.shell.require_room()
    except ToolError as fault:
        way = "Keep it in the foreground with block_budget_sec not below timeout_sec, or wait."
        raise ToolError(f"{way} {fault}", details=fault.details) from fault


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


def _told(state: JobState, block: Output) -> JsonObject:
    return {
        "status": "killed" if state.status in ("aborted", "limited") else state.status,
        "exit_code": state.exit_code,
        "duration_sec": round(state.duration_sec, 3),
        "spool_id": state.spool_id,
        "job_id": state.job_id or None,
        "output": block.text,
    }


def _goes_on(args: Args, state: JobState) -> tuple[str, ...]:
    if not state.running:
        return ()
    return (
        f"It still runs after {args.budget_sec:g} s and goes on as job {state.job_id}, until "
        f"timeout_sec ({args.limit_sec:g}) at the latest. Do other work; shell_job shows what it "
        "prints next.",
    )


def _cut(state: JobState, tail: Tail) -> tuple[str, ...]:
    if not tail.cut_bytes:
        return ()
    return (
        f"The first {tail.cut_bytes} of {tail.total_bytes} bytes of output are left out; "
        f"shell_output with spool_id {state.spool_id} reads all of it.",
    )


def _asked(args: Args, done: Result) -> tuple[str, ...]:
    words = question(done, had_input=bool(args.stdin_text))
    return (asked(words),) if words else ()


def _row(state: JobState) -> str:
    return f"job {state.job_id}" if state.running else how_it_ended(state)


def _is_error(state: JobState) -> bool:
    """An exit code is an answer; to be ended from outside is a failure."""
    if state.running:
        return False
    return state.exit_code is None or state.status not in ("completed", "failed")


TOOL = Tool.planned(
    "shell_exec", Args, plan, run, effect="execute", held_back=True, describe=describe
)
