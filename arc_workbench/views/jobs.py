"""Background jobs as a person sees them, over all turns and between them."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal, Self

from arc_workbench.events import Event, JobEnd, JobEnded, JobOutput, JobStarted

JOB_TAIL_CHARS = 8_000

JobStatus = Literal["running"] | JobEnd


@dataclass
class JobView:
    """One background job: its card.

    `started_at` and `ended_at` are seconds since the epoch, for people only; `ended_at` is 0 while
    it runs, and `duration_sec` is known once it is over. `tail` are the last characters of its
    output, which is not whole where some was `lost`; `bytes` is all it has printed. `timeout_sec`
    is None where it has no limit of its own, and `limit` what a job that was `limited` ran into.
    """

    id: str
    spool: str
    command: str
    cwd: str
    call_id: str = ""
    sandbox: str = ""
    timeout_sec: float | None = None
    status: JobStatus = "running"
    exit_code: int | None = None
    signal: str | None = None
    started_at: float = 0.0
    ended_at: float = 0.0
    duration_sec: float = 0.0
    bytes: int = 0
    tail: str = ""
    lost: bool = False
    limit: str = ""
    note: str = ""

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.status == "running"

    @property
    def state(self) -> str:
        """How it stands, in a word or two: `running`, `exit 1`, `timed out`, `memory limit`."""
        match self.status:
            case "completed" | "failed":
                return self.signal or f"exit {self.exit_code}"
            case "killed" | "aborted":
                return "stopped"
            case "timed_out":
                return "timed out"
            case "limited":
                named = self.limit and self.limit != "supervisor"
                return f"{self.limit} limit" if named else "limited"
            case "running":
                return self.status


@dataclass
class JobBoard:
    """Every background job of a session by its id, in the order they began."""

    jobs: dict[str, JobView] = field(default_factory=dict[str, JobView])

    def fold(self, event: Event) -> JobView | None:
        """Apply one event; the job that it changed, or None."""
        match event:
            case JobStarted():
                return self._begin(event)
            case JobOutput():
                job = self.jobs.get(event.job)
                if job is not None:
                    job.tail = (job.tail + event.text)[-JOB_TAIL_CHARS:]
                    job.bytes = max(job.bytes, event.bytes)
                return job
            case JobEnded():
                job = self.jobs.get(event.job)
                if job is not None:
                    _end(job, event)
                return job
            case _:
                return None

    @property
    def running(self) -> list[JobView]:
        """The jobs that have not ended, the oldest first."""
        return [job for job in self.jobs.values() if job.running]

    def copy(self) -> Self:
        """The board as it is now, to fold further events into."""
        return deepcopy(self)

    def _begin(self, event: JobStarted) -> JobView:
        job = JobView(
            id=event.job,
            spool=event.spool,
            command=event.command,
            cwd=event.cwd,
            call_id=event.call_id,
            sandbox=event.sandbox,
            timeout_sec=event.timeout_sec,
            started_at=event.began_at or event.at,
        )
        self.jobs[job.id] = job
        return job


def _end(job: JobView, event: JobEnded) -> None:
    job.status, job.exit_code, job.signal = event.status, event.exit_code, event.signal
    job.duration_sec, job.ended_at = event.duration_sec, job.started_at + event.duration_sec
    job.bytes, job.note = event.bytes, event.note
    job.lost, job.limit = event.lost, event.limit
    job.tail = event.tail[-JOB_TAIL_CHARS:]
