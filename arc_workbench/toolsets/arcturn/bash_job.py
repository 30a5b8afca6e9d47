"""`bash_job`, by which a model looks at background commands of `bash` and ends them."""

import re

from pydantic import Field

from arc_workbench.content import JsonObject, Output, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import KEPT_BYTES, JobState, Tail, notes, plain
from arc_workbench.shell.notes import how_it_ended
from arc_workbench.tools.commands import shown, task_facts
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Tool, ToolContext

_SPOOL = re.compile(r"(s\d+)(?:@(\d+))?")


class Args(ExactArgs):
    """Look at the background tasks of bash, or end one.

    Without taskId: all of them, the newest first. With the id of a task (j1): how it stands and
    what it has printed since the last look, the last 50 KiB of it; kill: true ends it first (asked
    to end, killed after 2 seconds). With the id of an output (s3, or s3@51200 to go on at that
    byte): the next 50 KiB of all that a command of bash has printed, for output that was left out.
    Do other work between looks: a notice that begins with [shell-job] comes when a task has ended.
    """

    task_id: Omittable[str] = Field(
        None, alias="taskId", description="a task, j1, or an output, s3 or s3@51200"
    )
    kill: Omittable[bool] = Field(None, description="end the task first")

    def subject(self) -> str:
        """What is looked at, or ended."""
        return f"{'end ' * bool(self.kill)}{self.task_id or ''}"


def run(args: Args, ctx: ToolContext) -> ToolResult:
    if args.task_id is None:
        if args.kill:
            raise ToolError(
                "Say in taskId which task to end; nothing was done. Leave out kill to list."
            )
        return _listed(ctx.shell.jobs())
    spool = _SPOOL.fullmatch(args.task_id)
    if spool is None:
        state = ctx.shell.kill(args.task_id) if args.kill else ctx.shell.job(args.task_id)
        return _looked_at(state, ctx.shell.news(state.job_id))
    if args.kill:
        raise ToolError(f"{args.task_id} is an output, not a task; nothing was done.")
    return _piece(spool[1], int(spool[2] or 0), ctx)


def _listed(jobs: tuple[JobState, ...]) -> ToolResult:
    lines = [
        f"{state.job_id}  {how_it_ended(state)}  {_figures(state)}  {_line(state)}"
        for state in jobs
    ]
    return ToolResult.of_text(
        "\n".join(lines) or "No background task has been started.",
        note=f"{len(jobs)} tasks" if len(jobs) != 1 else "1 task",
        tasks=[task_facts(state) for state in jobs],
    )


def _looked_at(state: JobState, news: Tail) -> ToolResult:
    block = shown(news)
    head = f"{state.job_id} ({_line(state)}): {how_it_ended(state)}, {_figures(state)}"
    output = block.text.rstrip("\n") or "(no new output)"
    told = "".join(f"[{note}]\n" for note in (*_cut(state, news), *notes(state)))
    code = f"[Exit code: {state.exit_code}]" if state.exit_code is not None else ""
    details: JsonObject = {
        **task_facts(state),
        "output": block.text,
        "outputTruncated": news.cut_bytes > 0,
    }
    return ToolResult.of_text(
        f"{head}\n{output}\n\n{told}{code}".rstrip("\n"),
        note=how_it_ended(state),
        display=(block,),
    ).model_copy(update={"details": details})


def _piece(spool_id: str, offset: int, ctx: ToolContext) -> ToolResult:
    found = ctx.shell.piece(spool_id, offset, KEPT_BYTES)
    after = offset + found.size
    text = plain(found.text)
    ending = "the end" if found.eof else f"go on with taskId {spool_id}@{after}"
    shown_text = text.rstrip("\n") or "(nothing)"
    details: JsonObject = {
        "spoolId": spool_id,
        "offset": offset,
        "bytes": found.size,
        "output": text,
        "eof": found.eof,
    }
    return ToolResult.of_text(
        f"{shown_text}\n\n[Bytes {offset} to {after} of {spool_id}; {ending}.]",
        note=f"{found.size:,} bytes",
        display=(Output(text=text),),
    ).model_copy(update={"details": details})


def _figures(state: JobState) -> str:
    return f"{state.duration_sec:.1f} s, {state.total_bytes:,} bytes, output {state.spool_id}"


def _line(state: JobState) -> str:
    line = " ".join(state.command.split())
    return line if len(line) <= 80 else f"{line[:79]}…"


def _cut(state: JobState, news: Tail) -> tuple[str, ...]:
    if not news.cut_bytes:
        return ()
    return (
        f"The first {news.cut_bytes} of {news.total_bytes} new bytes are left out; bash_job with "
        f"taskId {state.spool_id} reads all of it, piece by piece.",
    )


TOOL = Tool("bash_job", Args, run, effect="session", offered_as="execute")
