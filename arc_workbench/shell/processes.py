"""What is left of a command whose supervisor was killed: found by marks, and ended."""

import os
from contextlib import suppress
from pathlib import Path

import psutil

from arc_workbench.shell.environment import MARK

_AGAIN_SEC = 0.25
_ROUNDS = 6


def end_abandoned(leader: int | None, mark: str, group: Path | None) -> None:
    """Kill what a command left when its supervisor has died, and take its `group` away."""
    for _ in range(_ROUNDS):
        counted = _in_group(group)
        members = [
            process
            for process in psutil.process_iter()
            if process.pid != os.getpid()
            and (process.pid in counted or _is_abandoned(process, leader, mark))
        ]
        if not members:
            break
        for process in members:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(members, timeout=_AGAIN_SEC)
    if group is not None:
        with suppress(OSError):
            group.rmdir()


def _in_group(group: Path | None) -> frozenset[int]:
    """The processes that the system counts to the command."""
    if group is None:
        return frozenset()
    try:
        return frozenset(map(int, (group / "cgroup.procs").read_text(encoding="ascii").split()))
    except (OSError, ValueError):
        return frozenset()


def _is_abandoned(process: psutil.Process, leader: int | None, mark: str) -> bool:
    with suppress(psutil.Error, OSError):
        parents = {parent.pid for parent in process.parents()}
        return _runs(process) and (leader in parents or _belongs(process, leader, mark))
    return False


def _belongs(process: psutil.Process, leader: int | None, mark: str) -> bool:
    if hasattr(os, "getsid") and os.getsid(process.pid) == leader:
        return True
    return mark in process.environ().get(MARK, "").split(":")


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
