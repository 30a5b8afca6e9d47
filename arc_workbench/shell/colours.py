"""The colours of what a program wrote for a terminal, as ranges over its plain text.

`plain` is the only one that knows where a character ends up. So it is asked twice: for the text,
and for the same with each character replaced by a sign for how it looks.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import get_args

from arc_workbench.content import Colour, Look, Style
from arc_workbench.shell.plain import SEQUENCE, plain

MAX_STYLES = 2_000

_Looks = tuple[Look, ...]
_Range = tuple[int, int, Look]

_FIRST_SIGN = 0x100000  # of a plane for private use, where `plain` has nothing to do
_TEXT = re.compile(r"[^\x08-\x0d]+")
_RUN = re.compile(r"(.)\1*", re.DOTALL)

_COLOURS: tuple[Colour, ...] = get_args(Colour)
_GREYS = frozenset[Colour | None]({None, "black", "white", "bright_black", "bright_white"})
_VALUES = (
    *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0)),
    *((0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)),
    *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
    *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
)
_CUBE = (0, 95, 135, 175, 215, 255)

_ON: dict[int, tuple[Look, ...]] = {1: ("bold",), 2: ("dim",), 3: ("italic",), 4: ("underline",)}
_ON[21] = ("underline",)
_OFF: dict[int, tuple[Look, ...]] = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",)}
_INVERSE, _UPRIGHT, _INK, _NO_INK, _GROUND, _NO_GROUND, _LINE = 7, 27, 38, 39, 48, 49, 58


def styled(raw: str, keep_chars: int) -> tuple[str, tuple[Style, ...]]:
    """The end of the plain text of `raw`, `plain(raw)[-keep_chars:]`, and how it looks.

    Of more than `MAX_STYLES` ranges the last are given, in the order in which they begin. Time is
    linear in the input.
    """
    whole = plain(raw)
    text = whole[-keep_chars:]
    signs = _Signs()
    shown = plain("".join(signs.instead_of(raw)))[len(whole) - len(text) :]
    last = deque(_ranges(shown, signs.looks), MAX_STYLES)
    return text, tuple(Style(start=start, end=end, look=look) for start, end, look in sorted(last))


class _Signs:
    """Replaces text by signs, one for each way to look; sequences stay where they are."""

    def __init__(self) -> None:
        self.looks: dict[str, _Looks] = {}
        self._signs: dict[_Looks, str] = {}

    def instead_of(self, raw: str) -> Iterator[str]:
        pen = _Pen()
        sign = self._sign(pen.looks)
        at = 0
        for found in SEQUENCE.finditer(raw):
            yield _written(raw[at : found.start()], sign)
            yield found[0]
            at = found.end()
            if found["final"] == "m" and not found["other"]:
                pen.take(found["number"] + (found["more"] or ""))
                sign = self._sign(pen.looks)
        yield _written(raw[at:], sign)

    def _sign(self, looks: _Looks) -> str:
        sign = self._signs.setdefault(looks, chr(_FIRST_SIGN + len(self._signs)))
        self.looks[sign] = looks
        return sign


def _written(text: str, sign: str) -> str:
    return _TEXT.sub(lambda found: sign * len(found[0]), text)


def _ranges(shown: str, looks_of: Mapping[str, _Looks]) -> Iterator[_Range]:
    """Where each look begins and ends; a tab or a newline goes with what stands around it."""
    begun: dict[Look, int] = {}
    end = 0
    for run in _RUN.finditer(shown):
        if run[1] in "\n\t":
            continue
        looks = looks_of.get(run[1], ())
        over: list[Look] = [look for look in begun if look not in looks]
        for look in over:
            yield begun.pop(look), end, look
        for look in looks:
            begun.setdefault(look, run.start())
        end = run.end()
    for look, start in begun.items():
        yield start, end, look


class _Pen:
    """How what is written next looks."""

    def __init__(self) -> None:
        self._ink: Colour | None = None
        self._ground: Colour | None = None
        self._inverse = False
        self._on: set[Look] = set()

    @property
    def looks(self) -> _Looks:
        """What stands out by its ground, or is inverse, does so in bold instead."""
        on_ground = self._ground not in _GREYS
        colour = self._ground if on_ground else self._ink
        looks = set(self._on)
        if colour:
            looks.add(colour)
        if on_ground or self._inverse:
            looks.add("bold")
        in_order: list[Look] = sorted(looks)
        return tuple(in_order)

    def take(self, parameters: str) -> None:
        """Obey one sequence; what it does not know changes nothing."""
        fields = iter(parameters.split(";"))
        for field in fields:
            head, colon, rest = field.partition(":")
            code = _number(head)
            if code in (_INK, _GROUND, _LINE):
                self._paint(code, _colour(_own(rest) if colon else fields))
            elif code == 4 and rest == "0":
                self._set(24)
            else:
                self._set(code)

    def _paint(self, code: int, colour: Colour | None) -> None:
        if colour and code == _INK:
            self._ink = colour
        elif colour and code == _GROUND:
            self._ground = colour

    def _set(self, code: int) -> None:
        if code == 0:
            self._ink = self._ground = None
            self._inverse = False
            self._on.clear()
        elif code in (_INVERSE, _UPRIGHT):
            self._inverse = code == _INVERSE
        elif code == _NO_INK:
            self._ink = None
        elif code == _NO_GROUND:
            self._ground = None
        else:
            self._on.update(_ON.get(code, ()))
            self._on.difference_update(_OFF.get(code, ()))
            self._name(code)

    def _name(self, code: int) -> None:
        tens, index = divmod(code, 10)
        bright = 8 if tens in (9, 10) else 0
        if index > 7:
            return
        if tens in (3, 9):
            self._ink = _COLOURS[bright + index]
        elif tens in (4, 10):
            self._ground = _COLOURS[bright + index]


def _number(digits: str) -> int:
    """A parameter of a sequence; one too large to mean anything is cut."""
    return int(digits.lstrip("0")[:6] or 0)


def _own(rest: str) -> Iterator[str]:
    """The parts of a colour written with colons: an RGB one may name its space first."""
    parts = rest.split(":")
    if parts[0] == "2" and len(parts) > 4:
        del parts[1]
    return iter(parts)


def _colour(parts: Iterator[str]) -> Colour | None:
    """One of the 16 for what `5;NUMBER` or `2;RED;GREEN;BLUE` asks for."""
    kind = next(parts, "")
    if kind == "5":
        return _of_256(_number(next(parts, "")))
    if kind == "2":
        red, green, blue = (min(255, _number(next(parts, ""))) for _ in range(3))
        return _nearest(red, green, blue)
    return None


def _of_256(number: int) -> Colour | None:
    if number < 16:
        return _COLOURS[number]
    if number < 232:
        red, rest = divmod(number - 16, 36)
        return _nearest(_CUBE[red], _CUBE[rest // 6], _CUBE[rest % 6])
    level = 8 + 10 * (number - 232)
    return _nearest(level, level, level) if number < 256 else None


@lru_cache(maxsize=4096)
def _nearest(red: int, green: int, blue: int) -> Colour:
    def distance(index: int) -> int:
        r, g, b = _VALUES[index]
        return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2

    return _COLOURS[min(range(16), key=distance)]
