"""Reading lines of a journal again, each of which must still be what it was."""

import os
from collections.abc import Iterator

from arc_workbench.workspace import records, system


class MismatchError(Exception):
    """A line is not what it was: somebody wrote into the journal."""


def from_place(file: int, at: int, end: int, head: bytes) -> Iterator[bytes]:
    """The lines from `at` to `end`; `head` is the hash of the line before the first of them."""
    with os.fdopen(os.dup(file), "rb", buffering=1 << 20) as opened:
        opened.seek(at)
        for line in opened:
            at += len(line)
            if at > end:
                return
            found = records.hash_of(line, head)
            if found is None:
                raise MismatchError
            head = found
            yield line


def at_place(file: int, at: int, hashes: tuple[bytes, bytes]) -> bytes:
    """One line; `hashes` are those of the line before and of its own."""
    size = 4096
    while True:
        read = system.read_at(file, size, at)
        end = read.find(b"\n")
        if end >= 0 or len(read) < size:
            break
        size *= 4
    line = read[: end + 1]
    if records.hash_of(line, hashes[0]) != hashes[1]:
        raise MismatchError
    return line
