"""What stands in a project folder at one moment: files and links with their facts, no contents.

Each folder is opened without links, so none leads out of the project. Other file systems that are
mounted below it are not entered.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from arc_workbench.workspace import snapshot_ignore, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.effects import TEMPORARY_PREFIX
from arc_workbench.workspace.paths import reason
from arc_workbench.workspace.snapshot_ignore import Source, Test
from arc_workbench.workspace.walking import AT_ONCE, SKIPPED_FOLDERS

MAX_FILES = 50_000
MAX_FILE_BYTES = 32 << 20
MAX_TOTAL_BYTES = 512 << 20

Identity = tuple[int, int]
Rules = Mapping[str, tuple[Source, ...]]

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class UnseenError(Exception):
    """The project cannot be looked at; says why."""


class GoneError(UnseenError):
    """The folder does not stand at its name any more."""


class TooManyError(UnseenError):
    """The project has more names than a snapshot takes."""

    def __init__(self) -> None:
        super().__init__(f"it has more than {MAX_FILES:,} files")


class Seen(NamedTuple):
    """A file or a link as it was seen; the four facts in the middle change when it is written."""

    kind: Literal["file", "link"]
    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    blocks: int = 0
    target: str = ""

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """What is the same only while nobody wrote."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


@dataclass
class Tree:
    """Names are relative to the project, with `/`, and may hold bytes that are no UTF-8.

    `folders` have their permission bits. `rules` are what each folder brought in to leave names
    out. `closed` names the folders that were not looked into: unreadable, or another file system.
    `others` are pipes, sockets and devices. `identity` tells the folder itself from another of its
    name.
    """

    entries: dict[str, Seen] = field(default_factory=dict[str, Seen])
    folders: dict[str, int] = field(default_factory=dict[str, int])
    rules: dict[str, tuple[Source, ...]] = field(default_factory=dict[str, tuple[Source, ...]])
    closed: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])
    identity: Identity = (0, 0)


def walk(
    root: Path,
    deadline: Deadline,
    *,
    barred: frozenset[Identity] = frozenset(),
    rules: Rules | None = None,
    whole: bool = False,
) -> Tree:
    """Look at all of a project but `barred` folders, `.git`, `node_modules` and ignored names.

    With `whole` those three are seen too. `rules` hold for the folders they name, whatever their
    `.gitignore` says by now. Raises `TooManyError` over `MAX_FILES` names, `GoneError` where no
    folder has that name, and another `UnseenError` where it cannot be opened.
    """
    found = _Walk(root, deadline, barred, rules or {}, whole=whole)
    found.run()
    return found.tree


def seen(facts: os.stat_result, target: str = "") -> Seen:
    """The facts of a file or a link."""
    return Seen(
        "link" if stat.S_ISLNK(facts.st_mode) else "file",
        stat.S_IMODE(facts.st_mode),
        facts.st_size,
        facts.st_mtime_ns,
        facts.st_ctime_ns,
        facts.st_ino,
        getattr(facts, "st_blocks", 0),
        target,
    )


class _Walk:
    def __init__(
        self,
        root: Path,
        deadline: Deadline,
        barred: frozenset[Identity],
        rules: Rules,
        *,
        whole: bool,
    ) -> None:
        self.tree = Tree()
        self._root = root
        self._base = "" if str(root) == "/" else str(root)
        self._deadline = deadline
        self._barred = barred
        self._rules = rules
        self._whole = whole
        self._device = -1
        self._names = 0
        self._waiting: list[tuple[str, tuple[Source, ...]]] = [("", ())]

    def run(self) -> None:
        while self._waiting:
            self._deadline.check()
            prefix, sources = self._waiting.pop()
            try:
                opened = system.open_without_links(self._path(prefix), system.FOLDER)
            except OSError as fault:
                self._not_opened(prefix, fault)
                continue
            try:
                self._look(opened, prefix, sources)
            finally:
                system.close(opened)

    def _path(self, prefix: str) -> Path:
        return Path(f"{self._base}/{prefix}")

    def _not_opened(self, prefix: str, fault: OSError) -> None:
        if not prefix:
            kind = GoneError if fault.errno in _GONE else UnseenError
            raise kind(f"its folder cannot be opened: {reason(fault)}") from fault
        if fault.errno not in _GONE:
            self.tree.closed.append(prefix)

    def _look(self, opened: int, prefix: str, sources: tuple[Source, ...]) -> None:
        facts = system.facts(opened)
        if not prefix:
            self._device = facts.st_dev
            self.tree.identity = (facts.st_dev, facts.st_ino)
        if (facts.st_dev, facts.st_ino) in self._barred:
            return
        if facts.st_dev != self._device:
            self.tree.closed.append(prefix)
            return
        self.tree.folders[prefix] = stat.S_IMODE(facts.st_mode)
        try:
            with os.scandir(opened) as listing:
                entries = self._counted(listing)
        except OSError:
            self.tree.closed.append(prefix)
            return
        sources += self._sources(prefix, entries)
        tests = snapshot_ignore.tests_in(sources, prefix, self._deadline.check)
        for number, entry in enumerate(entries):
            if not number % AT_ONCE:
                self._deadline.check()
            self._take(entry, prefix, sources, tests, opened)

    def _counted(self, listing: Iterator[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
        entries: list[os.DirEntry[str]] = []
        for entry in listing:
            entries.append(entry)
            self._names += 1
            if self._names > MAX_FILES:
                raise TooManyError
            if not self._names % AT_ONCE:
                self._deadline.check()
        return entries

    def _sources(self, prefix: str, entries: Sequence[os.DirEntry[str]]) -> tuple[Source, ...]:
        """The rules that begin in this folder."""
        if self._whole:
            return ()
        found = self._rules.get(prefix)
        if found is None:
            found = () if prefix else snapshot_ignore.above(self._root)
            if any(entry.name == snapshot_ignore.NAME for entry in entries):
                path = self._path(prefix) / snapshot_ignore.NAME
                found += snapshot_ignore.source_of(path, cut=len(prefix))
        self.tree.rules[prefix] = found
        return found

    def _take(
        self,
        entry: os.DirEntry[str],
        prefix: str,
        sources: tuple[Source, ...],
        tests: Sequence[Test],
        opened: int,
    ) -> None:
        name = entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if not self._whole and self._skips(name, tests, is_folder=is_folder):
            return
        if is_folder:
            self._waiting.append((f"{prefix}{name}/", sources))
            return
        try:
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(facts.st_mode):
                self.tree.entries[prefix + name] = seen(facts)
            elif stat.S_ISLNK(facts.st_mode):
                target = os.readlink(name, dir_fd=opened)
                self.tree.entries[prefix + name] = seen(facts, target)
            else:
                self.tree.others.append(prefix + name)
        except OSError:
            return  # it went meanwhile

    def _skips(self, name: str, tests: Sequence[Test], *, is_folder: bool) -> bool:
        if name == ".git" or (is_folder and name in SKIPPED_FOLDERS):
            return True
        if name.startswith(TEMPORARY_PREFIX):
            return True
        return bool(tests) and snapshot_ignore.leaves_out(tests, name, is_folder=is_folder)


def total_bytes(entries: Mapping[str, Seen]) -> int:
    """What the contents take on the disk at most: holes in a file do not count."""
    return sum(min(one.size, one.blocks * 512) for one in entries.values())
