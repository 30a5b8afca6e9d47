"""The three things that happen to a name: a file appears, is replaced, or goes. Each in one step.

Content is written beside the file first, and waits for the disk. Where the file system can swap two
names, the old file is looked at after the swap, so a change that somebody else made in the last
moment is found and put back instead of being lost (REQ-S68).
"""

import errno
import hashlib
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Literal

from arc_workbench.workspace import anchors, system

CHUNK = 1 << 20
TEMPORARY_PREFIX = ".arc-workbench-"
NEW_FILE_MODE = 0o666
LOCK_SECONDS = 10.0

_ELSEWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})

Kind = Literal["absent", "file", "other"]


class ConflictError(Exception):
    """The file is not what the plan was made on; everything is as it was."""


@dataclass(frozen=True)
class Standing:
    """What stands at a name: for a file its hash, inode, mode, and how many names it has."""

    kind: Kind
    sha256: str | None = None
    inode: int = 0
    mode: int = 0
    names: int = 0
    size: int = 0
    changed_ns: int = 0


ABSENT = Standing("absent")


def name_of_back(temporary: str) -> str:
    """The name beside a file on the way back, so that neither way is mistaken for the other."""
    return f"{temporary}.back"


def standing(folder: int, name: str) -> Standing:
    """What stands at a name now; a link counts as something else, and is not followed."""
    found = system.look(folder, name)
    if found is None:
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return Standing("other")
    try:
        opened = system.open_at(folder, name, system.READING)
    except FileNotFoundError:
        return ABSENT
    try:
        return standing_of(opened)
    finally:
        system.close(opened)


def standing_of(opened: int) -> Standing:
    """The same for a file that is open."""
    facts = system.facts(opened)
    if not stat.S_ISREG(facts.st_mode):
        return Standing("other")
    hasher = hashlib.sha256()
    at = 0
    while chunk := system.read_at(opened, CHUNK, at):
        hasher.update(chunk)
        at += len(chunk)
    return Standing(
        "file",
        hasher.hexdigest(),
        facts.st_ino,
        stat.S_IMODE(facts.st_mode),
        facts.st_nlink,
        at,
        facts.st_mtime_ns,
    )


# ---- steps --------------------------------------------------------------------------------------


def write_beside(folder: int, temporary: str, data: bytes, *, like: str = "", mode: int = 0) -> int:
    """A new file with `data`, on the disk, dressed like the file `like`; returns its inode.

    Without `like` it gets `mode`, or what new files get where that is 0.
    """
    opened = system.open_at(
        folder, temporary, system.MAKING, 0o600 if like or mode else NEW_FILE_MODE
    )
    try:
        system.write_all(opened, data)
        if like:
            _dress(opened, folder, like)
        elif mode:
            system.set_mode(opened, mode)
        system.sync(opened)
        return system.facts(opened).st_ino
    finally:
        system.close(opened)


def _dress(new: int, folder: int, like: str) -> None:
    try:
        old = system.open_at(folder, like, system.READING)
    except FileNotFoundError:
        raise ConflictError from None
    try:
        system.dress(new, old)
    finally:
        system.close(old)


def put_in_place(folder: int, temporary: str, name: str, before: str) -> None:
    """Let the file `temporary` take the place of `name`, whose content has the hash `before`.

    Raises `ConflictError`, with the file as it was found, where that is not so.
    """
    try:
        system.exchange(folder, temporary, name)
    except FileNotFoundError:
        raise ConflictError from None
    except system.Cannot:
        if standing(folder, name).sha256 != before:
            raise ConflictError from None
        system.rename_over(folder, temporary, name)
        return
    old = standing(folder, temporary)
    if old.sha256 != before or _changed(folder, temporary, old):
        system.exchange(folder, temporary, name)
        raise ConflictError
    system.remove(folder, temporary)


def _changed(folder: int, name: str, was: Standing) -> bool:
    """Whether a program that has the file open wrote to it since it was looked at."""
    now = system.look(folder, name)
    return now is None or (now.st_size, now.st_mtime_ns) != (was.size, was.changed_ns)


def swap(folder: int, temporary: str, name: str) -> None:
    """Swap two files, or put the first in the place of the other where there is no such step."""
    try:
        system.exchange(folder, temporary, name)
    except system.Cannot:
        system.rename_over(folder, temporary, name)


def put_new(folder: int, temporary: str, name: str) -> None:
    """Let the file `temporary` get the name, if nothing has it; else `ConflictError`."""
    try:
        system.rename_to_free(folder, temporary, name)
    except FileExistsError:
        raise ConflictError from None


def take_away(folder: int, temporary: str, name: str, before: str) -> None:
    """Remove a file whose content has the hash `before`; else `ConflictError`, and it stays."""
    try:
        system.rename_to_free(folder, name, temporary)
    except FileNotFoundError:
        raise ConflictError from None
    if standing(folder, temporary).sha256 != before:
        system.rename_to_free(folder, temporary, name)
        raise ConflictError
    system.remove(folder, temporary)


# ---- folders ------------------------------------------------------------------------------------


@contextmanager
def locked_folder(path: Path, seconds: float = LOCK_SECONDS) -> Generator[int]:
    """A folder, open and locked against other sessions that write there; `TimeoutError` after.

    Raises `ConflictError` where it is not a folder any more, or is reached through a link.
    """
    with _still_there(path) as folder:
        try:
            _lock(folder, seconds)
        except OSError as fault:
            if isinstance(fault, TimeoutError):
                raise
        yield folder  # a file system without locks has none to take


@contextmanager
def _still_there(path: Path) -> Generator[int]:
    try:
        opened = system.open_without_links(path, system.FOLDER)
    except OSError as fault:
        if fault.errno not in _ELSEWHERE:
            raise
        raise ConflictError from None
    try:
        yield opened
    finally:
        system.close(opened)


def _lock(folder: int, seconds: float) -> None:
    end = monotonic() + seconds
    while not system.try_lock(folder):
        if monotonic() > end:
            raise TimeoutError("another session is writing in this folder")
        sleep(0.002)


def make_folders(file: Path, missing: tuple[str, ...]) -> None:
    """Make the folders of a file that are missing, the outermost first, each on the disk."""
    for path in _made(file, missing):
        with _still_there(path.parent) as folder:
            with suppress(FileExistsError):
                system.make_folder(folder, path.name)
            system.sync(folder)


def remove_folders(file: Path, made: tuple[str, ...]) -> None:
    """Remove the folders that were made for a file, as far as nothing is in them."""
    for path in reversed(_made(file, made)):
        with suppress(OSError), anchors.open_folder(path.parent) as folder:
            system.remove_folder(folder, path.name)
            system.sync(folder)


def _made(file: Path, names: tuple[str, ...]) -> list[Path]:
    return list(reversed([file.parents[depth] for depth in range(len(names))]))
