"""The output of a command, by bytes: what its supervisor has written down so far."""

import os
from contextlib import suppress
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell.output import clean_start
from arc_workbench.shell.states import Tail


class Output:
    """The file of one command; nothing of it is kept in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

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

    def tail(self, keep: int, *, start: int = 0) -> Tail:
        """The last `keep` bytes from `start` on.

        A cut text begins with a line, or at least with a word: half a secret is not recognised as
        one.
        """
        size = max(self.size, start)
        first = max(start, size - keep)
        data = self.read(first, size - first)
        if first > start:
            cut = clean_start(data)
            first, data = first + cut, data[cut:]
        return Tail(data.decode("utf-8", "replace"), first - start, size - start)

    def remove(self) -> None:
        """Take the file away."""
        with suppress(OSError):
            self.path.unlink()
