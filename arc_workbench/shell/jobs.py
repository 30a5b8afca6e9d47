"""One command in the foreground: started, watched, and ended with everything it left behind."""

import atexit
import errno
import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from arc_workbench.errors import ToolError
from arc_workbench.shell.environment import ChildEnvironment
from arc_workbench.shell.output import Live, Tail
from arc_workbench.shell.pipe import Pipe
from arc_workbench.shell.plain import plain
from arc_workbench.shell.platform import Interpreter, spawn_flags
from arc_workbench.shell.processes import Family, Survivor
from arc_workbench.shell.watcher import Watcher

KEPT_BYTES = 50 * 1024
_FIRST_PAUSE_SEC = 0.001
_LONGEST_PAUSE_SEC = 0.05
_GRACE_SEC = 0.05  # for what still writes when the command itself has ended
_LOOK_SEC = 0.005
_LAST_READS = 4
_NAMELESS = "signal "

Status = Literal["completed", "failed", "timed_out", "aborted", "overflowed"]
_Ending = Literal["ended", "timed_out", "aborted", "overflowed"]


@dataclass(frozen=True)
class Order:
    """What to run, and how long and how much it may print."""

    command: str
    cwd: Path
    timeout_sec: float
    max_bytes: int
    stdin_text: str | None = None


@dataclass(frozen=True)
class Finished:
    """How a command ended, with everything it had started.

    `output` is the end of what it printed, as it was printed; `cut_bytes` before it are left out.
    `lingering` were alive when the command itself had ended, `killed` when it had to end: all of
    them are gone.
    """

    status: Status
    exit_code: int | None
    signal_name: str | None
    duration_sec: float
    output: str
    total_bytes: int
    cut_bytes: int
    lingering: tuple[Survivor, ...] = ()
    killed: tuple[Survivor, ...] = ()

    @property
    def text(self) -> str:
        """`output` as plain text, no longer than the bytes that were kept."""
        return plain(self.output)[-KEPT_BYTES:]

    @property
    def shell_exit_code(self) -> int:
        """What a shell's `$?` would say: 128 and the signal's number after a signal."""
        if self.exit_code is not None:
            return self.exit_code
        return 128 + _signal_number(self.signal_name or "SIGKILL")


def run(
    order: Order,
    shell: Interpreter,
    environment: ChildEnvironment,
    stop: Callable[[], bool],
    show: Callable[[str], None] | None,
) -> Finished:
    """Run one command until it ends, `stop` says so, or a limit is met.

    No member of its family is alive when this returns or raises. Raises `ToolError` when it cannot
    be started.
    """
    mark = secrets.token_hex(8)
    with (
        _lines(order.command, shell) as line,
        _stdin(order.stdin_text) as stdin,
        Pipe() as pipe,
        Watcher(mark) as watcher,
    ):
        family = Family(mark)
        started = time.monotonic()
        process = _spawn(line, order, environment.marked(mark), stdin, pipe)
        watcher.watch(process.pid)
        running = _Running(process, family, pipe, Live(show) if show else None)
        ending, survivors = running.until_over(started + order.timeout_sec, order.max_bytes, stop)
        return running.finished(ending, survivors, time.monotonic() - started)


