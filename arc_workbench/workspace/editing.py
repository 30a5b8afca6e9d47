"""Replacing text in text, and showing the difference; nothing here touches a file."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from arc_workbench.errors import ToolError
from arc_workbench.workspace.matching import (
    MAX_COUNTED,
    Likeness,
    Match,
    Span,
    find,
    never,
    watched,
    with_whole_line_ends,
)
from arc_workbench.workspace.nearness import Near, nearest

CONTEXT_LINES = 3
MAX_CELLS = 4_000_000
MAX_EQUAL_PAIRS = 200_000
LINES_NAMED = 10

_LINE_END = re.compile(r"\r?\n")

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Replaced:
    """The new text, how many places changed, and what had to be overlooked to find them."""

    text: str
    count: int
    likeness: Likeness
    line_ends_adapted: bool


def replace(
    text: str,
    old: str,
    new: str,
    *,
    replace_all: bool,
    shown: str,
    check: Callable[[], None] = never,
) -> Replaced:
    """`text` with `old` replaced in one pass; `new` is taken literally.

    Raises `ToolError` unless `old` occurs once, or at least once with `replace_all`, and whatever
    `check` raises, which is called often.
    """
    if not old:
        raise ToolError(f"{shown}: the text to replace is empty; name the text.")
    if old == new:
        raise ToolError(f"{shown}: old and new text are equal, so there is nothing to change.")
    match = find(text, old, every=replace_all, check=check)
    if not match.spans:
        raise _missing(nearest(text, old, new, check), shown)
    if len(match.spans) > 1 and not replace_all:
        raise _ambiguous(text, match, shown)
    return _spliced(text, old, new, with_whole_line_ends(text, match, new), check)


def _missing(near: Near, shown: str) -> ToolError:
    details: dict[str, object] = {} if near.line is None else {"line": near.line}
    return ToolError(
        f"{shown}: the text to replace was not found; nothing was written. {near.words} Read the "
        "file and copy the text exactly, without line numbers.",
        details=details,
    )


def _ambiguous(text: str, match: Match, shown: str) -> ToolError:
    count = len(match.spans)
    number = str(count) if count <= MAX_COUNTED else f"over {MAX_COUNTED}"
    lines = [text.count("\n", 0, span.start) + 1 for span in match.spans[:LINES_NAMED]]
    named = f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"
    if count > LINES_NAMED:
        named = f"{', '.join(map(str, lines))} and more"
    return ToolError(
        f"{shown}: the text to replace occurs in {number} places, lines {named}; nothing was "
        "written. Add context to make it unique, or ask for every place (replaceAll: true, "
        "replace_all: true).",
        details={"count": count, "lines": lines},
    )


def _spliced(text: str, old: str, new: str, match: Match, check: Callable[[], None]) -> Replaced:
    """Put `new` into every span, with the line ends of what stood there."""
    crlf = _is_crlf(text)
    literal = match.likeness == "exact" and ("\n" in old or "\r" in new or not crlf)
    usual = "\r\n" if crlf else "\n"
    parts: list[str] = []
    done = 0
    for span in watched(iter(match.spans), check):
        parts += (text[done : span.start], new if literal else _in_style_of(text, span, new, usual))
        done = span.end
    parts.append(text[done:])
    result = "".join(parts)
    adapted = not literal and "\n" in new
    return Replaced(result, len(match.spans), match.likeness, adapted)


def _is_crlf(text: str) -> bool:
    """Whether there are line ends and every one of them is CR LF."""
    pairs = text.count("\r\n")
    return pairs > 0 and pairs == text.count("\n")


def _in_style_of(text: str, span: Span, new: str, usual: str) -> str:
    """`new` with its n-th line end like the n-th of the span; further ones like the last."""
    styles = _LINE_END.findall(text, span.start, span.end) or [usual]
    lines = _LINE_END.split(new)
    ends = [styles[min(number, len(styles) - 1)] for number in range(len(lines) - 1)]
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


# ---- the difference -----------------------------------------------------------------------------


def unified_diff(
    before: str | None, after: str, shown: str, check: Callable[[], None] = never
) -> str:
    """A unified diff with three lines of context; `before` is None for a new file.

    Raises whatever `check` raises, which is called often.
    """
    name = _quoted(shown.lstrip("/"))
    old, new = _lines(before or ""), _lines(after)
    check()
    groups = _grouped(_opcodes(old, new, check))
    hunks = "".join(_hunk(old, new, group, check) for group in groups)
    source = "/dev/null" if before is None else f"a/{name}"
    return f"--- {source}\n+++ b/{name}\n{hunks}" if hunks else ""


def _quoted(name: str) -> str:
    """A name that cannot pretend to be another line."""
    return name if name.isprintable() else json.dumps(name)[1:-1]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _opcodes(old: list[str], new: list[str], check: Callable[[], None]) -> list[Opcode]:
    """What to do to turn `old` into `new`; where that is costly, a coarser answer."""
    head = _common(old, new)
    check()
    tail = _common(old[head:][::-1], new[head:][::-1])
    check()
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    inner = watched(_inner_opcodes(inner_old, inner_new), check)
    shifted = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in inner]
    ends = (len(old), len(new))
    return [
        ("equal", 0, head, 0, head),
        *shifted,
        ("equal", ends[0] - tail, ends[0], ends[1] - tail, ends[1]),
    ]


def _inner_opcodes(old: list[str], new: list[str]) -> Iterator[Opcode]:
    if len(old) * len(new) <= MAX_CELLS and _equal_pairs(old, new) <= MAX_EQUAL_PAIRS:
        yield from SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    elif len(old) == len(new):
        yield from _joined(_line_by_line(old, new))
    else:
        yield ("replace", 0, len(old), 0, len(new))


def _equal_pairs(old: list[str], new: list[str]) -> int:
    """How many pairs of equal lines there are: what one look for the longest match costs."""
    there = Counter(new)
    return sum(count * there[line] for line, count in Counter(old).items())


def _line_by_line(old: list[str], new: list[str]) -> Iterator[Opcode]:
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        yield ("equal" if before == after else "replace", at, at + 1, at, at + 1)


def _common(old: list[str], new: list[str]) -> int:
    for count, (before, after) in enumerate(zip(old, new, strict=False)):
        if before != after:
            return count
    return min(len(old), len(new))


def _grouped(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """Changes that are near each other, each group with its context."""
    joined = list(_joined(opcodes))
    group: list[Opcode] = []
    for opcode in joined:
        tag, a, b, c, d = opcode
        if tag != "equal" or (group and b - a <= 2 * CONTEXT_LINES and opcode is not joined[-1]):
            group.append(opcode)
            continue
        if group:
            kept = min(CONTEXT_LINES, b - a)
            yield [*group, (tag, a, a + kept, c, c + kept)]
        kept = min(CONTEXT_LINES, b - a)
        group = [(tag, b - kept, b, d - kept, d)]


def _joined(opcodes: Iterable[Opcode]) -> Iterator[Opcode]:
    """The same, with neighbours of one kind made one."""
    held: Opcode | None = None
    for tag, a, b, c, d in opcodes:
        if held is not None and held[0] == tag:
            held = (tag, held[1], b, held[3], d)
            continue
        if held is not None:
            yield held
        held = (tag, a, b, c, d)
    if held is not None:
        yield held


def _hunk(old: list[str], new: list[str], group: list[Opcode], check: Callable[[], None]) -> str:
    first, last = group[0], group[-1]
    head = f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
    marked = (line for opcode in group for line in _marked(old, new, opcode))
    return head + "".join(watched(marked, check))


def _marked(old: list[str], new: list[str], opcode: Opcode) -> Iterator[str]:
    tag, a, b, c, d = opcode
    if tag == "equal":
        yield from _with_sign(" ", old[a:b])
    else:
        yield from _with_sign("-", old[a:b])
        yield from _with_sign("+", new[c:d])


def _with_sign(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line}"
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
