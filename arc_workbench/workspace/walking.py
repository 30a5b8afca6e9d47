"""Going through folders: each real folder once, no link followed by accident, nothing passed over.

A folder is opened without links from the root on, so one that becomes a link between the look and
the opening leads nowhere. A walk that runs out of time or names ends early and says so.
"""

import mimetypes
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from arc_workbench.workspace import system
from arc_workbench.workspace.deadline import Deadline, TimedOut
from arc_workbench.workspace.paths import is_kernel_view, is_within, on_one_line, printable

SKIPPED_FOLDERS = frozenset({".git", "node_modules"})
NAMED = 5
AT_ONCE = 128  # names between two looks at the clock
MOST_NAMES = 2_000_000
HELD_OPEN = 200
SETTLED_NS = 3_000_000_000
MOST_REMEMBERED = 100_000

Wanted = Callable[[str], bool]
EntryKind = Literal["file", "folder", "link", "other"]
SkipReason = Literal[
    "binary file matches",
    "unreadable",
    "dangling link",
    "not a regular file",
    "leads outside",
    "very long lines",
    "the pattern takes too long",
]


@dataclass(frozen=True)
class Skip:
    """A name that was not looked into, or of which not all is shown, and why."""

    path: str
    reason: SkipReason


def describe(skipped: Sequence[Skip]) -> str:
    """One line that counts what was left out and names the first."""
    binary = [skip for skip in skipped if skip.reason == "binary file matches"]
    unread = [skip for skip in skipped if skip.reason != "binary file matches"]
    parts: list[str] = []
    if unread:
        named = [f"{on_one_line(skip.path)} ({skip.reason})" for skip in unread[:NAMED]]
        parts.append(f"{_counted(unread, 'path')} not read: {_listed(named, unread)}")
    if binary:
        binary.sort(key=lambda skip: not _might_be_text(skip.path))
        named = [on_one_line(skip.path) for skip in binary[:NAMED]]
        verb = "match" if len(binary) > 1 else "matches"
        count = _counted(binary, "binary file")
        parts.append(f"{count} {verb}, not shown: {_listed(named, binary)}")
    return "; ".join(parts)


def _counted(skipped: Sequence[Skip], noun: str) -> str:
    return f"{len(skipped)} {noun}{'s' * (len(skipped) > 1)}"


def _listed(named: Sequence[str], all_of_them: Sequence[Skip]) -> str:
    more = len(all_of_them) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _might_be_text(path: str) -> bool:
    """Whether somebody would expect to find text there: the name is of no other known type."""
    kind, packed = mimetypes.guess_type(path)
    return packed is None and (kind or "text/").startswith("text/")


@dataclass(frozen=True, slots=True)
class Found:
    """A name below the folder that was walked; `linked` if it is a link to a file or folder.

    `path` is the real destination. Links that lead nowhere, or out of the fence, have the kind
    `link`.
    """

    name: str
    path: str
    kind: EntryKind
    linked: bool = False


class Level:
    """What one folder holds: `prefix` is what names below it begin with, `path` where it is."""

    __slots__ = ("files", "folders", "links", "others", "path", "prefix")

    def __init__(self, prefix: str, path: str) -> None:
        self.prefix = prefix
        self.path = path
        self.files: list[str] = []
        self.folders: list[str] = []
        self.links: list[Found] = []
        self.others: list[str] = []

    def links_to_files(self) -> Iterator[tuple[str, str]]:
        """The links to files, by name, and where they lead."""
        return ((link.name, link.path) for link in self.links if link.kind == "file")

    def found(self) -> Iterator[Found]:
        """All entries, in no order."""
        yield from self.links
        for kind, names in self._plain():
            for name in names:
                yield Found(self.prefix + name, f"{self.path}/{name}", kind)

    def _plain(self) -> tuple[tuple[EntryKind, list[str]], ...]:
        return (("folder", self.folders), ("file", self.files), ("other", self.others))


