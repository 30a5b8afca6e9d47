"""Output with its colours: stretches that look alike, and the same for a terminal."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO, get_args

from arc_workbench.content import Colour, Look, Output, Style
from arc_workbench.frontends.odd import escaped
from arc_workbench.frontends.words import plural, size

MAX_LINES = 24
MAX_LINE = 1_000

Piece = tuple[str, tuple[Look, ...]]

_COLOURS: tuple[Colour, ...] = get_args(Colour)
_CODES: dict[Look, int] = {
    "bold": 1,
    "dim": 2,
    "italic": 3,
    "underline": 4,
    **{look: number for number, look in enumerate(_COLOURS[:8], 30)},
    **{look: number for number, look in enumerate(_COLOURS[8:], 90)},
}


def pieces(text: str, styles: Sequence[Style], start: int, end: int) -> Iterator[Piece]:
    """The characters from `start` up to `end` in order, cut where the look changes.

    Styles may be any: what lies outside the text is not there.
    """
    changes: dict[int, list[tuple[Look, int]]] = defaultdict(list)
    for style in styles:
        first, last = max(style.start, start), min(style.end, end)
        if first < last:
            changes[first].append((style.look, 1))
            changes[last].append((style.look, -1))
    looks: Counter[Look] = Counter()
    at = start
    for change in sorted(changes):
        if change > at:
            yield text[at:change], _looks(looks)
        for look, step in changes[change]:
            looks[look] += step
        at = change
    if at < end:
        yield text[at:end], ()


def _looks(looks: Counter[Look]) -> tuple[Look, ...]:
    there: list[Look] = [look for look, count in looks.items() if count > 0]
    return tuple(there)


def has_colour(environ: Mapping[str, str], stream: TextIO) -> bool:
    """Whether a person reads `stream` on a terminal with colours and does not refuse them."""
    dumb = environ.get("TERM", "") in {"", "dumb"}
    return stream.isatty() and not dumb and not environ.get("NO_COLOR")


def terminal(block: Output, *, colour: bool) -> Iterator[str]:
    """The last lines of an output for a terminal, and how much stands above them.

    Only colours and weights are obeyed, each ended where it began; anything else is escaped.
    """
    text = block.text.removesuffix("\n")
    if not text:
        return
    start = _start_of_last_lines(text)
    above = text.count("\n", 0, start)
    said = [plural(above, "line")] if above else []
    said += [size(block.cut_bytes)] if block.cut_bytes else []
    if said:
        yield f"... {' and '.join(said)} above, not shown here"
    styles = block.drawn_styles if colour else ()
    for line in text[start:].split("\n"):
        yield _line(text, styles, start, start + len(line))
        start += len(line) + 1


def _start_of_last_lines(text: str) -> int:
    at = len(text)
    for _ in range(MAX_LINES):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _line(text: str, styles: Sequence[Style], start: int, end: int) -> str:
    shown = min(end, start + MAX_LINE)
    drawn = "".join(_painted(piece) for piece in pieces(text, styles, start, shown))
    return drawn + (f"... {plural(end - shown, 'more character')}" if end > shown else "")


def _painted(piece: Piece) -> str:
    text, looks = piece
    if not looks:
        return escaped(text)
    codes = ";".join(str(code) for code in sorted(_CODES[look] for look in looks))
    return f"\x1b[{codes}m{escaped(text)}\x1b[0m"
