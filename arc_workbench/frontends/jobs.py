"""The words of background jobs, the same in every front end."""

import signal
from collections.abc import Iterable

from arc_workbench.frontends import words
from arc_workbench.frontends.odd import escaped
from arc_workbench.shell.notes import notes
from arc_workbench.shell.states import JobState
from arc_workbench.views import JobView

MAX_COMMAND = 200
NO_JOBS = "No jobs. A command in the background becomes one."
LOST = "not all of its output was kept"
NOW = "As things stand: "

_WARNED = ("warn", "!")
_MARKS = {
    "running": ("running", "\u2026"),
    "completed": ("done", "\u2713"),
    "failed": ("failed", "\u2717"),
    "timed_out": ("failed", "\u2717"),
    "limited": _WARNED,
    "killed": ("aborted", "\u25a0"),
    "aborted": ("aborted", "\u25a0"),
}


def view_of(state: JobState, tail: str = "") -> JobView:
    """A job as a front end shows it, from what the shell knows of it."""
    return JobView(
        id=state.job_id,
        spool=state.spool_id,
        command=state.command,
        cwd=state.cwd,
        call_id=state.call_id,
        sandbox=state.backend,
        timeout_sec=state.limit_sec,
        status=state.status,
        exit_code=state.exit_code,
        signal=state.signal_name,
        started_at=state.started_at,
        duration_sec=state.duration_sec,
        bytes=state.total_bytes,
        tail=tail,
        lost=state.lost_from is not None,
        limit=state.limit,
        note=" ".join(notes(state)),
    )


def title(job: JobView) -> str:
    """The first words of its card: `Job 2, ended: exit 0`."""
    return f"Job {job.id.removeprefix('j')}, {_ended(job)}"


def _ended(job: JobView) -> str:
    match job.status:
        case "completed" | "failed":
            return f"ended by {_signal(job.signal)}" if job.signal else f"ended: {job.state}"
        case "timed_out":
            return f"timed out after {words.duration(job.duration_sec)}"
        case "limited":
            return _limited(job.limit)
        case "running" | "killed" | "aborted":
            return job.state


def _limited(limit: str) -> str:
    if limit == "supervisor":
        return "ended, since what watched over it was killed"
    return f"ended at the {limit} limit" if limit else "ended at a limit"


def _signal(name: str) -> str:
    """ "signal 11 (SIGSEGV)"; the number as it is on this machine."""
    known = signal.Signals.__members__.get(name)
    return f"signal {known.value} ({name})" if known is not None else f"signal {name}"


def mark(job: JobView) -> tuple[str, str]:
    """The kind of its mark, and the character; a warning where not all is as it seems."""
    return _WARNED if job.lost and job.status == "completed" else _MARKS[job.status]


def row(job: JobView, *, earlier: bool = False) -> str:
    """One line: `j1  running  make docs`; no clock, no size."""
    cells = [job.id, job.state, command(job.command)]
    return "  ".join([*cells, *(["of an earlier kernel"] if earlier else [])])


def began(job: JobView) -> str:
    """The line of a terminal when a job begins."""
    return f"{job.id} runs in the background: {command(job.command)}"


def over(job: JobView) -> str:
    """The line of a terminal when a job has ended."""
    return f"{job.id} {job.state}: {command(job.command)}"


def command(text: str) -> str:
    """A command as one line of a bounded length."""
    line = " ".join(text.split())
    cut = len(line) - MAX_COMMAND
    shown = escaped(line[:MAX_COMMAND], "action")
    return f"{shown}... {words.plural(cut, 'more character')}" if cut > 0 else shown


def facts(job: JobView, step: int = 0) -> list[str]:
    """What stands under the first line of a card."""
    parts = [words.size(job.bytes)]
    if job.sandbox:
        parts.append(f"confined by {job.sandbox}")
    if step:
        parts.append(f"started by step {step}")
    if job.note:
        parts.append(job.note)
    elif job.lost:
        parts.append(LOST)
    return parts


def table(jobs: Iterable[tuple[JobView, bool]]) -> str:
    """All jobs, a line each; the second of a pair says whether an earlier kernel had it."""
    return "\n".join(row(job, earlier=earlier) for job, earlier in jobs) or NO_JOBS
