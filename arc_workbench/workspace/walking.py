"""Going through folders: each real folder once, in a fixed order, nothing skipped in silence."""

import mimetypes
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import is_kernel_view, is_within, on_one_line, printable

SKIPPED_FOLDERS = frozenset({".git", "node_modules"})
NAMED = 5

EntryKind = Literal["file", "folder", "link", "other"]
SkipReason = Literal[
    "binary",
    "unreadable",
    "dangling link",
    "not a regular file",
    "leads outside",
    "very long lines",
]


@dataclass(frozen=True)
class Skip:
    """A name that was not looked into, and why."""

    path: str
    reason: SkipReason


def describe(skipped: Sequence[Skip]) -> str:
    """One line that counts what was left out and names the first, text files before others."""
    if not skipped:
        return ""
    first = sorted(skipped, key=lambda skip: not _might_be_text(skip))[:NAMED]
    named = ", ".join(f"{on_one_line(skip.path)} ({skip.reason})" for skip in first)
    more = f" and {len(skipped) - NAMED} more" if len(skipped) > NAMED else ""
    return f"{len(skipped)} path{'s' * (len(skipped) > 1)} not read: {named}{more}"


def _might_be_text(skip: Skip) -> bool:
    """Whether somebody would expect to find text there: the name is of no other known type."""
    kind, packed = mimetypes.guess_type(skip.path)
    return skip.reason != "binary" or (packed is None and (kind or "text/").startswith("text/"))


@dataclass(frozen=True)
class Found:
    """A name below the folder that was walked; `linked` if it is a link to a file or folder.

    Links that lead nowhere, or out of the fence, have the kind `link`.
    """

    name: str
    path: Path
    kind: EntryKind
    linked: bool = False


@dataclass
class Tree:
    """What a walk found, sorted by name."""

    entries: list[Found] = field(default_factory=list[Found])
    skipped: list[Skip] = field(default_factory=list[Skip])

    @property
    def files(self) -> list[Found]:
        """Only the files."""
        return [entry for entry in self.entries if entry.kind == "file"]


class _Walk:
    """One walk: folders first under their own names, then those that only links lead to."""

    def __init__(self, base: Path, fence: Path | None, deadline: Deadline, deep: bool) -> None:
        self.tree = Tree()
        self._fence = fence
        self._deadline = deadline
        self._deep = deep
        self._seen: set[tuple[int, int]] = set()
        self._folders: list[tuple[Path, str]] = [(base, "")]
        self._linked: list[tuple[Path, str]] = []

    def run(self) -> Tree:
        while self._folders or self._linked:
            if not self._folders:
                self._folders.append(self._linked.pop(0))
            self._open(*self._folders.pop())
        self.tree.entries.sort(key=lambda entry: entry.name)
        self.tree.skipped.sort(key=lambda skip: skip.path)
        return self.tree

    def _open(self, folder: Path, prefix: str) -> None:
        self._deadline.check()
        if is_kernel_view(folder):
            self._skip(prefix.rstrip("/") or ".", "unreadable")
            return
        try:
            status = folder.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                return
            self._seen.add(identity)
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            self._skip(prefix.rstrip("/") or ".", "unreadable")
            return
        for entry in entries:
            self._take(entry, folder, prefix + entry.name)

    def _take(self, entry: os.DirEntry[str], folder: Path, name: str) -> None:
        self._deadline.check()
        found = classify(entry, folder, name, self._fence)
        if found.kind == "folder" and entry.name in SKIPPED_FOLDERS:
            return
        self.tree.entries.append(found)
        if found.kind == "folder" and self._deep:
            (self._linked if found.linked else self._folders).append((found.path, name + "/"))
        elif found.kind == "other":
            self._skip(name, "not a regular file")
        elif found.kind == "link":
            self._skip(name, "leads outside" if _exists(found.path) else "dangling link")

    def _skip(self, name: str, reason: SkipReason) -> None:
        self.tree.skipped.append(Skip(printable(name), reason))


def walk(base: Path, *, fence: Path | None, deadline: Deadline, deep: bool = True) -> Tree:
    """Everything below `base`, a real folder, but not folders named `.git` or `node_modules`.

    Links are followed, but never out of `fence`; a folder that is reached twice is gone through
    once. Without `deep`, only the entries of `base` itself.
    """
    return _Walk(base, fence, deadline, deep).run()


def classify(entry: os.DirEntry[str], folder: Path, name: str, fence: Path | None) -> Found:
    """What a directory entry is; a link is what it leads to, if it may be followed."""
    path = folder / entry.name
    if not entry.is_symlink():
        return Found(name, path, _kind(entry, follow=False))
    target = Path(os.path.realpath(path))
    kind = _kind(entry, follow=True)
    lost = kind == "other" and not _exists(target)
    barred = is_kernel_view(target) or (fence is not None and not is_within(target, fence))
    if lost or barred:
        return Found(name, target, "link", linked=True)
    return Found(name, target, kind, linked=True)


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _kind(entry: os.DirEntry[str], *, follow: bool) -> EntryKind:
    try:
        if entry.is_dir(follow_symlinks=follow):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=follow) else "other"
    except OSError:  # a link in a circle
        return "other"
