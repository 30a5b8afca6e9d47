"""Commands of the project's shell: supervised, kept within bounds, ended with all they started."""

import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell.at_exit import AT_EXIT
from arc_workbench.shell.environment import child_environment
from arc_workbench.shell.jobs import Job
from arc_workbench.shell.notes import notes
from arc_workbench.shell.output import Live
from arc_workbench.shell.plain import plain
from arc_workbench.shell.platform import interpreter
from arc_workbench.shell.records import about, recorded, signal_number
from arc_workbench.shell.sandbox import Confinement, probe
from arc_workbench.shell.sandbox_session import Cage, Sandbox
from arc_workbench.shell.states import (
    KEPT_BYTES,
    MAX_JOBS,
    JobBegan,
    JobNews,
    JobOver,
    JobSaid,
    JobSink,
    JobState,
    Limit,
    Range,
    Result,
    SandboxMode,
    Status,
    Survivor,
    Tail,
)
from arc_workbench.shell.supervision import SUPERVISORS
from arc_workbench.shell.table import JobTable
from arc_workbench.shell.usual import usual_limits
from arc_workbench.supervisor.limits import Limits
from arc_workbench.supervisor.order import OrderJson

__all__ = [
    "KEPT_BYTES",
    "MAX_JOBS",
    "Guarded",
    "JobBegan",
    "JobNews",
    "JobOver",
    "JobSaid",
    "JobSink",
    "JobState",
    "Limit",
    "Limits",
    "Range",
    "Result",
    "SandboxMode",
    "Shell",
    "Status",
    "Survivor",
    "Tail",
    "notes",
    "plain",
    "recorded",
    "shell_words",
    "signal_number",
    "usual_limits",
]

WhenOver = Callable[[str], str]

_MAX_OUTPUT_BYTES = 1 << 30
_TAIL_BYTES = 2048
_HANGS = 2
_END_SEC = 5.0


@dataclass(frozen=True)
class Guarded:
    """What a sandbox keeps from being written inside the project.

    `state` are folders of ours; `is_protected` says it of a name by its parts.
    """

    state: tuple[Path, ...] = ()
    is_protected: Callable[[Sequence[str]], bool] = lambda parts: False


def shell_words() -> str:
    """What runs commands on this machine, as a tool's description says it."""
    return interpreter(os.name, os.environ).described


class _Settled:
    """What must happen once when a command is over, or could not begin."""

    def __init__(self, when_over: WhenOver | None) -> None:
        self.cage: Cage | None = None
        self.spool_id = ""
        self._when_over = when_over

    def __call__(self) -> str:
        """Do it; what is to be noted of it."""
        said: list[str] = []
        when_over, self._when_over = self._when_over, None
        cage, self.cage = self.cage, None
        for act in (
            cage.settled if cage is not None else None,
            partial(when_over, self.spool_id) if when_over is not None else None,
        ):
            try:
                said.append(act() if act is not None else "")
            except (ToolError, OSError) as fault:
                said.append(str(fault))
        return " ".join(filter(None, said))


