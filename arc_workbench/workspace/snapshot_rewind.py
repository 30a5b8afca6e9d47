"""Taking back what a command changed: files through the journal as one group, links beside it.

Nothing happens unless every file is what the command left, or what it was before already. The
journal knows files only: links, and the permission bits of files that stay, are put right outside
of it, so undoing the rewind does not touch them. Folders that a command made empty may stay, and
names that were one file (hard links) come back as files of their own.
"""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, effects, plans, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import Roots
from arc_workbench.workspace.plans import FilePlan
from arc_workbench.workspace.snapshot_record import Entry, FileChange, Record, first_names

PERMISSIONS = 0o777

_ELSEWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})

Contents = Mapping[str, bytes | None]
Apply = Callable[[Sequence[FilePlan]], object]


@dataclass(frozen=True)
class _Found:
    """What stands at a name now: nothing, a file, a link, or something else."""

    kind: str
    mode: int = 0
    sha256: str | None = None
    target: str = ""

    def is_(self, entry: Entry | None, *, mode_matters: bool) -> bool:
        """Whether this is what a snapshot says."""
        if entry is None:
            return self.kind == "absent"
        if self.kind != entry.kind:
            return False
        if entry.kind == "link":
            return self.target == entry.target
        same_mode = self.mode & PERMISSIONS == entry.mode & PERMISSIONS
        return self.sha256 == entry.sha256 and (same_mode or not mode_matters)


class Rewind:
    """The way back of one record; making it looks at every file, and changes nothing.

    Raises `ToolError`, which names the files, where one is neither what the command left nor what
    it was before, and where nothing is left to take back.
    """

    def __init__(self, record: Record, roots: Roots, deadline: Deadline) -> None:
        self._roots = roots
        self._deadline = deadline
        self._made = frozenset(record.folders)
        self._left = [change.path for change in record.changes if not change.covered]
        self._changes = self._to_do(record)

    def _to_do(self, record: Record) -> list[FileChange]:
        self._require_no_swap([one for one in record.changes if _is_file_change(one)])
        odd: list[str] = []
        found: list[FileChange] = []
        for change in record.changes:
            if not change.covered:
                continue
            self._deadline.check()
            now = _standing(self._real(change))
            mode_matters = change.kind == "changed"
            if now.is_(change.before, mode_matters=mode_matters):
                continue
            if now.is_(change.after, mode_matters=_only_mode(change)):
                found.append(change)
            else:
                odd.append(change.path)
        if odd:
            verb = "is" if len(odd) == 1 else "are"
            raise ToolError(
                f"{first_names(odd)} {verb} no longer what the command left; nothing was taken "
                "back.",
                details={"changedAfter": len(odd)},
            )
        if not found:
            raise ToolError("Nothing of what the command changed is left to take back.")
        return found

    def _require_no_swap(self, changes: Sequence[FileChange]) -> None:
        """Raise `ToolError` where a file took the place of a folder, or a folder that of a file."""
        names = {change.path for change in changes}
        for change in changes:
            if f"{change.path}/" in self._made or any(
                str(folder) in names for folder in PurePosixPath(change.path).parents
            ):
                raise ToolError(
                    f"{first_names([change.path])}: a file and a folder changed places, which is "
                    "not taken back as one step; nothing was taken back. Move what is there away, "
                    "then try again."
                )

    def _real(self, change: FileChange) -> Path:
        return self._roots.real / change.path

    def run(self, contents: Contents, apply: Apply) -> str:
        """Do it; what could not be put right beside the journal, as a sentence, or "".

        Raises `ToolError` where the files could not all be taken back: then none was.
        """
        taken = self._take_links_away()
        try:
            planned = [plan for change in self._changes if (plan := self._plan(change, contents))]
            if planned:
                apply(planned)
        except BaseException:
            for change in taken:
                _make_link(self._real(change), change.after)
            raise
        failed = [change.path for change in self._changes if not self._put_right(change)]
        notes = [f"Not put right: {first_names(failed)}."] if failed else []
        if self._left:
            notes.append(f"Not covered, so left as it is: {first_names(self._left)}.")
        return " ".join(notes)

    # ---- files ----------------------------------------------------------------------------------

    def _plan(self, change: FileChange, contents: Contents) -> FilePlan | None:
        """What the journal has to do about one name."""
        before = change.before if change.before and change.before.kind == "file" else None
        after = change.after if change.after and change.after.kind == "file" else None
        wanted = before.sha256 if before else None
        left = after.sha256 if after else None
        if wanted == left:
            return None
        content = contents.get(wanted) if wanted is not None else None
        place = self._roots.at(self._real(change))
        if wanted is not None and content is None:
            raise ToolError(
                f"What {place.shown} held before the command is lost; nothing was taken back."
            )
        return plans.plan_content(
            place,
            left,
            content,
            self._deadline,
            verb="restore",
            mode=before.mode & PERMISSIONS if before else 0,
            folders=self._folders_of(change.path) if wanted is None else (),
        )

    def _folders_of(self, path: str) -> tuple[str, ...]:
        """The folders above a file that the command made, the outermost first."""
        found: list[str] = []
        folder = path.rpartition("/")[0]
        while f"{folder}/" in self._made:
            folder, _, name = folder.rpartition("/")
            found.append(name)
        return tuple(reversed(found))

    # ---- links and modes ------------------------------------------------------------------------

    def _take_links_away(self) -> list[FileChange]:
        """Remove the links that the command left; those that were removed."""
        taken: list[FileChange] = []
        for change in self._changes:
            if change.after is None or change.after.kind != "link":
                continue
            if not _remove_link(self._real(change), change.after):
                for done in taken:
                    _make_link(self._real(done), done.after)
                raise ToolError(
                    f"{first_names([change.path])} could not be removed; nothing was taken back."
                )
            taken.append(change)
        return taken

    def _put_right(self, change: FileChange) -> bool:
        """Have the link, or the permission bits, that were there before."""
        before, after = change.before, change.after
        if before is not None and before.kind == "link":
            return _make_link(self._real(change), before)
        if before is None or after is None or after.kind == "link" or before.mode == after.mode:
            return True
        return _set_mode(self._real(change), before.mode & PERMISSIONS)


