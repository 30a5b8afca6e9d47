"""Values, output and other material of a tool call as elements, each bounded."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from arc_workbench.content import (
    Changes,
    Command,
    CommandChanges,
    Diff,
    Display,
    Image,
    JsonObject,
    Matches,
    Names,
    Outline,
    Output,
    Recovery,
    Style,
    ToolResult,
)
from arc_workbench.frontends.notebook.diff import diff
from arc_workbench.frontends.notebook.elements import Element, Node, el, joined
from arc_workbench.frontends.notebook.found import matches, names, outline
from arc_workbench.frontends.notebook.history import changes, command_changes, recovery
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.tinted import MAX_LINE, MAX_LINES, pieces
from arc_workbench.frontends.words import plural, size
from arc_workbench.shell.plain import plain

MAX_TINTS = 1_000
MAX_VALUE = 2_000
MAX_KEYS = 40
MAX_NAME = 100
MAX_CHARS = 64_000

_BAD = re.compile(
    r"E {2,}\S|FAILED\b|ERROR\b|error(?:\[\w+\])?:|Traceback \(|[\w.]{1,100}(?:Error|Exception): "
)
_GOOD = re.compile(r"=* ?\d+ passed(?!.*\bfailed\b)")


def mark(kind: str, char: str) -> Element:
    """A shape with its character; a word stands beside it."""
    return el("span", f"aw-mark aw-mark--{kind}", char, aria_hidden="true")


# ---- arguments ----------------------------------------------------------------------------------


def pairs(values: Mapping[str, JsonValue], *, whole: bool = False) -> Element:
    """Names and values, one below the other."""
    shown = list(values.items()) if whole else list(values.items())[:MAX_KEYS]
    rows: list[Node] = []
    for name, value in shown:
        title = chips(name, "action") if whole else bounded(name, MAX_NAME)
        rows += [el("dt", "", *title), el("dd", "", *_value(value, whole))]
    if len(values) > len(shown):
        rows += [el("dt", "", "\u2026"), el("dd", "", f"{len(values) - len(shown):,} more")]
    return el("dl", "aw-kv", *rows)


def _value(value: JsonValue, whole: bool) -> tuple[Node, ...]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return bounded(text, len(text) if whole else MAX_VALUE, whole=whole)


def bounded(text: str, limit: int = MAX_VALUE, *, whole: bool = False) -> tuple[Node, ...]:
    """A text, and how much of it is not shown."""
    nodes = chips(text[:limit], "action" if whole else "code")
    if len(text) <= limit:
        return nodes
    rest = el("span", "aw-soft", f" \u2026 {len(text) - limit:,} more characters")
    return (*nodes, rest)


# ---- results ------------------------------------------------------------------------------------


def display(blocks: Sequence[Display], where: str) -> list[Element]:
    """What a tool shows to people; `where` names the command that shows what is left out."""
    return [_block(block, where) for block in blocks]


def _block(block: Display, where: str) -> Element:
    match block:
        case Diff():
            return diff(block, where=where)
        case Output():
            return tail(block.text, block.cut_bytes, block.drawn_styles)
        case Command():
            return el("div", "aw-out", el("pre", "", *bounded(block.command)))
        case Matches() | Names() | Outline():
            return found(block)
        case Changes():
            return changes(block)
        case Recovery():
            return recovery(block)
        case CommandChanges():
            return command_changes(block)


def found(block: Matches | Names | Outline) -> Element:
    """What a search, a listing or an outline came to."""
    match block:
        case Matches():
            return matches(block)
        case Names():
            return names(block)
        case Outline():
            return outline(block)


def words_of(result: ToolResult) -> list[Element]:
    """What a result without display blocks says."""
    text = result.text
    drawn = [pairs(result.details)] if _is_object(text, result.details) else []
    if text.strip() and not drawn:
        drawn.append(head(text))
    pictures = [block for block in result.content if isinstance(block, Image)]
    return drawn + [el("p", "aw-soft", *_picture(block)) for block in pictures]


def _is_object(text: str, details: JsonObject) -> bool:
    return bool(details) and len(text) <= MAX_CHARS and text.startswith("{") and text.endswith("}")


def _picture(block: Image) -> tuple[Node, ...]:
    volume = size(len(block.data) * 3 // 4)
    return "Picture, ", *chips(block.mime[:60]), f", {volume}, not drawn here"


def tail(
    text: str, cut_bytes: int = 0, styles: Sequence[Style] = (), *, live: bool = False
) -> Element:
    """The end of an output, and how much stands above it; `styles` lie over `text`."""
    end = plain(text[-MAX_CHARS:])
    lines = end.removesuffix("\n").split("\n")
    above = text.count("\n", 0, max(0, len(text) - MAX_CHARS)) + max(0, len(lines) - MAX_LINES)
    if styles and text.endswith(end):
        shown = _tinted(text, len(text) - len(end), lines, styles[-MAX_TINTS:])
    else:
        shown = _lines(lines[-MAX_LINES:])
    pre = el("pre", "", *shown, role="log") if live else el("pre", "", *shown)
    parts: list[Node] = [pre] if text else [el("p", "aw-out__cut", "no output")]
    said = [plural(above, "line")] if above else []
    said += [size(cut_bytes)] if cut_bytes else []
    if said:
        parts.insert(0, el("div", "aw-out__cut", f"{' and '.join(said)} above, not shown here"))
    return el("div", "aw-out", *parts)


def head(text: str) -> Element:
    """The beginning of a text, and how much follows."""
    lines = plain(text[:MAX_CHARS]).removesuffix("\n").split("\n")
    below = max(0, len(lines) - MAX_LINES) + text.count("\n", MAX_CHARS)
    parts: list[Node] = [el("pre", "", *_lines(lines[:MAX_LINES]))]
    if below or len(text) > MAX_CHARS:
        words = f"{plural(below, 'more line')} not shown here" if below else "the rest is not shown"
        parts.append(el("div", "aw-out__cut aw-out__cut--below", words))
    return el("div", "aw-out", *parts)


def _lines(lines: Sequence[str]) -> list[Node]:
    nodes: list[Node] = []
    for number, line in enumerate(lines):
        nodes += ["\n"] if number else []
        nodes += _line(line)
    return list(joined(nodes))


def _tinted(text: str, start: int, lines: Sequence[str], styles: Sequence[Style]) -> list[Node]:
    """The last of the lines that begin at `start`; one with a look of its own keeps that."""
    nodes: list[Node] = []
    first = max(0, len(lines) - MAX_LINES)
    start += sum(len(line) + 1 for line in lines[:first])
    for number, line in enumerate(lines[first:]):
        nodes += ["\n"] if number else []
        nodes += _tinted_line(text, start, line, styles)
        start += len(line) + 1
    return list(joined(nodes))


def _tinted_line(text: str, start: int, line: str, styles: Sequence[Style]) -> Iterator[Node]:
    shown = [*pieces(text, styles, start, start + min(len(line), MAX_LINE))]
    if not any(looks for _, looks in shown):
        yield from _line(line)
        return
    for piece, looks in shown:
        tints = " ".join(f"aw-tint-{look.replace('_', '-')}" for look in looks)
        yield from [el("span", tints, *chips(piece))] if tints else chips(piece)
    yield from _more(line)


def _more(line: str) -> tuple[Node, ...]:
    if len(line) <= MAX_LINE:
        return ()
    return (el("span", "aw-soft", f" \u2026 {len(line) - MAX_LINE:,} more characters"),)


def _line(line: str) -> tuple[Node, ...]:
    nodes = (*chips(line[:MAX_LINE]), *_more(line))
    if _BAD.match(line):
        return (el("span", "aw-out__bad", *nodes),)
    return (el("span", "aw-out__good", *nodes),) if _GOOD.match(line) else nodes
