"""Processes that search for us: none outlives the deadline, a person's interrupt or a limit."""

import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from arc_workbench.workspace.deadline import Deadline

if sys.platform == "linux":
    import resource

POLL_SECONDS = 0.05
MAX_OUTPUT_BYTES = 64 << 20
MAX_ERROR_BYTES = 1 << 20
MAX_MEMORY_BYTES = 2 << 30
CHUNK = 65_536


@dataclass(frozen=True)
class Outcome:
    """What a process wrote, and how it ended; `flooded` if it was ended for writing too much."""

    output: bytes
    errors: bytes
    code: int
    flooded: bool = False


class Child:
    """A running process in a group of its own; leaving the `with` block ends it.

    Its output goes to a file, so it never waits for us; that its errors end says that it ended.
    """

    def __init__(
        self,
        command: Sequence[str | bytes],
        deadline: Deadline,
        *,
        cwd: Path | None = None,
        question: bytes = b"",
        lent: Sequence[int] = (),
        most_bytes: int = MAX_OUTPUT_BYTES,
    ) -> None:
        self._most_bytes = most_bytes
        self._deadline = deadline
        self._flooded = False
        self._errors = bytearray()
        with ExitStack() as opened:
            self._output: BinaryIO = opened.enter_context(tempfile.TemporaryFile())
            with _file_with(question) as asked:
                self._process = subprocess.Popen(
                    command,
                    stdin=asked,
                    stdout=self._output,
                    stderr=subprocess.PIPE,
                    cwd=cwd,
                    pass_fds=lent,
                    start_new_session=True,
                )
            self._opened = opened.pop_all()
        self._limit()

    def _limit(self) -> None:
        """What ends the process even when nobody is left to end it."""
        if sys.platform == "linux":
            seconds = int(self._deadline.seconds + 2) * (os.cpu_count() or 1)
            with suppress(OSError):  # it may have ended already
                pid = self._process.pid
                resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
                resource.prlimit(pid, resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self._process.wait()
        self._opened.close()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _end(self) -> None:
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def outcome(self) -> Outcome:
        """Wait for the end; raises what the deadline raises."""
        errors = self._process.stderr
        assert errors is not None
        with selectors.DefaultSelector() as selector:
            selector.register(errors, selectors.EVENT_READ)
            while True:
                self._deadline.check()
                if selector.select(POLL_SECONDS) and not self._heard(errors.fileno()):
                    break
                self._stop_flood()
        code = self._process.wait()
        self._output.seek(0)
        return Outcome(self._output.read(), bytes(self._errors), code, self._flooded)

    def _heard(self, errors: int) -> bool:
        chunk = os.read(errors, CHUNK)
        if len(self._errors) < MAX_ERROR_BYTES:
            self._errors += chunk
        return bool(chunk)

    def _stop_flood(self) -> None:
        if os.fstat(self._output.fileno()).st_size > self._most_bytes:
            self._flooded = True
            self._end()


@contextmanager
def _file_with(question: bytes) -> Generator[BinaryIO | int]:
    """The question in a file: a pipe that is filled while a time limit runs can lose its rest."""
    if not question:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(question)
        file.seek(0)
        yield file
