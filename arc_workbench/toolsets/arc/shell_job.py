"""Arc's `shell_job`."""

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.shell import JobState, Tail, notes
from arc_workbench.shell.notes import how_it_ended
from arc_workbench.tools.commands import shown
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Tool, ToolContext

_TAIL_BYTES = 2048


class Args(ExactArgs):
    """Look at one background job that shell_exec started.

    Returns JSON: status (running, completed, failed, timed_out or killed), exit_code,
    duration_sec, spool_id, job_id, and output: what was printed since the last look. With
    tail=true it is the last 2 KiB again, and the next look still gets what is new. All of it is
    read with shell_output. Do other work between looks: a notice that begins with [shell-job]
    comes when the job has ended.
    """

    job_id: str
    tail: Omittable[bool] = None

    def subject(self) -> str:
        """The job that is looked at."""
        return self.job_id


def run(args: Args, ctx: ToolContext) -> ToolResult:
    state = ctx.shell.job(args.job_id)  # before its output: what has ended prints no more
    if args.tail:
        output = ctx.shell.tail(args.job_id, max_bytes=_TAIL_BYTES)
    else:
        output = ctx.shell.news(args.job_id)
    block = shown(output)
    told: JsonObject = {
        "status": status_of(state),
        "exit_code": state.exit_code,
        "duration_sec": round(state.duration_sec, 3),
        "spool_id": state.spool_id,
        "job_id": state.job_id,
        "output": block.text,
    }
    said = " ".join((*_cut(state, output, again=bool(args.tail)), *notes(state)))
    if said:
        told["note"] = said
    return ToolResult.of_json(told, note=how_it_ended(state), display=(block,))


def status_of(state: JobState) -> str:
    """The word of the page for how a command stands."""
    return "killed" if state.status in ("aborted", "limited") else state.status


def _cut(state: JobState, output: Tail, *, again: bool) -> tuple[str, ...]:
    if again or not output.cut_bytes:
        return ()
    return (
        f"The first {output.cut_bytes} of {output.total_bytes} new bytes are left out; "
        f"shell_output with spool_id {state.spool_id} reads all of it.",
    )


TOOL = Tool("shell_job", Args, run, effect="session", offered_as="execute", direct=False)
