"""The processes of a command where no system call keeps a tree together (not Linux).

A member is a descendant, or lives in the command's session, or carries its mark in the environment:
the last finds what has left both the tree and the session. Of what has also cleared its environment
only that is known which was a descendant when somebody looked; a daemon that is quicker escapes.
"""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

MARK = "ARC_WORKBENCH_COMMAND"
_LONGEST_SEC = 2.0
_PAUSE_SEC = 0.005


class Marked:
    """The processes that belong to the command with this mark."""

    def __init__(self, mark: str) -> None:
        self.ended: dict[int, int] = {}
        self._mark = mark
        self._before = {*psutil.pids(), os.getpid()}
        self._seen: dict[int, psutil.Process] = {}

    def descendants(self) -> list[int]:
        """The members that run now."""
        with suppress(psutil.Error):
            for child in psutil.Process().children(recursive=True):
                self._seen.setdefault(child.pid, child)
        sessions = {_session(pid) for pid in self._seen} - {_session(os.getpid()), None}
        for pid in psutil.pids():
            if pid not in self._before and pid not in self._seen:
                with suppress(psutil.Error):
                    process = psutil.Process(pid)
                    if _session(pid) in sessions or _carries(process, self._mark):
                        self._seen[pid] = process
        self._seen = {pid: process for pid, process in self._seen.items() if _runs(process)}
        return list(self._seen)

    def named(self, pids: Iterable[int]) -> list[tuple[int, str]]:
        """The processes with their names, those that still are there."""
        found: list[tuple[int, str]] = []
        for pid in pids:
            with suppress(psutil.Error, KeyError):
                found.append((pid, self._seen[pid].name()))
        return found

    def memory_of(self, pids: Iterable[int]) -> int:
        """Bytes that the processes hold together."""
        total = 0
        for pid in pids:
            with suppress(psutil.Error, KeyError):
                total += int(self._seen[pid].memory_info().rss)
        return total

    def exact_memory_of(self, pids: Iterable[int]) -> int:
        """The same: there is no better figure."""
        return self.memory_of(pids)

    def send(self, pids: Iterable[int], number: int) -> None:
        """Send a signal to each that is still the process it was."""
        for pid in pids:
            with suppress(psutil.Error, KeyError):
                self._seen[pid].send_signal(number)

    def reap(self) -> None:
        """Let go of children that have ended."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                self.ended[pid] = status

    def end_all(self) -> list[tuple[int, str]]:
        """Kill every member, and again whatever was born meanwhile; what had to be killed."""
        killed: dict[int, str] = {}
        until = time.monotonic() + _LONGEST_SEC
        self.reap()
        while (pids := self.descendants()) and time.monotonic() < until:
            for pid, name in self.named(pids):
                killed.setdefault(pid, name)
            self.send(pids, signal.SIGKILL)
            time.sleep(_PAUSE_SEC)
            self.reap()
        self.reap()
        return list(killed.items())


def _session(pid: int) -> int | None:
    with suppress(OSError):
        return os.getsid(pid)
    return None


def _carries(process: psutil.Process, mark: str) -> bool:
    with suppress(psutil.Error, OSError):
        return mark in process.environ().get(MARK, "").split(":")
    return False


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
