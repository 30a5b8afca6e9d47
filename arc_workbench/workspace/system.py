"""The calls of the operating system that change files or open them without links: one place.

Everything else in this package goes through here, by the module's name, so that a test can fail,
stop or record each step. Descriptors are closed on exec. Names are relative to an open folder.
"""

import ctypes
import errno
import os
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform != "win32":
    import fcntl

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
PASSING = getattr(os, "O_PATH", os.O_RDONLY) | FOLDER
READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
MAKING = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

POWERS = frozenset({"security.capability"})

_OPENAT2 = 437  # the same number on every architecture of Linux
_NO_LINKS = 0x04 | 0x02  # RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS
_NO_REPLACE, _EXCHANGE = 1, 2
_ABSENT_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM})

Cannot = NotImplementedError
"""This file system or this kernel has no such step; the caller takes another way."""


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def has_openat2() -> bool:
    """Whether the kernel resolves a path without links in one step."""
    return sys.platform == "linux" and _openat2(b"/", FOLDER) >= 0


# ---- opening ------------------------------------------------------------------------------------


def open_without_links(path: Path, flags: int) -> int:
    """Open an absolute path no component of which is a link; one that is raises `OSError`."""
    if sys.platform == "win32":
        return os.open(path, flags | os.O_BINARY)
    if has_openat2():
        opened = _openat2(os.fsencode(path), flags)
        if opened < 0:
            fault = ctypes.get_errno()
            raise OSError(fault, os.strerror(fault), str(path))
        return opened
    return _step_by_step(path, flags)


def _openat2(path: bytes, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _NO_LINKS)
    call = _libc().syscall
    while True:
        opened = int(call(_OPENAT2, -100, path, ctypes.byref(how), ctypes.sizeof(how)))
        if opened >= 0 or ctypes.get_errno() not in {errno.EINTR, errno.EAGAIN}:
            return opened


def _step_by_step(path: Path, flags: int) -> int:
    """The same with one open a component, for kernels that cannot do it at once."""
    parts = path.parts
    opened = os.open(parts[0], PASSING if len(parts) > 1 else flags)
    try:
        for part in parts[1:-1]:
            before, opened = opened, os.open(part, PASSING, dir_fd=opened)
            os.close(before)
        if len(parts) > 1:
            before, opened = opened, os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=opened)
            os.close(before)
    except BaseException:
        os.close(opened)
        raise
    return opened


def open_at(folder: int, name: str, flags: int, mode: int = 0o600) -> int:
    """Open a name in a folder, never through a link."""
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), mode, dir_fd=folder)


def open_own(path: Path, flags: int) -> int:
    """Open a file of our own state; one that is made is for its owner only."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def close(opened: int) -> None:
    """Let a descriptor go."""
    os.close(opened)


def look(folder: int, name: str) -> os.stat_result | None:
    """What stands at a name, a link itself; None for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def facts(opened: int) -> os.stat_result:
    """What an open file is."""
    return os.fstat(opened)


# ---- bytes --------------------------------------------------------------------------------------


def read(opened: int, size: int) -> bytes:
    """The next bytes, at most `size`; b"" at the end."""
    return os.read(opened, size)


def read_at(opened: int, size: int, at: int) -> bytes:
    """All bytes from `at`, fewer than `size` only where the file ends."""
    parts: list[bytes] = []
    while size > 0 and (part := os.pread(opened, size, at)):
        parts.append(part)
        size -= len(part)
        at += len(part)
    return b"".join(parts)


def write(opened: int, data: bytes | memoryview) -> int:
    """Write once; how many bytes the system took."""
    return os.write(opened, data)


def write_all(opened: int, data: bytes) -> None:
    """Write all of it, however little the system takes at a time."""
    left = memoryview(data)
    while left:
        left = left[write(opened, left) :]


def write_at(opened: int, data: bytes | memoryview, at: int) -> int:
    """Write once at a place; how many bytes the system took."""
    return os.pwrite(opened, data, at)


