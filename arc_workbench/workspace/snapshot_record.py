"""What a command did to the files of a project: a comparison of two snapshots, kept as a record."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from arc_workbench.content import ChangedFile, CommandChanges
from arc_workbench.workspace.paths import on_one_line, printable
from arc_workbench.workspace.walking import NAMED

POWERS = 0o6000  # with one of these bits a program has the rights of its owner or group

MOST_ROWS = 500
MOST_NAMES = 20

Facts = tuple[int, int, int, int]
ChangeKind = Literal["created", "changed", "removed"]


class Entry(NamedTuple):
    """A file or a link in a snapshot; `sha256` is "" for a file whose content is not kept."""

    kind: Literal["file", "link"]
    mode: int
    size: int
    stamp: Facts
    sha256: str = ""
    target: str = ""

    @property
    def covered(self) -> bool:
        """Whether it can be brought back, or known again."""
        return self.kind == "link" or self.sha256 != ""


@dataclass(frozen=True)
class FileChange:
    """One name that a command changed; None where there was, or is, nothing."""

    path: str
    before: Entry | None
    after: Entry | None

    @property
    def kind(self) -> ChangeKind:
        """What happened to the name."""
        if self.before is None:
            return "created"
        return "changed" if self.after is not None else "removed"

    @property
    def covered(self) -> bool:
        """Whether it can be taken back."""
        return all(one is None or one.covered for one in (self.before, self.after))

    @property
    def new_powers(self) -> int:
        """The set-user-ID and set-group-ID bits that the name has and had not before."""
        return _powers(self.after) & ~_powers(self.before)

    @property
    def lost_powers(self) -> int:
        """Those that a file had and that are gone."""
        return _powers(self.before) & ~_powers(self.after)

    @property
    def shown(self) -> ChangedFile:
        """The change for people."""
        last = self.after or self.before
        return ChangedFile(
            path=shown_name(self.path), kind=self.kind, size=last.size if last is not None else 0
        )


class FolderMode(NamedTuple):
    """A folder (ending in `/`, "" for the project) with its mode; None where it is gone."""

    path: str
    before: int
    after: int | None


@dataclass(frozen=True)
class Record:
    """All that one command changed; `folders` are those it made, each ending in `/`.

    `modes` are the folders that went or have other permission bits. `gone` says that the project
    folder, which was `root` in person, was not at its name any more; `known` is False where `note`
    says why nothing is known of the command.
    """

    changes: tuple[FileChange, ...] = ()
    folders: tuple[str, ...] = ()
    not_covered: int = 0
    not_covered_names: tuple[str, ...] = ()
    note: str = ""
    modes: tuple[FolderMode, ...] = ()
    gone: bool = False
    root: tuple[int, int] = (0, 0)
    known: bool = True

    @property
    def needed(self) -> list[tuple[str, int]]:
        """The contents that are needed to take it back, by hash, with their sizes."""
        held = (one.before for one in self.changes if one.covered)
        return [(one.sha256, one.size) for one in held if one is not None and one.sha256]

    def shown(self) -> CommandChanges:
        """The record for people."""
        return CommandChanges(
            rows=tuple(change.shown for change in self.changes[:MOST_ROWS]),
            more=max(0, len(self.changes) - MOST_ROWS),
            not_covered=self.not_covered,
            not_covered_names=self.not_covered_names,
            note=self.note,
        )


def compared(
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    ours: frozenset[str],
    closed: tuple[str, ...],
) -> tuple[FileChange, ...]:
    """What differs, sorted by name; not the names in `ours`, nor what lies in `closed` folders."""
    changed = [
        FileChange(path, entry, after.get(path))
        for path, entry in before.items()
        if path not in ours and _differ(entry, after.get(path))
    ]
    changed += [
        FileChange(path, None, entry)
        for path, entry in after.items()
        if path not in ours and path not in before
    ]
    open_ = (change for change in changed if not change.path.startswith(closed))
    return tuple(sorted(open_, key=lambda change: change.path))


def _differ(one: Entry, other: Entry | None) -> bool:
    if other is None or one.kind != other.kind:
        return True
    if one.kind == "link":
        return one.target != other.target
    if one.sha256 and other.sha256:
        return (one.sha256, one.mode) != (other.sha256, other.mode)
    return one.stamp != other.stamp


def compared_folders(
    before: Mapping[str, int], after: Mapping[str, int], closed: tuple[str, ...]
) -> tuple[FolderMode, ...]:
    """The folders that went or have other permission bits, the outermost first."""
    return tuple(
        FolderMode(path, mode, after.get(path))
        for path, mode in sorted(before.items())
        if after.get(path) != mode and not path.startswith(closed)
    )


def _powers(entry: Entry | None) -> int:
    return entry.mode & POWERS if entry is not None and entry.kind == "file" else 0


def shown_name(name: str) -> str:
    """A name for people: on one line, whatever bytes it has."""
    return on_one_line(printable(name))


def first_names(names: Sequence[str], most: int = NAMED) -> str:
    """Some names for a sentence, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown_name, names[:most])) + more


# ---- on the disk --------------------------------------------------------------------------------


def to_json(record: Record) -> str:
    """The record as text that holds any name."""
    value = {
        "changes": [[one.path, one.before, one.after] for one in record.changes],
        "folders": record.folders,
        "not_covered": record.not_covered,
        "not_covered_names": record.not_covered_names,
        "note": record.note,
        "modes": record.modes,
        "gone": record.gone,
        "root": record.root,
        "known": record.known,
    }
    return json.dumps(value, separators=(",", ":"))


def of_json(text: str) -> Record:
    """The record, read back."""
    value = json.loads(text)
    return Record(
        changes=tuple(
            FileChange(path, _entry(before), _entry(after))
            for path, before, after in value["changes"]
        ),
        folders=tuple(value["folders"]),
        not_covered=value["not_covered"],
        not_covered_names=tuple(value["not_covered_names"]),
        note=value["note"],
        modes=tuple(FolderMode(*one) for one in value.get("modes", ())),
        gone=value.get("gone", False),
        root=cast("tuple[int, int]", tuple(value.get("root", (0, 0)))),
        known=value.get("known", True),
    )


def _entry(value: object) -> Entry | None:
    if value is None:
        return None
    kind, mode, size, stamp, sha256, target = cast(
        "tuple[Literal['file', 'link'], int, int, list[int], str, str]", value
    )
    return Entry(kind, mode, size, cast("Facts", tuple(stamp)), sha256, target)
