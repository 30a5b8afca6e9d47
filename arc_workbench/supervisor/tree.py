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
_GONE = (FileNotFoundError, ProcessLookupError, NotADirectoryError, PermissionError)
"""What a process that is gone, or is none of ours, shows as; anything else is a fault of our own,
after which nothing may be taken for gone."""


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
            with suppress(*_GONE):
                name = Path(f"/proc/{pid}/comm").read_bytes().decode("utf-8", "replace")
                found.append((pid, name.strip()))
        return found

    def memory_of(self, pids: Iterable[int]) -> int:
        """Bytes that the processes hold together; what two of them share counts twice."""
        return sum(_kib(pid, "status", b"RssAnon:", b"RssShmem:") for pid in pids) << 10

    def exact_memory_of(self, pids: Iterable[int]) -> int:
        """The same, in which what several of them share counts once; this costs more."""
        return sum(_kib(pid, "smaps_rollup", b"Pss_Anon:", b"Pss_Shmem:") for pid in pids) << 10

    def send(self, pids: Iterable[int], number: int) -> None:
        """Send a signal to each of the processes that is still below this one.

        A number that another process has got meanwhile is not signalled: the handle is taken
        first, then it is looked whose it is.
        """
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
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


def end_strays(known: set[int]) -> set[int]:
    """Kill every child of this process that is not `known`, with all below it; who is left."""
    here = set(_children(os.getpid()))
    for pid in here - known:
        for each in [pid, *_all_below(pid)]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
    return known & here


def wake(pid: int) -> None:
    """Let a process go on that was stopped."""
    with suppress(OSError):
        os.kill(pid, signal.SIGCONT)


def _all_below(pid: int) -> list[int]:
    found: list[int] = []
    waiting = deque(_children(pid))
    while waiting:
        found.append(waiting.popleft())
        waiting += _children(found[-1])
    return found


def _kib(pid: int, file: str, *fields: bytes) -> int:
    """The sum of some figures that the system tells of a process; 0 for one that is gone."""
    total = 0
    with suppress(*_GONE):
        for line in Path(f"/proc/{pid}/{file}").read_bytes().splitlines():
            if line.startswith(fields):
                total += int(line.split()[1])
    return total


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
    except _GONE:
        return []


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(*_GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*_GONE):
                found += map(int, (thread / "children").read_bytes().split())
    return found
