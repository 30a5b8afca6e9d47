"""The project folder: reading, searching and changing its files, through one door.

`Workspace` is that door. Names come in as text and become a `Place` (`inside` the project, or
`anywhere`); everything else takes places. A change is first a `FilePlan`, without any effect, and
then, through the journal, a `Change`, which can be undone. Every expected failure is a `ToolError`.
Methods may be called from any thread.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.content import ChangeRow, CommandChanges, Diff, Recovery
from arc_workbench.errors import ToolError
from arc_workbench.workspace import (
    listing,
    paths,
    pictures,
    plans,
    reading,
    searching,
    snapshot_dry,
    snapshot_taking,
    snapshots,
    undoing,
)
from arc_workbench.workspace.deadline import SEARCH_SECONDS, Deadline
from arc_workbench.workspace.dry_run import HELD, DryRun
from arc_workbench.workspace.globs import compile_globs
from arc_workbench.workspace.ledger import How, Ledger
from arc_workbench.workspace.listing import Entry, Listing, Matches
from arc_workbench.workspace.paths import Place, Roots, is_within, on_one_line
from arc_workbench.workspace.pictures import Picture
from arc_workbench.workspace.plans import FilePlan, Op
from arc_workbench.workspace.purging import Purged
from arc_workbench.workspace.reading import Slice
from arc_workbench.workspace.records import Author, Intent
from arc_workbench.workspace.searching import Block, Hits, Line, Query
from arc_workbench.workspace.snapshot_dry import DryCopy
from arc_workbench.workspace.snapshot_rewind import Rewind
from arc_workbench.workspace.snapshots import Before, Snapshots
from arc_workbench.workspace.walking import PlainFolders, Skip, describe

__all__ = [
    "Author",
    "Before",
    "Block",
    "Change",
    "DryCopy",
    "Entry",
    "FilePlan",
    "Hits",
    "Line",
    "Listing",
    "Matches",
    "Picture",
    "Place",
    "Purged",
    "Rewound",
    "Skip",
    "Slice",
    "Workspace",
    "describe",
    "on_one_line",
]


NOBODY = Author()


@dataclass(frozen=True)
class Change:
    """A change that was made; `id` is c1, c2, … in the order of the folder's journal.

    `sha256` is None, and `size` 0, where the file was removed.
    """

    id: str
    place: Place
    op: Op
    before_sha256: str | None
    sha256: str | None
    size: int


@dataclass(frozen=True)
class Rewound:
    """What was done to take a command back; `note` says what is not as it was, "" for nothing."""

    changes: tuple[Change, ...]
    note: str


class Workspace:
    """A project folder. `root` must exist; its journal is kept below the folder `state`.

    Nothing may be written below the folders in `protected`, by whatever name it is reached. `clock`
    dates the changes for people; nothing is decided by it but what is old enough to be purged.
    """

    def __init__(
        self,
        root: Path,
        state: Path,
        *,
        protected: Sequence[Path] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._roots = Roots(root)
        self._ledger = Ledger(state, self._roots.real, clock=clock)
        self._protected = tuple(path.resolve() for path in (state, *protected))
        self._snapshots = Snapshots(self._roots.real, self._ledger.folder, self._protected)
        self._dry: DryRun | None = None
        self._plain_folders = PlainFolders()

    def close(self) -> None:
        """Let the journal's files go, and those of the snapshots."""
        self._ledger.close()
        self._snapshots.close()

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
        return self._seen(self._roots.inside(path))

    def anywhere(self, path: str) -> Place:
        """Any name, relative to the project or absolute, with the real destination behind links."""
        return self._seen(self._roots.anywhere(path))

    def _seen(self, place: Place) -> Place:
        """The place with what a dry run made of it."""
        return self._dry.seen(place) if self._dry is not None else place

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
        return searching.search(
            place,
            Query(query, literal, ignore_case, context, limit),
            compile_globs((glob,), anywhere=True, check=deadline.check) if glob else None,
            name=self._roots.relative(place.real),
            deadline=deadline,
            plain=self._plain_folders,
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
        self._require_unprotected(place)
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
        self._require_unprotected(place)
        return plans.plan_edit(
            place,
            old,
            new,
            plans.Expected(expected_sha256, must_be_sent=must_expect),
            _for_one_file(signal),
            replace_all=replace_all,
        )

    def apply(self, plan: FilePlan, author: Author = NOBODY) -> Change:
        """Do what the plan says, unless the file is no longer what was planned on.

        It is written down first; on any failure the file is what it was. In a dry run only the dry
        run's own file changes, and the change is named d1, d2, ….
        """
        if self._dry is None:
            return self.apply_all((plan,), author)[0]
        self._require_unprotected(plan.place)
        return _change(plan, self._dry.take(plan))

    def apply_all(self, planned: Sequence[FilePlan], author: Author = NOBODY) -> tuple[Change, ...]:
        """Do all of the plans, each of another file, or none of them."""
        for plan in planned:
            self._require_unprotected(plan.place)
        self._snapshots.changed_by_us(plan.place.real for plan in planned)
        done = self._ledger.apply_all(planned, author)
        ids = (one.intent.id for one in done)
        return tuple(map(_change, planned, ids))

    def _require_unprotected(self, place: Place) -> None:
        below = any(is_within(place.real, folder) for folder in self._protected)
        if below or paths.lies_in(place.real, self._protected):
            raise ToolError(
                f"{place.shown} is part of the record that this program keeps of itself; nothing "
                "was written. No tool changes it.",
                details={"protected": True},
            )

    # ---- dry run --------------------------------------------------------------------------------

    @property
    def dry_run(self) -> bool:
        """Whether changes land beside the project."""
        return self._dry is not None

    def begin_dry_run(self, folder: Path) -> None:
        """From now on changes land in `folder`; what an earlier dry run left there goes on."""
        self._dry = DryRun(self._roots, folder)

    def end_dry_run(self) -> int:
        """Throw away what the dry run has, and change the project again; how many files it had."""
        count = self._dry.discard() if self._dry is not None else 0
        self._dry = None
        return count

    @property
    def dry_run_note(self) -> str:
        """What listings and searches must say, since they look at the project; "" for nothing."""
        return self._dry.note if self._dry is not None else ""

    def dry_run_diffs(self) -> tuple[Diff, ...]:
        """How each file that the dry run touched would differ from the project's."""
        return self._dry.diffs() if self._dry is not None else ()

    def apply_dry_run(self, author: Author = NOBODY) -> tuple[Change, ...]:
        """Make all of the dry run's changes in the project, or none, and end it.

        Raises `ToolError` where a file of the project is no longer what it was when the dry run
        first touched it.
        """
        planned = self._dry.plans() if self._dry is not None else ()
        done = self.apply_all(planned, author) if planned else ()
        self.end_dry_run()
        return done

    # ---- commands -------------------------------------------------------------------------------

    def before_command(self, signal: threading.Event | None = None) -> Before:
        """A snapshot of the project; where it says why there is none, the command may run still.

        Raises `ToolError` only where `signal` is set.
        """
        return self._snapshots.before(Deadline(snapshots.SECONDS, signal))

    def after_command(
        self,
        before: Before,
        spool_id: str,
        author: Author = NOBODY,
        signal: threading.Event | None = None,
    ) -> CommandChanges:
        """What changed since, kept as the doing of that command of the author's session.

        Must follow each `before_command`, however the command ended. `signal` is for stopping this
        very look: the one that ended the command would leave nothing known.
        """
        deadline = Deadline(snapshots.SECONDS, signal)
        found = self._snapshots.after(before, spool_id, author.session, deadline)
        return found.model_copy(update={"spool": spool_id})

    def command_goes_on(self, before: Before, spool_id: str, author: Author = NOBODY) -> None:
        """That command of the author's session goes on in the background."""
        self._snapshots.named(before, spool_id, author.session)

    def command_changes(self, spool_id: str, session: str) -> CommandChanges | None:
        """What a command changed; None where that is not kept, or not any more."""
        record = self._snapshots.record(spool_id, session, Deadline())
        return record.shown().model_copy(update={"spool": spool_id}) if record is not None else None

    def rewind_command(self, spool_id: str, author: Author = NOBODY) -> Rewound:
        """Take back what a command of the author's session changed: all files, or none.

        Raises `ToolError`, which names them, where files are no longer what the command left. Each
        file is a change of the journal; links, folders and permission bits come back outside of it.
        What no snapshot holds stays as it is, and folders that the command left empty may stay. A
        project folder that the command took away is made again, where nothing has its place.
        """
        if self._dry is not None:
            raise ToolError(HELD)
        deadline = Deadline(snapshots.REWIND_SECONDS, advice="Nothing was taken back.")
        record = self._snapshots.record(spool_id, author.session, deadline)
        if record is None and self._snapshots.runs(spool_id, author.session):
            raise ToolError(
                f"{paths.printable(spool_id)} still runs, so it cannot be taken back yet. Wait for "
                "its end, or end it, then try again."
            )
        if record is None:
            raise ToolError(
                f"What the command {paths.printable(spool_id)} changed is not kept, so it cannot "
                "be taken back."
            )
        done: list[Change] = []
        way = Rewind(record, self._roots, deadline)
        note = way.run(
            self._snapshots.contents(record, deadline),
            lambda planned: done.extend(self.apply_all(planned, author)),
        )
        return Rewound(tuple(done), note)

    def dry_copy(self, signal: threading.Event | None = None) -> DryCopy:
        """The project as the dry run sees it, copied for a command; to be closed by the caller.

        Raises `ToolError` where no dry run is on, and where the project is too large.
        """
        deadline = Deadline(snapshot_dry.SECONDS, signal, snapshot_dry.TOO_SLOW)
        return snapshot_dry.make(
            self._roots, self._require_dry(), self._snapshots, self._ledger.folder, deadline
        )

    def take_dry_copy(
        self, copy: DryCopy, signal: threading.Event | None = None
    ) -> tuple[Diff, ...]:
        """Let the dry run hold what a command did in the copy; the copy's `note` says what not."""
        deadline = Deadline(snapshot_dry.SECONDS, signal, "Nothing of it was taken over.")
        return snapshot_taking.take(copy, self._roots, self._require_dry(), deadline)

    def _require_dry(self) -> DryRun:
        if self._dry is None:
            raise ToolError("No dry run is on.")
        return self._dry

    # ---- the journal ----------------------------------------------------------------------------

    def history(self, limit: int = 50) -> tuple[ChangeRow, ...]:
        """The newest changes of this folder by whatever session, newest first."""
        return self._ledger.history(limit)

    def change(self, change_id: str) -> ChangeRow:
        """One change; `ToolError` where there is none of that id."""
        return self._ledger.row(change_id)

    def change_diff(self, change_id: str, signal: threading.Event | None = None) -> Diff:
        """What a change did to its file, as a diff."""
        intent, before, after = self._ledger.contents(change_id)
        return undoing.difference(self._place_of(intent), before, after, _for_one_file(signal))

    @property
    def history_note(self) -> str:
        """What must be said with every list of changes (message 28); "" for nothing."""
        return self._ledger.note

    def diff_since(self, change_id: str, signal: threading.Event | None = None) -> Diff | None:
        """What became of the file since that change; None where it is what the change left."""
        intent, _, after = self._ledger.contents(change_id)
        place, deadline = self._place_of(intent), _for_one_file(signal)
        now = plans.current_bytes(place, deadline)
        return undoing.difference(place, after, now, deadline) if now != after else None

    def last_change(self, session: str) -> str:
        """The newest change of a session that is in force and is itself no undo; "" for none."""
        return self._ledger.last_of(session)

    def plan_undo(
        self, change_id: str, *, confined: bool, signal: threading.Event | None = None
    ) -> FilePlan:
        """The file as it was before that change; `ToolError` where it changed since (REQ-S64).

        `confined` refuses a file outside the project.
        """
        if self._dry is not None:
            raise ToolError(HELD)
        intent, before, left = self._ledger.to_undo(change_id)
        place = self._place_of(intent)
        if confined and not is_within(place.real, self._roots.real):
            raise ToolError(f"{place.shown} lies outside the project folder; it was not undone.")
        return undoing.plan_undo(place, intent, before, left, _for_one_file(signal))

    def recovery(self) -> Recovery:
        """Settle what a crash left half done, and say what was found; blocked means no writing."""
        return self._ledger.report()

    def decide(self, change_id: str, how: How, author: Author = NOBODY) -> Recovery:
        """What a person decides about an unclear change (or "journal"): keep it, or restore."""

        def restored(intent: Intent) -> FilePlan | None:
            place = self._place_of(intent)
            before = self._ledger.image(intent.before)
            return undoing.plan_restore(place, before, intent.mode, _for_one_file(None))

        self._ledger.decide(change_id, how, restored, author)
        return self._ledger.report()

    def purge(self, before: float, *, only_look: bool = False) -> Purged:
        """Forget changes made before that time (seconds since the epoch); they cannot be undone.

        With `only_look` nothing is forgotten, and what would be is told.
        """
        return self._ledger.purge(before, only_look=only_look)

    def _place_of(self, intent: Intent) -> Place:
        return self._roots.at(intent.file)


def _change(plan: FilePlan, id_: str) -> Change:
    return Change(
        id=id_,
        place=plan.place,
        op=plan.op,
        before_sha256=plan.before_sha256,
        sha256=plan.after_sha256,
        size=len(plan.content),
    )


def _for_one_file(signal: threading.Event | None) -> Deadline:
    return Deadline(signal=signal, advice="Use a command for a file as large as this one.")
