"""Arcturn's `bash`."""

import math

from pydantic import Field

from arc_workbench.content import Command, JsonObject, Text, ToolResult
from arc_workbench.shell import KEPT_BYTES, JobState, Result, notes, shell_words
from arc_workbench.shell.notes import asked, how_it_ended, question, shell_exit_code
from arc_workbench.tools import running
from arc_workbench.tools.commands import (
    first_line,
    require_background,
    sandbox_binds,
    sandbox_details,
    shown,
)
from arc_workbench.tools.running import Ran
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext

_DEFAULT_MS = 120_000
_MAX_MS = 600_000


class Args(ExactArgs):
    """Run one command line and wait for its end, or start it in the background."""

    command: str = Field(min_length=1, description="the command line to run")
    timeout_ms: Omittable[float] = Field(
        None,
        alias="timeoutMs",
        description="milliseconds after which the command is killed; default 120000, max 600000",
    )
    background: Omittable[bool] = Field(
        None, description="start it as a background job and go on; no time limit"
    )

    @property
    def limit_ms(self) -> float:
        """What is not a positive number of milliseconds is the default; too much is the maximum."""
        given = self.timeout_ms
        if given is None or not math.isfinite(given) or given <= 0:
            return _DEFAULT_MS
        return min(given, _MAX_MS)


def describe() -> str:
    return (
        f"Run one command line in the project folder with {shell_words()} and wait for its end. "
        "Returns output and errors as one text in the order written, the last "
        f"{KEPT_BYTES // 1024} KiB of it, and [Exit code: N]. The exit code is that of the last "
        "command of a pipeline; any other than 0 makes the result an error. Nothing can be "
        "answered: there is no terminal, standard input is empty, editors fail and pagers are "
        "off. Variables that hold secrets, by their name or value, are not set. After timeoutMs "
        f"(default {_DEFAULT_MS}, at most {_MAX_MS}) all of it is killed and what it had printed "
        "is returned. What the command started is ended with it; for what has to go on, a server "
        "or a long build, set background: true. Then you get a task id at once and go on; "
        "timeoutMs does not count, at most 4 such tasks run, bash_job looks at them and ends "
        "them, and all end with the session."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[str]:
    ctx.shell.check(args.command)
    if args.background:
        running.require_no_dry_run(ctx)
        require_background(ctx.shell)
    else:
        ctx.shell.refuse_hanging(args.command)
    ctx.shell.require_sandbox()
    cwd = str(ctx.shell.directory(str(ctx.cwd)))
    background = " in the background" if args.background else ""
    return Planned(
        what=cwd,
        subject=args.command,
        description=f"Run a command{background} in {cwd}",
        display=(Command(command=args.command, cwd=cwd),),
        binds={"cwd": cwd, **sandbox_binds(ctx)},
        suggested_rule=args.command,
    )


def run(args: Args, ctx: ToolContext, cwd: str) -> ToolResult:
    folder = ctx.shell.directory(cwd)
    if args.background:
        return _started(args.command, running.start(ctx, args.command, folder), ctx)
    ran = running.run(ctx, args.command, folder, args.limit_ms / 1000, on_output=ctx.on_update)
    done = ran.result
    first = first_line(ctx, done.state)
    block = shown(done.tail, first)
    return ToolResult(
        content=(Text(text=first + _told(ran, block.text.removeprefix(first), args.limit_ms)),),
        is_error=done.state.status != "completed",
        display=(block, *ran.blocks),
        note=how_it_ended(done.state),
        details={**_details(args.command, done), **sandbox_details(ctx, done.state)},
    )


def _started(command: str, state: JobState, ctx: ToolContext) -> ToolResult:
    text = (
        f"Started as background task {state.job_id}. bash_job with taskId {state.job_id} shows "
        "what it prints and how it stands, and ends it with kill: true. You are told when it ends."
    )
    details: JsonObject = {
        "command": command,
        "taskId": state.job_id,
        "spoolId": state.spool_id,
        "running": True,
        **sandbox_details(ctx, state),
    }
    return ToolResult(content=(Text(text=text),), note=f"job {state.job_id}", details=details)


def _told(ran: Ran, output: str, limit_ms: float) -> str:
    done = ran.result
    said = (*_cut(done), *_asked(done), *notes(done.state), *ran.said)
    told = "".join(f"[{note}]\n" for note in said)
    shown = output.rstrip("\n") or "(no output)"
    code = shell_exit_code(done.state)
    return f"{_opening(done.state, limit_ms)}{shown}\n\n{told}[Exit code: {code}]"


def _cut(done: Result) -> tuple[str, ...]:
    if not done.tail.cut_bytes:
        return ()
    return (
        f"The first {done.tail.cut_bytes} of {done.tail.total_bytes} bytes of output are left "
        f"out; bash_job with taskId {done.state.spool_id} reads all of it, piece by piece.",
    )


def _asked(done: Result) -> tuple[str, ...]:
    words = question(done, had_input=False)
    return (asked(words),) if words else ()


def _opening(state: JobState, limit_ms: float) -> str:
    if state.status == "aborted":
        return "Command aborted.\n"
    if state.status == "timed_out":
        return (
            f"Command timed out after {limit_ms:.0f} ms. Something in it was still running, or "
            "kept a handle open: a watcher, a server, a test runner that does not exit. Ways on: "
            "a larger timeoutMs; the flag that makes a test runner exit (jest --forceExit, "
            "mocha --exit, vitest run); `timeout 30 ...` around the part that hangs; "
            "background: true for what has to go on. What it had printed:\n"
        )
    return ""


def _details(command: str, done: Result) -> JsonObject:
    state = done.state
    return {
        "command": command,
        "exitCode": shell_exit_code(state),
        "signal": state.signal_name,
        "timedOut": state.status == "timed_out",
        "aborted": state.status == "aborted",
        "durationMs": round(state.duration_sec * 1000),
        "truncated": done.tail.cut_bytes > 0,
        "totalBytes": done.tail.total_bytes,
        "spoolId": state.spool_id,
        "lingering": [str(process) for process in state.lingering],
        "killed": [str(process) for process in state.killed],
    }


TOOL = Tool.planned("bash", Args, plan, run, effect="execute", held_back=True, describe=describe)
