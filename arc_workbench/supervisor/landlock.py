"""Landlock: a process gives up writing outside some folders, for itself and all it starts.

Imports nothing but the standard library: a supervisor applies it between fork and exec.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION = 1
_PATH_BENEATH = 1
_O_PATH = 0o10000000

_WRITE_FILE = 1 << 1
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
_MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14

_WRITING = (
    *(_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK),
    *(_MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM),
)
_SINCE = {_REFER: 2, _TRUNCATE: 3}
_DEVICES = _MAKE_CHAR | _MAKE_BLOCK  # a node of a disk is a way around everything else
_SCOPES_SINCE, _NET_SINCE = 6, 4
_SIGNALS, _ABSTRACT_SOCKETS = 1 << 1, 1 << 0
_ALWAYS = (b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/tty", b"/dev/ptmx", b"/dev/pts")

_NO_NEW_PRIVILEGES = 38
_DROP_FROM_BOUNDING_SET = 24
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock that this kernel enforces; 0 for none."""
    if sys.platform != "linux":
        return 0
    version = int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION))
    return max(0, version)


def restrict(writable: Sequence[bytes], *, hold_signals: bool = True) -> None:
    """Let this process, and all it starts, write nowhere but at and below `writable`.

    Also gives up every capability and all new privileges, so that root cannot get around it. Plain
    devices like /dev/null and what is already open stay usable; from version 6 on signals reach
    only what this process starts. Not covered: mode, owner, times and other attributes of a file
    outside, a file inside that has a second name outside, and before version 3 cutting a file off.
    What is not there is left out. Raises `OSError` where the kernel does not do it.
    """
    version = abi()
    if not version:
        raise OSError(95, "Landlock is not available")
    rights = _rights(version)
    ruleset = _create(version, rights, hold_signals)
    try:
        for path in (*writable, *_ALWAYS):
            _allow(ruleset, path, rights)
        for number in (0, 1, 2):
            _allow_opened(ruleset, number, rights)
        _check(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _check(_libc().syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    _drop_capabilities()


def _rights(version: int) -> int:
    rights = sum(_WRITING)
    return rights | sum(right for right, since in _SINCE.items() if version >= since)


def _create(version: int, rights: int, hold_signals: bool) -> int:
    scoped = _SIGNALS if hold_signals and version >= _SCOPES_SINCE else 0
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NET_SINCE else 8
    wanted = _Ruleset(rights, 0, scoped)
    return _check(_libc().syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0))


def _allow(ruleset: int, path: bytes, rights: int) -> None:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        opened = os.open(path, _O_PATH | os.O_CLOEXEC)
        try:
            _add(ruleset, opened, rights)
        finally:
            os.close(opened)


def _allow_opened(ruleset: int, number: int, rights: int) -> None:
    """A file that output goes to may be opened again by the name /dev/stdout."""
    import fcntl  # other systems have none

    with suppress(OSError):
        writes = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        if writes and stat.S_ISREG(os.fstat(number).st_mode):
            _add(ruleset, number, rights)


def _add(ruleset: int, opened: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        rights &= _WRITE_FILE | _TRUNCATE
    rule = _Beneath(rights & ~_DEVICES, opened)
    _check(_libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))


def _drop_capabilities() -> None:
    """Give up what root may do beyond the owner of its files."""
    libc = _libc()
    for capability in range(_CAPABILITIES):
        libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(libc.capset(ctypes.byref(header), ctypes.byref(nothing)))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(words: list[str]) -> None:
    """`FOLDER... -- PROGRAM WORD...`: run a program that can write in these folders only."""
    middle = words.index("--")
    restrict([os.fsencode(word) for word in words[:middle]])
    os.execv(words[middle + 1], words[middle + 1 :])


if __name__ == "__main__":
    main(sys.argv[1:])
