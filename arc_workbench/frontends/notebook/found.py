"""Matches, names and declarations: some rows at once, more in a fold, the rest counted."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from arc_workbench.content import Declaration, Matches, MatchLine, Name, Names, Outline
from arc_workbench.frontends import found
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.syntax import marked
from arc_workbench.frontends.notebook.tables import folded, number, path, row, table
from arc_workbench.frontends.words import size

MAX_LINE = 240
MAX_NOTE = 600

# ---- matches ------------------------------------------------------------------------------------


def matches(block: Matches) -> Element:
    """The lines that a search found, file by file."""
    if not block.lines:
        return _empty(found.counted(block), block.note)
    counts = Counter(line.path for line in block.lines if not line.context)
    told: set[str] = set()

    def draw(lines: Sequence[MatchLine]) -> Element:
        rows: list[Element] = []
        for group in found.grouped(lines):
            rows += _group(group, "continued" if group.path in told else _of(counts[group.path]))
            told.add(group.path)
        return table("Matches", rows)

    return el("div", "", *folded(draw, block.lines, "line"), *_note(block.note))


def _of(count: int) -> str:
    return found.matching(count) if count else ""


def _group(group: found.Group, said: str) -> Iterator[Element]:
    title = el("code", "aw-strong", *path(group.path))
    more = f" \u00b7 {said}" if said else ""
    yield row(el("th", "", title, more, colspan="2", scope="rowgroup"))
    yield from (_match(line) for line in group.lines)


def _match(line: MatchLine) -> Element:
    cut = found.cut(line, MAX_LINE)
    text = marked([("", cut.text)], cut.spans, "mark", "code") if cut.text else ()
    before = [_soft(f"{cut.before:,} characters \u2026 ")] if cut.before else []
    after = [_soft(f" \u2026 {cut.after:,} more characters")] if cut.after else []
    code = el("code", "aw-soft" if line.context else "", *before, *text, *after)
    return row(el("td", "aw-num", el("code", "aw-soft", str(line.line))), code)


# ---- names --------------------------------------------------------------------------------------


def names(block: Names) -> Element:
    """A folder, or the names that were found."""
    if not block.names:
        return _empty("Nothing is here", block.note)
    return el("div", "", *folded(_name_table, block.names, "name"), *_note(block.note))


def _name_table(shown: Sequence[Name]) -> Element:
    return table("Names", [_name(name) for name in shown], ("Name", ""), ("Size", "aw-num"))


def _name(name: Name) -> Element:
    inside = path(found.name_of(name))
    bold = (el("b", "", *inside),) if name.kind == "folder" else inside
    kinds = {"link": "link", "other": "special"}
    tag = [" ", el("span", "aw-tag", kinds[name.kind])] if name.kind in kinds else []
    volume = "" if name.size is None else size(name.size)
    return row(el("td", "", el("code", "", *bold), *tag), number(volume))


# ---- outline ------------------------------------------------------------------------------------


def outline(block: Outline) -> Element:
    """What one file declares, and where."""
    name = el("span", "aw-file__path", *path(block.path))
    measures = el("span", "aw-soft aw-right", found.measured(block))
    head = el("div", "aw-card__head", name, " ", measures)
    if not block.declarations:
        return el("section", "aw-card", head, _body(_soft("No declarations found.")))
    parts = folded(_outline_table, block.declarations, "declaration")
    return el("section", "aw-card", head, _body(*parts))


def _outline_table(declarations: Sequence[Declaration]) -> Element:
    heads = (("Line", "aw-num"), ("Kind", ""), ("Declared", ""))
    return table("Outline", [_declaration(each) for each in declarations], *heads)


def _declaration(each: Declaration) -> Element:
    line = el("td", "aw-num", el("code", "aw-soft", str(each.line)))
    kind = el("td", "aw-soft", *chips(each.kind[:30]))
    return row(line, kind, el("code", "aw-in" if each.depth else "", *_signature(each)))


def _signature(each: Declaration) -> tuple[Node, ...]:
    """The signature with the name in bold."""
    whole = found.signed(each)
    text = whole[: 2 * MAX_LINE]
    named = re.search(rf"(?<!\w){re.escape(each.name)}(?!\w)", text) if each.name else None
    spans = [named.span()] if named else []
    rest = len(whole) - len(text)
    more = [_soft(f" \u2026 {rest:,} more characters")] if rest else []
    return (*marked([("", text)], spans, "b", "code"), *more)


# ---- what they have in common -------------------------------------------------------------------


def _note(note: str) -> list[Element]:
    return [el("p", "aw-soft", *chips(note[:MAX_NOTE]))] if note else []


def _empty(words: str, note: str) -> Element:
    return el("div", "", el("p", "aw-soft", f"{words}."), *_note(note))


def _soft(words: str) -> Element:
    return el("span", "aw-soft", words)


def _body(*inside: Node) -> Element:
    return el("div", "aw-card__body", *inside)
