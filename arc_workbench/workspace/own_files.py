"""Files of our own state: for their owner only, and refused where somebody else made them."""

import hashlib
import os
import stat
from pathlib import Path

from arc_workbench.workspace import system
from arc_workbench.workspace.paths import printable, reason


def folder_for(state: Path, root: Path) -> Path:
    """Where the journal of the project at the real path `root` is kept."""
    name = "".join(char if char.isalnum() or char in "-_." else "-" for char in root.name)[:40]
    return state / f"{printable(name) or 'root'}-{identity(root)[:16]}"


def identity(root: Path) -> str:
    """What a journal is bound to: the real path of its folder."""
    return hashlib.sha256(os.fsencode(root)).hexdigest()


class UnusableError(Exception):
    """The journal's folder or a file in it is not what we would have made."""


def write_whole(folder: Path, name: str, data: bytes) -> None:
    """A small file of our state, whole and on the disk; one that is there is replaced."""
    opened = system.open_own(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        system.write_all(opened, data)
        system.sync(opened)
    finally:
        system.close(opened)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    opened = system.open_own(folder, system.FOLDER)
    try:
        system.sync(opened)
    finally:
        system.close(opened)


def make_folder(path: Path) -> None:
    """A folder of our state, with those above it, each on the disk."""
    if os.path.lexists(path):
        return
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        system.make_own_folder(folder)
        sync_folder(folder.parent)


def open_own(path: Path, flags: int) -> int:
    """Open a file of our state, which only its owner may read where it is made."""
    return system.open_own(path, flags)


def is_same(opened: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    here, there = system.facts(opened), path.stat()
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def require_ours(path: Path, *, folder: bool) -> None:
    """Raise `UnusableError` unless this is a folder or plain file only we can write (REQ-F15)."""
    try:
        found = path.lstat()
    except OSError as fault:
        raise UnusableError(f"{path.name} cannot be looked at: {reason(fault)}") from fault
    kind = stat.S_ISDIR if folder else stat.S_ISREG
    if not kind(found.st_mode):
        raise UnusableError(
            f"{path.name} of the journal is a link or something else that we never make"
        )
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise UnusableError(f"{path.name} of the journal belongs to another user")
    if found.st_mode & 0o022:
        raise UnusableError(f"{path.name} of the journal can be written by other users")