class PlainFolders:
    """The look for links: what is below a folder that holds nothing but files and folders.

    What stood in a folder is remembered for as long as the folder's times say that nothing came or
    went, so that a second look costs a fraction of the first. A time that is younger than
    `SETTLED_NS` says nothing yet: a change in the same tick of the file system would not show.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Plain] = {}

    def files(self, base: Path, deadline: Deadline) -> int | None:
        """How many files lie below `base`; None for any other tree, which takes a `Walk`.

        This opens no file; what is counted through a folder that is swapped meanwhile is no more
        than a number.
        """
        count = 0
        waiting = [str(base)]
        try:
            while waiting:
                deadline.check()
                plain = self._look(waiting.pop())
                if plain is None:
                    return None
                count += plain.files
                waiting += plain.folders
        except OSError:
            return None
        return count

    def _look(self, path: str) -> "_Plain | None":
        stamp = _stamp(os.lstat(path))
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        plain = _plain(path, stamp)
        settled = time.time_ns() - max(stamp[-2:]) > SETTLED_NS
        if plain is not None and settled and len(self._known) < MOST_REMEMBERED:
            self._known[path] = plain
        return plain


_Stamp = tuple[int, int, int, int]


class _Plain(NamedTuple):
    stamp: _Stamp
    files: int
    folders: tuple[str, ...]


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _plain(path: str, stamp: _Stamp) -> _Plain | None:
    files = 0
    folders: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                files += 1
            elif not entry.is_dir(follow_symlinks=False):
                return None
            elif entry.name not in SKIPPED_FOLDERS:
                folders.append(entry.path)
    return _Plain(stamp, files, tuple(folders))


class _Folder:
    """A folder on the way down: `opened` while names in it may be opened, -1 when it is not."""

    __slots__ = ("below", "level", "opened")

    def __init__(self, opened: int, level: Level) -> None:
        self.opened = opened
        self.level = level
        self.below: list[str] = []

    def close(self) -> None:
        if self.opened >= 0:
            os.close(self.opened)
        self.opened = -1


def _any(_: str) -> bool:
    return True


class Walk:
    """One walk below `base`, a real folder, that never leaves `fence`.

    Folders named `.git` or `node_modules` are passed over. Links are followed: a folder that lies
    in what is walked anyhow is not entered a second time. `skipped` and `stopped`, why a walk is
    not complete, are filled as it goes on.
    """

    def __init__(self, base: Path, fence: Path | None, deadline: Deadline) -> None:
        self.skipped: list[Skip] = []
        self.stopped = ""
        self._names = 0
        self._base = "" if base == Path("/") else str(base)
        self._fence = fence
        self._deadline = deadline
        self._roots = {str(base)}

    def levels(self, wanted: Wanted = _any) -> Iterator[Level]:
        """Folder by folder, those behind links last, and not those whose prefix is not `wanted`."""
        trail: list[_Folder] = []
        linked = [("", self._base)]
        try:
            while trail or linked:
                folder = self._next(trail) if trail else self._open(*linked.pop(0))
                if folder is None:
                    continue
                trail.append(folder)
                if len(trail) > HELD_OPEN:
                    folder.close()
                level = folder.level
                yield level
                folder.below = [
                    name
                    for name in sorted(level.folders, reverse=True)
                    if wanted(f"{level.prefix}{name}/")
                ]
                linked += [
                    (f"{link.name}/", link.path)
                    for link in sorted(level.links, key=lambda link: link.name)
                    if wanted(link.name + "/") and self._new(link)
                ]
        except TimedOut as end:
            self.stopped = str(end)
        finally:
            for folder in trail:
                folder.close()

    def _next(self, trail: list[_Folder]) -> _Folder | None:
        """The next folder in the last one of the trail, which ends there when it has no more."""
        over = trail[-1]
        if not over.below:
            trail.pop().close()
            return None
        name = over.below.pop()
        path = f"{over.level.path}/{name}"
        if len(self._roots) > 1 and path in self._roots:
            return None  # a link leads here, and it has a turn of its own
        return self._open(f"{over.level.prefix}{name}/", path, name, over.opened)

    def in_order(self, *, deep: bool) -> Iterator[Found]:
        """Name by name, sorted by the whole name; without `deep`, only what lies in `base`."""
        try:
            waiting = self._steps("", self._base, deep=deep)
            while waiting:
                _, found, enter = waiting.pop()
                if not enter:
                    yield found
                elif self._new(found) if found.linked else found.path not in self._roots:
                    waiting += self._steps(found.name + "/", found.path, deep=True)
        except TimedOut as end:
            self.stopped = str(end)

    def _steps(self, prefix: str, path: str, *, deep: bool) -> list[tuple[str, Found, bool]]:
        """What to do in a folder, the last first: give out a name, or go into a folder."""
        folder = self._open(prefix, path)
        if folder is None:
            return []
        folder.close()
        steps: list[tuple[str, Found, bool]] = []
        for found in folder.level.found():
            steps.append((found.name, found, False))
            if deep and found.kind == "folder":
                steps.append((found.name + "/", found, True))
        steps.sort(key=lambda step: step[0], reverse=True)
        return steps

    def _open(self, prefix: str, path: str, name: str = "", over: int = -1) -> _Folder | None:
        """Open and read a folder, by its `name` in the open folder `over` if there is one."""
        self._require_more()
        folder = None
        try:
            if path.startswith("/proc") and is_kernel_view(Path(path)):
                raise PermissionError(path)
            if over >= 0:
                opened = os.open(name, system.FOLDER, dir_fd=over)
            else:
                opened = system.open_without_links(Path(path or "/"), system.FOLDER)
            folder = _Folder(opened, Level(prefix, path))
            with os.scandir(opened) as listing:
                self._sort(listing, folder.level)
        except OSError:
            self._skip(prefix.rstrip("/") or ".", "unreadable")
            if folder is not None:
                folder.close()
            return None
        except BaseException:
            if folder is not None:
                folder.close()
            raise
        for odd in folder.level.others:
            self._skip(prefix + odd, "not a regular file")
        return folder

    def _require_more(self, names: int = 0) -> None:
        self._deadline.check()
        if self._names + names > MOST_NAMES:
            raise TimedOut(f"This ended after {MOST_NAMES} names. Name a deeper path.")

    def _sort(self, listing: Iterator[os.DirEntry[str]], level: Level) -> None:
        files, folders = level.files, level.folders
        for number, entry in enumerate(listing, 1):
            if entry.is_symlink():
                self._link(entry.name, level)
            elif entry.is_file():
                files.append(entry.name)
            elif not entry.is_dir():
                level.others.append(entry.name)
            elif entry.name not in SKIPPED_FOLDERS:
                folders.append(entry.name)
            if not number % AT_ONCE:
                self._require_more(number)
        self._names += len(files) + len(folders) + len(level.others) + len(level.links)

    def _link(self, name: str, level: Level) -> None:
        found = follow(level.prefix + name, f"{level.path}/{name}", self._fence)
        if found.kind == "folder" and name in SKIPPED_FOLDERS:
            return
        level.links.append(found)
        if found.kind == "other":
            self._skip(found.name, "not a regular file")
        elif found.kind == "link":
            outside = os.path.lexists(found.path)
            self._skip(found.name, "leads outside" if outside else "dangling link")

    def _new(self, link: Found) -> bool:
        """Whether a link leads to a folder that is in no part of the walk; it is one from now."""
        if link.kind != "folder" or self.covers(link.path):
            return False
        self._roots.add(link.path)
        return True

    def covers(self, path: str) -> bool:
        """Whether a real path lies in what is walked."""
        real = Path(path)
        return any(
            is_within(real, Path(root)) and SKIPPED_FOLDERS.isdisjoint(real.relative_to(root).parts)
            for root in self._roots
        )

    def _skip(self, name: str, reason: SkipReason) -> None:
        self.skipped.append(Skip(printable(name), reason))


def follow(name: str, path: str, fence: Path | None) -> Found:
    """What a link is: what it leads to, if that is there and may be gone to."""
    target = os.path.realpath(path)
    kind = _kind(target)
    real = Path(target)
    barred = is_kernel_view(real) or (fence is not None and not is_within(real, fence))
    if kind is None or barred:
        return Found(name, target, "link", linked=True)
    return Found(name, target, kind, linked=True)


def _kind(path: str) -> EntryKind | None:
    """What stands at a path without links; None for nothing, and for a link in a circle."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return None
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"
