"""Where a piece of output is best ended, so that what follows can be read on exactly."""

import codecs
from dataclasses import replace

from arc_workbench.shell.states import Range

_LOOK_BACK = 4096
_LONGEST_CHARACTER = 4


def whole_piece(found: Range, max_bytes: int) -> Range:
    """A range that ends with a line, else with a word or a character.

    Its first byte stays where it is, and a range that was cut at `max_bytes` keeps at least one
    byte. At the end of what a running command has printed so far, a line that is not finished
    waits for the next look, unless nothing else is there.
    """
    if found.eof:
        return found
    kept = _ended(found.data, cut=len(found.data) >= max_bytes)
    return replace(found, data=kept)


def _ended(data: bytes, *, cut: bool) -> bytes:
    if (end := data.rfind(b"\n")) >= 0:
        return data[: end + 1]
    if cut and (end := data.rfind(b" ", max(0, len(data) - _LOOK_BACK))) >= 0:
        return data[: end + 1]
    whole = data[: last_character(data)]
    return whole or (data if cut else b"")


def last_character(data: bytes) -> int:
    """Where the last whole character ends; what is no UTF-8 counts as whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-_LONGEST_CHARACTER:])
    begun, _ = decoder.getstate()
    return len(data) - len(begun)
