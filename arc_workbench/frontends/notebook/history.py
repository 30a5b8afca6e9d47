"""Changes of files as a table, and what start-up found as a card."""

from collections.abc import Sequence

from arc_workbench.content import ChangeRow, Changes, Recovery, RecoveryEntry
from arc_workbench.frontends import history
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.tables import (
    MOST,
    folded,
    identity,
    missing,
    named,
    number,
    row,
    table,
    words,
)

MAX_WORDS = 600

_CHANGES = (("Change", ""), ("What", ""), ("File", ""), ("Lines", "aw-num"), ("Now", ""))
_FOUND = (("Change", ""), ("File", ""), ("Found", ""), ("What to do", ""))


def changes(block: Changes) -> Element:
    """Changes, newest first."""
    if not block.changes:
        return el("div", "", *(_note(block.note) or [el("p", "aw-soft", history.NO_CHANGES)]))
    return el("div", "", *_note(block.note), *folded(_table, block.changes, "change"))


def _table(rows: Sequence[ChangeRow]) -> Element:
    return table("Changes", [change(each) for each in rows], *_CHANGES)


def _note(words: str) -> list[Element]:
    """Why not all that happened stands in the table."""
    sign = el("span", "aw-mark aw-mark--warn", "!", aria_hidden="true")
    return [el("p", "aw-note", sign, " ", el("span", "", *chips(words)))] if words else []


def change(each: ChangeRow) -> Element:
    """One change as a row: id, what was done, file, lines, and what became of it."""
    now = history.status(each)
    return row(
        identity(each.id),
        el("td", "", *chips(history.operation(each)[:80], "action")),
        named(each.path),
        number(history.lines(each, "\u2212")),
        el("td", "aw-strong" if each.status == "ambiguous" else "aw-soft", now),
    )


def recovery(report: Recovery) -> Element:
    """The verdict as the title; what was found and what to do side by side."""
    kind, char = history.MARKS[report.verdict]
    parts: list[Node] = [
        el("span", f"aw-mark aw-mark--{kind}", char, aria_hidden="true"),
        " ",
        el("span", "aw-card__title", history.verdict(report)),
    ]
    if report.mutation_blocked:
        parts += [" ", el("span", "aw-soft aw-right", history.READING_WORKS)]
    head = el("div", "aw-card__head", *parts)
    if not report.entries:
        return el("section", "aw-card", head)
    rows = [_entry(each) for each in report.entries[:MOST]]
    more = missing(len(report.entries) - MOST, "more")
    body = el("div", "aw-card__body", table("Recovery", rows, *_FOUND), *more)
    return el("section", "aw-card", head, body)


def _entry(entry: RecoveryEntry) -> Element:
    return row(
        identity(entry.id),
        named(entry.path),
        words(entry.happened[:MAX_WORDS]),
        words(entry.next[:MAX_WORDS] or "nothing"),
    )
