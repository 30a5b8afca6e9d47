"""The output of a command, by bytes: what its supervisor has written down so far."""

import os
from contextlib import suppress
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell.covering import (
    BEFORE,
    BEHIND,
    NO_SECRETS,
    Secrets,
    covered,
    settled_bytes,
)
from arc_workbench.shell.output import SEEK, clean_start
from arc_workbench.shell.pieces import last_character
from arc_workbench.shell.states import Tail

_LONGEST_OPEN = 4096


class Output:
    """The file of one command; nothing of it is kept in memory."""

    def __init__(self, path: Path, secrets: Secrets = NO_SECRETS) -> None:
        self.path = path
        self._secrets = secrets

    @property
    def size(self) -> int:
        """How many bytes there are now."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self, offset: int, max_bytes: int) -> bytes:
        """At most so many bytes from there; raises `ToolError` where the file cannot be read."""
        try:
            opened = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return b""
        except OSError as fault:
            raise ToolError(f"The output cannot be read: {fault.strerror}.") from fault
        try:
            return os.pread(opened, max_bytes, offset)
        finally:
            os.close(opened)

    def text(self, first: int, end: int) -> str:
        """The bytes from `first` to `end`, with placeholders for what of a secret lies there."""
        begin = max(0, first - BEFORE)
        data = self.read(begin, end - begin + BEHIND)
        return covered(data, first - begin, end - begin, self._secrets)

    def before(self, end: int) -> str:
        """What was printed last before that byte, secrets and all."""
        begin = max(0, end - BEFORE)
        return self.read(begin, end - begin).decode("utf-8", "replace")

    def tail(self, keep: int, *, start: int = 0, end: int | None = None) -> Tail:
        """The last `keep` bytes from `start` to `end` or the end of all.

        A cut text begins with a line, or at least with a word.
        """
        size = max(self.size if end is None else end, start)
        first = max(start, size - keep)
        if first > start:
            first += clean_start(self.read(first, min(SEEK, size - first)))
        return Tail(self.text(first, size), first - start, size - start)

    def settled(self, start: int) -> int:
        """Up to where what was printed from `start` on can be told while the command runs.

        That is a whole line; where no line is complete, what `unbegun` says of the open one.
        """
        line, end = self._open_line(start)
        return line if line > start else self._unbegun(line, end)

    def unbegun(self) -> int:
        """Up to where all of it can be told although more will come.

        An open line is held from where a secret may begin in it; a very long one is not.
        """
        return self._unbegun(*self._open_line(0))

    def _open_line(self, start: int) -> tuple[int, int]:
        """Where the last line begins, not before `start`, and where its last character ends."""
        size = max(self.size, start)
        first = max(start, size - _LONGEST_OPEN)
        recent = self.read(first, size - first)
        line_end = recent.rfind(b"\n")
        return first + line_end + 1 if line_end >= 0 else start, first + last_character(recent)

    def _unbegun(self, line: int, end: int) -> int:
        if end - line >= _LONGEST_OPEN - 4:  # the last character may have been left out
            return end
        begin = max(0, line - BEFORE)
        data = self.read(begin, end - begin)
        return max(line, begin + settled_bytes(data, self._secrets))

    def remove(self) -> None:
        """Take the file away."""
        with suppress(OSError):
            self.path.unlink()
