"""Finds the values of secret variables in a text, whole or cut, in the spellings they turn up in.

Tools cut texts before anything here sees them. So a piece of a value is found as well: its
beginning before a place where texts are cut, its end behind one, what lies between two. Such a
place is an end of the text or of a line, a quote, a mark for what is left out.
"""

import json
import re
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from arc_workbench.secret_names import SHAPES, Find, looks_secret, places, shape_finds

_SHORTEST_VALUE = 8
_LONG_VALUE = 16
_FEWEST_CHARACTERS = 4  # "--------" and "00000000" tell nothing
_SHORTEST_LINE = 20
_SHORTEST_PIECE = 6
_RANDOM = 0.2  # changes between small letters, capitals and digits, per character
_LOOK_AHEAD = 3

_WORD = re.compile(r"[a-z]+|[A-Z]?[a-z]+|[A-Z]+")
_PATH = re.compile(r"[~.]{0,2}(?:/[\w. -]+)+/?|[A-Za-z]:\\.*")
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_TELLING = re.compile(r"[0-9]|[a-z][A-Z]")
_CUT_BEFORE = re.compile(r"""\A|(?<=[\n\r"'`…\]])|(?<=\.\.\.)|(?<=\\[nrt])""")
_CUT_BEHIND = re.compile(r"""\Z|[\n\r"'`…\\\[]|\.\.\.|[ \t]{1,2}[\[…]""")
_MARK_BEHIND = re.compile(r"…|\.\.\.|[ \t\n]{0,2}\[")
_AROUND_RUNS = r"""\s"'`….\\\[\]\0"""
_RUN_BEFORE = re.compile(rf"\A|(?<=[{_AROUND_RUNS}])")
_RUN = re.compile(rf"(?:{_RUN_BEFORE.pattern})[^{_AROUND_RUNS}]{{12,}}")
_PUBLIC = frozenset(word for shape in SHAPES for word in shape.words)


@dataclass(frozen=True)
class _Form:
    """One spelling of a value; of one with line ends no pieces are looked for."""

    text: str
    label: str

    @property
    def cuttable(self) -> bool:
        return "\n" not in self.text and len(self.text) > _SHORTEST_PIECE


