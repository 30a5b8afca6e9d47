"""A unified diff, read: hunks of lines, each with its sign and its numbers."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from typing import Literal

Sign = Literal[" ", "-", "+", "\\", "?"]

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)", re.DOTALL)
_HEADERS = ("--- ", "+++ ", "diff ", "index ")


@dataclass(frozen=True)
class Line:
    """One line: its numbers before and after (0 where it has none), its sign and its text.

    `\\` says that the line before has no newline at its end; `?` is a line that fits no hunk.
    """

    old: int
    new: int
    sign: Sign
    text: str


@dataclass
class Hunk:
    """Lines that stand together; `section` is what the diff says they are in."""

    old: int
    new: int
    section: str = ""
    lines: list[Line] = field(default_factory=list[Line])


@dataclass(frozen=True)
class Change:
    """The hunks of one file's diff, as far as they were read; `whole` if that is to the end."""

    hunks: list[Hunk]
    whole: bool


def read(unified: str, most_lines: int = sys.maxsize) -> Change:
    """Read at most so many lines. No line is lost: what fits nowhere has the sign `?`."""
    hunks: list[Hunk] = []
    reader = _Reader()
    count = 0
    for text in _lines(unified):
        opened = reader.open(text)
        if opened is not None:
            hunks.append(opened)
            continue
        if not hunks and text.startswith(_HEADERS):
            continue
        count += 1
        if count > most_lines:
            return Change(hunks, whole=False)
        line = reader.take(text) if hunks else Line(0, 0, "?", text)
        hunks = hunks or [Hunk(0, 0)]
        hunks[-1].lines.append(line)
    return Change(hunks, whole=True)


@lru_cache(maxsize=256)
def changed(unified: str) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    added = removed = 0
    reader = _Reader()
    for text in _lines(unified):
        if reader.open(text) is None:
            sign = reader.sign(text)
            added += sign == "+"
            removed += sign == "-"
    return added, removed


def _lines(unified: str) -> Iterator[str]:
    """Split at newlines only: a line may hold other separators."""
    return (line.removesuffix("\n") for line in StringIO(unified, newline="\n"))


class _Reader:
    """Counts down what the header of a hunk promised, so that no line can pass for a header."""

    def __init__(self) -> None:
        self._old = self._new = 0
        self._old_left = self._new_left = 0

    def open(self, text: str) -> Hunk | None:
        if self._old_left > 0 or self._new_left > 0:
            return None
        match = _HUNK.fullmatch(text)
        if match is None:
            return None
        old, old_count, new, new_count, section = match.groups()
        self._old, self._new = int(old), int(new)
        self._old_left, self._new_left = int(old_count or 1), int(new_count or 1)
        return Hunk(self._old, self._new, section)

    def take(self, text: str) -> Line:
        sign = self.sign(text)
        old, new = self._old, self._new
        match sign:
            case "-":
                return Line(old - 1, 0, "-", text[1:])
            case "+":
                return Line(0, new - 1, "+", text[1:])
            case " ":
                return Line(old - 1, new - 1, " ", text[1:])
            case "\\":
                return Line(0, 0, "\\", text[1:].strip())
            case "?":
                return Line(0, 0, "?", text)

    def sign(self, text: str) -> Sign:
        """What kind of line this is; counts it."""
        first = text[:1] or " "
        if first == "\\":
            return "\\"
        if first == "-" and self._old_left > 0:
            self._step(1, 0)
            return "-"
        if first == "+" and self._new_left > 0:
            self._step(0, 1)
            return "+"
        if first == " " and (self._old_left > 0 or self._new_left > 0):
            self._step(1, 1)
            return " "
        return "?"

    def _step(self, old: int, new: int) -> None:
        self._old, self._old_left = self._old + old, self._old_left - old
        self._new, self._new_left = self._new + new, self._new_left - new
