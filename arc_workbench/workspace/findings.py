"""What a search gives back: lines in blocks, spans of what matched, within fixed bounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arc_workbench.workspace.walking import Skip

MAX_CONTEXT_LINES = 50
MAX_LINE_CHARS = 2000
MAX_CHARS = 200_000
LEAD_CHARS = 200

Span = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """A line of a block; `cut` when it is not shown whole; `spans` are what matched in `text`."""

    number: int
    text: str
    matched: bool
    cut: bool
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Block:
    """Consecutive lines of one file: matches and their context."""

    path: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Hits:
    """What a search found; `truncated` when there is more; `engine` is who answered.

    `stopped` says why not all files were looked at, "" if they were.
    """

    blocks: tuple[Block, ...]
    count: int
    files_searched: int
    truncated: bool
    skipped: tuple[Skip, ...]
    engine: str = ""
    stopped: str = ""


@dataclass(frozen=True)
class Query:
    """What to look for, and how much of it to give back."""

    text: str
    literal: bool
    ignore_case: bool
    context: int
    limit: int


@dataclass(frozen=True)
class RawLine:
    """A line as an engine tells it: `spans` is None for one that is only context."""

    number: int
    text: str
    spans: tuple[Span, ...] | None


class Collected:
    """Blocks so far; full when the limit of matches or the ceiling for text is reached."""

    def __init__(self, query: Query) -> None:
        self.blocks: list[Block] = []
        self.count = 0
        self.truncated = False
        self._query = query
        self._chars = 0

    @property
    def left(self) -> int:
        """How many matches may still come."""
        return self._query.limit - self.count

    def add(self, path: str, lines: Iterable[RawLine]) -> None:
        """Take the lines of one file, in order, up to the first match that is one too many."""
        block: list[Line] = []
        for raw in lines:
            if raw.spans is not None:
                if self.count >= self._query.limit or self._chars >= MAX_CHARS:
                    self.truncated = True
                    block = self._without_lead(block)
                    break
                self.count += 1
            if block and raw.number > block[-1].number + 1:
                self._close(path, block)
                block = []
            block.append(self._shown(raw))
        self._close(path, block)

    def _without_lead(self, block: Sequence[Line]) -> list[Line]:
        """The block without the context of a match that is not in it any more."""
        last = max((line.number for line in block if line.matched), default=0)
        return [line for line in block if line.number <= last + self._query.context and last]

    def _close(self, path: str, block: Sequence[Line]) -> None:
        if block:
            self.blocks.append(Block(path, tuple(block)))

    def _shown(self, raw: RawLine) -> Line:
        spans = raw.spans or ()
        start = 0
        if spans and spans[0][1] > MAX_LINE_CHARS:
            start = max(0, spans[0][0] - LEAD_CHARS)
        part = raw.text[start : start + MAX_LINE_CHARS]
        lead = "…" if start else ""
        self._chars += len(part)
        return Line(
            number=raw.number,
            text=lead + part,
            matched=raw.spans is not None,
            cut=len(part) < len(raw.text),
            spans=tuple(_moved(spans, len(lead) - start, len(lead) + len(part))),
        )


def _moved(spans: Iterable[Span], by: int, end: int) -> Iterable[Span]:
    for first, last in spans:
        if first + by < end and last > first:
            yield first + by, min(last + by, end)
