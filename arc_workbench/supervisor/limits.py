"""How much a command may take: processes, memory, the size of a file.

The number of processes is held down by the system where a group for that can be made (cgroups,
which mostly only root can); elsewhere, and for memory, a look every tenth of a second ends a
command that has gone too far. A build may be large, so the limits are there against accidents.
"""

import os
import resource
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PLACES = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))


@dataclass(frozen=True)
class Limits:
    """The most a command may have; bytes for memory and for one file."""

    processes: int
    memory: int
    file_size: int


def set_for_child(limits: Limits) -> None:
    """In the child, before it becomes the command: no core dumps, no endless file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = limits.file_size if hard == resource.RLIM_INFINITY else min(hard, limits.file_size)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


class Group:
    """A group of the system that holds so many processes at most; none for None.

    `path` is None where none could be made.
    """

    def __init__(self, most: int | None) -> None:
        self.path = None if most is None else _made(most)

    def enter(self) -> None:
        """Put this process into it, and with it all that it starts."""
        if self.path is not None:
            with suppress(OSError):
                (self.path / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    @property
    def was_full(self) -> bool:
        """Whether a process could not be made because there were too many."""
        with suppress(OSError, ValueError, IndexError):
            if self.path is not None:
                text = (self.path / "pids.events").read_text(encoding="ascii")
                return int(text.split()[1]) > 0
        return False

    def remove(self) -> None:
        """Take it away; nothing is in it any more."""
        if self.path is not None:
            with suppress(OSError):
                self.path.rmdir()


def _made(most: int) -> Path | None:
    for place in _PLACES:
        if not (place / "cgroup.procs").exists():
            continue
        group = place / f"arc-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / "pids.max").write_text(str(most), encoding="ascii")
            return group
        except OSError:
            with suppress(OSError):
                group.rmdir()
    return None


def group_can_be_made() -> bool:
    """Whether the system lets us hold down the number of processes."""
    group = Group(10)
    group.remove()
    return group.path is not None
