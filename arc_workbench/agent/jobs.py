"""Background jobs of a session: what the shell says of them becomes events, in any thread.

The model is told of each ended job once, in words that begin with `[shell-job]`, unless it has
seen the end already.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.agent.log import EventLog
from arc_workbench.errors import ToolError, TranscriptError
from arc_workbench.events import (
    Event,
    JobEnd,
    JobEnded,
    JobOutput,
    JobStarted,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
)
from arc_workbench.shell import Shell
from arc_workbench.shell.notes import notes
from arc_workbench.shell.plain import plain
from arc_workbench.shell.states import JobBegan, JobNews, JobOver, JobSaid, JobState
from arc_workbench.store.redaction import Stream
from arc_workbench.views import JOB_TAIL_CHARS, JobView

_GONE = "It ended with its session, and no record of its end was left."
_POLLS = frozenset({"bash_job", "shell_job"})


class JobWatch:
    """Puts the jobs of one shell into the record of one session.

    Each job begins and ends there once; its output passes the redactor as one text.
    """

    def __init__(self, shell: Shell, log: EventLog) -> None:
        self._shell = shell
        self._log = log
        self._open: dict[str, Stream] = {}
        self._lock = threading.RLock()
        self._closing = False
        self._stop = shell.listen(self._take)

    def settle(self, job: JobView) -> None:
        """Record the end of a job that ended while nobody listened; a running one is left."""
        try:
            state = self._shell.state_of(job.spool)
        except ToolError:
            self._emit(JobEnded(job=job.id, status="killed", note=_GONE, tell=False))
            return
        if not state.running:
            self._emit(self._end(state, job.id, tell=False))

    def states(self) -> tuple[JobState, ...]:
        """Every job, the newest first."""
        return self._shell.jobs()

    def state(self, job_id: str) -> JobState:
        """One job; `ToolError` for an unknown id."""
        return self._shell.job(job_id)

    def tail(self, job_id: str, max_bytes: int) -> str:
        """The end of a job's output, as plain text without secrets; `ToolError` for an unknown id.

        The model's next look at its news is not changed.
        """
        shown = plain(self._shell.tail(job_id, max_bytes=max_bytes).raw)
        return self._log.redactor.text(shown)

    def kill(self, job_id: str) -> JobState:
        """End a job: asked first, killed after two seconds. `ToolError` for an unknown id."""
        return self._shell.kill(job_id)

    def output(self, job_id: str) -> Path:
        """The file of all it printed, as it was printed; `ToolError` for an unknown id."""
        return self._shell.output_file(self._shell.job(job_id).spool_id)

    def close(self) -> None:
        """End every job; when this returns, the end of each is recorded."""
        with self._lock:
            self._closing = True
        self._shell.close()
        with self._lock:
            left = list(self._open)
        for job in left:
            self._over(self._shell.job(job))
        self._stop()

    def _take(self, news: JobNews) -> None:
        match news:
            case JobBegan(state=state, shown_bytes=shown):
                self._began(state, shown)
            case JobSaid(job_id=job, text=text):
                self._said(job, text)
            case JobOver(state=state):
                self._over(state)

    def _began(self, state: JobState, shown_bytes: int) -> None:
        """The redactor learns what the call has shown: a key may have begun there."""
        stream = self._log.redactor.stream()
        with suppress(ToolError):
            stream.feed(plain(self._shell.before(state.spool_id, shown_bytes)))
        with self._lock:
            self._open[state.job_id] = stream
            self._emit(
                JobStarted(
                    job=state.job_id,
                    spool=state.spool_id,
                    call_id=state.call_id,
                    command=state.command,
                    cwd=state.cwd,
                    sandbox=state.backend,
                    timeout_sec=state.limit_sec,
                    began_at=state.started_at,
                )
            )

    def _said(self, job: str, text: str) -> None:
        with self._lock:
            stream = self._open.get(job)
            clear = stream.feed(text) if stream is not None else ""
            if clear:
                self._emit(JobOutput(job=job, text=clear, bytes=self._bytes(job)))

    def _over(self, state: JobState) -> None:
        with self._lock:
            if state.job_id not in self._open:
                return
            rest = self._open.pop(state.job_id).end()
            if rest:
                self._emit(JobOutput(job=state.job_id, text=rest, bytes=state.total_bytes))
            self._emit(self._end(state, state.job_id, tell=not self._closing))

    def _end(self, state: JobState, job: str, *, tell: bool) -> JobEnded:
        return JobEnded(
            job=job,
            status=_end_of(state),
            exit_code=state.exit_code,
            signal=state.signal_name,
            duration_sec=round(state.duration_sec, 3),
            bytes=state.total_bytes,
            lost=state.lost_from is not None,
            limit=state.limit,
            note=" ".join(notes(state)),
            tail=self._tail(job),
            tell=tell,
        )

    def _tail(self, job: str) -> str:
        try:
            return plain(self._shell.tail(job, max_bytes=JOB_TAIL_CHARS).raw)
        except ToolError:
            return ""

    def _bytes(self, job: str) -> int:
        try:
            return self._shell.job(job).total_bytes
        except ToolError:
            return 0

    def _emit(self, event: Event) -> None:
        """What cannot be recorded is shown at least; the next step of a turn meets the fault."""
        try:
            self._log.emit(event)
        except TranscriptError:
            self._log.tell_unrecorded(event)


def _end_of(state: JobState) -> JobEnd:
    return "killed" if state.status == "running" else state.status


@dataclass
class EndedJobs:
    """Folded from events: which ends the model must still be told of.

    `seen` are jobs whose end it was shown by a tool.
    """

    _started: dict[str, JobStarted] = field(default_factory=dict[str, JobStarted])
    _tools: dict[str, str] = field(default_factory=dict[str, str])
    _seen: set[str] = field(default_factory=set[str])
    _waiting: dict[str, str] = field(default_factory=dict[str, str])

    def apply(self, event: Event) -> tuple[str, ...]:
        """Take one event in; what the model is told with the step that begins now."""
        match event:
            case ToolCallStarted():
                self._tools[event.call_id] = event.name
            case JobStarted():
                self._started[event.job] = event
            case JobEnded(tell=True) if event.job not in self._seen:
                self._waiting[event.job] = self._told(event)
            case ToolCallFinished(name=name) if name in _POLLS:
                self._look(event)
            case StepStarted():
                told = tuple(self._waiting.values())
                self._waiting.clear()
                return told
            case _:
                pass
        return ()

    def _look(self, event: ToolCallFinished) -> None:
        """What the model has seen of jobs in the result of a call."""
        details = event.result.details
        listed = details.get("tasks")
        for shown in listed if isinstance(listed, list) else [details]:
            if not isinstance(shown, dict):
                continue
            job = shown.get("job_id") or shown.get("taskId")
            running = shown.get("running") is True or shown.get("status") == "running"
            if isinstance(job, str) and not running and not event.result.is_error:
                self._seen.add(job)
                self._waiting.pop(job, None)

    def _told(self, ended: JobEnded) -> str:
        started = self._started.get(ended.job)
        by_bash = started is not None and self._tools.get(started.call_id) == "bash"
        spool = f"shell_output spool_id {started.spool}" if started is not None else "shell_output"
        where = f"bash_job taskId {ended.job}" if by_bash else spool
        how = "no exit code" if ended.exit_code is None else f"exit code {ended.exit_code}"
        if ended.signal is not None:
            how = f"killed by {ended.signal}"
        return (
            f"[shell-job] {ended.job} {_word(ended.status)}: {how} after "
            f"{ended.duration_sec:.1f} s, {ended.bytes:,} bytes of output; read it with {where}"
        )


def _word(status: JobEnd) -> str:
    """The word of the page: it knows no job that was ended for any other reason than these."""
    return status if status in ("completed", "failed", "timed_out") else "killed"
