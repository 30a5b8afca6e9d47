"""Snapshots of the project around a command: what it did is known, and a person can take it back.

They lie in our own state and never in the project or its repository. Left out are `.git`,
`node_modules`, what `.gitignore` names, folders on other file systems, and files over the limits of
`snapshot_tree`; a project with more than `MAX_FILES` names has no snapshots. What others change
while the command runs is taken for its doing, but for changes through the journal of this process.
"""

import secrets
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.content import CommandChanges
from arc_workbench.workspace import (
    own_files,
    snapshot_commands,
    snapshot_copy,
    snapshot_notes,
    snapshot_record,
    snapshot_tree,
    system,
)
from arc_workbench.workspace.deadline import Deadline, TimedOut
from arc_workbench.workspace.paths import is_within
from arc_workbench.workspace.reading import sha256_of
from arc_workbench.workspace.snapshot_record import Entry, Record, first_names
from arc_workbench.workspace.snapshot_store import Known, Store, UnusableStoreError
from arc_workbench.workspace.snapshot_tree import (
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    GoneError,
    Rules,
    Seen,
    Tree,
    UnseenError,
)

FOLDER = "commands"
SECONDS = 10.0
RETRY_SECONDS = 600.0  # until a project is looked at again whose names took too long
REWIND_SECONDS = 60.0
INLINE_BYTES = 256 << 10
FINE_TICK_NS = 100_000_000
COARSE_TICK_NS = 3_000_000_000

_SECOND_NS = 1_000_000_000
_BATCH_FILES = 500
_BATCH_BYTES = 8 << 20

OVERLAPPED = "Another command ran at the same time; what it changed is counted here too."


@dataclass(frozen=True)
class Taken:
    """What a snapshot holds: files and links by name, and the tree they stand in."""

    tree: Tree = field(default_factory=Tree)
    entries: Mapping[str, Entry] = field(default_factory=dict[str, Entry])

    @property
    def not_covered(self) -> list[str]:
        """The files whose content is not kept, and the folders that were not looked into."""
        return [
            *(path for path, entry in self.entries.items() if not entry.covered),
            *self.tree.closed,
        ]


@dataclass(eq=False)
class Before:
    """The project before a command. Where `note` is not "", there is none, and it says why."""

    taken: Taken = field(default_factory=Taken)
    number: int = 0
    overlapped: bool = False
    note: str = ""
    over: bool = False
    ours: set[str] = field(default_factory=set[str])


