"""What the journal does not know on the way back of a command: links, folders, permission bits."""

import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, effects, system
from arc_workbench.workspace.snapshot_record import (
    POWERS,
    Entry,
    FileChange,
    FolderMode,
    first_names,
)

PERMISSIONS = 0o777

_ALL_BITS = 0o7777
_OWNER = 0o700


class Beside:
    """The part of a way back that is done around the journal's.

    `prepare` does all that can fail for want of rights or room; `back` takes that back again, and
    `finish` puts everything in place once the files are there.
    """

    def __init__(
        self, root: Path, changes: Sequence[FileChange], modes: Sequence[FolderMode]
    ) -> None:
        self._root = root
        self._changes = changes
        self._modes = modes
        self._way_back = ExitStack()
        self._ready: list[tuple[FileChange, str]] = []

    def prepare(self) -> None:
        """Have the project folder, no link of the command, and each link of before beside its name.

        Raises `ToolError`, with everything as it was, where one of these cannot be.
        """
        try:
            self._have_folders_above(self._root / "x")
            self._open_folders()
            covered = [change for change in self._changes if change.covered]
            for change in covered:
                if change.after is not None and change.after.kind == "link":
                    self._take_link_away(change.path, change.after)
            for change in covered:
                if change.before is not None and change.before.kind == "link":
                    self._lay_ready(change, change.before)
        except BaseException:
            self.back()
            raise

    def back(self) -> None:
        """Have everything as it was before `prepare`."""
        self._ready.clear()
        self._way_back.close()

    def finish(self) -> list[str]:
        """Put the links and the permission bits in place; what could not be put right."""
        self._way_back.pop_all()
        failed = [change.path for change, name in self._ready if not self._place(change, name)]
        failed += [change.path for change in self._changes if not self._set_file_mode(change)]
        for one in self._modes:
            if one.after is None:
                with suppress(OSError, effects.ConflictError):
                    effects.make_folders(self._real(one.path) / "x", self._missing(one.path))
        innermost_first = sorted(self._modes, reverse=True)
        return failed + [
            one.path or "./" for one in innermost_first if not _chmod(self._real(one.path), one)
        ]

    # ---- folders --------------------------------------------------------------------------------

    def _real(self, path: str) -> Path:
        return self._root / path

    def _missing(self, folder: str) -> tuple[str, ...]:
        return anchors.missing_below(self._real(folder) / "x")[1]

    def _have_folders_above(self, real: Path) -> None:
        missing = anchors.missing_below(real)[1]
        if not missing:
            return
        self._way_back.callback(effects.remove_folders, real, missing)
        try:
            effects.make_folders(real, missing)
        except (OSError, effects.ConflictError) as fault:
            raise self._not_done(str(real.parent)) from fault

    def _open_folders(self) -> None:
        """Let us write in the folders whose permission bits the command changed."""
        for one in self._modes:
            if one.after is not None:
                wider = one._replace(before=one.before | _OWNER)
                _chmod(self._real(one.path), wider)
                self._way_back.callback(
                    _chmod, self._real(one.path), one._replace(before=one.after)
                )

    def _not_done(self, path: str) -> ToolError:
        return ToolError(f"{first_names([path])} cannot be put right; nothing was taken back.")

    # ---- links ----------------------------------------------------------------------------------

    def _take_link_away(self, path: str, link: Entry) -> None:
        real = self._real(path)
        try:
            with anchors.open_folder(real.parent) as folder:
                if os.readlink(real.name, dir_fd=folder) != link.target:
                    raise self._not_done(path)
                system.remove(folder, real.name)
        except OSError as fault:
            raise self._not_done(path) from fault
        self._way_back.callback(_make_link, real, real.name, link.target)

    def _lay_ready(self, change: FileChange, link: Entry) -> None:
        """Have the link beside its name, in which a file may stand yet."""
        real = self._real(change.path)
        name = f"{effects.TEMPORARY_PREFIX}{secrets.token_hex(8)}.link"
        self._have_folders_above(real)
        if not _make_link(real, name, link.target):
            raise self._not_done(change.path)
        self._way_back.callback(_remove, real, name)
        self._ready.append((change, name))

    def _place(self, change: FileChange, name: str) -> bool:
        real = self._real(change.path)
        try:
            with anchors.open_folder(real.parent) as folder:
                system.rename_to_free(folder, name, real.name)
        except OSError:
            _remove(real, name)
            return False
        return True

    # ---- permission bits ------------------------------------------------------------------------

    def _set_file_mode(self, change: FileChange) -> bool:
        """The permission bits of before, for a file that stays; never a right to run as others."""
        before, after = change.before, change.after
        if not change.covered:
            return _take_powers(self._real(change.path), after)
        if before is None or after is None or "link" in {before.kind, after.kind}:
            return True
        if before.mode == after.mode:
            return True
        try:
            with anchors.opened(self._real(change.path)) as opened:
                system.set_mode(opened, before.mode & PERMISSIONS)
        except OSError:
            return False
        return True


def _take_powers(real: Path, left: Entry | None) -> bool:
    """Take the set-user-ID and set-group-ID bits from the very file that the command left."""
    if left is None:
        return True
    try:
        with anchors.opened(real) as opened:
            facts = system.facts(opened)
            if facts.st_ino != left.stamp[3] or not stat.S_IMODE(facts.st_mode) & POWERS:
                return True
            system.set_mode(opened, facts.st_mode & PERMISSIONS)
    except OSError:
        return False
    return True


def _chmod(real: Path, wanted: FolderMode) -> bool:
    """A folder with its permission bits of before; False where that cannot be."""
    try:
        with anchors.open_folder(real) as opened:
            if system.facts(opened).st_mode & _ALL_BITS != wanted.before & _ALL_BITS:
                os.fchmod(opened, wanted.before & _ALL_BITS)
    except OSError:
        return False
    return True


def _make_link(real: Path, name: str, target: str) -> bool:
    """A link beside `real`, where nothing has its name; False where that cannot be."""
    try:
        with anchors.open_folder(real.parent) as folder:
            os.symlink(target, name, dir_fd=folder)
    except OSError:
        return False
    return True


def _remove(real: Path, name: str) -> None:
    with suppress(OSError), anchors.open_folder(real.parent) as folder:
        system.remove(folder, name)
