"""What is left of a command whose supervisor was killed: found by marks, and ended."""

import os
from contextlib import suppress

import psutil

from arc_workbench.shell.environment import MARK

_AGAIN_SEC = 0.25
_ROUNDS = 6


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


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
