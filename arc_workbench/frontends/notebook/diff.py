"""A change of one file as elements: hunks, numbers, signs, and the words that changed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile

from arc_workbench.content import Diff
from arc_workbench.frontends.notebook.elements import Element, Node, Tag, el
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.syntax import (
    Part,
    Span,
    coloured,
    drawn,
    language_of,
    marked,
)
from arc_workbench.frontends.unified import Hunk, Line, changed, read
from arc_workbench.frontends.words import plural

MAX_CHANGED = 200
MAX_LINES = 600
MAX_LINE = 2_000
MAX_CHARS = 100_000
MAX_MARKED_LINE = 400
MAX_MARKED_WORDS = 120
LIKE = 0.4

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_SIGNS = {"-": "\u2212", "+": "+"}
_ROWS = {"-": "aw-line aw-del", "+": "aw-line aw-add"}
_MARKS: dict[str, Tag] = {"-": "del", "+": "ins"}


@dataclass(frozen=True)
class Bounds:
    """How much of a diff is drawn; what is left out is counted under it."""

    changed: int = MAX_CHANGED
    lines: int = MAX_LINES
    line: int = MAX_LINE
    chars: int = MAX_CHARS


DETAILED = Bounds(changed=4_000, lines=8_000, chars=400_000)
"""For one change that somebody looks at."""
WHOLE = Bounds(changed=10_000, lines=20_000, line=100_000, chars=1_000_000)
"""For an action that somebody is asked about."""


def diff(block: Diff, bounds: Bounds = Bounds(), where: str = "") -> Element:
    """The change as a box; `where` names the command that shows what is left out.

    Without it, what is left out of a `DETAILED` drawing stands in the file alone.
    """
    hunks, line_ends = _without_line_ends(read(block.unified, bounds.lines).hunks)
    kept = _kept(hunks, bounds)
    left_out = sum(changed(block.unified)) - _count(kept)
    width = max([4, *(len(str(line.new or line.old)) for hunk in kept for line in hunk.lines)])
    drawing = _Drawing(language_of(block.path), width, bounds)
    headed = not block.created and not (len(hunks) == 1 and hunks[0].new <= 1)
    lines = [row for hunk in kept for row in _hunk(hunk, drawing, headed)]
    parts: list[Node] = [_head(block, line_ends)]
    if lines:
        parts.append(el("pre", "aw-diff", *lines, aria_label="Lines of the change"))
    if left_out:
        parts.append(_cut(left_out, where, in_file=bounds == DETAILED))
    return el("div", "aw-file", *parts)


def is_cut(block: Diff, bounds: Bounds) -> bool:
    """Whether something of the change would not be drawn."""
    change = read(block.unified, bounds.lines)
    kept = _kept(change.hunks, bounds)
    longest = max((len(line.text) for hunk in kept for line in hunk.lines), default=0)
    return not change.whole or longest > bounds.line or _lines(kept) < _lines(change.hunks)


def _lines(hunks: Sequence[Hunk]) -> int:
    return sum(len(hunk.lines) for hunk in hunks)


def _count(hunks: Sequence[Hunk]) -> int:
    return sum(line.sign in _SIGNS for hunk in hunks for line in hunk.lines)


@dataclass(frozen=True)
class _Drawing:
    language: str
    width: int
    bounds: Bounds


def _without_line_ends(hunks: Sequence[Hunk]) -> tuple[Sequence[Hunk], str]:
    """Where every line ends in CR LF, say it once instead of in each line."""
    texts = [line.text for hunk in hunks for line in hunk.lines if line.sign != "\\"]
    if not texts or not all(text.endswith("\r") for text in texts):
        return hunks, ""
    for hunk in hunks:
        hunk.lines = [replace(line, text=line.text.removesuffix("\r")) for line in hunk.lines]
    return hunks, " \u00b7 CRLF line ends"


def _head(block: Diff, line_ends: str) -> Element:
    added, removed = changed(block.unified)
    path = el("span", "aw-file__path", *chips(block.path, "name"))
    if block.created:
        new = el("span", "aw-tag", "new")
        volume = plural(added, "line") if added else "empty"
        size = el("span", "aw-soft aw-right", volume + line_ends)
        return el("div", "aw-file__head", path, " ", new, " ", size)
    counts = el("span", "aw-soft aw-right", f"+{added:,} \u2212{removed:,}{line_ends}")
    gone = [" ", el("span", "aw-tag", "deleted")] if block.removed else []
    return el("div", "aw-file__head", path, *gone, " ", counts)


def _cut(left_out: int, where: str, *, in_file: bool) -> Element:
    words: list[Node] = [el("span", "", f"{plural(left_out, 'changed line')} not shown here.")]
    if where:
        words += [" ", el("span", "", "All of it: ", el("code", "", where))]
    elif in_file:
        words += [" ", el("span", "", "They stand in the file itself.")]
    return el("div", "aw-file__cut", *words)


def _kept(hunks: Sequence[Hunk], bounds: Bounds) -> list[Hunk]:
    """The hunks as far as they fit."""
    room = _Room(bounds)
    kept: list[Hunk] = []
    for hunk in hunks:
        lines = [*takewhile(room.takes, hunk.lines)]
        if lines:
            kept.append(Hunk(hunk.old, hunk.new, hunk.section, lines))
        if len(lines) < len(hunk.lines):
            break
    return kept


class _Room:
    """What is left of the bounds."""

    def __init__(self, bounds: Bounds) -> None:
        self._left = [bounds.lines, bounds.changed, bounds.chars]
        self._line = bounds.line

    def takes(self, line: Line) -> bool:
        cost = (1, int(line.sign in _SIGNS), min(len(line.text), self._line))
        self._left = [left - part for left, part in zip(self._left, cost, strict=True)]
        return min(self._left) >= 0


def _hunk(hunk: Hunk, drawing: _Drawing, headed: bool) -> Iterator[Element]:
    if headed:
        yield el("span", "aw-hunk", *_heading(hunk), "\n")
    colours = _colours(hunk.lines, drawing)
    marks = _marks(hunk.lines)
    for number, line in enumerate(hunk.lines):
        if line.sign != "\\":
            yield _line(line, colours[number], marks.get(number, ()), drawing)
        elif not _said_again(hunk.lines, number):
            yield _no_newline(hunk.lines, number, drawing)


def _heading(hunk: Hunk) -> tuple[Node, ...]:
    if hunk.section:
        return "inside ", el("code", "", *chips(hunk.section[:200], "code"))
    return (f"from line {hunk.new:,}" if hunk.new > 3 else "top of the file",)


def _line(line: Line, parts: Sequence[Part], marks: Sequence[Span], drawing: _Drawing) -> Element:
    code = _code(line, parts, marks)
    rest = len(line.text) - drawing.bounds.line
    if rest > 0:
        code = (*code, el("span", "aw-soft", f" \u2026 {rest:,} more characters"))
    sign = _SIGNS.get(line.sign, " ")
    return _row(_ROWS.get(line.sign, "aw-line"), line.old, line.new, sign, code, drawing.width)


def _row(
    classes: str, old: int, new: int, sign: str, code: tuple[Node, ...], width: int
) -> Element:
    numbers = [
        el("span", "aw-diff__n", el("small", "", (str(number) if number else "").rjust(width)))
        for number in (old, new)
    ]
    signed = el("span", "aw-diff__s", sign)
    return el("span", classes, *numbers, " ", signed, " ", el("span", "aw-diff__c", *code), "\n")


def _code(line: Line, parts: Sequence[Part], marks: Sequence[Span]) -> tuple[Node, ...]:
    if line.sign not in _MARKS:
        return tuple(drawn(parts, "code"))
    return marked(parts, marks, _MARKS[line.sign], "code")


def _colours(lines: Sequence[Line], drawing: _Drawing) -> list[list[Part]]:
    """Colour the text before and the text after, each as a whole, and give each line its parts."""
    texts = [line.text[: drawing.bounds.line] for line in lines]
    result = [[("", text)] for text in texts]
    for side in ("-", "+"):
        numbers = [n for n, line in enumerate(lines) if line.sign in {side, " "}]
        found = coloured([texts[n] for n in numbers], drawing.language)
        for number, parts in zip(numbers, found, strict=True):
            result[number] = parts
    return result


# ---- the words that changed ---------------------------------------------------------------------


def _marks(lines: Sequence[Line]) -> dict[int, list[Span]]:
    """What to mark in each line that stands for another: removed and added ones by rank."""
    marks: dict[int, list[Span]] = {}
    for removed, added in _replaced(lines):
        for old, new in zip(removed, added, strict=False):
            found = _words_changed(lines[old].text, lines[new].text)
            if found is not None:
                marks[old], marks[new] = found
    return marks


def _replaced(lines: Sequence[Line]) -> Iterator[tuple[list[int], list[int]]]:
    """Runs of removed lines with the run of added lines right after."""
    removed: list[int] = []
    added: list[int] = []
    for number, line in enumerate(lines):
        if line.sign == "+":
            added.append(number)
            continue
        if line.sign == "\\":
            continue
        if added or line.sign == " ":
            yield removed, added
            removed, added = [], []
        if line.sign == "-":
            removed.append(number)
    yield removed, added


def _words_changed(old: str, new: str) -> tuple[list[Span], list[Span]] | None:
    """Where two lines differ; None where they are too long or have little in common."""
    if max(len(old), len(new)) > MAX_MARKED_LINE:
        return None
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(before), len(after)) > MAX_MARKED_WORDS:
        return None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < LIKE:
        return None
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _spans(before, [(a, b) for _, a, b, _, _ in codes]),
        _spans(after, [(a, b) for _, _, _, a, b in codes]),
    )


def _spans(words: Sequence[str], ranges: Sequence[Span]) -> list[Span]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return [(starts[a], starts[b]) for a, b in ranges if b > a]


# ---- no newline at the end ----------------------------------------------------------------------


def _said_again(lines: Sequence[Line], number: int) -> bool:
    """Whether a later line of the hunk says the same of the other side."""
    return any(line.sign == "\\" for line in lines[number + 1 :])


def _no_newline(lines: Sequence[Line], number: int, drawing: _Drawing) -> Element:
    signs = {lines[n - 1].sign for n in range(1, number + 1) if lines[n].sign == "\\"}
    when = {"-": ", before", "+": ", after"}.get(next(iter(signs)), ", before and after")
    when = when if len(signs) == 1 else ", before and after"
    words = el("span", "aw-soft", f"No newline at the end of the file{when}")
    return _row("aw-line", 0, 0, " ", (words,), drawing.width)