class KnownValues:
    """Finds fixed texts and pieces of them; each has the name of the variable it came from."""

    context = 3

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = {value: name for name, value in _secrets(environment)}
        labels: dict[str, str] = {}
        for value, name in values.items():
            for spelling in _spellings(value):
                labels.setdefault(spelling, name)
        self.raw = {value.encode("utf-8", "surrogateescape"): values[value] for value in values}
        self._forms = [_Form(text, label) for text, label in labels.items()]
        self._random = {form.text for form in self._forms if form.cuttable and _random(form.text)}
        self._inner = "\0".join(self._random)
        self._all = "\0" + "\0".join(labels)
        self._longest = max(map(len, labels), default=0)

    def finds(self, text: str, start: int) -> Iterator[Find]:
        """The finds from `start` on, in order, none in another; at one place the longest."""
        spans = [
            *(span for form in self._forms for span in self._pieces(form, text, start)),
            *self._inner_pieces(text, start),
        ]
        end = start
        for at, minus_end, label in sorted(spans):
            if at >= end:
                end = -minus_end
                yield Find(at, at, end, label)

    def certain(self, text: str, start: int) -> int:
        """Where the end of the text begins that may be in a value, or is waiting for a cut."""
        del start
        if not self._forms:
            return len(text)
        begun = self._begun(text)
        for behind in range(1, min(_LOOK_AHEAD, len(text)) + 1):
            at = self._begun(text[: len(text) - behind])
            if len(text) - behind - at >= _SHORTEST_PIECE:
                begun = min(begun, at)
        return begun

    def _begun(self, text: str) -> int:
        """Where the longest end of `text` begins that can be a piece of a form."""
        first = max(0, len(text) - self._longest)
        tails = range(first, len(text))
        first += bisect_left(tails, True, key=lambda at: text[at:] in self._all)
        return next((at for at in range(first, len(text)) if self._begins(text, at)), len(text))

    def _begins(self, text: str, at: int) -> bool:
        if f"\0{text[at:]}" in self._all or _CUT_BEFORE.match(text, at):
            return True
        return bool(self._inner) and _RUN_BEFORE.match(text, at) is not None

    def _pieces(self, form: _Form, text: str, start: int) -> Iterator[tuple[int, int, str]]:
        """The form itself, its beginnings and its ends."""
        whole = form.text
        for at in places(text, whole[:_SHORTEST_PIECE], start):
            size = _common(text[at : at + len(whole)], whole)
            if size == len(whole) or (
                form.cuttable
                and _CUT_BEHIND.match(text, at + size)
                and self._tells(form, whole[:size], bool(_MARK_BEHIND.match(text, at + size)))
            ):
                yield at, -(at + size), form.label
        if form.cuttable:
            yield from self._ends(form, text, start)

    def _ends(self, form: _Form, text: str, start: int) -> Iterator[tuple[int, int, str]]:
        whole = form.text
        for place in places(text, whole[-_SHORTEST_PIECE:], start):
            end = place + _SHORTEST_PIECE
            before = text[max(0, end - len(whole)) : end]
            at = end - _common(before[::-1], whole[::-1])
            marked = text[max(0, at - 1) : at] in ("…", "]") or text[max(0, at - 3) : at] == "..."
            if (
                at >= start
                and _CUT_BEFORE.match(text, at)
                and self._tells(form, whole[at - end :], marked)
            ):
                yield at, -end, form.label

    def _inner_pieces(self, text: str, start: int) -> Iterator[tuple[int, int, str]]:
        if not self._inner:
            return
        for run in _RUN.finditer(text, start):
            if len(run[0]) <= self._longest and run[0] in self._inner:
                label = next(form.label for form in self._forms if run[0] in form.text)
                yield run.start(), -run.end(), label

    def _tells(self, form: _Form, piece: str, marked: bool) -> bool:
        """Whether a piece is more than a word that may stand there by itself."""
        if len(piece) < _SHORTEST_PIECE or piece in _PUBLIC:
            return False
        return (
            marked
            or form.text in self._random
            or len(piece) >= _LONG_VALUE
            or _TELLING.search(piece) is not None
        )


def _common(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _secrets(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The secrets of the environment with the names of their variables."""
    for name in sorted(environment, reverse=True):  # of two with one value the first name stays
        value = environment[name].strip()
        if looks_secret(name, value):
            if _tells_something(value):
                yield name, value
        else:
            for find in shape_finds(value, 0):
                if _tells_something(value[find.start : find.end]):
                    yield name, value[find.start : find.end]


def _tells_something(value: str) -> bool:
    """Whether a value is a secret rather than a word, or a place where a secret lies."""
    if len(value) < _SHORTEST_VALUE or len(set(value)) < _FEWEST_CHARACTERS:
        return False
    if _PATH.fullmatch(value) and not _random(value):
        return False
    return len(value) >= _LONG_VALUE or not _WORD.fullmatch(value)


def _random(text: str) -> bool:
    return len(_CHANGE.findall(text)) >= _RANDOM * len(text)


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    raw = value.encode("utf-8", "surrogateescape")
    yield quote(raw, safe="")
    yield from _base64(raw)
    yield raw.hex()
    yield raw.hex().upper()
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= _SHORTEST_LINE and "-----" not in line)


def _base64(raw: bytes) -> Iterator[str]:
    """The part of the base64 text that is the same whatever stands before and behind the value."""
    for before in range(3):
        whole = (before + len(raw)) // 3 * 3 - before
        text = b64encode(bytes(before) + raw[:whole]).decode()[4 if before else 0 :]
        if len(text) >= _SHORTEST_VALUE:
            yield text
            yield text.replace("+", "-").replace("/", "_")
