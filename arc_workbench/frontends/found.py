"""What a search, a listing or an outline found, grouped and cut for people; in no form yet."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from arc_workbench.content import Declaration, Matches, MatchLine, Name, Outline
from arc_workbench.frontends.words import plural, size

MAX_SPANS = 50
BEFORE_A_MATCH = 60

Span = tuple[int, int]


@dataclass(frozen=True)
class Group:
    """Lines of one file that stand together."""

    path: str
    lines: tuple[MatchLine, ...]


def grouped(lines: Iterable[MatchLine]) -> list[Group]:
    """Neighbouring lines of the same file, in order."""
    return [Group(path, tuple(group)) for path, group in groupby(lines, lambda line: line.path)]


@dataclass(frozen=True)
class Cut:
    """A piece of a line: what of it is shown, the matched stretches in that, what is missing."""

    text: str
    spans: tuple[Span, ...]
    before: int = 0
    after: int = 0


def cut(line: MatchLine, most: int) -> Cut:
    """At most so many characters of a line; the first match is among them."""
    spans = [*_whole(line)]
    first = spans[0][0] if spans else 0
    start = max(0, first - BEFORE_A_MATCH) if len(line.text) > most and first > most // 2 else 0
    text = line.text[start : start + most]
    inside = tuple(
        (max(0, a - start), min(len(text), b - start))
        for a, b in spans
        if a - start < len(text) and b > start
    )
    return Cut(text, inside, start, len(line.text) - start - len(text))


def _whole(line: MatchLine) -> Iterator[Span]:
    """The matched stretches that lie in the text and hold something."""
    for start, stop in sorted(line.spans[:MAX_SPANS]):
        if 0 <= start < min(stop, len(line.text)):
            yield start, stop


def name_of(name: Name) -> str:
    """A name as it is written: a folder ends in a slash."""
    return f"{name.path.rstrip('/')}/" if name.kind == "folder" else name.path


def matching(count: int) -> str:
    """ "1 match", "6 matches" """
    return f"{count:,} match" if count == 1 else f"{count:,} matches"


def counted(block: Matches) -> str:
    """ "6 matches in 2 files" """
    files = len({line.path for line in block.lines})
    return f"{matching(block.count)} in {plural(files, 'file')}" if files else "No matches"


def signed(each: Declaration) -> str:
    """The signature in one line; the name stands before it where it does not hold it."""
    text = " ".join(each.signature.split())
    return text if each.name in text else f"{each.name} {text}".rstrip()


def measured(block: Outline) -> str:
    """ "1,204 lines, 48.1 KB" """
    return f"{plural(block.total_lines, 'line')}, {size(block.size)}"


def more(shown: int, all_of: Sequence[object], noun: str) -> str:
    """ "12 more lines", or nothing."""
    missing = len(all_of) - shown
    return plural(missing, f"more {noun}") if missing > 0 else ""
