"""The system calls that `required` closes off: a filter in the form that the kernel loads.

A socket with a place in the file system can be talked to through a read-only disk, and one for the
machine below (vsock) through a closed network. A filter sees no names, so no such socket can be
made at all; pairs of sockets stay, and so does the network of the cage. Ways around filters or
walls that no command needs are closed with them: io_uring, keys of the session, userfaultfd.
"""

import errno
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_AT_NUMBER, _AT_MACHINE, _AT_FIRST = 0, 4, 16
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
_UNIX, _VSOCK = 1, 40


@dataclass(frozen=True)
class _Numbers:
    """The numbers of one kind of machine."""

    machine: int
    socket: int
    closed: tuple[int, ...]  # io_uring_setup, _enter, _register, add_key, request_key, keyctl,
    # userfaultfd


_NUMBERS = {
    "x86_64": _Numbers(0xC000003E, 41, (425, 426, 427, 248, 249, 250, 323)),
    "aarch64": _Numbers(0xC00000B7, 198, (425, 426, 427, 217, 218, 219, 282)),
}


def write_filter(place: Path) -> Path | None:
    """Write the filter for this machine, where commands cannot change it; None for no filter.

    Raises `OSError` where it cannot be written.
    """
    program = socket_filter(platform.machine())
    if not program:
        return None
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not place.is_file() or place.read_bytes() != program:
        new = place.with_name(f"{place.name}.new")
        new.write_bytes(program)
        new.replace(place)
    return place


def socket_filter(machine: str) -> bytes:
    """The filter for one kind of machine; empty where its numbers are not known."""
    numbers = _NUMBERS.get(machine)
    if numbers is None:
        return b""
    missing = (_RETURN, 0, 0, _FAIL | errno.ENOSYS)
    program = [
        (_LOAD, 0, 0, _AT_MACHINE),
        (_IF_EQUAL, 1, 0, numbers.machine),
        missing,
        (_LOAD, 0, 0, _AT_NUMBER),
        (_IF_AT_LEAST, 0, 1, _X32),
        missing,
    ]
    for number in numbers.closed:
        program += [(_IF_EQUAL, 0, 1, number), missing]
    program += [
        (_IF_EQUAL, 0, 4, numbers.socket),
        (_LOAD, 0, 0, _AT_FIRST),
        (_IF_EQUAL, 1, 0, _UNIX),
        (_IF_EQUAL, 0, 1, _VSOCK),
        (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in program)
