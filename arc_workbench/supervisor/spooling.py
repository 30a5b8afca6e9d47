"""What a command prints: out of its pipe, into the file that keeps it.

A pipe, not the file itself: a program that opens /dev/stdout again empties a file and what was
printed before is lost, and a full disk would be the program's fault. We drain it, so the process
that asked may be as busy as it likes.
"""

import errno
import fcntl
import os
import select
from contextlib import suppress

CHUNK = 1 << 20
KEPT_BEHIND = 64 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class Spool:
    """The file `path`, of which the first `most` bytes are kept, and at its end the last ones.

    `total` is what was printed. `lost_from` is the first byte that was not kept, if any, and
    `lost_why` says why. Draining goes on all the same, so the command is not held up.
    """

    def __init__(self, path: bytes, most: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self._most = most
        self._behind = bytearray()
        self._splices = hasattr(os, "splice")
        self.total = 0
        self.kept = 0
        self.lost_from: int | None = None
        self.lost_why = ""
        self.open = True
        _enlarge(self.reader)

    def close_writer(self) -> None:
        """Give up our end for writing: the command's end is the only one then."""
        os.close(self.writer)

    def drain(self) -> bool:
        """Take what is there now, at most a chunk; whether anything was."""
        if not self.open:
            return False
        try:
            count = self._keep() if self.lost_from is None else self._pass_over()
        except BlockingIOError:
            return False
        self.open = count > 0
        self.total += count
        return count > 0

    def drain_rest(self) -> None:
        """Take all that is left when nobody can write any more."""
        while select.select([self.reader], [], [], 0)[0] and self.drain():
            continue

    def finish(self) -> None:
        """Say what is not there, and keep the end."""
        if self.lost_from is None:
            return
        del self._behind[:-KEPT_BEHIND]
        missing = self.total - self.kept - len(self._behind)
        mark = f"\n[… {missing} bytes of output were not kept: {self.lost_why} …]\n"
        with suppress(OSError):
            os.write(self._file, mark.encode() if missing else b"")
            os.write(self._file, self._behind)

    def close(self) -> None:
        """Let go of the pipe and the file."""
        os.close(self.reader)
        os.close(self._file)

    def _keep(self) -> int:
        room = self._most - self.kept
        if room <= 0:
            self._lose(f"more than {self._most}")
            return self._pass_over()
        if self._splices:
            try:
                count = os.splice(self.reader, self._file, min(CHUNK, room))
                self.kept += count
                return count
            except OSError as fault:
                if fault.errno == errno.EINVAL:
                    self._splices = False
                elif fault.errno in _FULL:
                    self._lose(os.strerror(fault.errno))
                    return self._pass_over()
                else:
                    raise
        return self._copy(min(CHUNK, room))

    def _copy(self, most: int) -> int:
        """The same by hand, for files that the system cannot move into."""
        data = os.read(self.reader, most)
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as fault:
            if fault.errno not in _FULL:
                raise
            self._behind += data[written:]
            self.kept += written
            self._lose(os.strerror(fault.errno))
            return len(data)
        self.kept += written
        return len(data)

    def _pass_over(self) -> int:
        data = os.read(self.reader, CHUNK)
        self._behind += data
        if len(self._behind) > 2 * KEPT_BEHIND:
            del self._behind[:-KEPT_BEHIND]
        return len(data)

    def _lose(self, why: str) -> None:
        self.lost_from = self.kept
        self.lost_why = why


def _enlarge(descriptor: int) -> None:
    """Let a burst wait in the kernel, where the system has room for it."""
    if set_size := getattr(fcntl, "F_SETPIPE_SZ", None):
        with suppress(OSError):
            fcntl.fcntl(descriptor, set_size, CHUNK)
