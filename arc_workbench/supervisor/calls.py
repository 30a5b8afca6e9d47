"""Calls of the system that Python has no name for, where the system has them."""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1
_SET_NO_NEW_PRIVILEGES = 38
_SET_CHILD_SUBREAPER = 36
_SET_DUMPABLE = 4

LINUX = sys.platform == "linux"


def _prctl(option: int, value: int) -> bool:
    if not LINUX:
        return False
    return ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0


def become_subreaper() -> bool:
    """Whatever loses its parent below this process becomes its child; False where that is not so.

    So nothing that a command started can leave the tree, however often it forks or detaches.
    """
    return _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Be killed when the parent is; at once if it is gone already."""
    if _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) and os.getppid() != parent:
        os._exit(1)


def forbid_new_privileges() -> None:
    """No program that is started from here on gains rights (setuid, file capabilities)."""
    _prctl(_SET_NO_NEW_PRIVILEGES, 1)
