"""A small file or folder held in memory, to be written again as it was."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

_MOST_ENTRIES = 2_000


@dataclass(frozen=True)
class Kept:
    """A plain file (`content`) or a folder (`entries`, None for a file), with its mode."""

    mode: int
    content: bytes = b""
    entries: tuple[tuple[str, "Kept"], ...] | None = None

    @property
    def size(self) -> int:
        """The bytes of all files in it."""
        return len(self.content) + sum(inner.size for _, inner in self.entries or ())

    def write(self, place: Path) -> None:
        """Make it at a place where nothing is. Raises `OSError` where that cannot be done."""
        if self.entries is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
                file.write(self.content)
                os.fchmod(file.fileno(), self.mode)
            return
        place.mkdir(mode=0o700)
        for name, inner in self.entries:
            inner.write(place / name)
        place.chmod(self.mode)


def keep(place: Path, most_bytes: int) -> Kept | None:
    """What lies at `place`; None for what is too large or holds anything but files and folders."""
    try:
        return _keep(place, [most_bytes, _MOST_ENTRIES])
    except OSError:
        return None


def _keep(place: Path, room: list[int]) -> Kept | None:
    told = place.lstat()
    mode = stat.S_IMODE(told.st_mode)
    room[1] -= 1
    if room[1] < 0:
        return None
    if stat.S_ISDIR(told.st_mode):
        entries: list[tuple[str, Kept]] = []
        for inner in sorted(place.iterdir()):
            kept = _keep(inner, room)
            if kept is None:
                return None
            entries.append((inner.name, kept))
        return Kept(mode, entries=tuple(entries))
    if not stat.S_ISREG(told.st_mode) or told.st_size > room[0]:
        return None
    opened = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(opened, "rb") as file:
        content = file.read(room[0] + 1)
    room[0] -= len(content)
    return Kept(mode, content) if room[0] >= 0 else None
