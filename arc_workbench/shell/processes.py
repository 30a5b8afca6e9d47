"""Every process that a command started, wherever it went, and how all of them are ended."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from arc_workbench.shell.environment import MARK

_AGAIN_SEC = 0.25
_LOOK_SEC = 0.002
_ROUNDS = 6


@dataclass(frozen=True)
class Survivor:
    """A process that was still there when its command had ended, or had to end."""

    pid: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid})"


class Family:
    """The processes of one command.

    A member is a descendant, or lives in the command's session, or carries its mark in the
    environment: the last finds what has left both the tree and the session (`setsid`, a daemon).
    Of what has also cleared its environment only that is known which was a descendant when `look`
    was called; a daemon that is quicker escapes.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._before = {*psutil.pids(), os.getpid()}
        self._seen: dict[int, psutil.Process] = {}

    def look(self, leader: subprocess.Popen[bytes]) -> None:
        """Remember the descendants there are now, where the system tells them at little cost."""
        seen = {pid: process for pid, process in self._seen.items() if _runs(process)}
        waiting = [leader.pid, *seen]
        while waiting:
            for pid in _children(waiting.pop()):
                if pid not in seen:
                    with suppress(psutil.Error):
                        seen[pid] = psutil.Process(pid)
                        waiting.append(pid)
        self._seen = seen  # at once: another thread may be ending this family

    def alive(self, leader: subprocess.Popen[bytes]) -> list[psutil.Process]:
        """The members that run now, the leader left out."""
        self.look(leader)
        found = self._seen | {process.pid: process for process in self._descendants(leader)}
        for pid in psutil.pids():
            if pid in self._before or pid in found or pid == leader.pid:
                continue
            with suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                if self._is_member(process, leader.pid):
                    found[pid] = process
        return [process for process in found.values() if _runs(process)]

    def end(self, leader: subprocess.Popen[bytes]) -> tuple[Survivor, ...]:
        """Kill every member at once, and again whatever is left or was born meanwhile.

        Returns those that had to be killed; nothing when all had ended by themselves.
        """
        killed: dict[int, Survivor] = {}
        for _ in range(_ROUNDS):
            members = self.alive(leader)
            if not members and leader.poll() is not None:
                break
            for process in [*_of(leader), *members]:
                killed.setdefault(process.pid, Survivor(process.pid, _name(process)))
            _kill(leader, members)
            _wait(leader, members)
        return tuple(killed.values())

    def _descendants(self, leader: subprocess.Popen[bytes]) -> list[psutil.Process]:
        found: list[psutil.Process] = []
        for process in _of(leader):
            with suppress(psutil.Error):
                found = [child for child in process.children(recursive=True) if _runs(child)]
        return found

    def _is_member(self, process: psutil.Process, leader: int) -> bool:
        return _runs(process) and _belongs(process, leader, self._mark)


def end_abandoned(leader: int | None, mark: str) -> None:
    """Kill what a command left when the process that ran it has died."""
    for _ in range(_ROUNDS):
        members = [
            process
            for process in psutil.process_iter()
            if process.pid != os.getpid() and _is_abandoned(process, leader, mark)
        ]
        if not members:
            break
        for process in members:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(members, timeout=_AGAIN_SEC)


def _is_abandoned(process: psutil.Process, leader: int | None, mark: str) -> bool:
    with suppress(psutil.Error, OSError):
        parents = {parent.pid for parent in process.parents()}
        return _runs(process) and (leader in parents or _belongs(process, leader, mark))
    return False


def _belongs(process: psutil.Process, leader: int | None, mark: str) -> bool:
    if hasattr(os, "getsid") and os.getsid(process.pid) == leader:
        return True
    return mark in process.environ().get(MARK, "").split(":")


def _children(pid: int) -> list[int]:
    """The children of a process by Linux's own list; elsewhere none are told."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def _of(leader: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The leader as psutil knows it, while it has not been waited for."""
    if leader.poll() is None:
        with suppress(psutil.Error):
            return [psutil.Process(leader.pid)]
    return []


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _name(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.name()
    return "a process"


def _kill(leader: subprocess.Popen[bytes], members: list[psutil.Process]) -> None:
    """The group first: one signal reaches all of it, also a child that is being forked."""
    if leader.poll() is None:
        with suppress(OSError):
            _kill_group(leader)
    for process in members:
        with suppress(psutil.Error):
            process.kill()


def _kill_group(leader: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.kill()


def _wait(leader: subprocess.Popen[bytes], members: list[psutil.Process]) -> None:
    """Until all have ended, at most 250 ms; a zombie that waits for its parent has ended.

    Only the leader is our child. It must be waited for by its own object, which would otherwise
    never learn how it ended.
    """
    until = time.monotonic() + _AGAIN_SEC
    with suppress(subprocess.TimeoutExpired):
        leader.wait(timeout=_AGAIN_SEC)
    while any(_runs(process) for process in members) and time.monotonic() < until:
        time.sleep(_LOOK_SEC)
