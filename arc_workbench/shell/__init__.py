"""Commands of the project's shell: supervised, kept within bounds, ended with all they started."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell.at_exit import AT_EXIT
from arc_workbench.shell.covering import NO_SECRETS, Secrets
from arc_workbench.shell.environment import child_environment
from arc_workbench.shell.jobs import Job
from arc_workbench.shell.notes import notes
from arc_workbench.shell.output import Live
from arc_workbench.shell.pieces import whole_piece
from arc_workbench.shell.plain import plain
from arc_workbench.shell.platform import interpreter
from arc_workbench.shell.records import recorded, signal_number
from arc_workbench.shell.sandbox import probe
from arc_workbench.shell.spool import Output
from arc_workbench.shell.starting import Guarded, Starter, Wanted, WhenOver
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
    Piece,
    Range,
    Result,
    SandboxMode,
    Status,
    Survivor,
    Tail,
)
from arc_workbench.shell.table import JobTable
from arc_workbench.shell.usual import usual_limits
from arc_workbench.supervisor.limits import Limits

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
    "Piece",
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

_MAX_OUTPUT_BYTES = 1 << 30
_TAIL_BYTES = 2048
_HANGS = 2
_END_SEC = 5.0


def shell_words() -> str:
    """What runs commands on this machine, as a tool's description says it."""
    return interpreter(os.name, os.environ).described


class Shell:
    """Runs commands in the folder `root` with what `environment` holds, secrets left out.

    Each command has a folder below `spools` (a scratch one for None) with its whole output, up to
    `max_output_bytes`, and a record; `redact` is applied to what the record says of the command,
    and where `secrets` knows of one, texts of the output have a placeholder.
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
        secrets: Secrets = NO_SECRETS,
        portable: bool = False,
        sandbox: SandboxMode = "off",
        guarded: Guarded | None = None,
    ) -> None:
        self.root = root
        self._secrets = secrets
        self._interpreter = interpreter(os.name, environment)
        self._environment = child_environment(environment, os.name)
        self._closed = threading.Event()
        self._table = JobTable(spools)
        self._timed_out: Counter[str] = Counter()
        self.sandbox: SandboxMode = sandbox
        self._starter = Starter(
            root,
            self._interpreter,
            self._environment,
            self._table,
            max_output_bytes,
            limits,
            redact,
            portable,
            guarded or Guarded(),
        )
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
        if not (backends.bubblewrap and backends.no_network):
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
        folder = self._folder(command, cwd)
        job = self._begin(
            Wanted(command, folder, timeout_sec, stdin_text, call_id, overlay, when_over)
        )
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
                    return Result(state, self._shown(job.output).tail(KEPT_BYTES))
                job.follow(stop, live)
        except ToolError:
            self._table.drop(job)
            raise
        finally:
            if job.over.is_set():
                self._table.settle(job)
        self._count_hangs(command, job.state)
        return Result(job.state, self._shown(job.output).tail(KEPT_BYTES))

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
        self.require_room()
        folder = self._folder(command, cwd)
        job = self._begin(
            Wanted(command, folder, timeout_sec, call_id=call_id, when_over=when_over)
        )
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
        """A range of the whole output of a command, as it was printed.

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

    def piece(self, spool_id: str, offset: int, max_bytes: int) -> Piece:
        """A range to show, `read` as text, up to where what follows is best read on."""
        found = whole_piece(self.read(spool_id, offset, max_bytes), max_bytes)
        output = self._shown(self._table.output_of(spool_id))
        size = len(found.data)
        if not found.eof and offset + size >= output.size:
            size = min(size, output.settled(offset) - offset)
        return Piece(offset, size, output.text(offset, offset + size), found.eof)

    def news(self, job_id: str) -> Tail:
        """The end of what a job printed since the last `news` of it.

        While it runs, an open line waits behind whole ones, as does what may begin a secret.
        """
        state = self._table.job(job_id)
        output = self._shown(self._table.output_of(state.spool_id))
        start = self._table.cursor(job_id)
        end = output.settled(start) if state.running else None
        tail = output.tail(KEPT_BYTES, start=start, end=end)
        self._table.move_cursor(job_id, start + tail.total_bytes)
        return tail

    def tail(self, job_id: str, max_bytes: int = _TAIL_BYTES) -> Tail:
        """The end of what a job printed; `news` is not moved."""
        state = self._table.job(job_id)
        output = self._shown(self._table.output_of(state.spool_id))
        return output.tail(max_bytes, end=output.unbegun() if state.running else None)

    def before(self, spool_id: str, end: int) -> str:
        """What a command printed last before that byte; no secret is taken out of it."""
        return self._table.output_of(spool_id).before(end)

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

    def _shown(self, output: Output) -> Output:
        """The same output as it is shown."""
        return Output(output.path, self._secrets)

    def _begin(self, wanted: Wanted) -> Job:
        self._require_open()
        job = self._starter.start(wanted, self.sandbox)
        if self._closed.is_set():  # it was closed meanwhile, and does not know of this one
            job.tell_to_end("aborted")
        return job

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise ToolError("The session is closed; nothing ran.")

    def _folder(self, command: str, cwd: Path | None) -> Path:
        """Where the command is to run; raises `ToolError` for what cannot run anywhere."""
        self.check(command)
        return self.directory(str(cwd) if cwd else None)

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
