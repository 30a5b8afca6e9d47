"""What is in a folder: one level with sizes, or everything below it in pages."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.globs import Glob
from arc_workbench.workspace.paths import Place, kind_of, printable, reason, require_folder
from arc_workbench.workspace.walking import EntryKind, Found, Skip, classify, walk


@dataclass(frozen=True)
class Entry:
    """A name in a folder; `size` only of files. What a link leads to decides its kind."""

    name: str
    kind: EntryKind
    size: int | None
    linked: bool


@dataclass(frozen=True)
class Listing:
    """One page of a folder's entries out of `total`."""

    entries: tuple[Entry, ...]
    total: int
    next_offset: int | None
    skipped: tuple[Skip, ...] = ()

    @property
    def truncated(self) -> bool:
        """Whether entries follow."""
        return self.next_offset is not None


@dataclass(frozen=True)
class Matches:
    """Files that fit a pattern, the newest first, out of `total`."""

    paths: tuple[str, ...]
    total: int
    skipped: tuple[Skip, ...]

    @property
    def truncated(self) -> bool:
        """Whether more files fit."""
        return len(self.paths) < self.total


def level(place: Place, limit: int, deadline: Deadline) -> Listing:
    """The entries of one folder, folders first, then by name; nothing is left out by name."""
    require_folder(place)
    try:
        with os.scandir(place.real) as listing:
            found = list(_classified(listing, place, deadline))
    except OSError as fault:
        raise ToolError(f"{place.shown} could not be listed: {reason(fault)}.") from fault
    found.sort(key=lambda entry: (entry.kind != "folder", entry.name.casefold(), entry.name))
    return _page(found, 0, limit, ())


def _classified(
    listing: Iterator[os.DirEntry[str]], place: Place, deadline: Deadline
) -> Iterator[Found]:
    for entry in listing:
        deadline.check()
        yield classify(entry, place.real, entry.name, place.fence)


def below(
    place: Place, *, recursive: bool, limit: int, offset: int, prefix: str, deadline: Deadline
) -> Listing:
    """Everything below a folder, or only its own entries, sorted by path; see `walk`."""
    require_folder(place)
    tree = walk(place.real, fence=place.fence, deadline=deadline, deep=recursive)
    page = _page(tree.entries, offset, limit, tuple(tree.skipped))
    return _under(page, prefix)


def matching(place: Place, glob: Glob, *, limit: int, prefix: str, deadline: Deadline) -> Matches:
    """Files below a folder whose names, as seen from it, fit `glob`."""
    require_folder(place)
    tree = walk(place.real, fence=place.fence, deadline=deadline)
    hits = [found for found in tree.files if glob.matches(found.name, deadline.check)]
    hits.sort(key=lambda found: (-_modified(found.path), found.name))
    return Matches(
        paths=tuple(printable(prefix + found.name) for found in hits[:limit]),
        total=len(hits),
        skipped=tuple(Skip(prefix + skip.path, skip.reason) for skip in tree.skipped),
    )


def to_search(
    place: Place, glob: Glob | None, *, name: str, deadline: Deadline
) -> tuple[list[tuple[str, Path]], tuple[Skip, ...]]:
    """The files that a search of `place`, called `name`, looks into: itself, or those below it."""
    if kind_of(place.real, place.shown) == "file":
        return [(name, place.real)], ()
    require_folder(place)
    tree = walk(place.real, fence=place.fence, deadline=deadline)
    prefix = as_prefix(name)
    files = [
        (printable(prefix + found.name), found.path)
        for found in tree.files
        if glob is None or glob.matches(found.name, deadline.check)
    ]
    return files, tuple(Skip(prefix + skip.path, skip.reason) for skip in tree.skipped)


def as_prefix(name: str) -> str:
    """What the names below the folder `name` begin with."""
    return name if not name or name.endswith("/") else name + "/"


def _page(found: list[Found], offset: int, limit: int, skipped: tuple[Skip, ...]) -> Listing:
    end = offset + limit
    return Listing(
        entries=tuple(_entry(one) for one in found[offset:end]),
        total=len(found),
        next_offset=end if end < len(found) else None,
        skipped=skipped,
    )


def _under(listing: Listing, prefix: str) -> Listing:
    if not prefix:
        return listing
    entries = tuple(
        Entry(prefix + entry.name, entry.kind, entry.size, entry.linked)
        for entry in listing.entries
    )
    skipped = tuple(Skip(prefix + skip.path, skip.reason) for skip in listing.skipped)
    return Listing(entries, listing.total, listing.next_offset, skipped)


def _entry(found: Found) -> Entry:
    size = _size(found.path) if found.kind == "file" else None
    return Entry(printable(found.name), found.kind, size, found.linked)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