class Snapshots:
    """The snapshots of the project at the real path `root`, kept below the folder `state`."""

    def __init__(self, root: Path, state: Path, protected: Sequence[Path] = ()) -> None:
        self._root = root
        self._store = Store(state / FOLDER)
        self._protected = (state, *protected)
        self._open: list[Before] = []
        self._named: dict[tuple[str, str], Before] = {}
        self._too_slow = ""
        self._too_slow_until = 0.0

    def close(self) -> None:
        """Let the files go."""
        self._store.close()

    def changed_by_us(self, files: Iterable[Path]) -> None:
        """Take note of changes through the journal: a command that runs now did not make them."""
        running = list(self._open)
        if not running:
            return
        for file in files:
            if is_within(file, self._root):
                name = file.relative_to(self._root).as_posix()
                for before in running:
                    before.ours.add(name)

    # ---- around a command -----------------------------------------------------------------------

    def before(self, deadline: Deadline) -> Before:
        """A snapshot, or why there is none; raises `ToolError` only where a person stops it."""
        found = Before()
        if time.monotonic() < self._too_slow_until:
            found.note = self._too_slow
            return found
        self._open.append(found)
        try:
            tree = self._look_in_time(deadline)
            with self._store.hold(deadline):
                taken = self._take(tree, deadline)
                number, overlapped = snapshot_commands.begin(self._store)
        except TimedOut:
            found.note = _slow(deadline)
        except (UnseenError, UnusableStoreError) as fault:
            found.note = _unknown(fault)
        except BaseException:
            self._open.remove(found)
            raise
        else:
            found.taken, found.number, found.overlapped = taken, number, overlapped
        return found

    def after(
        self, before: Before, spool_id: str, session: str, deadline: Deadline
    ) -> CommandChanges:
        """What changed since, which is kept as the doing of that command.

        Raises `ToolError` only where a person stops it.
        """
        if before in self._open:
            self._open.remove(before)
        try:
            return self._after(before, spool_id, session, deadline)
        finally:
            before.over = True
            self._named.pop((session, spool_id), None)

    def named(self, before: Before, spool_id: str, session: str) -> None:
        """The command that goes on writes there."""
        self._named[session, spool_id] = before
        if before.over:  # it ended just now
            self._named.pop((session, spool_id), None)

    def runs(self, spool_id: str, session: str) -> bool:
        """Whether that command is known to run still."""
        return (session, spool_id) in self._named

    def _after(
        self, before: Before, spool_id: str, session: str, deadline: Deadline
    ) -> CommandChanges:
        if before.note:
            record = Record(note=before.note, known=False)
            self._keep_only(record, before, spool_id, session, deadline)
            return record.shown()
        try:
            tree = self._look_again(before, deadline)
            with self._store.hold(deadline):
                taken = self._take(tree, deadline)
                overlapped = snapshot_commands.end(self._store, before.number) or before.overlapped
                record = _record(before, taken, overlapped=overlapped)
                text = snapshot_record.to_json(record)
                snapshot_commands.keep(self._store, session, spool_id, text, record.needed)
        except TimedOut:
            record = Record(note=_slow(deadline), known=False)
        except (UnseenError, UnusableStoreError) as fault:
            record = Record(note=_unknown(fault), known=False)
        else:
            return record.shown()
        self._keep_only(record, before, spool_id, session, Deadline(1.0))
        return record.shown()

    def _keep_only(
        self, record: Record, before: Before, spool_id: str, session: str, deadline: Deadline
    ) -> None:
        """Keep why nothing is known of a command, if that can be."""
        with suppress(UnusableStoreError, TimedOut), self._store.hold(deadline):
            if before.number:
                snapshot_commands.end(self._store, before.number)
            snapshot_commands.keep(
                self._store, session, spool_id, snapshot_record.to_json(record), ()
            )

    def record(self, spool_id: str, session: str, deadline: Deadline) -> Record | None:
        """What that command changed, as long as it is kept."""
        if not self._store.folder.exists():
            return None
        try:
            with self._store.hold(deadline):
                text = snapshot_commands.record(self._store, session, spool_id)
        except UnusableStoreError as fault:
            return Record(note=_unknown(fault), known=False)
        return snapshot_record.of_json(text) if text is not None else None

    def contents(self, record: Record, deadline: Deadline) -> dict[str, bytes | None]:
        """What is needed to take a command back, by hash; None for what was lost."""
        try:
            with self._store.hold(deadline):
                return {sha256: self._store.content(sha256) for sha256, _ in record.needed}
        except UnusableStoreError:
            return {sha256: None for sha256, _ in record.needed}

    # ---- looking --------------------------------------------------------------------------------

    def _look_in_time(self, deadline: Deadline) -> Tree:
        """The names; where that takes too long, the next commands are not held up by it."""
        try:
            return self.look(deadline)
        except TimedOut:
            self._too_slow, self._too_slow_until = _slow(deadline), time.monotonic() + RETRY_SECONDS
            raise

    def _look_again(self, before: Before, deadline: Deadline) -> Tree:
        """The names after a command: none where the project folder is gone."""
        try:
            return self.look(deadline, before.taken.tree.rules)
        except GoneError:
            return Tree()

    def look(self, deadline: Deadline, rules: Rules | None = None, *, whole: bool = False) -> Tree:
        """The names of the project, without our own state."""
        return snapshot_tree.walk(
            self._root, deadline, barred=self._barred(), rules=rules, whole=whole
        )

    def _barred(self) -> frozenset[snapshot_tree.Identity]:
        found: set[snapshot_tree.Identity] = set()
        for folder in self._protected:
            with suppress(OSError):
                facts = folder.stat()
                found.add((facts.st_dev, facts.st_ino))
        return frozenset(found)

    def _take(self, tree: Tree, deadline: Deadline) -> Taken:
        """Have the contents of all files of the tree in the store; only changed ones are read."""
        reader = _Reader(self._root, self._store, deadline)
        too_large = _too_large(tree.entries)
        files = self._store.files
        entries: dict[str, Entry] = {}
        try:
            for path, found in tree.entries.items():
                known = files.get(path)
                if found.kind == "link" or path in too_large:
                    entries[path] = _entry(found)
                elif known is not None and known.settled and known.stamp == found.stamp:
                    entries[path] = _entry(found, known.sha256)
                elif (read := reader.read(path, found)) is not None:
                    entries[path] = read
        finally:
            reader.flush()
        self._store.drop([path for path in files if not _is_kept(entries.get(path))])
        return Taken(tree, entries)


