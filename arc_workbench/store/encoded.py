"""Finds base64 text, in one line or many, that has a secret in it when it is decoded."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping

from arc_workbench.secret_names import SHAPES, Find, shape_finds

_LINE_END = r"(?:\\n|\r?\n[ \t]{0,8})"
_CHARACTER = "[A-Za-z0-9+/_-]"
# A run longer than this is looked at in parts, each with what stands around it.
_RUN = re.compile(rf"{_CHARACTER}{{24,16384}}(?:{_LINE_END}{_CHARACTER}{{1,200}}){{0,200}}={{0,2}}")
_BACKWARDS = re.compile(rf"(?:n\\|{_CHARACTER}|[ \t]{{0,8}}\n\r?)+")
_BEHIND = re.compile(rf"(?:{_CHARACTER}|{_LINE_END})+")
_OPEN = re.compile(rf"{_CHARACTER}{{1,23}}\Z")
_LINE_ENDS = re.compile(_LINE_END)
_NO_CHARACTERS = re.compile(rf"{_LINE_END}|=")
_STANDARD = str.maketrans("-_", "+/")
_AROUND = 1024
_UNDECIDED = 16
_WORDS = re.compile(
    b"|".join(re.escape(word.encode()) for shape in SHAPES for word in shape.words if word != "://")
    + b"|://"
)


class Encoded:
    """Finds whole runs of base64; `values` are secrets with their names."""

    context = _AROUND

    def __init__(self, values: Mapping[bytes, str]) -> None:
        self._values = values

    def finds(self, text: str, start: int) -> Iterator[Find]:
        """The runs from `start` on that hold a secret."""
        for at, end in _runs(text, start):
            if label := self._label(_with_neighbours(text, at, end)):
                yield Find(at, at, end, label)

    def certain(self, text: str, start: int) -> int:
        """Where the last run begins, while it may go on."""
        done = start
        for at, end in _runs(text, start):
            rest = len(text) - end
            if rest < _UNDECIDED or (rest < _AROUND and _BEHIND.fullmatch(text, end)):
                return at
            done = end
        tail = _OPEN.search(text, max(done, len(text) - 24))
        return tail.start() if tail else len(text)

    def _label(self, run: str) -> str | None:
        """The name of a secret that the run holds, whichever character it was begun with."""
        characters = _NO_CHARACTERS.sub("", run).translate(_STANDARD)
        for first in range(4):
            raw = b64decode(_padded(characters[first:]))
            for value, label in self._values.items():
                if value in raw:
                    return label
            if _WORDS.search(raw):
                for find in shape_finds(raw.decode("latin-1"), 0):
                    return find.label
        return None


def _padded(characters: str) -> str:
    """What can be decoded of it: a last character by itself holds no byte."""
    alone = len(characters) % 4 == 1
    characters = characters[:-1] if alone else characters
    return characters + "=" * (-len(characters) % 4)


def _runs(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where runs begin and end: their lines are of one length, but for the last."""
    while run := _RUN.search(text, start):
        start = _end_of_lines(run)
        yield run.start(), start


def _end_of_lines(run: re.Match[str]) -> int:
    width, begin = 0, 0
    for line_end in _LINE_ENDS.finditer(run[0]):
        size = line_end.start() - begin
        if size != (width or size):
            return run.start() + (line_end.start() if size < width else begin)
        width, begin = size, line_end.end()
    return run.end()


def _with_neighbours(text: str, at: int, end: int) -> str:
    """The run with what of a longer one stands directly before and behind it."""
    before = _BACKWARDS.match(text[max(0, at - _AROUND) : at][::-1])
    behind = _BEHIND.match(text, end, end + _AROUND)
    return f"{before[0][::-1] if before else ''}{text[at:end]}{behind[0] if behind else ''}"
