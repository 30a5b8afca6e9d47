"""One file copied into another that is open: shared blocks where the file system can, else bytes.

Holes stay holes. The hash of what was copied comes on the way, where it is asked for.
"""

import errno
import hashlib
import os
import sys
from contextlib import suppress

from arc_workbench.workspace import system
from arc_workbench.workspace.deadline import Deadline

if sys.platform == "linux":
    import fcntl

CHUNK = 1 << 20

_CLONE = 0x40049409  # FICLONE


def clone(source: int, target: int) -> bool:
    """Let the empty file `target` share the blocks of `source`; False where that cannot be."""
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target, _CLONE, source)
    except OSError:
        return False
    return True


def copy(source: int, target: int, deadline: Deadline) -> None:
    """Copy all bytes of an open file into an empty one, without filling its holes."""
    if clone(source, target):
        return
    size = system.facts(source).st_size
    at = 0
    while at < size:
        start, end = _stretch(source, at, size)
        _copy_stretch(source, target, start, end, deadline)
        at = end
    system.cut(target, size)


def copy_hashed(source: int, target: int, most_bytes: int, deadline: Deadline) -> tuple[str, int]:
    """Copy a file and return the SHA-256 and the number of what was copied, at most so many."""
    cloned = clone(source, target)
    hasher = hashlib.sha256()
    at = 0
    while at < most_bytes and (
        chunk := system.read_at(target if cloned else source, min(CHUNK, most_bytes - at), at)
    ):
        deadline.check()
        hasher.update(chunk)
        if not cloned:
            system.write_all(target, chunk)
        at += len(chunk)
    return hasher.hexdigest(), at


def _stretch(source: int, at: int, size: int) -> tuple[int, int]:
    """The next bytes that are no hole."""
    if not hasattr(os, "SEEK_DATA"):
        return at, size
    try:
        start = os.lseek(source, at, os.SEEK_DATA)
        return start, min(size, os.lseek(source, start, os.SEEK_HOLE))
    except OSError as fault:
        if fault.errno == errno.ENXIO:  # nothing but a hole is left
            return size, size
        return at, size


def _copy_stretch(source: int, target: int, start: int, end: int, deadline: Deadline) -> None:
    os.lseek(target, start, os.SEEK_SET)
    while start < end:
        deadline.check()
        chunk = system.read_at(source, min(CHUNK, end - start), start)
        if not chunk:
            return
        system.write_all(target, chunk)
        start += len(chunk)


def dress(target: int, facts: os.stat_result) -> None:
    """Give a copy the owner, mode and time of what it was made of, as far as we may."""
    with suppress(OSError):
        os.fchown(target, facts.st_uid, facts.st_gid)
    os.fchmod(target, facts.st_mode & 0o777)
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
