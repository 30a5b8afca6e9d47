"""Where a text occurs in another: exactly, with line ends folded, or as the same characters.

Only whole matches count, also such as overlap, so that "occurs once" means once.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

MAX_COUNTED = 1000

T = TypeVar("T")
Check = Callable[[], None]
Likeness = Literal["exact", "line ends", "characters"]
Piece = tuple[int, int, str]  # start and end in the original text, and what stands there instead

_CRLF = re.compile(r"\r\n")
_CRLF_OR_MARKED = re.compile(r"\r\n|[^\x00-\x7f]+")  # decomposing leaves ASCII as it is
_STRIDE = 1000
_HANGUL_TAILS = ("\u1160", "\u11ff")


def never() -> None:
    """Stands for a look at the clock where nobody waits."""


def watched(items: Iterator[T], check: Check) -> Iterator[T]:
    """The same items; `check`, which may raise, is called once in a thousand."""
    for number, item in enumerate(items):
        if number % _STRIDE == 0:
            check()
        yield item


@dataclass(frozen=True)
class Span:
    """A stretch of the original text."""

    start: int
    end: int


@dataclass(frozen=True)
class Match:
    """All places where the text occurs, and how much had to be overlooked to find them."""

    spans: tuple[Span, ...]
    likeness: Likeness


@dataclass(frozen=True)
class _Change:
    """A stretch that folding rewrote: its bounds in the folded and in the original text."""

    folded_start: int
    folded_end: int
    start: int
    end: int


class Folded:
    """A text in which different spellings of the same thing are equal, and the way back."""

    def __init__(self, text: str, pieces: Iterator[Piece]) -> None:
        parts: list[str] = []
        self._changes: list[_Change] = []
        done = length = 0
        for start, end, new in pieces:
            length += start - done
            self._changes.append(_Change(length, length + len(new), start, end))
            length += len(new)
            parts += (text[done:start], new)
            done = end
        parts.append(text[done:])
        self.text = "".join(parts)
        self._starts = [change.folded_start for change in self._changes]

    def original(self, at: int) -> int | None:
        """The place in the original text; None inside something that was rewritten as a whole."""
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return at
        change = self._changes[index]
        if at == change.folded_start:
            return change.start
        return None if at < change.folded_end else change.end + at - change.folded_end

    def find(self, needle: str, check: Check, *, every: bool) -> tuple[Span, ...]:
        """The spans of the original text that read as `needle` (folded likewise)."""
        spans: list[Span] = []
        for at in watched(occurrences(self.text, needle, every=every), check):
            start, end = self.original(at), self.original(at + len(needle))
            if start is not None and end is not None and not self._splits(at + len(needle)):
                spans.append(Span(start, end))
        return tuple(spans)

    def _splits(self, at: int) -> bool:
        """Whether the character before `at` goes on there: with an accent, or a last consonant."""
        if at >= len(self.text):
            return False
        first, last = _HANGUL_TAILS
        return unicodedata.combining(self.text[at]) > 0 or first <= self.text[at] <= last


def find(text: str, old: str, *, every: bool, check: Check = never) -> Match:
    """Where `old` occurs in `text`, overlooking as little as will find it at all.

    With `every`, all places of one pass from left to right; else the first thousand and one,
    overlapping ones too.
    """
    places = watched(occurrences(text, old, every=every), check)
    exact = tuple(Span(at, at + len(old)) for at in places)
    if exact:
        return Match(exact, "exact")
    if "\n" in old and (spans := _find_folded(text, old, _line_ends, check, every=every)):
        return Match(spans, "line ends")
    if not (text.isascii() or old.isascii()):
        return Match(_find_folded(text, old, _canonical, check, every=every), "characters")
    return Match((), "exact")


def with_whole_line_ends(text: str, match: Match, new: str) -> Match:
    """The match where no place begins between a CR and its LF: then both belong to it.

    A place that ends between them gets the LF when `new` ends in one; else the LF is left behind
    what stands there then, so that a CR can be taken away.
    """
    spans = tuple(_widened(text, match.spans, new.endswith("\n")))
    return match if spans == match.spans else Match(spans, "line ends")


def _widened(text: str, spans: Iterable[Span], to_line_feed: bool) -> Iterator[Span]:
    done = 0
    for span in spans:
        start = span.start - (span.start > done and text.startswith("\r\n", span.start - 1))
        done = span.end + (to_line_feed and text.startswith("\r\n", span.end - 1))
        yield Span(start, done)


def occurrences(text: str, needle: str, *, every: bool) -> Iterator[int]:
    """Where `needle` begins in `text`; see `find`."""
    at = text.find(needle)
    found = 0
    while at >= 0 and (every or found <= MAX_COUNTED):
        yield at
        found += 1
        at = text.find(needle, at + (len(needle) if every else 1))


def _find_folded(
    text: str, old: str, fold: Callable[[str], Iterator[Piece]], check: Check, *, every: bool
) -> tuple[Span, ...]:
    folded = Folded(text, watched(fold(text), check))
    return folded.find(Folded(old, fold(old)).text, check, every=every)


def _line_ends(text: str) -> Iterator[Piece]:
    return ((found.start(), found.end(), "\n") for found in _CRLF.finditer(text))


def _canonical(text: str) -> Iterator[Piece]:
    """Line ends folded, and every character with its marks in decomposed form."""
    for found in _CRLF_OR_MARKED.finditer(text):
        if found[0] == "\r\n":
            yield found.start(), found.end(), "\n"
        elif not unicodedata.is_normalized("NFD", found[0]):
            yield from _decomposed(found[0], found.start())


def _decomposed(run: str, at: int) -> Iterator[Piece]:
    start = 0
    for end in range(1, len(run) + 1):
        if end == len(run) or unicodedata.combining(run[end]) == 0:
            cluster = run[start:end]
            if (new := unicodedata.normalize("NFD", cluster)) != cluster:
                yield at + start, at + end, new
            start = end
