"""The copy of a project that a command gets in a dry run.

It is whole, with `.git`, with what is ignored, and with what the dry run changed. What the command
does there is taken over by `snapshot_taking`.
"""

import os
import secrets
import shutil
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files, snapshot_copy, snapshot_tree, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.dry_run import DryRun
from arc_workbench.workspace.effects import NEW_FILE_MODE
from arc_workbench.workspace.paths import Roots, is_within, reason
from arc_workbench.workspace.reading import sha256_of
from arc_workbench.workspace.snapshot_record import Facts, first_names
from arc_workbench.workspace.snapshot_tree import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    Rules,
    TooManyError,
    Tree,
    UnseenError,
)
from arc_workbench.workspace.snapshots import FINE_TICK_NS, Snapshots

FOLDER = "dry-copies"
PROJECT = "project"
SECONDS = 60.0
NOT_TAKEN = (
    "The command ran on a copy. Its changes of .git, node_modules, ignored files, links and "
    "permission bits are not taken over."
)
TOO_LARGE = (
    "The project is too large to be copied for a dry run "
    f"(over {MAX_FILES:,} files or {MAX_TOTAL_BYTES >> 20} MiB, all counted), so no command runs "
    "in it. End the dry run first: %agent dryrun apply or %agent dryrun discard."
)
TOO_SLOW = "The project is too large to be copied for a dry run, so the command was not run."


class Copied(NamedTuple):
    """A file of the copy as it was made; `source` is None for one that the dry run has.

    `sha256` is known where the file is so young that a change at once would not show in its facts.
    """

    copy: Facts
    mode: int
    source: Facts | None
    sha256: str = ""


