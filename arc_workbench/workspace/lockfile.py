"""The lock of a journal, which the kernel holds, and in it a note of the last record that is safe.

The note is written when a record is known to be on the disk. So a journal that ends before it, or
has another record at that place, was tampered with; what stands after it may be cut off by a crash.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files, system

LOCK = "lock"
LOCK_SECONDS = 10.0
NOTE_BYTES = 20 + 1 + 64 + 1 + 20 + 1


class LockFile:
    """The lock in one folder of ours; it is free again when its holder dies."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file = -1

    def take(self) -> None:
        """Wait for the lock; `ToolError` after ten seconds."""
        if sys.platform == "win32":
            raise own_files.UnusableError("this system has no lock that the journal could rely on")
        end = monotonic() + LOCK_SECONDS
        self._open()
        while not (system.try_lock(self._file) and self._is_there()):
            if monotonic() > end:
                raise ToolError(
                    "Another session is writing in this folder and does not come to an end; "
                    "nothing was written. Try again."
                )
            if not self._is_there():
                self.close()
            sleep(0.002)
            self._open()

    def _open(self) -> None:
        if self._file < 0:
            self._file = system.open_own(self._path, os.O_RDWR | os.O_CREAT)
            own_files.require_ours(self._path, folder=False)

    def _is_there(self) -> bool:
        """Whether the file is still the one that others lock: somebody may have cleared it away."""
        try:
            return own_files.is_same(self._file, self._path)
        except FileNotFoundError:
            return False

    def free(self) -> None:
        """Give the lock back."""
        if self._file >= 0:
            with suppress(OSError):
                system.unlock(self._file)

    def close(self) -> None:
        """Let the file go, and the lock with it."""
        if self._file >= 0:
            opened, self._file = self._file, -1
            system.close(opened)

    # ---- the note -------------------------------------------------------------------------------

    def note(self, seq: int, head: bytes) -> None:
        """Write down that the record of this number and hash is on the disk."""
        system.write_at(self._file, b"%020d %s %020d\n" % (seq, head, seq), 0)

    def noted(self) -> tuple[int, bytes] | None:
        """The number and hash of the last record that was said to be safe.

        None where nothing was noted yet, or a crash left half a note.
        """
        parts = system.read_at(self._file, NOTE_BYTES, 0).split()
        if len(parts) != 3 or not parts[0].isdigit() or parts[0] != parts[2]:
            return None
        return int(parts[0]), parts[1]

    def forget(self) -> None:
        """Take the note back, before the journal becomes another."""
        system.cut(self._file, 0)
        system.sync(self._file)
