"""The one pipe that a command writes to; reading from it never blocks for longer than asked.

A file would need no reading. But a program that opens /dev/stderr or /dev/stdout again, as
`tee /dev/stderr` and `curl -o /dev/stdout` do, empties a file, and what was printed before is lost.
"""

import os
import select
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

_CHUNK = 1 << 20
_LARGEST = 1 << 20  # what Linux lets everybody ask for


class Pipe:
    """A pipe to hand to a child; `open` until every process that could write has closed it."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        self._writer_is_ours = True
        self.open = True
        _enlarge(self.writer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close_writer()
        os.close(self._reader)

    def close_writer(self) -> None:
        """Give up our end for writing, so that the child's end is the only one."""
        if self._writer_is_ours:
            os.close(self.writer)
            self._writer_is_ours = False

    def read(self, timeout_sec: float) -> bytes:
        """What has arrived, waiting at most `timeout_sec` for a first byte; may be nothing."""
        if not self.open or not _readable(self._reader, timeout_sec):
            return b""
        data = os.read(self._reader, _CHUNK)
        self.open = bool(data)
        return data


if sys.platform == "win32":
    import _winapi
    import msvcrt

    def _enlarge(descriptor: int) -> None:
        """Nothing to do: the size of a pipe is fixed when it is made."""

    def _readable(descriptor: int, timeout_sec: float) -> bool:
        """Whether a read would return at once; Windows cannot wait for a pipe, so it looks."""
        deadline = time.monotonic() + timeout_sec
        handle = msvcrt.get_osfhandle(descriptor)
        while True:
            try:
                waiting, _ = _winapi.PeekNamedPipe(handle, 0)
            except BrokenPipeError:
                return True
            if waiting or time.monotonic() >= deadline:
                return bool(waiting)
            time.sleep(0.005)

else:
    import fcntl

    def _enlarge(descriptor: int) -> None:
        """Let a burst wait in the kernel while we are busy, where the system has room for it."""
        if set_size := getattr(fcntl, "F_SETPIPE_SZ", None):
            with suppress(OSError):
                fcntl.fcntl(descriptor, set_size, _LARGEST)

    def _readable(descriptor: int, timeout_sec: float) -> bool:
        """Whether a read would return at once."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, timeout_sec) * 1000))