@dataclass
class DryCopy:
    """The project as a dry run sees it, at `folder`, until `close`; `note` is for who reads on.

    Closing twice is no error.
    """

    folder: Path
    note: str
    made: Mapping[str, Copied]
    covered: frozenset[str]
    folders: frozenset[str]
    rules: Rules
    lock: int

    def close(self) -> None:
        """Remove the copy."""
        opened, self.lock = self.lock, -1
        if opened >= 0:
            _remove(self.folder.parent)
            system.close(opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def make(
    roots: Roots, dry: DryRun, snapshots: Snapshots, state: Path, deadline: Deadline
) -> DryCopy:
    """Copy the project below the folder `state`; `ToolError` where it is too large for that."""
    try:
        plain = snapshots.look(deadline)
        tree = snapshots.look(deadline, whole=True)
    except TooManyError:
        raise ToolError(TOO_LARGE) from None
    except UnseenError as fault:
        raise ToolError(f"The project cannot be copied for the dry run: {fault}.") from fault
    if snapshot_tree.total_bytes(tree.entries) > MAX_TOTAL_BYTES:
        raise ToolError(TOO_LARGE)
    try:
        lock, folder = _own_folder(state / FOLDER)
        try:
            maker = _Maker(roots.real, folder / PROJECT, deadline)
            maker.copy(tree)
            shadowed = maker.lay_over(roots, dry)
            maker.close_folders(tree)
            maker.hash_young()
        except BaseException:
            _remove(folder)
            system.close(lock)
            raise
    except (OSError, own_files.UnusableError) as fault:
        why = reason(fault) if isinstance(fault, OSError) else str(fault)
        raise ToolError(
            f"The project could not be copied for the dry run: {why}; the command was not run."
        ) from fault
    missing = [*maker.missing, *tree.closed]
    note = f"{NOT_TAKEN} Missing in the copy: {first_names(missing)}." if missing else NOT_TAKEN
    return DryCopy(
        folder=folder / PROJECT,
        note=note,
        made=maker.made,
        covered=shadowed.union(path for path in plain.entries if path in maker.made),
        folders=frozenset(tree.folders),
        rules=plain.rules,
        lock=lock,
    )


class _Maker:
    def __init__(self, root: Path, target: Path, deadline: Deadline) -> None:
        self.made: dict[str, Copied] = {}
        self.missing: list[str] = []
        self._root = root
        self._target = target
        self._deadline = deadline

    def copy(self, tree: Tree) -> None:
        for prefix in sorted(tree.folders):
            (self._target / prefix).mkdir(mode=0o700)
        for path, found in tree.entries.items():
            self._deadline.check()
            if found.kind == "link":
                (self._target / path).symlink_to(found.target)
                facts = (self._target / path).lstat()
                self.made[path] = _copied(facts, found.stamp)
                continue
            try:
                opened = system.open_without_links(self._root / path, system.READING)
            except FileNotFoundError:
                continue
            except OSError:
                self.missing.append(path)
                continue
            try:
                self._copy_file(path, opened)
            finally:
                system.close(opened)

    def _copy_file(self, path: str, opened: int) -> None:
        facts = system.facts(opened)
        if not stat.S_ISREG(facts.st_mode):
            return
        target = own_files.open_own(self._target / path, system.MAKING)
        try:
            snapshot_copy.copy(opened, target, self._deadline)
            snapshot_copy.dress(target, facts)
            now = system.facts(target)
        finally:
            system.close(target)
        self.made[path] = _copied(now, snapshot_tree.seen(facts).stamp)

    def lay_over(self, roots: Roots, dry: DryRun) -> frozenset[str]:
        """Let the copy have what the dry run has of the project; the names of that."""
        names: set[str] = set()
        for file in dry.files:
            if not is_within(file.real, roots.real):
                self.missing.append(str(file.real))
                continue
            path = file.real.relative_to(roots.real).as_posix()
            names.add(path)
            content = dry.content(file)
            was = self.made.pop(path, None)
            (self._target / path).unlink(missing_ok=True)
            if content is not None:
                mode = was.mode if was is not None else file.mode
                self._write(path, content, mode)
        return frozenset(names)

    def _write(self, path: str, content: bytes, mode: int) -> None:
        target = self._target / path
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        opened = os.open(target, flags, NEW_FILE_MODE)
        try:
            system.write_all(opened, content)
            if mode:
                system.set_mode(opened, mode)
            self.made[path] = _copied(system.facts(opened), None)
        finally:
            system.close(opened)

    def hash_young(self) -> None:
        """Have the hash of what was copied last."""
        young_ns = time.time_ns() - FINE_TICK_NS
        for path, one in self.made.items():
            if one.copy[2] >= young_ns and one.copy[0] <= MAX_FILE_BYTES:
                self._deadline.check()
                with suppress(OSError):  # a link
                    data, _ = read_file(self._target / path)
                    self.made[path] = one._replace(sha256=sha256_of(data))

    def close_folders(self, tree: Tree) -> None:
        """Give the folders their rights, the innermost first."""
        for prefix in sorted(tree.folders, reverse=True):
            (self._target / prefix).chmod(tree.folders[prefix] & 0o777)


def _copied(facts: os.stat_result, source: Facts | None) -> Copied:
    found = snapshot_tree.seen(facts)
    return Copied(found.stamp, found.mode, source)


def _own_folder(state: Path) -> tuple[int, Path]:
    """A folder for a copy and the lock that says it is in use; copies of the dead are removed."""
    own_files.make_folder(state)
    own_files.require_ours(state, folder=True)
    for path in state.glob("*.lock"):
        _clear_away(path)
    while True:
        folder = state / secrets.token_hex(8)
        path = folder.with_suffix(".lock")
        lock = own_files.open_own(path, os.O_RDWR | os.O_CREAT)
        with suppress(FileNotFoundError):
            if system.try_lock(lock) and own_files.is_same(lock, path):
                folder.mkdir(mode=0o700)
                return lock, folder
        system.close(lock)


def _clear_away(path: Path) -> None:
    """Remove a copy, unless somebody still has it."""
    with suppress(OSError):
        lock = own_files.open_own(path, os.O_RDWR)
        try:
            if system.try_lock(lock):
                _remove(path.with_suffix(""))
        finally:
            system.close(lock)


def _remove(folder: Path) -> None:
    """Remove a copy with its lock, also where a command took the rights away."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path) / name
            if not inner.is_symlink():
                with suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(".lock").unlink(missing_ok=True)


def read_file(path: Path) -> tuple[bytes, Facts]:
    """What a file holds, and its facts; `OSError` where it is none, or is too large."""
    opened = system.open_without_links(path, system.READING)
    try:
        facts = system.facts(opened)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_FILE_BYTES:
            raise OSError("not a file that can be compared")
        return system.read_at(opened, facts.st_size, 0), snapshot_tree.seen(facts).stamp
    finally:
        system.close(opened)
