"""The words of changes and of what start-up found, the same in every front end."""

from collections.abc import Sequence
from typing import Literal

from arc_workbench.content import ChangeRow, Recovery, RecoveryEntry
from arc_workbench.frontends.odd import escaped
from arc_workbench.frontends.words import few, plural

MOST_NAMED = 8
READING_WORKS = "writing is off, reading works"
NO_CHANGES = "No changes."
NO_FILE = "The command changed no file of the project."
CLEAN = "Clean: every change is whole"
JOURNAL = "journal"
"""What is named in the place of a change where the journal itself is meant."""
TAMPERED = "Tampered: the journal does not add up"

STATUS: dict[str, str] = {
    "prepared": "not finished",
    "committed": "",
    "undone": "undone",
    "rolled_back": "taken back",
    "ambiguous": "needs you",
    "kept": "kept as it is",
}
MARKS: dict[str, tuple[Literal["done", "warn", "failed"], str]] = {
    "clean": ("done", "\u2713"),
    "repaired": ("done", "\u2713"),
    "ambiguous": ("warn", "!"),
    "tampered": ("failed", "\u2717"),
}


def status(row: ChangeRow) -> str:
    """What became of a change; empty where it simply stands."""
    return STATUS[row.status]


def lines(row: ChangeRow, minus: str = "-") -> str:
    """ "+1 -1" """
    return f"+{row.added:,} {minus}{row.removed:,}"


def operation(row: ChangeRow) -> str:
    """ "edit", "undo of c3" """
    return f"{row.op} of {row.undoes}" if row.undoes else row.op


def can_be_undone(row: ChangeRow) -> bool:
    """Whether it stands as it was made; the file may have been changed since."""
    return row.status == "committed"


def undone(row: ChangeRow) -> str:
    """What an undo came to: `c3 undone as c4`."""
    return f"{row.undoes} undone as {row.id}"


def command_undone(spool_id: str, rows: Sequence[ChangeRow]) -> str:
    """What it came to that a command's changes were taken back: `s3 undone as c4 to c6`."""
    ids = [row.id for row in rows]
    if not ids:
        return f"{spool_id} undone"
    return f"{spool_id} undone as {ids[0]}{f' to {ids[-1]}' if len(ids) > 1 else ''}"


def again(rows: Sequence[ChangeRow]) -> str:
    """How to take back what an undo did; "" where the journal holds nothing of it."""
    if not rows:
        return ""
    words = "To take that back" if len(rows) == 1 else "Each can be taken back"
    return f"{words}: %agent undo {rows[-1].id}"


def by_commands(spool_ids: Sequence[str]) -> str:
    """That files were changed by commands, too, which no list of changes names."""
    if not spool_ids:
        return ""
    more = f" and {len(spool_ids) - MOST_NAMED:,} more" if len(spool_ids) > MOST_NAMED else ""
    named = ", ".join(spool_ids[:MOST_NAMED])
    return f"Commands changed files, too: {named}{more}. One of them: %agent changes {spool_ids[0]}"


def verdict(report: Recovery) -> str:
    """The title of a report: the verdict, and what it means."""
    match report.verdict:
        case "clean":
            return CLEAN
        case "repaired":
            return f"Repaired: {_counted(report.entries, 'change')} had been cut off"
        case "ambiguous":
            verb = "needs" if len(report.entries) == 1 else "need"
            return f"Ambiguous: {_counted(report.entries, 'file')} {verb} you"
        case "tampered":
            return TAMPERED


def _counted(entries: tuple[RecoveryEntry, ...], noun: str) -> str:
    count = max(1, len(entries))
    return f"{few(count)} {noun}" if count == 1 else f"{few(count)} {noun}s"


def blocked(report: Recovery) -> str:
    """What works and what does not; empty where everything does."""
    return READING_WORKS if report.mutation_blocked else ""


def older(rows: Sequence[ChangeRow], count: int) -> str:
    """How many changes are older than the rows shown, and how one of them is looked at."""
    noun = plural(count, "older change")
    return f"{noun}. One of them: %agent changes {rows[-1].id}" if rows and count > 0 else ""


def kept(change_id: str, after: Recovery) -> str:
    """What it came to that a file was kept as it is, or the damaged journal put aside."""
    if change_id == JOURNAL:
        return f"the damaged journal is put aside and a new one begins{_rest(after)}"
    return f"{change_id} kept as it is{_rest(after)}"


def restored(entry: RecoveryEntry, by: ChangeRow | None, after: Recovery) -> str:
    """What it came to that a file was given its old contents, and the way back."""
    path = escaped(entry.path, "name")
    done = f"{entry.id}: {path} is what it was before"
    back = f"; what stood there is kept: undo with %agent undo {by.id}" if by else ""
    return f"{done}{back}{_rest(after)}"


def _rest(after: Recovery) -> str:
    """What is still to be decided."""
    count = sum(entry.status == "ambiguous" for entry in after.entries)
    if count:
        return f"; {count:,} more {'needs' if count == 1 else 'need'} you"
    return "" if after.mutation_blocked else "; writing works"


def differ(count: int) -> str:
    """ "2 files differ", "nothing differs" """
    if not count:
        return "nothing differs"
    return f"{plural(count, 'file')} {'differs' if count == 1 else 'differ'}"
