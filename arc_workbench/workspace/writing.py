"""Putting bytes in place of a file: all of them or none, and never over somebody else's change."""

import os
import secrets
import shutil
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from arc_workbench.errors import ToolError
from arc_workbench.workspace.paths import Place, kind_of, reason
from arc_workbench.workspace.plans import FilePlan, changed_meanwhile
from arc_workbench.workspace.reading import snapshot

if sys.platform != "win32":
    import fcntl

LOCK_SECONDS = 10.0
TEMPORARY_PREFIX = ".arc-workbench-"


def put(plan: FilePlan) -> None:
    """Make the file what the plan says. On any failure it is what it was, and `ToolError` says why.

    The last look at the old content and the change of the name happen under one lock, which other
    sessions and processes take too.
    """
    made: list[Path] = []
    try:
        with _failures(plan.place, "it is as it was"):
            _make_folders(plan.place.real.parent, made)
            _put_locked(plan)
    except ToolError:
        _remove_folders(made)
        raise


def _put_locked(plan: FilePlan) -> None:
    with _locked(plan.place) as folder:
        _replace(plan)
        with _failures(plan.place, "it has the new content, which a power cut might undo"):
            if folder is not None:
                os.fsync(folder)
        if snapshot(plan.place).sha256 != plan.after_sha256:
            raise ToolError(
                f"{plan.place.shown} was written but reads back differently: something else "
                "writes there too. Read it again."
            )


@contextmanager
def _failures(place: Place, state: str) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        raise ToolError(f"{place.shown} could not be written: {reason(fault)}; {state}.") from fault


def _replace(plan: FilePlan) -> None:
    target = plan.place.real
    temporary = target.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp"
    _require_unchanged(plan)
    try:
        _write_durably(temporary, plan)
        if plan.op == "change":
            _dress_like(target, temporary)
        _require_unchanged(plan)
        temporary.replace(target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _write_durably(temporary: Path, plan: FilePlan) -> None:
    """A new file with the plan's bytes, readable by others only where a new file would be."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    mode = 0o666 if plan.op == "create" else 0o600
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        file.write(plan.content)
        file.flush()
        os.fsync(file.fileno())


def _dress_like(old: Path, new: Path) -> None:
    """Give `new` the owner, mode and attributes of `old`, but not its power to run as its owner."""
    was = old.stat()
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(new, was.st_uid, was.st_gid)
    shutil.copystat(old, new)
    os.utime(new)
    new.chmod(stat.S_IMODE(was.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def _require_unchanged(plan: FilePlan) -> None:
    """Raise `ToolError` unless the file, and the way to it, are what was planned on."""
    place = plan.place
    if Path(os.path.realpath(place.real)) != place.real:
        raise changed_meanwhile(place.shown)
    kind = kind_of(place.real, place.shown)
    now = snapshot(place).sha256 if kind == "file" else None
    if now != plan.before_sha256 or kind not in {"file", "absent"}:
        raise changed_meanwhile(place.shown)


@contextmanager
def _locked(place: Place) -> Generator[int | None]:
    """Hold the lock of the file's folder; the system frees it if we die. Yields the open folder."""
    if sys.platform == "win32":
        yield None
        return
    folder = os.open(place.real.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _lock(folder, place.shown)
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int, shown: str) -> None:
    end = monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > end:
                raise ToolError(
                    f"{shown}: another session is writing in this folder; try again."
                ) from None
            sleep(0.005)
        except OSError:  # this file system has no locks
            return
        else:
            return


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Create what is missing, and note it."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for step in reversed(missing):
        step.mkdir(exist_ok=True)
        made.append(step)
        _sync(step.parent)


def _sync(folder: Path) -> None:
    if sys.platform != "win32":
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _remove_folders(made: list[Path]) -> None:
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()