class _Running:
    """A started command. `_everything` knows all of them, so that none outlives this process."""

    def __init__(
        self, process: subprocess.Popen[bytes], family: Family, pipe: Pipe, live: Live | None
    ) -> None:
        self._process = process
        self._family = family
        self._pipe = pipe
        self._live = live
        self._tail = Tail(KEPT_BYTES)

    def until_over(
        self, deadline: float, max_bytes: int, stop: Callable[[], bool]
    ) -> tuple[_Ending, tuple[Survivor, ...]]:
        """Wait for the end, and end what is left then; also when the waiting is interrupted."""
        _everything.add(self)
        survivors: tuple[Survivor, ...] = ()
        try:
            ending = self._watch(deadline, max_bytes, stop)
            if ending == "ended":
                self._let_others_finish()
        finally:
            survivors = self.end()
            _everything.remove(self)
        self._read_rest()
        return ending, survivors

    def end(self) -> tuple[Survivor, ...]:
        """Kill whatever of the command is alive."""
        return self._family.end(self._process)

    def finished(
        self, ending: _Ending, survivors: tuple[Survivor, ...], duration_sec: float
    ) -> Finished:
        code = self._process.returncode
        output, cut = self._tail.text()
        return Finished(
            status=_status(ending, code),
            exit_code=code if code is not None and code >= 0 else None,
            signal_name=_signal_name(code),
            duration_sec=duration_sec,
            output=output,
            total_bytes=self._tail.total,
            cut_bytes=cut,
            lingering=survivors if ending == "ended" else (),
            killed=() if ending == "ended" else survivors,
        )

    def _watch(self, deadline: float, max_bytes: int, stop: Callable[[], bool]) -> _Ending:
        pause = _FIRST_PAUSE_SEC
        look_at = 0.0
        while self._process.poll() is None:
            if stop() or _everything.ended:
                return "aborted"
            if self._tail.total > max_bytes:
                return "overflowed"
            now = time.monotonic()
            left = deadline - now
            if left <= 0:
                return "timed_out"
            if now >= look_at:
                self._family.look(self._process)
                look_at = now + pause
            self._read(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE_SEC)
        return "ended"

    def _read(self, pause_sec: float) -> bool:
        """Take in what comes within the pause; whether anything did."""
        if not self._pipe.open:  # it has closed its output and may run for long
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(pause_sec)
        data = self._pipe.read(pause_sec)
        self._tail.add(data)
        if self._live:
            self._live.add(data)
            self._live.tick()
        return bool(data)

    def _let_others_finish(self) -> None:
        """A moment for a `tee` or `cat` that outlives the shell by as long as it has to write."""
        until = time.monotonic() + _GRACE_SEC
        while self._pipe.open and (left := until - time.monotonic()) > 0:
            self._read(left)
        while time.monotonic() < until and self._family.alive(self._process):
            time.sleep(_LOOK_SEC)

    def _read_rest(self) -> None:
        """What the pipe holds when nobody of the family can write any more."""
        for _ in range(_LAST_READS):
            if not self._read(0):
                break
        if self._live:
            self._live.finish()


class _Everything:
    """The commands that run in this process, to be ended with it."""

    def __init__(self) -> None:
        self._running: dict[_Running, int] = {}
        self._lock = threading.Lock()
        self.ended = False

    def add(self, running: _Running) -> None:
        with self._lock:
            self._running[running] = os.getpid()

    def remove(self, running: _Running) -> None:
        with self._lock:
            self._running.pop(running, None)

    def end(self) -> None:
        """End all of them, but those that belong to the process this one was forked from."""
        self.ended = True
        with self._lock:
            ours = [running for running, pid in self._running.items() if pid == os.getpid()]
        for running in ours:
            running.end()


_everything = _Everything()
atexit.register(_everything.end)
# Worker threads are joined before that, and one of them waits for its command: be earlier.
_before_joining: Callable[[Callable[[], None]], object] | None = getattr(
    threading, "_register_atexit", None
)
if _before_joining:
    _before_joining(_everything.end)


def _status(ending: _Ending, code: int | None) -> Status:
    if ending == "ended":
        return "completed" if code == 0 else "failed"
    return ending


def _signal_name(code: int | None) -> str | None:
    if code is None or code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:  # a real-time signal has no name
        return f"{_NAMELESS}{-code}"


def _signal_number(name: str) -> int:
    if name.startswith(_NAMELESS):
        return int(name.removeprefix(_NAMELESS))
    return signal.Signals[name].value


@contextmanager
def _lines(command: str, shell: Interpreter) -> Generator[list[str] | str]:
    """What to start; a command too long for one argument is read from a file instead."""
    size = len(_bytes(command, "The command"))
    if size <= shell.longest:
        yield shell.line(command)
    elif shell.dialect == "cmd":
        raise ToolError(
            f"The command has {size} bytes; {shell.program} takes {shell.longest}. "
            "Write it to a .bat file and run that."
        )
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as script:
            script.write(command)
            script.flush()
            yield shell.file(script.name)


@contextmanager
def _stdin(text: str | None) -> Generator[int | IO[bytes]]:
    """A file without a name that holds the input: a child that never reads it stops nobody."""
    if text is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(_bytes(text, "stdin_text"))
        file.seek(0)
        yield file


def _bytes(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{what} holds half a surrogate pair, which is not a character.") from None


def _spawn(
    line: list[str] | str,
    order: Order,
    environment: dict[str, str],
    stdin: int | IO[bytes],
    pipe: Pipe,
) -> subprocess.Popen[bytes]:
    """Start in a session of its own: no terminal to open, one group to signal."""
    try:
        process = subprocess.Popen(
            line if isinstance(line, str) else [part.encode() for part in line],
            cwd=order.cwd,
            env=environment,
            stdin=stdin,
            stdout=pipe.writer,
            stderr=pipe.writer,
            start_new_session=True,
            creationflags=spawn_flags(os.name),
        )
    except OSError as fault:
        reason = "it is too long" if fault.errno == errno.E2BIG else str(fault)
        raise ToolError(f"The command could not be started: {reason}.") from fault
    pipe.close_writer()
    return process
