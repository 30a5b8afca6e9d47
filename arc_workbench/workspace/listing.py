"""What is in a folder: one level with sizes, everything below it in pages, or files by pattern."""

import os
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.globs import Glob
from arc_workbench.workspace.paths import Place, printable, reason, require_folder
from arc_workbench.workspace.walking import AT_ONCE, EntryKind, Found, Skip, Walk, follow

MOST_HITS = 500_000


@dataclass(frozen=True)
class Entry:
    """A name in a folder; `size` only of files. What a link leads to decides its kind."""

    name: str
    kind: EntryKind
    size: int | None
    linked: bool


@dataclass(frozen=True)
class Listing:
    """One page of a folder's entries; `stopped` says why it may not be complete, "" if it is."""

    entries: tuple[Entry, ...]
    total: int
    next_offset: int | None
    skipped: tuple[Skip, ...] = ()
    stopped: str = ""

    @property
    def truncated(self) -> bool:
        """Whether entries follow."""
        return self.next_offset is not None


@dataclass(frozen=True)
class Matches:
    """Files that fit a pattern, the newest first, out of `total`; `stopped` as in a `Listing`."""

    paths: tuple[str, ...]
    total: int
    skipped: tuple[Skip, ...]
    stopped: str = ""

    @property
    def truncated(self) -> bool:
        """Whether more files fit."""
        return len(self.paths) < self.total


def level(place: Place, limit: int, deadline: Deadline) -> Listing:
    """The entries of one folder, folders first, then by name; nothing is left out by name."""
    _require_folder_on_disk(place)
    try:
        found = _entries_of(place, deadline)
    except OSError as fault:
        raise ToolError(f"{place.shown} could not be listed: {reason(fault)}.") from fault
    found.sort(key=lambda entry: (entry.kind != "folder", entry.name.casefold(), entry.name))
    return Listing(
        entries=tuple(_entry(one) for one in found[:limit]),
        total=len(found),
        next_offset=limit if limit < len(found) else None,
    )


def _entries_of(place: Place, deadline: Deadline) -> list[Found]:
    found: list[Found] = []
    opened = system.open_without_links(place.real, system.FOLDER)
    try:
        with os.scandir(opened) as listing:
            while some := list(islice(listing, AT_ONCE)):
                deadline.check()
                found += [_classified(entry, place) for entry in some]
    finally:
        os.close(opened)
    return found


def _classified(entry: os.DirEntry[str], place: Place) -> Found:
    path = str(place.real / entry.name)
    if entry.is_file(follow_symlinks=False):
        return Found(entry.name, path, "file")
    if entry.is_symlink():
        return follow(entry.name, path, place.fence)
    return Found(entry.name, path, "folder" if entry.is_dir(follow_symlinks=False) else "other")


def below(
    place: Place, *, recursive: bool, limit: int, offset: int, prefix: str, deadline: Deadline
) -> Listing:
    """Everything below a folder, or only its own entries, sorted by path; see `Walk`.

    The `total` counts no further than the entry after the page.
    """
    _require_folder_on_disk(place)
    walk = Walk(place.real, place.fence, deadline)
    end = offset + limit
    found = list(islice(walk.in_order(deep=recursive), end + 1))
    return Listing(
        entries=tuple(_entry(one, prefix) for one in found[offset:end]),
        total=len(found),
        next_offset=end if end < len(found) else None,
        skipped=_under(walk.skipped, prefix),
        stopped=walk.stopped,
    )


def matching(place: Place, glob: Glob, *, limit: int, prefix: str, deadline: Deadline) -> Matches:
    """Files below a folder whose names, as seen from it, fit `glob`."""
    _require_folder_on_disk(place)
    walk = Walk(place.real, place.fence, deadline)
    hits: list[tuple[int, str]] = []
    for some in walk.levels(lambda folder: glob.leads_into(folder, deadline.check)):
        fits = glob.in_folder(some.prefix, deadline.check)
        hits += [
            (-_modified(f"{some.path}/{name}"), some.prefix + name)
            for name in some.files
            if fits(name)
        ]
        for link in some.links:
            if link.kind == "file" and fits(link.name.rpartition("/")[2]):
                hits.append((-_modified(link.path), link.name))
        if len(hits) > MOST_HITS:
            walk.stopped = f"This ended after {MOST_HITS} files. Name a deeper path."
            break
    hits.sort()
    return Matches(
        paths=tuple(printable(prefix + name) for _, name in hits[:limit]),
        total=len(hits),
        skipped=_under(walk.skipped, prefix),
        stopped=walk.stopped,
    )


def _require_folder_on_disk(place: Place) -> None:
    require_folder(replace(place, shadow=None))


def as_prefix(name: str) -> str:
    """What the names below the folder `name` begin with."""
    return name if not name or name.endswith("/") else name + "/"


def _under(skipped: list[Skip], prefix: str) -> tuple[Skip, ...]:
    in_order = sorted(skipped, key=lambda skip: skip.path)
    return tuple(Skip(prefix + skip.path, skip.reason) for skip in in_order)


def _entry(found: Found, prefix: str = "") -> Entry:
    size = _size(found.path) if found.kind == "file" else None
    return Entry(prefix + printable(found.name), found.kind, size, found.linked)


def _size(path: str) -> int | None:
    try:
        return Path(path).lstat().st_size
    except OSError:
        return None


def _modified(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
