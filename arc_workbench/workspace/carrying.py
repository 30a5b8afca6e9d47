"""The hands of the ledger: one plan carried out on its file, and what it held kept beforehand."""

import errno
import hashlib
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, effects, system
from arc_workbench.workspace.images import Image, Images
from arc_workbench.workspace.journal import Journal
from arc_workbench.workspace.paths import is_within, reason
from arc_workbench.workspace.plans import FilePlan, changed_meanwhile
from arc_workbench.workspace.records import Author, Intent

WHOLE_BYTES = 8 << 20


# ---- one plan -----------------------------------------------------------------------------------


class ReadBackError(Exception):
    """What was written reads back differently."""

    def __init__(self, stored_wrongly: bool) -> None:
        super().__init__("was written but reads back differently")
        self.stored_wrongly = stored_wrongly


def carry_out(plan: FilePlan, intent: Intent) -> int:
    """Carry one plan out; returns the inode of the file, 0 where it is gone."""
    if intent.after is None:
        _remove(intent)
        return 0
    name = intent.file.name
    effects.make_folders(intent.file, intent.folders)
    with effects.locked_folder(intent.file.parent) as folder:
        like = name if plan.before_sha256 is not None else ""
        mode = 0 if like else plan.mode
        inode = effects.write_beside(folder, intent.temporary, plan.content, like=like, mode=mode)
        if plan.before_sha256 is None:
            effects.put_new(folder, intent.temporary, name)
        else:
            effects.put_in_place(folder, intent.temporary, name, plan.before_sha256)
        system.sync(folder)
        now = effects.standing(folder, name)
        if now.sha256 != intent.after.sha256:
            raise ReadBackError(stored_wrongly=now.inode == inode and now.size == len(plan.content))
        return inode


def _remove(intent: Intent) -> None:
    """Remove the file, and the folders above it that go with it."""
    assert intent.before is not None
    with effects.locked_folder(intent.file.parent) as folder:
        effects.take_away(folder, intent.temporary, intent.file.name, intent.before.sha256)
        system.sync(folder)
    effects.remove_folders(intent.file, intent.folders)


@dataclass(frozen=True)
class Kept:
    """What the journal has of a file before and after a plan, and where its images end then.

    `mode` are the file's permission bits, `folders` the names above it that are missing.
    """

    before: Image | None
    after: Image | None
    mode: int
    folders: tuple[str, ...]
    end: int


def keep(plan: FilePlan, images: Images, end: int) -> Kept:
    """Add what the file holds now, if that is what the plan was made on, and what it will hold.

    Raises `ToolError` where the file is another by now. Nothing is synced yet.
    """
    base, missing = anchors.missing_below(plan.place.real)
    root = plan.place.root
    if is_within(plan.place.real, root) and not is_within(base, root):
        raise ToolError(
            f"{plan.place.shown}: the project folder is gone, or has another name now; nothing was "
            "written. Open a session on it where it is."
        )
    before, mode, end = _keep_before(plan, base, missing, images, end)
    after = None
    if plan.after_sha256 is not None:
        after, end = images.add(plan.content, plan.after_sha256, end)
    return Kept(before, after, mode, plan.folders or missing, end)


def _keep_before(
    plan: FilePlan, base: Path, missing: tuple[str, ...], images: Images, end: int
) -> tuple[Image | None, int, int]:
    with anchors.open_folder(base) as folder:
        if missing or plan.before_sha256 is None:
            there = system.look(folder, missing[0] if missing else plan.place.real.name)
            if there is not None or plan.before_sha256 is not None:
                raise changed_meanwhile(plan.place.shown)
            return None, 0, end
        opened = system.open_at(folder, plan.place.real.name, system.READING)
    try:
        return _copied(plan, opened, images, end)
    finally:
        system.close(opened)


def _copied(plan: FilePlan, opened: int, images: Images, end: int) -> tuple[Image, int, int]:
    facts = system.facts(opened)
    mode = facts.st_mode & 0o777
    if not stat.S_ISREG(facts.st_mode) or plan.before_inode not in {0, facts.st_ino}:
        raise changed_meanwhile(plan.place.shown)
    if facts.st_size <= WHOLE_BYTES:
        data = system.read_at(opened, WHOLE_BYTES + 1, 0)
        found = hashlib.sha256(data).hexdigest()
        _require_hash(plan, found)
        image, end = images.add(data, found, end)
        return image, mode, end
    _require_hash(plan, effects.standing_of(opened).sha256)
    image, end = images.add_file(opened, facts.st_size, end)
    _require_hash(plan, image.sha256)
    return image, mode, end


def _require_hash(plan: FilePlan, found: str | None) -> None:
    if found != plan.before_sha256:
        raise changed_meanwhile(plan.place.shown)


def intended(plan: FilePlan, kept: Kept, id_: str, group: str, author: Author, time: int) -> Intent:
    """The record of a plan that is about to be carried out."""
    return Intent(
        id=id_,
        verb=plan.verb,
        file=plan.place.real,
        shown=plan.place.shown,
        before=kept.before,
        after=kept.after,
        mode=kept.mode,
        temporary=f"{effects.TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp",
        folders=kept.folders,
        group=group,
        undoes=plan.undoes,
        added=plan.added,
        removed=plan.removed,
        session=author.session,
        call=author.call,
        time=time,
        end=kept.end,
    )


def write_again(journal: Journal, intent: Intent) -> None:
    """The disk did not keep what it was given: put the old content back (REQ-S69)."""
    with effects.locked_folder(intent.file.parent) as folder:
        name = intent.file.name
        now = effects.standing(folder, name).sha256 or ""
        temporary = effects.name_of_back(intent.temporary)
        if intent.before is None:
            effects.take_away(folder, temporary, name, now)
        else:
            data = journal.images.read(intent.before)
            effects.write_beside(folder, temporary, data, like=name)
            effects.put_in_place(folder, temporary, name, now)
        system.sync(folder)


def clear(intent: Intent) -> None:
    """Remove what we left beside the file, and the folders made for it."""
    try:
        with anchors.open_folder(intent.file.parent) as folder:
            beside = effects.standing(folder, intent.temporary)
            ours = {image.sha256 for image in (intent.before, intent.after) if image is not None}
            if beside.sha256 in ours:
                system.remove(folder, intent.temporary)
    except OSError:
        return
    effects.remove_folders(intent.file, intent.folders)


@contextmanager
def failures(plan: FilePlan, state: str) -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise changed_meanwhile(plan.place.shown) from None
    except OSError as fault:
        if fault.errno == errno.ELOOP:  # it is a link now, or one of its folders is
            raise changed_meanwhile(plan.place.shown) from None
        raise worded(plan, fault, state) from fault


def worded(plan: FilePlan, fault: OSError, state: str) -> ToolError:
    return ToolError(
        f"{plan.place.shown} could not be written: {reason(fault)}; {state}. {_advice(fault)}",
        details={"errno": fault.errno},
    )


def _advice(fault: OSError) -> str:
    if fault.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return "Choose another place, or ask the person to change its rights."
    if fault.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "Ask the person to make room, then try again."
    return "Try again, or look at the file first."
