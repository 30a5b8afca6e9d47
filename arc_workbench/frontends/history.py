"""The words of changes and of what start-up found, the same in every front end."""

from typing import Literal

from arc_workbench.content import ChangeRow, Recovery, RecoveryEntry
from arc_workbench.frontends.words import few, plural

READING_WORKS = "writing is off, reading works"
NO_CHANGES = "No changes."
CLEAN = "Clean: every change is whole"
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


def differ(count: int) -> str:
    """ "2 files differ", "nothing differs" """
    if not count:
        return "nothing differs"
    return f"{plural(count, 'file')} {'differs' if count == 1 else 'differ'}"
