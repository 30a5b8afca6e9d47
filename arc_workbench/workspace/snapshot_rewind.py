"""Taking back what a command changed: files through the journal as one group, the rest beside it.

Nothing happens unless every file is what the command left, or what it was before already. The
journal knows files only: links, folders, and the permission bits of what stays, are put right
outside of it, so undoing the rewind does not touch them. Folders that a command made empty may
stay, and names that were one file (hard links) come back as files of their own. A file never gets
back the right to run as its owner or group.
"""

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, effects, plans, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import Roots
from arc_workbench.workspace.plans import FilePlan
from arc_workbench.workspace.snapshot_beside import PERMISSIONS, Beside
from arc_workbench.workspace.snapshot_record import (
    POWERS,
    Entry,
    FileChange,
    FolderMode,
    Record,
    first_names,
)
from arc_workbench.workspace.snapshot_tree import MAX_FILE_BYTES, MAX_TOTAL_BYTES

_MOVE = "nothing was taken back. Move it away, then try again."
_NOT_GIVEN = "The right to run as their owner or group is not given back"
MADE_AGAIN = (
    "The project folder was made again; .git, node_modules and ignored files were in no snapshot."
)
NOTHING_LEFT = "Nothing of what the command changed is left to take back."

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
        same_mode = same_mode and not self.mode & POWERS & ~entry.mode
        return self.sha256 == entry.sha256 and (same_mode or not mode_matters)


class Rewind:
    """The way back of one record; making it looks at every file, and changes nothing.

    Raises `ToolError`, which names the files, where one is neither what the command left nor what
    it was before, where nothing is left to take back, and where the project folder is not there;
    but one that the command itself took away is made again.
    """

    def __init__(self, record: Record, roots: Roots, deadline: Deadline) -> None:
        self._roots = roots
        self._deadline = deadline
        self._record = record
        self._made = frozenset(record.folders)
        self._left = [change for change in record.changes if not change.covered]
        if not record.known:
            raise ToolError(f"{record.note} It cannot be taken back.")
        self._require_folder()
        self._require_no_swap([one for one in record.changes if _is_file_change(one)])
        found, odd = self._look()
        self._modes = [one for one in record.modes if self._is_to_do(one)]
        powers = [one for one in self._left if one.new_powers and self._has_powers(one)]
        if found or odd or self._modes:
            self._require_same_folder()
        if odd:
            verb = "is" if len(odd) == 1 else "are"
            raise ToolError(
                f"{first_names(odd)} {verb} no longer what the command left; nothing was taken "
                "back.",
                details={"changedAfter": len(odd)},
            )
        if not (found or powers or self._modes):
            raise ToolError(self._nothing_left())
        self._changes = found
        self._beside = Beside(roots.real, [*found, *powers], self._modes)

    def _look(self) -> tuple[list[FileChange], list[str]]:
        """What is as the command left it, and the names of what is another by now."""
        odd: list[str] = []
        found: list[FileChange] = []
        for change in self._record.changes:
            if not change.covered:
                continue
            self._deadline.check()
            now = _standing(self._real(change))
            if now.is_(change.before, mode_matters=change.kind == "changed"):
                continue
            if now.is_(change.after, mode_matters=_only_mode(change)):
                found.append(change)
            else:
                odd.append(change.path)
        return found, odd

    def _nothing_left(self) -> str:
        said: list[str] = []
        if self._left:
            said.append(_not_covered(self._left))
        if lost := [change.path for change in self._record.changes if change.lost_powers]:
            said.append(f"{_NOT_GIVEN}: {first_names(lost)}.")
        if not said:
            return NOTHING_LEFT
        return f"{' '.join(said)} Nothing else that the command changed is left to take back."

    # ---- the project folder ---------------------------------------------------------------------

    def _require_folder(self) -> None:
        """Raise `ToolError` unless the project folder is there, or is to be made again."""
        root = self._roots.real
        try:
            facts = root.lstat()
        except (FileNotFoundError, NotADirectoryError):
            if self._record.gone and Path(os.path.realpath(root)) == root:
                return
            raise ToolError(
                "The project folder is gone, or has another name now; nothing was taken back. "
                "Put it back in its place, then try again."
            ) from None
        if Path(os.path.realpath(root)) != root:
            raise ToolError(f"A link stands where the project folder was; {_MOVE}")
        if not stat.S_ISDIR(facts.st_mode):
            raise ToolError(f"A file stands where the project folder was; {_MOVE}")

    def _require_same_folder(self) -> None:
        """Raise `ToolError` where the command took the folder away and another is in its place."""
        with suppress(FileNotFoundError, NotADirectoryError):
            facts = self._roots.real.lstat()
            if self._record.gone and (facts.st_dev, facts.st_ino) != self._record.root:
                raise ToolError(f"Another folder stands where the project folder was; {_MOVE}")

    def _is_to_do(self, folder: FolderMode) -> bool:
        """Whether a folder is what the command left."""
        try:
            facts = (self._roots.real / folder.path).lstat()
        except OSError:
            return folder.after is None
        if folder.after is None:
            return any(
                change.path == folder.path.removesuffix("/") for change in self._record.changes
            ) and not stat.S_ISDIR(facts.st_mode)
        return stat.S_ISDIR(facts.st_mode) and stat.S_IMODE(facts.st_mode) == folder.after

    def _has_powers(self, change: FileChange) -> bool:
        try:
            facts = self._real(change).lstat()
        except OSError:
            return False
        same = change.after is not None and facts.st_ino == change.after.stamp[3]
        return same and stat.S_ISREG(facts.st_mode) and bool(facts.st_mode & POWERS)

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
        self._beside.prepare()
        try:
            planned = [plan for change in self._changes if (plan := self._plan(change, contents))]
            if planned:
                apply(planned)
        except BaseException:
            self._beside.back()
            raise
        failed = self._beside.finish()
        notes = [f"Not put right: {first_names(failed)}."] if failed else []
        if self._left:
            notes.append(_not_covered(self._left))
        if lost := [change.path for change in self._changes if change.lost_powers]:
            notes.append(f"{_NOT_GIVEN}: {first_names(lost)}.")
        if self._record.gone:
            notes.append(MADE_AGAIN)
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


def _not_covered(changes: Sequence[FileChange]) -> str:
    return (
        f"In no snapshot (over {MAX_FILE_BYTES >> 20} MiB, over {MAX_TOTAL_BYTES >> 20} MiB with "
        "the others, or not readable), so left as it is: "
        f"{first_names([change.path for change in changes])}."
    )


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