def sync(opened: int) -> None:
    """Wait until a file with its facts, or the names in a folder, are on the disk."""
    os.fsync(opened)


def sync_data(opened: int) -> None:
    """Wait until a file's bytes, and its length, are on the disk."""
    getattr(os, "fdatasync", os.fsync)(opened)


def cut(opened: int, size: int) -> None:
    """Cut an open file to `size` bytes."""
    os.ftruncate(opened, size)


# ---- names --------------------------------------------------------------------------------------


def exchange(folder: int, one: str, other: str) -> None:
    """Swap two names in one step; raises `Cannot` where the file system has no such step."""
    _rename2(folder, one, other, _EXCHANGE)


def rename_to_free(folder: int, name: str, to: str) -> None:
    """Give a file another name that nothing has, in one step; `FileExistsError` otherwise."""
    try:
        _rename2(folder, name, to, _NO_REPLACE)
    except Cannot:
        link(folder, name, to)
        remove(folder, name)


def link(folder: int, name: str, to: str) -> None:
    """Give a file one more name, that nothing has; `FileExistsError` otherwise."""
    os.link(name, to, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def rename_over(folder: int, name: str, to: str) -> None:
    """Give a file the name of another, which is gone then."""
    os.replace(name, to, src_dir_fd=folder, dst_dir_fd=folder)


def rename_own(path: Path, to: Path) -> None:
    """Give a file of our own state another name; what had it is gone then."""
    path.replace(to)


def remove_own(path: Path) -> None:
    """Remove a file of our own state, if it is there."""
    path.unlink(missing_ok=True)


def make_own_folder(path: Path) -> None:
    """Create a folder of our own state, for its owner only, unless it is there."""
    path.mkdir(mode=0o700, exist_ok=True)


def remove(folder: int, name: str) -> None:
    """Remove a name, if it is there."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def make_folder(folder: int, name: str) -> None:
    """Create a folder, with the rights that new folders get."""
    os.mkdir(name, dir_fd=folder)


def remove_folder(folder: int, name: str) -> None:
    """Remove an empty folder."""
    os.rmdir(name, dir_fd=folder)


def _rename2(folder: int, name: str, to: str, flags: int) -> None:
    rename = getattr(_libc(), "renameat2", None) if sys.platform == "linux" else None
    if rename is None:
        raise Cannot
    if rename(folder, os.fsencode(name), folder, os.fsencode(to), flags) == 0:
        return
    fault = ctypes.get_errno()
    if fault in _ABSENT_CALL:
        raise Cannot
    raise OSError(fault, os.strerror(fault), name, None, to)


# ---- facts of a file ----------------------------------------------------------------------------


def dress(new: int, old: int) -> None:
    """Give an open file the owner, mode and attributes of another, as far as we may.

    Not its power to run as its owner.
    """
    was = os.fstat(old)
    with suppress(PermissionError):
        os.fchown(new, was.st_uid, was.st_gid)
    if sys.platform == "linux":
        _copy_attributes(new, old)
    os.fchmod(new, stat.S_IMODE(was.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def set_mode(opened: int, mode: int) -> None:
    """Set the permission bits of an open file."""
    os.fchmod(opened, mode & 0o777)


def _copy_attributes(new: int, old: int) -> None:
    """Let the new file have the attributes of the old one, and none that a folder hands down."""
    try:
        names, inherited = os.listxattr(old), os.listxattr(new)
    except OSError:  # this file system has none
        return
    for name in inherited:
        if name not in names:
            with suppress(OSError):  # one that only the system may remove
                os.removexattr(new, name)
    for name in names:
        if name not in POWERS:
            with suppress(OSError):  # one that only the system may set
                os.setxattr(new, name, os.getxattr(old, name))


def try_lock(opened: int) -> bool:
    """Take the lock of an open file if nobody has it; the system frees it when we die."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(opened: int) -> None:
    """Give the lock back."""
    fcntl.flock(opened, fcntl.LOCK_UN)