class Shell:
    """Runs commands in the folder `root` with what `environment` holds, secrets left out.

    Each command has a folder below `spools` (a scratch one for None) with its whole output, up to
    `max_output_bytes`, and a record; `redact` is applied to what the record says of the command.
    `portable` finds processes without the help of Linux, as other systems must. `sandbox` is how
    commands are confined; `guarded` what that needs to know of the project.
    """

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str],
        *,
        spools: Path | None = None,
        max_output_bytes: int = _MAX_OUTPUT_BYTES,
        limits: Limits | None = None,
        redact: Callable[[str], str] = str,
        portable: bool = False,
        sandbox: SandboxMode = "off",
        guarded: Guarded | None = None,
    ) -> None:
        self.root = root
        self._interpreter = interpreter(os.name, environment)
        self._environment = child_environment(environment, os.name)
        self._max_output_bytes = max_output_bytes
        self._limits = limits
        self._redact = redact
        self._portable = portable
        self._closed = threading.Event()
        self._table = JobTable(spools)
        self._timed_out: Counter[str] = Counter()
        self.sandbox: SandboxMode = sandbox
        self._guarded = guarded or Guarded()
        self._cages: Sandbox | None = None
        self._preparing = threading.Lock()
        AT_EXIT.add(self)

    # ---- facts ------------------------------------------------------------------------------

    @property
    def program(self) -> str:
        """The program that reads the commands."""
        return self._interpreter.program

    @property
    def passed(self) -> tuple[str, ...]:
        """Names of the variables that commands get."""
        return tuple(sorted(self._environment.values))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of variables that commands do not get because they look or hold secret."""
        return self._environment.left_out

    def directory(self, cwd: str | None) -> Path:
        """The folder a command is to run in: relative to the root, or any absolute one.

        Raises `ToolError` when there is no such folder.
        """
        folder = self.root / cwd if cwd else self.root
        try:
            if folder.is_dir():
                return folder.resolve()
            problem = "is not a folder" if folder.exists() else "does not exist"
        except OSError as fault:
            problem = f"cannot be used ({fault.strerror})"
        raise ToolError(f"{folder} {problem}; name an existing folder as the working directory.")

    def check(self, command: str) -> None:
        """Raises `ToolError` for what no shell can be given."""
        if not command.strip():
            raise ToolError("The command is empty; nothing ran. Name a program to run.")
        if "\0" in command:
            raise ToolError("The command holds a NUL character; nothing ran. Take it out.")

    def require_sandbox(self, *, dry_run: bool = False) -> None:
        """Raise `ToolError` where commands must be confined and nothing here can do that."""
        if self.sandbox != "required" and not dry_run:
            return
        backends = probe()
        if not backends.bubblewrap:
            wanted = "A dry run is on" if dry_run else "A sandbox is required"
            raise ToolError(
                f"{wanted}, and none works here ({backends.why_not}); nothing ran. "
                "See %agent doctor."
            )

    def refuse_hanging(self, command: str) -> None:
        """Raise `ToolError` for a command that was timed out twice in a row (message 31)."""
        count = self._timed_out[_same(command)]
        if count >= _HANGS:
            raise ToolError(
                f"{_first_line(command)} timed out twice; not run again. Narrow it, bound its "
                "parts with `timeout 30 ...`, or make it a background job.",
                details={"timeoutCount": count},
            )

    # ---- running ----------------------------------------------------------------------------

    def run(
        self,
        command: str,
        *,
        cwd: Path | None = None,
        timeout_sec: float,
        stdin_text: str | None = None,
        signal: threading.Event | None = None,
        on_output: Callable[[str], None] | None = None,
        block_budget_sec: float | None = None,
        call_id: str = "",
        overlay: Path | None = None,
        when_over: WhenOver | None = None,
    ) -> Result:
        """Run `command` and wait; to be called in a worker thread.

        With `block_budget_sec` it becomes a background job when it still runs after so long, and
        the state that is returned says `running`. `signal` and `close` abort it within 50 ms. With
        `overlay` that folder stands where the project is, and nothing of the project is written.
        `when_over` is called once with the id of the output when the command has ended, and before
        anybody hears of that; what it says is added to the state's note.
        `on_output` gets plain text while it runs. Nothing of it is alive afterwards. Raises
        `ToolError` when it cannot start.
        """
        began = time.monotonic()
        job = self._begin(command, cwd, timeout_sec, stdin_text, call_id, overlay, when_over)
        live = Live(on_output) if on_output else None
        until = None
        if block_budget_sec is not None and block_budget_sec < timeout_sec:
            until = began + block_budget_sec

        def stop() -> bool:
            return self._closed.is_set() or (signal is not None and signal.is_set())

        try:
            if not job.follow(stop, live, until):
                state = self._table.to_background(job)
                if state is not None:
                    return Result(state, job.output.tail(KEPT_BYTES))
                job.follow(stop, live)
        except ToolError:
            self._table.drop(job)
            raise
        finally:
            if job.over.is_set():
                self._table.settle(job)
        self._count_hangs(command, job.state)
        return Result(job.state, job.output.tail(KEPT_BYTES))

    def start(
        self,
        command: str,
        *,
        cwd: Path | None = None,
        timeout_sec: float | None = None,
        call_id: str = "",
        when_over: WhenOver | None = None,
    ) -> JobState:
        """Run `command` in the background, without a limit of time for None; see `run`.

        Raises `ToolError` when it cannot start, or when four jobs run.
        """
        job = self._begin(command, cwd, timeout_sec, None, call_id, None, when_over, room=True)
        try:
            job.wait_for_start()
        except ToolError:
            self._table.drop(job)
            raise
        state = self._table.to_background(job)
        if state is None:
            job.tell_to_end("aborted")
            job.wait()
            self._table.drop(job)
            self.require_room()
            raise ToolError("Four jobs run; this one did not start.")
        return state

    # ---- jobs -------------------------------------------------------------------------------

    def require_room(self) -> None:
        """Raise `ToolError` where four background jobs run, naming them (message 29)."""
        self._table.require_room()

    def jobs(self) -> tuple[JobState, ...]:
        """The background jobs, those of an earlier process among them, the newest first."""
        return self._table.jobs()

    def job(self, job_id: str) -> JobState:
        """One background job; `ToolError` for an unknown id."""
        return self._table.job(job_id)

    def state_of(self, spool_id: str) -> JobState:
        """Any command by the id of its output; `ToolError` for an unknown one."""
        return self._table.state_of(spool_id)

    def kill(self, job_id: str) -> JobState:
        """Ask a job to end (TERM), kill what has not within 2 s; returns when it is over."""
        self._table.job(job_id)
        running = self._table.running(job_id)
        if running is not None:
            running.ask_to_end()
            running.wait_over(_END_SEC)
        return self._table.job(job_id)

    def read(self, spool_id: str, offset: int, max_bytes: int) -> Range:
        """A range of the whole output of a command.

        `eof` only when the command is over and nothing follows. Raises `ToolError` for an unknown
        id and for an offset behind what there is.
        """
        over = not self._table.state_of(spool_id).running  # before the look at the size
        output = self._table.output_of(spool_id)
        size = output.size
        if offset < 0 or offset > size:
            raise ToolError(
                f"{spool_id} has {size} bytes{'' if over else ' so far'}; offset {offset} is not "
                "in it. Go on at offset + bytes of the range before."
            )
        data = output.read(offset, max_bytes)
        return Range(offset, data, over and offset + len(data) >= size)

    def news(self, job_id: str) -> Tail:
        """The end of what a job printed since the last `news` of it."""
        state = self._table.job(job_id)
        output = self._table.output_of(state.spool_id)
        tail = output.tail(KEPT_BYTES, start=self._table.cursor(job_id))
        self._table.move_cursor(job_id, self._table.cursor(job_id) + tail.total_bytes)
        return tail

    def tail(self, job_id: str, max_bytes: int = _TAIL_BYTES) -> Tail:
        """The end of what a job printed; `news` is not moved."""
        return self._table.output_of(self._table.job(job_id).spool_id).tail(max_bytes)

    def output_file(self, spool_id: str) -> Path:
        """The file with the whole output."""
        return self._table.output_of(spool_id).path

    def listen(self, sink: JobSink) -> Callable[[], None]:
        """Tell `sink` of background jobs, from whatever thread; returns what ends it."""
        return self._table.listen(sink)

    def close(self) -> None:
        """End what runs, and wait for it; nothing can be run any more."""
        self._closed.set()
        self._table.end_all(_END_SEC)
        self._table.wait_for_followers(_END_SEC)
        self._table.forget_scratch()

    # ---- inside -----------------------------------------------------------------------------

    def _begin(
        self,
        command: str,
        cwd: Path | None,
        timeout_sec: float | None,
        stdin_text: str | None,
        call_id: str,
        overlay: Path | None,
        when_over: WhenOver | None,
        *,
        room: bool = False,
    ) -> Job:
        """Hand the command to a supervisor; whatever comes of it, what must follow follows."""
        settled = _Settled(when_over)
        try:
            if room:
                self.require_room()
            return self._handed_over(
                command, cwd, timeout_sec, stdin_text, call_id, overlay, settled
            )
        except BaseException:
            settled()
            raise

    def _handed_over(
        self,
        command: str,
        cwd: Path | None,
        timeout_sec: float | None,
        stdin_text: str | None,
        call_id: str,
        overlay: Path | None,
        settled: _Settled,
    ) -> Job:
        self.check(command)
        if self._closed.is_set():
            raise ToolError("The session is closed; nothing ran.")
        folder = self.directory(str(cwd) if cwd else None)
        size = len(_bytes(command, "The command"))
        if stdin_text is not None:
            _bytes(stdin_text, "stdin_text")
        cage = self._cage(folder, overlay)
        settled.cage = cage
        how = cage.confinement
        mark = secrets.token_hex(8)
        spool_id, place = self._table.new_spool()
        settled.spool_id = spool_id
        state = JobState(
            spool_id,
            self._redact(command),
            str(folder),
            call_id=call_id,
            limit_sec=timeout_sec,
            backend=how.backend,
            unconfined=how.reason if how.note else "",
            note=how.note,
        )
        limits = self._limits or usual_limits()
        order: OrderJson = {
            "about": about(state),
            "folder": str(place),
            "argv": [*how.prefix, *self._argv(command, size, place)],
            "cwd": str(folder),
            "environment": {**self._environment.marked(mark), **how.environment},
            "stdin": stdin_text,
            "timeout_sec": timeout_sec,
            "most_bytes": self._max_output_bytes,
            "processes": limits.processes,
            "memory": limits.memory,
            "file_size": limits.file_size,
            "writable": [os.fsdecode(path) for path in how.landlock.writable]
            if how.landlock
            else None,
            "no_new_privileges": bool(how.backend),
            "portable": self._portable,
            "mark": mark,
        }
        job = Job(place, state, SUPERVISORS.take(order), mark, settled)
        self._table.add(job)
        return job

    def _cage(self, cwd: Path, overlay: Path | None) -> Cage:
        """How the command is confined; raises `ToolError` where it must be and cannot."""
        if self.sandbox == "off" and overlay is None:
            return Cage(Confinement(), None)
        with self._preparing:
            if self._cages is None:
                own = self._table.own_folder()
                self._cages = Sandbox(
                    project=self.root.resolve(),
                    scratch=own / "scratch",
                    aside=own / "aside",
                    state=[*self._guarded.state, own],
                    is_protected=self._guarded.is_protected,
                )
            return self._cages.cage(self.sandbox, cwd=cwd, overlay=overlay)

    def _argv(self, command: str, size: int, place: Path) -> list[str]:
        """What to start; a command too long for one argument is read from a file instead."""
        shell = self._interpreter
        if size <= shell.longest:
            line = shell.line(command)
            return [line] if isinstance(line, str) else line
        script = place / "command.sh"
        script.write_text(command, encoding="utf-8")
        script.chmod(0o600)
        return shell.file(str(script))

    def _count_hangs(self, command: str, state: JobState) -> None:
        if state.status == "timed_out":
            self._timed_out[_same(command)] += 1
        elif state.status in {"completed", "failed"}:
            del self._timed_out[_same(command)]


def _same(command: str) -> str:
    """What two spellings of one command have in common: blanks do not count."""
    return " ".join(command.split())


def _first_line(command: str) -> str:
    line = _same(command)
    return line if len(line) <= 80 else f"{line[:79]}…"


def _bytes(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{what} holds half a surrogate pair, which is not a character.") from None
