"""Arcturn's `bash`."""

import math

from pydantic import Field, JsonValue

from arc_workbench.content import Command, Output, Text, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import KEPT_BYTES, Finished, notes, shell_words
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext

_DEFAULT_MS = 120_000
_MAX_MS = 600_000


class Args(ExactArgs):
    """Run one command line and wait for its end."""

    command: str = Field(min_length=1, description="the command line to run")
    timeout_ms: Omittable[float] = Field(
        None,
        alias="timeoutMs",
        description="milliseconds after which the command is killed; default 120000, max 600000",
    )
    background: Omittable[bool] = Field(
        None, description="run as a background job (not available yet)"
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
        "off. Variables that hold secrets, by their name or value, are not set. What the command "
        "started is ended with it, so nothing stays in the background; only a daemon that leaves "
        "its parent and session and clears its environment can escape, so start none. After "
        f"timeoutMs (default {_DEFAULT_MS}, at most {_MAX_MS}) all of it is killed and what it had "
        "printed is returned."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[str]:
    if args.background:
        raise ToolError(
            "Background jobs are not available yet; nothing ran. Run the command without "
            "background, bounded by timeoutMs."
        )
    ctx.shell.check(args.command)
    cwd = str(ctx.shell.directory(str(ctx.cwd)))
    return Planned(
        what=cwd,
        subject=args.command,
        description=f"Run a command in {cwd}",
        display=(Command(command=args.command, cwd=cwd),),
        binds={"cwd": cwd},
        suggested_rule=args.command,
    )


def run(args: Args, ctx: ToolContext, cwd: str) -> ToolResult:
    done = ctx.shell.run(
        args.command,
        cwd=ctx.shell.directory(cwd),
        timeout_sec=args.limit_ms / 1000,
        signal=ctx.signal,
        on_output=ctx.on_update,
    )
    return ToolResult(
        content=(Text(text=_told(done, args.limit_ms)),),
        is_error=done.status != "completed",
        display=(Output(text=done.text, cut_bytes=done.cut_bytes),),
        note=_row(done),
        details=_details(args.command, done),
    )


def _told(done: Finished, limit_ms: float) -> str:
    output = done.text.rstrip("\n") or "(no output)"
    told = "".join(f"[{note}]\n" for note in notes(done))
    return f"{_opening(done, limit_ms)}{output}\n\n{told}[Exit code: {done.shell_exit_code}]"


def _opening(done: Finished, limit_ms: float) -> str:
    if done.status == "aborted":
        return "Command aborted.\n"
    if done.status == "timed_out":
        return (
            f"Command timed out after {limit_ms:.0f} ms. Something in it was still running, or "
            "kept a handle open: a watcher, a server, a test runner that does not exit. Ways on: "
            "a larger timeoutMs; the flag that makes a test runner exit (jest --forceExit, "
            "mocha --exit, vitest run); `timeout 30 ...` around the part that hangs. "
            "What it had printed:\n"
        )
    return ""


def _row(done: Finished) -> str:
    if done.status in ("completed", "failed"):
        return done.signal_name or f"exit {done.exit_code}"
    return {"timed_out": "timed out", "aborted": "aborted"}.get(done.status, "too much output")


def _details(command: str, done: Finished) -> dict[str, JsonValue]:
    return {
        "command": command,
        "exitCode": done.shell_exit_code,
        "signal": done.signal_name,
        "timedOut": done.status == "timed_out",
        "aborted": done.status == "aborted",
        "durationMs": round(done.duration_sec * 1000),
        "truncated": done.cut_bytes > 0,
        "totalBytes": done.total_bytes,
        "lingering": [str(process) for process in done.lingering],
        "killed": [str(process) for process in done.killed],
    }


TOOL = Tool.planned("bash", Args, plan, run, effect="execute", describe=describe)
