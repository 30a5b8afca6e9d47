"""What was found, changed and recovered as lines of plain text, each block in a few rows.

Sizes and times are left out: equal turns over equal folders give equal lines.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from arc_workbench.content import (
    ChangeRow,
    Changes,
    CommandChanges,
    Matches,
    Names,
    Outline,
    Recovery,
)
from arc_workbench.frontends import found, history
from arc_workbench.frontends.words import plural

MOST = 12
_COMPILED = "__pycache__"
MAX_LINE = 160

T = TypeVar("T")


def of(
    block: Matches | Names | Outline | Changes | Recovery | CommandChanges, most: int = MOST
) -> Iterator[str]:
    """The rows of a block, at most so many, and how many more there are."""
    match block:
        case Matches():
            yield from _matches(block, most)
        case Names():
            yield from (found.name_of(name) for name in block.names[:most])
            yield from _more(block.names, most, "name", block.note)
        case Outline():
            yield from _outline(block, most)
        case Changes():
            yield from _changes(block, most)
        case Recovery():
            yield from recovery(block, most)
        case CommandChanges():
            yield from _command_changes(block, most)


def _matches(block: Matches, most: int) -> Iterator[str]:
    for group in found.grouped(block.lines[:most]):
        yield group.path
        for line in group.lines:
            cut = found.cut(line, MAX_LINE)
            text = f"{'... ' if cut.before else ''}{cut.text.rstrip()}{' ...' if cut.after else ''}"
            yield f"  {line.line}{'-' if line.context else ':'} {text}".rstrip()
    yield from _more(block.lines, most, "line", block.note)


def _outline(block: Outline, most: int) -> Iterator[str]:
    for each in block.declarations[:most]:
        yield f"{each.line}  {'  ' * each.depth}{each.kind}  {found.signed(each)}"
    yield from _more(block.declarations, most, "declaration")


def _changes(block: Changes, most: int) -> Iterator[str]:
    if not block.changes and not block.note:
        yield history.NO_CHANGES
    yield from map(change, block.changes[:most])
    yield from _more(block.changes, most, "change", block.note)


def _command_changes(block: CommandChanges, most: int) -> Iterator[str]:
    """`created  out.txt`, what is not covered, and what else to know.

    Without sizes and compiled Python, which differ from one folder and machine to the next.
    """
    if not block.rows and not block.note:
        yield history.NO_FILE
    rows = [row for row in block.rows if _COMPILED not in row.path.split("/")]
    for row in rows[:most]:
        yield f"{row.kind}  {row.path}"
    missing = block.more + max(0, len(rows) - most)
    yield from [f"... {plural(missing, 'more file')}"] if missing else []
    if block.not_covered:
        named = ", ".join(block.not_covered_names)
        yield f"Not covered: {plural(block.not_covered, 'name')}: {named}"
    yield from [block.note] if block.note else []
    if rows and block.spool:
        yield f"Take it back: %agent undo {block.spool}"


def change(row: ChangeRow) -> str:
    """`c3  edit  calc.py  +1 -1`, and what became of it."""
    cells = (row.id, history.operation(row), row.path, history.lines(row), history.status(row))
    return "  ".join(cell for cell in cells if cell)


def recovery(report: Recovery, most: int = MOST) -> Iterator[str]:
    """The verdict and what was found, one line each."""
    yield " \u00b7 ".join(filter(None, (history.verdict(report), history.blocked(report))))
    for entry in report.entries[:most]:
        cells = (entry.id, entry.path, entry.happened, entry.next)
        yield "  ".join(cell for cell in cells if cell)
    yield from _more(report.entries, most, "change")


def _more(items: Sequence[T], most: int, noun: str, note: str = "") -> Iterator[str]:
    missing = found.more(most, items, noun)
    yield from [f"... {missing}"] if missing else []
    yield from [note] if note else []