def _is_file_change(change: FileChange) -> bool:
    return all(one is None or one.kind == "file" for one in (change.before, change.after))


def _only_mode(change: FileChange) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and before.sha256 == after.sha256


def _standing(real: Path) -> _Found:
    try:
        with anchors.open_folder(real.parent) as folder:
            facts = system.look(folder, real.name)
            if facts is None:
                return _Found("absent")
            with suppress(OSError):
                return _Found("link", target=os.readlink(real.name, dir_fd=folder))
            found = effects.standing(folder, real.name)
            return _Found(found.kind, found.mode, found.sha256)
    except OSError as fault:
        return _Found("absent" if fault.errno in _ELSEWHERE else "other")


def _remove_link(real: Path, link: Entry) -> bool:
    """Remove the very link; False where that cannot be."""
    try:
        with anchors.open_folder(real.parent) as folder:
            if os.readlink(real.name, dir_fd=folder) != link.target:
                return False
            system.remove(folder, real.name)
    except OSError:
        return False
    return True


def _make_link(real: Path, link: Entry | None) -> bool:
    """A link again where nothing stands; False where that cannot be."""
    if link is None:
        return False
    try:
        effects.make_folders(real, anchors.missing_below(real)[1])
        with anchors.open_folder(real.parent) as folder:
            os.symlink(link.target, real.name, dir_fd=folder)
    except (OSError, effects.ConflictError):
        return False
    return True


def _set_mode(real: Path, mode: int) -> bool:
    try:
        with anchors.opened(real) as opened:
            system.set_mode(opened, mode)
    except OSError:
        return False
    return True
