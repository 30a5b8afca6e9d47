"""Everything below this process, by Linux's own lists; nothing of it can leave.

This process is a subreaper: what loses its parent becomes its child. So the tree is whole, whatever
was forked twice, put into a session of its own or told to ignore signals.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_PAUSE_SEC = 0.002
_LONGEST_SEC = 2.0

Process = tuple[int, str]


class Below:
    """The processes below this one; `ended` are the statuses of its children that are over."""

    def __init__(self) -> None:
        self.ended: dict[int, int] = {}

    def descendants(self) -> list[int]:
        """Every process below this one that has not ended, parents before children."""
        found: list[int] = []
        waiting = deque(_children(os.getpid()))
        seen: set[int] = set()
        while waiting:
            pid = waiting.popleft()
            if pid in seen:
                continue
            seen.add(pid)
            waiting += _children(pid)
            if _runs(pid):
                found.append(pid)
        return found

    def named(self, pids: Iterable[int]) -> list[Process]:
        """The processes with their names, those that still are there."""
        found: list[Process] = []
        for pid in pids:
            with suppress(OSError):
                name = Path(f"/proc/{pid}/comm").read_bytes().decode("utf-8", "replace")
                found.append((pid, name.strip()))
        return found

    def memory_of(self, pids: Iterable[int]) -> int:
        """Bytes that the processes hold for themselves together."""
        pages = 0
        for pid in pids:
            with suppress(OSError, IndexError, ValueError):
                fields = Path(f"/proc/{pid}/statm").read_bytes().split()
                pages += int(fields[1]) - int(fields[2])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def send(self, pids: Iterable[int], number: int) -> None:
        """Send a signal to each of the processes that is still below this one.

        A number that another process has got meanwhile is not signalled: the handle is taken
        first, then it is looked whose it is.
        """
        for pid in pids:
            with suppress(OSError):
                handle = os.pidfd_open(pid)
                try:
                    if _is_below(pid):
                        signal.pidfd_send_signal(handle, number)
                finally:
                    os.close(handle)

    def reap(self) -> None:
        """Let go of what has ended and came to us when its own parent had ended."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                self.ended[pid] = status

    def end_all(self) -> list[Process]:
        """Kill everything below this process and wait until nothing is left; what had to be killed.

        All are stopped first, so that what multiplies cannot outrun the killing. What the system
        does not let go of within two seconds is left to it.
        """
        killed: dict[int, str] = {}
        until = time.monotonic() + _LONGEST_SEC
        self.reap()
        while self.descendants() and time.monotonic() < until:
            pids = self._stopped()
            for pid, name in self.named(pids):
                killed.setdefault(pid, name)
            self.send(pids, signal.SIGKILL)
            self._wait_for(pids, until)
        self.reap()
        return list(killed.items())

    def _stopped(self) -> list[int]:
        """All there are, none of which goes on: nothing can be born any more."""
        known: set[int] = set()
        while True:
            pids = self.descendants()
            new = [pid for pid in pids if pid not in known]
            if not new:
                return pids
            self.send(new, signal.SIGSTOP)
            known.update(new)

    def _wait_for(self, pids: Iterable[int], until: float) -> None:
        waiting = set(pids)
        while waiting and time.monotonic() < until:
            self.reap()
            waiting = {pid for pid in waiting if _runs(pid)}
            if waiting:
                time.sleep(_PAUSE_SEC)


def _is_below(pid: int) -> bool:
    """Whether the chain of parents leads here."""
    own = os.getpid()
    for _ in range(10_000):
        if pid == own:
            return True
        fields = _fields(pid)
        if len(fields) < 2 or fields[1] == "0":
            return False
        pid = int(fields[1])
    return False


def _runs(pid: int) -> bool:
    """Whether there is such a process and it has not ended."""
    return _fields(pid)[:1] not in ([], ["Z"], ["X"])


def _fields(pid: int) -> list[str]:
    """The fields of a process behind its name: state, parent, …; nothing for none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return []


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_bytes().split())
    return found
