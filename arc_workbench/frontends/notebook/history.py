"""Changes of files as a table, and what start-up found as a card."""

from collections.abc import Sequence

from arc_workbench.content import (
    ChangedFile,
    ChangeRow,
    Changes,
    CommandChanges,
    Recovery,
    RecoveryEntry,
)
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
from arc_workbench.frontends.words import plural, size

MAX_WORDS = 600

_CHANGES = (("Change", ""), ("What", ""), ("File", ""), ("Lines", "aw-num"), ("Now", ""))
_FILES = (("What", ""), ("File", ""), ("Size", "aw-num"))
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


def command_changes(block: CommandChanges) -> Element:
    """What a command changed, and how to take it back by the id of its output."""
    nodes: list[Element] = []
    if block.rows:
        title = f"Changed by {block.spool}" if block.spool else "Changed by the command"
        nodes += [el("p", "aw-strong", title), *folded(_files, block.rows, "file")]
    elif not block.note:
        nodes.append(el("p", "aw-soft", history.NO_FILE))
    nodes += missing(block.more, "more files")
    if block.not_covered:
        named_ = ", ".join(block.not_covered_names)
        said = f"Not covered: {plural(block.not_covered, 'name')}: {named_}"
        nodes.append(el("p", "aw-soft", *chips(said, "action")))
    nodes += _note(block.note)
    if block.rows and block.spool:
        way = el("code", "", *chips(f"%agent undo {block.spool}", "action"))
        nodes.append(el("p", "aw-soft", "Take it back: ", way))
    return el("div", "aw-stack", *nodes)


def _files(rows: Sequence[ChangedFile]) -> Element:
    return table("Changed files", [_file(each) for each in rows], *_FILES)


def _file(each: ChangedFile) -> Element:
    return row(el("td", "", each.kind), named(each.path), number(size(each.size)))


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
