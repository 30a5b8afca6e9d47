"""Where a text that was not found nearly stands, and what is different there.

The cost grows with the texts' length only, whatever they hold.
"""

import heapq
import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from arc_workbench.workspace.differing import differences, longest, quoted
from arc_workbench.workspace.matching import Check, watched

_PIECE = 4096
_LEAST_ALIKE = 6  # characters that a beginning or an end must have in common to count
_LEAST_SHARE = 0.4
_LEAST_RATIO = 0.6
_LEAST_BESIDE = 3  # characters before and behind something that was left out
_MOST_LEFT_OUT = 80
_LINES_LOOKED_AT = 200_000
_LINES_COMPARED = 8
_COMPARED_CHARS = 400
_LEAST_REPEATED = 8  # characters of new text that do not stand in the file by accident

_NUMBERED = re.compile(r"^ {0,8}[0-9]{1,9}(?:\t|→|: ?|\| ?)", re.MULTILINE)
_ESCAPE = re.compile(r"\\([nrt\"'\\])")
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_UNSEEN = {"Mn", "Me", "Cf", "Cc"}
_WORD = re.compile(r"\w+")

_QUOTES = "\"'\u2018\u2019\u201a\u201b\u2032\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_CYRILLIC = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u0410"
    "\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408"
    "\u0405"
)
_GREEK = (
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_LOOK_ALIKE = str.maketrans(
    _QUOTES + _DASHES + _CYRILLIC + _GREEK,
    "'" * len(_QUOTES) + "-" * len(_DASHES) + "aeopcyxijshdABEKMHOPCTYXIJS" + "oABEZHIKMNOPTYX",
)


@dataclass(frozen=True)
class Near:
    """The nearest place, its line counted from 1, and some words about it for the caller."""

    line: int | None
    words: str


def nearest(text: str, old: str, new: str, check: Check) -> Near:
    """Why `old`, which is to become `new`, is not found in `text`.

    Raises whatever `check` raises, which is called often.
    """
    if not old.strip():
        return Near(None, "It holds nothing but blanks; send the words beside them too.")
    if near := _made_already(text, old, new) or _disguised(text, old):
        return near
    there, sent = _Skeleton(text, check), _Skeleton(old, check)
    return (
        _respelled(there, sent)
        or _partly_alike(there, sent, check)
        or _likest_line(text, old, check)
        or Near(None, "Nothing in this file is like it; make sure that it is the right file.")
    )


def _line_at(text: str, at: int) -> tuple[int, str]:
    """The number of the line where `at` is, and how it is shown."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)].removesuffix("\r")
    return text.count("\n", 0, start) + 1, quoted(line, at - start)


# ---- causes that can be tried out ---------------------------------------------------------------


def _made_already(text: str, old: str, new: str) -> Near | None:
    if len(new.strip()) < _LEAST_REPEATED or (at := text.find(new)) < 0:
        return None
    line, _ = _line_at(text, at)
    return Near(line, f"The new text stands at line {line} already: was this edit made before?")


def _disguised(text: str, old: str) -> Near | None:
    """What would be found without something that crept into `old` on its way."""
    for undo, words in _DISGUISES:
        undone = undo(old)
        if undone != old and undone.strip() and (at := text.find(undone)) >= 0:
            line, _ = _line_at(text, at)
            return Near(line, f"It stands at line {line} {words}.")
    return None


def _without_numbers(old: str) -> str:
    """`old` without the line numbers that tools show before each line."""
    if any(line.strip() and not _NUMBERED.match(line) for line in old.split("\n")):
        return old
    return _NUMBERED.sub("", old)


def _without_escapes(old: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANT.get(found[1], found[1]), old)


def _with_escapes(old: str) -> str:
    return old.replace("\n", r"\n").replace("\t", r"\t")


def _with_entities(old: str) -> str:
    return html.escape(old, quote=False)


_DISGUISES: tuple[tuple[Callable[[str], str], str], ...] = (
    (_without_numbers, "without the line numbers, which are shown by tools but not in the file"),
    (
        _without_escapes,
        r"without the escapes: send real line ends, tabs and quotes, not \n, \t, \"",
    ),
    (_with_escapes, r"with escapes: in the file there are a \ and a letter for line ends or tabs"),
    (html.unescape, "without entities: send < and &, not &lt; and &amp;"),
    (_with_entities, "with entities: in the file there are &lt; for < and &amp; for &"),
)


# ---- the same but for its spelling --------------------------------------------------------------


class _Folds(dict[int, str | None]):
    """What of a character is compared: no case, marks or blanks, and one form of look-alikes."""

    def __missing__(self, code: int) -> str | None:
        plain = unicodedata.normalize("NFKD", chr(code)).translate(_LOOK_ALIKE).casefold()
        kept = "".join(char for char in plain if unicodedata.category(char) not in _UNSEEN)
        self[code] = folded = "".join(kept.split()) or None
        return folded


_FOLDS = _Folds()


def _folded(text: str) -> str:
    return text.translate(_FOLDS)


class _Skeleton:
    """A text folded, and the way back to it."""

    def __init__(self, original: str, check: Check) -> None:
        self.original = original
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        for at in range(0, len(original), _PIECE):
            check()
            parts.append(_folded(original[at : at + _PIECE]))
            self._starts.append(length)
            length += len(parts[-1])
        self.text = "".join(parts)

    def original_of(self, at: int) -> int:
        """Where in the original the character stands that is at `at` in the folded text."""
        piece = bisect_right(self._starts, at) - 1
        left = at - self._starts[piece]
        start = piece * _PIECE
        for place in range(start, min(start + _PIECE, len(self.original))):
            left -= len(_folded(self.original[place]))
            if left < 0:
                return place
        return len(self.original)


def _respelled(there: _Skeleton, sent: _Skeleton) -> Near | None:
    """The first place that is `sent` in another spelling, and the first line that differs."""
    if not sent.text or (found := there.text.find(sent.text)) < 0:
        return None
    text, old = there.original, sent.original
    start = there.original_of(found)
    start -= _blanks_before(text, start, old)
    end = there.original_of(found + len(sent.text) - 1) + 1
    end += _blanks_after(text, end, old)
    at, phrase = _first_difference(text[start:end], old)
    line, shown = _line_at(text, start + at)
    return Near(line, f"Nearest is line {line}, {shown} as a JSON string: {phrase}.")


def _blanks_before(text: str, start: int, old: str) -> int:
    """How many characters before `start` answer to the blanks that `old` begins with."""
    lead = old[: len(old) - len(old.lstrip())]
    if not lead:
        return 0
    before = text[max(0, start - _PIECE) : start]
    lines = before[len(before.rstrip()) :].split("\n")
    return len("\n".join(lines[-lead.count("\n") - 1 :]))


def _blanks_after(text: str, end: int, old: str) -> int:
    """How many characters from `end` on answer to the blanks that `old` ends with."""
    tail = old[len(old.rstrip()) :]
    if not tail:
        return 0
    after = text[end : end + _PIECE]
    lines = after[: len(after) - len(after.lstrip())].split("\n")[: tail.count("\n") + 1]
    if tail.endswith("\n") and len(lines) > tail.count("\n"):
        lines[-1] = ""
    return len("\n".join(lines))


def _first_difference(found: str, old: str) -> tuple[int, str]:
    """Where in `found` the first line begins that is not as in `old`, and how it differs."""
    at = 0
    for there, sent in zip(found.split("\n"), old.split("\n"), strict=False):
        if phrase := _how(there.removesuffix("\r"), sent.removesuffix("\r")):
            return at, phrase
        at += len(there) + 1
    return max(0, at - 1), "the file ends there, the text goes on with a line end"


def _how(there: str, sent: str) -> str:
    if there == sent or _folded(there) == _folded(sent):
        return differences(there, sent)
    if not there.strip():
        return "the file has an empty line there, the text has none"
    if not sent.strip():
        return "the text has an empty line there, the file has none"
    if "\r" in there:
        return "its lines end with CR alone (U+000D)"
    return f"its line ends stand elsewhere than in the text, which has {quoted(sent)}"


# ---- alike in part ------------------------------------------------------------------------------


def _partly_alike(there: _Skeleton, sent: _Skeleton, check: Check) -> Near | None:
    """Where the longest beginning of `sent` stands, or its longest end if that is longer."""

    def within(piece: str) -> bool:
        check()
        return piece in there.text

    size = len(sent.text)
    head = longest(size, lambda length: within(sent.text[:length]))
    tail = longest(size, lambda length: within(sent.text[size - length :]))
    if max(head, tail) < max(_LEAST_ALIKE, _LEAST_SHARE * size):
        return None
    if near := _left_out(there, sent, head, tail):
        return near
    if head >= tail:
        parted = there.text.find(sent.text[:head]) + head, head
    else:
        parted = there.text.find(sent.text[size - tail :]) - 1, size - tail - 1
    return _parted(there, sent, *parted)


def _left_out(there: _Skeleton, sent: _Skeleton, head: int, tail: int) -> Near | None:
    """The place that is `sent` but for something in its middle that stands only in the file."""
    size = len(sent.text)
    if head + tail < size or min(head, size - head) < _LEAST_BESIDE:
        return None
    end = there.text.find(sent.text[head:], there.text.find(sent.text[:head]) + head)
    start = there.text.rfind(sent.text[:head], 0, max(0, end)) + head
    if end < 0 or end - start > max(size, _MOST_LEFT_OUT):
        return None
    first, last = _at_a_word(there, start, end)
    gap = there.original[first:last].strip()
    line, _ = _line_at(there.original, first)
    return Near(
        line, f"Nearest is line {line}: the file has {quoted(gap)} there, the text leaves it out."
    )


def _at_a_word(there: _Skeleton, start: int, end: int) -> tuple[int, int]:
    """Where in the original this begins and ends, moved back to a line or word if it reads alike.

    Without the second line of `foo() bar() baz()`, what is missing may be `bar()` or `r() ba`.
    """
    text, original = there.text, there.original
    best = (3, 0, 0)
    for back in range(min(start, _MOST_LEFT_OUT)):
        first = there.original_of(start - back)
        before = original[max(0, first - 1) : first]
        in_word = _WORD.match(before) and _WORD.match(original, first)
        lead = original[original.rfind("\n", 0, first) + 1 : first]
        best = min(best, (1 + bool(in_word) if lead.strip() else 0, back, first))
        if best[0] == 0 or text[start - back - 1] != text[end - back - 1]:
            break
    return best[2], there.original_of(end - best[1] - 1) + 1


def _parted(there: _Skeleton, sent: _Skeleton, at: int, at_sent: int) -> Near:
    line, shown = _line_at(there.original, there.original_of(max(0, at)))
    _, meant = _line_at(sent.original, sent.original_of(at_sent))
    if at >= len(there.text):
        return Near(line, f"The file ends at line {line}, {shown}, where the text has {meant}.")
    return _two_lines(line, shown, meant)


def _two_lines(line: int, shown: str, meant: str) -> Near:
    return Near(
        line, f"Nearest is line {line}, where the file has {shown} and the text {meant} (as JSON)."
    )


def _likest_line(text: str, old: str, check: Check) -> Near | None:
    """The line that has most in common with the longest one of `old`."""
    target = max(old.split("\n"), key=len).strip()[:_COMPARED_CHARS]
    words = frozenset(_WORD.findall(target.casefold()))
    long_enough = re.compile(rf"[^\n]{{{max(4, len(target) // 3)},}}")
    lines = islice(watched(long_enough.finditer(text), check), _LINES_LOOKED_AT)
    shares = ((_shared(found, words), -found.start()) for found in lines)
    likeliest = heapq.nlargest(_LINES_COMPARED, (share for share in shares if share[0]))
    rated = [(_ratio(text, -start, target), start) for _, start in likeliest]
    ratio, start = max(rated, default=(0.0, 0))
    if ratio < _LEAST_RATIO:
        return None
    line, shown = _line_at(text, -start)
    return _two_lines(line, shown, quoted(target))


def _shared(line: re.Match[str], words: frozenset[str]) -> int:
    """How many characters are in words that the line has in common with `words`."""
    start, end = line.span()
    there = _WORD.findall(line.string[start : min(end, start + _COMPARED_CHARS)].casefold())
    return sum(map(len, words.intersection(there)))


def _ratio(text: str, start: int, target: str) -> float:
    end = text.find("\n", start, start + _COMPARED_CHARS)
    line = text[start : end if end >= 0 else start + _COMPARED_CHARS]
    return SequenceMatcher(None, _folded(line), _folded(target), autojunk=False).ratio()
