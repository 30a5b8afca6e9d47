"""The project folder: reading, searching and changing its files, through one door.

`Workspace` is that door. Names come in as text and become a `Place` (`inside` the project, or
`anywhere`); everything else takes places. A change is first a `FilePlan`, without any effect, and
then a `Change`. Every expected failure is a `ToolError`. Methods may be called from any thread.
"""

import itertools
import threading
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.workspace import listing, pictures, plans, reading, searching
from arc_workbench.workspace.deadline import SEARCH_SECONDS, Deadline
from arc_workbench.workspace.globs import compile_globs
from arc_workbench.workspace.listing import Entry, Listing, Matches
from arc_workbench.workspace.paths import Place, Roots, on_one_line
from arc_workbench.workspace.pictures import Picture
from arc_workbench.workspace.plans import FilePlan, Op
from arc_workbench.workspace.reading import Slice
from arc_workbench.workspace.searching import Block, Hits, Line, Query
from arc_workbench.workspace.walking import Skip, describe
from arc_workbench.workspace.writing import put

__all__ = [
    "Block",
    "Change",
    "Entry",
    "FilePlan",
    "Hits",
    "Line",
    "Listing",
    "Matches",
    "Picture",
    "Place",
    "Skip",
    "Slice",
    "Workspace",
    "describe",
    "on_one_line",
]


@dataclass(frozen=True)
class Change:
    """A change that was made; `id` is c1, c2, … in the order of the session."""

    id: str
    place: Place
    op: Op
    before_sha256: str | None
    sha256: str
    size: int


class Workspace:
    """A project folder. `root` must exist; `next_change` continues the numbering of a session."""

    def __init__(self, root: Path, *, next_change: int = 1) -> None:
        self._roots = Roots(root)
        self._numbers = itertools.count(next_change)

    @property
    def root(self) -> Path:
        """The folder as it was given, made absolute."""
        return self._roots.given

    @property
    def real_root(self) -> Path:
        """The folder behind all links."""
        return self._roots.real

    # ---- names ----------------------------------------------------------------------------------

    def inside(self, path: str) -> Place:
        """A relative name in the project; one that leads out of it, also by a link, is refused."""
        return self._roots.inside(path)

    def anywhere(self, path: str) -> Place:
        """Any name, relative to the project or absolute, with the real destination behind links."""
        return self._roots.anywhere(path)

    # ---- reading --------------------------------------------------------------------------------

    def read(
        self,
        place: Place,
        *,
        start_line: int = 1,
        max_lines: int = 2000,
        max_bytes: int | None = 65_536,
        max_line_chars: int | None = None,
        lossy: bool = False,
        signal: threading.Event | None = None,
    ) -> Slice:
        """Some lines of a text file, at least one, in bounded memory and time.

        A file that is not UTF-8 is an error, or with `lossy` shown with replacement characters.
        """
        return reading.read_slice(
            place,
            start_line=start_line,
            max_lines=max_lines,
            max_bytes=max_bytes,
            max_line_chars=max_line_chars,
            lossy=lossy,
            deadline=_for_one_file(signal),
        )

    def is_picture(self, place: Place) -> bool:
        """Whether the name says that this is an image."""
        return pictures.is_picture_name(place)

    def read_image(self, place: Place) -> Picture:
        """An image of a kind that models can see, told by its bytes."""
        return pictures.read_picture(place)

    # ---- looking around -------------------------------------------------------------------------

    def list(
        self,
        place: Place,
        *,
        recursive: bool = True,
        limit: int = 200,
        offset: int = 0,
        signal: threading.Event | None = None,
    ) -> Listing:
        """A page of what lies below a folder, sorted; `.git` and `node_modules` are left out."""
        return listing.below(
            place,
            recursive=recursive,
            limit=limit,
            offset=offset,
            prefix=self._prefix(place),
            deadline=Deadline(signal=signal),
        )

    def level(
        self, place: Place, *, limit: int = 500, signal: threading.Event | None = None
    ) -> Listing:
        """The entries of one folder, folders first; nothing is left out."""
        return listing.level(place, limit, Deadline(signal=signal))

    def find(
        self,
        place: Place,
        patterns: tuple[str, ...],
        *,
        limit: int = 500,
        signal: threading.Event | None = None,
    ) -> Matches:
        """Files below a folder that fit one of the glob patterns, newest first."""
        deadline = Deadline(signal=signal)
        return listing.matching(
            place,
            compile_globs(patterns, check=deadline.check),
            limit=limit,
            prefix=self._prefix(place),
            deadline=deadline,
        )

    def search(
        self,
        place: Place,
        query: str,
        *,
        literal: bool = False,
        ignore_case: bool = False,
        context: int = 0,
        glob: str | None = None,
        limit: int = 200,
        seconds: float = SEARCH_SECONDS,
        signal: threading.Event | None = None,
    ) -> Hits:
        """Lines that match, in a file or in all files below a folder, in sorted order.

        `glob` narrows the files; without a `/` in it, it is held against the last part of a name.
        Raises `ToolError` after `seconds`, and soon after `signal` is set.
        """
        deadline = Deadline(seconds, signal)
        files, skipped = listing.to_search(
            place,
            compile_globs((glob,), anywhere=True, check=deadline.check) if glob else None,
            name=self._roots.relative(place.real),
            deadline=deadline,
        )
        hits = searching.search(files, Query(query, literal, ignore_case, context, limit), deadline)
        return Hits(
            hits.blocks, hits.count, hits.files_searched, hits.truncated, (*skipped, *hits.skipped)
        )

    def _prefix(self, place: Place) -> str:
        return listing.as_prefix(self._roots.relative(place.real))

    # ---- changing -------------------------------------------------------------------------------

    def plan_write(
        self,
        place: Place,
        content: str,
        *,
        expected_sha256: str | None = None,
        must_expect: bool = False,
        signal: threading.Event | None = None,
    ) -> FilePlan:
        """The file with `content` as its whole text; a byte order mark that it has, it keeps.

        `expected_sha256` is what the caller believes the file's bytes to be; with `must_expect`, a
        file that exists is only replaced when that is sent.
        """
        return plans.plan_write(
            place,
            content,
            plans.Expected(expected_sha256, must_be_sent=must_expect),
            _for_one_file(signal),
        )

    def plan_edit(
        self,
        place: Place,
        old: str,
        new: str,
        *,
        replace_all: bool = False,
        expected_sha256: str | None = None,
        must_expect: bool = False,
        signal: threading.Event | None = None,
    ) -> FilePlan:
        """The file with `old` replaced by `new`, everything else byte for byte as it is."""
        return plans.plan_edit(
            place,
            old,
            new,
            plans.Expected(expected_sha256, must_be_sent=must_expect),
            _for_one_file(signal),
            replace_all=replace_all,
        )

    def apply(self, plan: FilePlan) -> Change:
        """Do what the plan says, unless the file is no longer what was planned on."""
        put(plan)
        return Change(
            id=f"c{next(self._numbers)}",
            place=plan.place,
            op=plan.op,
            before_sha256=plan.before_sha256,
            sha256=plan.after_sha256,
            size=len(plan.content),
        )


def _for_one_file(signal: threading.Event | None) -> Deadline:
    return Deadline(signal=signal, advice="Use a command for a file as large as this one.")