class _Reader:
    """Reads files of the project into the store, many at a time."""

    def __init__(self, root: Path, store: Store, deadline: Deadline) -> None:
        self._root = root
        self._store = store
        self._deadline = deadline
        self._waiting: list[tuple[str, Known, bytes | None]] = []
        self._bytes = 0

    def read(self, path: str, seen: Seen) -> Entry | None:
        """The file as it is now; None where it is gone."""
        self._deadline.check()
        looked_ns = time.time_ns()
        try:
            opened = system.open_without_links(self._root / path, system.READING)
        except FileNotFoundError:
            return None
        except OSError:
            return _entry(seen)
        try:
            facts = system.facts(opened)
            found = snapshot_tree.seen(facts)
            if not stat.S_ISREG(facts.st_mode) or found.size > MAX_FILE_BYTES:
                return _entry(seen)
            return self._read(path, found, opened, looked_ns)
        finally:
            system.close(opened)

    def _read(self, path: str, found: Seen, opened: int, looked_ns: int) -> Entry:
        data = None
        if found.size <= INLINE_BYTES:
            data = system.read_at(opened, found.size, 0)
            sha256 = sha256_of(data)
        else:
            sha256 = self._copy(opened, found.size)
        settled = looked_ns - found.ctime_ns > _tick_ns(found)
        self._waiting.append((path, Known(*found.stamp, settled, sha256), data))
        self._bytes += len(data or b"")
        if len(self._waiting) >= _BATCH_FILES or self._bytes >= _BATCH_BYTES:
            self.flush()
        return _entry(found, sha256)

    def _copy(self, opened: int, size: int) -> str:
        new = self._store.large(f"new-{secrets.token_hex(8)}")
        target = own_files.open_own(new, system.MAKING)
        try:
            sha256, _ = snapshot_copy.copy_hashed(opened, target, size, self._deadline)
        finally:
            system.close(target)
        system.rename_own(new, self._store.large(sha256))
        return sha256

    def flush(self) -> None:
        """Hand over what was read."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if waiting:
            self._store.put(waiting)


def _record(before: Before, after: Taken, *, overlapped: bool) -> Record:
    first, ours = before.taken, frozenset(before.ours)
    names = sorted({*first.not_covered, *after.not_covered})
    closed = (*first.tree.closed, *after.tree.closed)
    changes = snapshot_record.compared(first.entries, after.entries, ours, closed)
    modes = snapshot_record.compared_folders(first.tree.folders, after.tree.folders, closed)
    gone = "" not in after.tree.folders
    notes = snapshot_notes.of(changes, modes, first.tree, after.tree)
    if overlapped:
        notes.append(OVERLAPPED)
    if ours:
        notes.append(f"Left out, since file tools wrote them too: {first_names(sorted(ours))}.")
    return Record(
        changes=changes,
        folders=tuple(sorted(after.tree.folders.keys() - first.tree.folders.keys())),
        not_covered=len(names),
        not_covered_names=tuple(
            map(snapshot_record.shown_name, names[: snapshot_record.MOST_NAMES])
        ),
        note=" ".join(notes),
        modes=modes,
        gone=gone,
        root=first.tree.identity,
    )


def _entry(found: Seen, sha256: str = "") -> Entry:
    return Entry(found.kind, found.mode, found.size, found.stamp, sha256, found.target)


def _is_kept(entry: Entry | None) -> bool:
    return entry is not None and entry.sha256 != ""


def _too_large(entries: Mapping[str, Seen]) -> set[str]:
    """The files over the limit, and the largest of the others until the rest is below the total."""
    files = [(found.size, path) for path, found in entries.items() if found.kind == "file"]
    left_out = {path for size, path in files if size > MAX_FILE_BYTES}
    total = sum(size for size, path in files if path not in left_out)
    for size, path in sorted(files, reverse=True) if total > MAX_TOTAL_BYTES else ():
        if path not in left_out and total > MAX_TOTAL_BYTES:
            left_out.add(path)
            total -= size
    return left_out


def _tick_ns(found: Seen) -> int:
    """How long a second change may leave the time of a file as it is."""
    return FINE_TICK_NS if found.ctime_ns % _SECOND_NS else COARSE_TICK_NS


def _slow(deadline: Deadline) -> str:
    return (
        f"A snapshot of the project took over {deadline.seconds:g} s and was given up, so what the "
        "command changed is not known."
    )


def _unknown(fault: UnseenError | UnusableStoreError) -> str:
    return (
        f"No snapshot of the project can be taken ({fault}), so what the command changed is not "
        "known."
    )
