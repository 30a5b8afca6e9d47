"""All commands of a session: their ids, their folders, and those that run in the background."""

import logging
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from arc_workbench.errors import ToolError
from arc_workbench.shell import records
from arc_workbench.shell.jobs import Job
from arc_workbench.shell.output import Live
from arc_workbench.shell.spool import Output
from arc_workbench.shell.states import (
    MAX_JOBS,
    JobBegan,
    JobNews,
    JobOver,
    JobSaid,
    JobSink,
    JobState,
)
from arc_workbench.supervisor.order import OUTPUT

_PAUSE_SEC = 0.1
_log = logging.getLogger(__name__)
_KEPT_SPOOLS = 300
_KEPT_BYTES = 4 << 30


@dataclass
class Known:
    """A command that is over, or that another process ran: its record and its output."""

    state: JobState
    output: Output


@dataclass(eq=False)
class JobTable:
    """Commands by their ids; `folder` keeps a folder for each, `None` a scratch one.

    May be used from any thread.
    """

    folder: Path | None = None
    _past: dict[str, Known] = field(default_factory=dict[str, Known])
    _running: dict[str, Job] = field(default_factory=dict[str, Job])
    _sinks: list[JobSink] = field(default_factory=list[JobSink])
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _followers: list[threading.Thread] = field(default_factory=list[threading.Thread])

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._scratch: Path | None = None
        past = records.recorded(self.folder) if self.folder is not None else ()
        for state in past:
            output = Output(self.place_of(state.spool_id) / OUTPUT)
            self._past[state.spool_id] = Known(state, output)
        self._spools = max((records.number_of(state.spool_id) for state in past), default=0)
        self._jobs = max((records.number_of(state.job_id) for state in past), default=0)

    # ---- ids and folders --------------------------------------------------------------------

    def new_spool(self) -> tuple[str, Path]:
        """An id that was never given, and an empty folder for it.

        Raises `ToolError` where none can be made.
        """
        with self._lock:
            self._make_room()
            for _ in range(1000):
                self._spools += 1
                spool_id = f"s{self._spools}"
                try:
                    self.place_of(spool_id).mkdir(mode=0o700, parents=True)
                except FileExistsError:
                    continue
                except OSError as fault:
                    raise ToolError(
                        f"The command could not be started: its output cannot be kept ({fault})."
                    ) from fault
                return spool_id, self.place_of(spool_id)
            raise ToolError("The command could not be started: there is no name for its output.")

    def place_of(self, spool_id: str) -> Path:
        """The folder of one command."""
        return self._home / spool_id

    def own_folder(self) -> Path:
        """Where all of this lies, with the folders `scratch` and `aside` of a sandbox."""
        for name in ("scratch", "aside"):
            (self._home / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._home

    @property
    def _home(self) -> Path:
        if self.folder is not None:
            return self.folder
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="arc-shell-"))
            weakref.finalize(self, _remove, self._scratch, os.getpid())
        return self._scratch

    def _make_room(self) -> None:
        """Forget the oldest outputs of the foreground where there are very many."""
        ended = [
            known
            for known in self._past.values()
            if not known.state.job_id and not known.state.running
        ]
        size = sum(known.output.size for known in ended)
        for known in ended:
            if len(ended) <= _KEPT_SPOOLS and size <= _KEPT_BYTES:
                return
            size -= known.output.size
            ended = ended[1:]
            del self._past[known.state.spool_id]
            rmtree(self.place_of(known.state.spool_id), ignore_errors=True)

    # ---- looking ----------------------------------------------------------------------------

    def jobs(self) -> tuple[JobState, ...]:
        """The background jobs, the newest first."""
        with self._lock:
            states = [job.state for job in self._running.values()]
            states += [self._told(known) for known in self._past.values()]
        named = [state for state in states if state.job_id]
        return tuple(sorted(named, key=lambda state: -records.number_of(state.job_id)))

    def job(self, job_id: str) -> JobState:
        """One background job; `ToolError` for an unknown id."""
        for state in self.jobs():
            if state.job_id == job_id:
                return state
        known = ", ".join(state.job_id for state in self.jobs()) or "none"
        raise ToolError(f"There is no job {job_id}. Jobs: {known}.")

    def state_of(self, spool_id: str) -> JobState:
        """One command by the id of its output; `ToolError` for an unknown one."""
        with self._lock:
            running = self._running.get(spool_id)
            if running is not None:
                return running.state
            known = self._past.get(spool_id)
        if known is None:
            raise ToolError(
                f"There is no output {spool_id}. Take spool_id from the result of the command; the "
                "oldest outputs are forgotten."
            )
        return self._told(known)

    def _told(self, known: Known) -> JobState:
        """What its record says now: one of an earlier process may have been about to end."""
        if known.state.running:
            known.state = records.read(known.output.path.parent) or known.state
        return known.state

    def output_of(self, spool_id: str) -> Output:
        """Where its output lies."""
        self.state_of(spool_id)
        return Output(self.place_of(spool_id) / OUTPUT)

    def require_room(self) -> None:
        """Raise `ToolError` where as many jobs run as may (message 29)."""
        running = [state.job_id for state in self.jobs() if state.running]
        if len(running) >= MAX_JOBS:
            named = ", ".join(reversed(running))
            raise ToolError(
                f"Four jobs run ({named}); this one did not start. Wait for one of them to end, or "
                f"end one: %agent jobs kill {running[-1]}",
                details={"jobs": list(reversed(running))},
            )

    def cursor(self, job_id: str) -> int:
        """How much of a job's output was handed out as news."""
        return self._seen.get(job_id, 0)

    def move_cursor(self, job_id: str, offset: int) -> None:
        """So much of it was."""
        self._seen[job_id] = offset

    # ---- running ----------------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """A command that runs now."""
        with self._lock:
            self._running[job.state.spool_id] = job

    def settle(self, job: Job) -> None:
        """It is over: only its record is kept."""
        with self._lock:
            state = job.state
            if self._running.pop(state.spool_id, None) is not None:
                self._past[state.spool_id] = Known(state, job.output)

    def drop(self, job: Job) -> None:
        """It never ran: nothing of it is kept."""
        with self._lock:
            self._running.pop(job.state.spool_id, None)
        rmtree(job.folder, ignore_errors=True)

    def to_background(self, job: Job) -> JobState | None:
        """Give it an id and follow it from a thread of its own; None where there is no room."""
        with self._lock:
            if sum(1 for state in self.jobs() if state.running) >= MAX_JOBS:
                return None
            self._jobs += 1
            job.name(f"j{self._jobs}")
        state = job.state
        self._tell(JobBegan(state, job.handed_on))
        thread = threading.Thread(target=self._follow, args=(job,), name=state.job_id, daemon=True)
        self._followers.append(thread)
        thread.start()
        return state

    def wait_for_followers(self, seconds: float) -> None:
        """Until everybody was told of the end of every job."""
        for thread in self._followers:
            if thread is not threading.current_thread():
                thread.join(seconds)

    def _follow(self, job: Job) -> None:
        job_id = job.state.job_id
        live = Live(lambda text: self._tell(JobSaid(job_id, text)), _PAUSE_SEC)
        with suppress(ToolError):
            job.follow(lambda: False, live)
        self.settle(job)
        self._tell(JobOver(job.state))

    def running(self, job_id: str) -> Job | None:
        """The job while it runs."""
        with self._lock:
            for job in self._running.values():
                if job.state.job_id == job_id:
                    return job
        return None

    def end_all(self, seconds: float) -> None:
        """Kill everything that runs, and wait for it for so long."""
        with self._lock:
            running = list(self._running.values())
        for job in running:
            job.tell_to_end("killed" if job.state.job_id else "aborted")
        for job in running:
            job.wait_over(seconds)

    def forget_scratch(self) -> None:
        """Take the scratch folder away."""
        if self._scratch is not None:
            rmtree(self._scratch, ignore_errors=True)
            self._scratch = None

    # ---- telling ----------------------------------------------------------------------------

    def listen(self, sink: JobSink) -> Callable[[], None]:
        """Hand all news of background jobs to `sink`; returns the function that ends it."""
        self._sinks.append(sink)

        def stop() -> None:
            with suppress(ValueError):
                self._sinks.remove(sink)

        return stop

    def _tell(self, news: JobNews) -> None:
        for sink in tuple(self._sinks):
            try:
                sink(news)
            except Exception:
                _log.exception("A listener failed on news of a job")


def _remove(folder: Path, owner: int) -> None:
    """Take a scratch folder away, unless it is that of the process this one was forked from."""
    if owner == os.getpid():
        rmtree(folder, ignore_errors=True)
