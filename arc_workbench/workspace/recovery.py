"""What became of changes that were begun and not settled: told by comparing bytes, never guessed.

Each table below says for one effect what stands at the name and at the temporary name beside it,
and what that means: the change is `in`, it is `out`, or it is `unclear`, which only a person can
settle. Everything here may be killed and run again; it comes to the same end (REQ-F6).
"""

import errno
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, effects, system
from arc_workbench.workspace.effects import ABSENT, Standing, standing
from arc_workbench.workspace.images import Image, sha256_in
from arc_workbench.workspace.journal import Journal
from arc_workbench.workspace.records import Intent

Where = Literal["in", "out", "unclear"]

# The folder is gone, or is a link by now, or may not be looked into.
_NO_WAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM})


@dataclass(frozen=True)
class Settled:
    """What was found out about one change, and what was done about it."""

    intent: Intent
    where: Where
    happened: str
    inode: int = 0


def settle_pending(journal: Journal) -> tuple[Settled, ...]:
    """Settle every change that a process left half done; those that are unclear stay pending."""
    numbers = [int(id_[1:]) for id_ in journal.pending]
    intents = [journal.intent(number) for number in numbers]
    found: list[Settled] = []
    for _, together in groupby(intents, key=lambda intent: intent.group or intent.id):
        found += settle(journal, list(together))
    if found:
        journal.sync()
    return tuple(found)


def settle(journal: Journal, together: list[Intent], touched: int | None = None) -> list[Settled]:
    """Settle changes that stand or fall together: all of them in, or all of them out.

    `touched` is how many of them were begun, where that is known: the others are out.
    """
    places = [_find_out(journal, intent) for intent in together[:touched]]
    places += [Settled(intent, "out", "it was not begun") for intent in together[len(places) :]]
    if _stands(journal, together) or all(found.where == "in" for found in places):
        result = places
    else:
        result = [_fallen(journal, found) for found in places]
    for folder in {intent.file.parent for intent in together}:
        _sync(folder)
    for found in result:
        _record(journal, found)
    return result


def _sync(path: Path) -> None:
    """What was found in a folder is on the disk before it is written down."""
    try:
        with anchors.open_folder(path) as folder:
            system.sync(folder)
    except OSError as fault:
        if fault.errno not in _NO_WAY:
            raise


def _stands(journal: Journal, together: list[Intent]) -> bool:
    """Whether a change of this group is settled as done, which is only said when all are in."""
    group = together[0].group
    if not group:
        return False
    end = together[-1].number + 1
    while end in journal.ids and journal.intent(end).group == group:
        end += 1
    first = max(int(group[1:]), journal.ids.start)
    return any(journal.state(number) == "done" for number in range(first, end))


def _record(journal: Journal, found: Settled) -> None:
    id_ = found.intent.id
    if found.where == "in":
        inode = found.inode or _inode(found.intent)
        journal.settle(id_, "done", inode=inode, why="found whole")
    elif found.where == "out":
        inode = 0 if found.intent.effect == "create" else found.inode or _inode(found.intent)
        journal.settle(id_, "void", inode=inode, why=found.happened)


def _inode(intent: Intent) -> int:
    with suppress(OSError), anchors.open_folder(intent.file.parent) as folder:
        found = system.look(folder, intent.file.name)
        return found.st_ino if found is not None else 0
    return 0


# ---- one change ---------------------------------------------------------------------------------


def _find_out(journal: Journal, intent: Intent) -> Settled:
    """Where one change got to; leftovers beside the file are put right."""
    try:
        with anchors.open_folder(intent.file.parent) as folder:
            found = _Found(folder, intent, journal)
            settled = found.judged()
    except OSError as fault:
        if fault.errno not in _NO_WAY:
            raise
        settled = _without_folder(intent)
    if (intent.effect, settled.where) in {("create", "out"), ("remove", "in")}:
        effects.remove_folders(intent.file, intent.folders)
    return settled


def _without_folder(intent: Intent) -> Settled:
    match intent.effect:
        case "create":
            return Settled(intent, "out", "it was cut off before the file was there")
        case "remove":
            return Settled(intent, "in", "the file is gone, and its folder too")
        case "change":
            return Settled(intent, "unclear", "the folder of the file cannot be reached")


class _Found:
    """What stands at the two names of one change."""

    def __init__(self, folder: int, intent: Intent, journal: Journal) -> None:
        self._folder = folder
        self._intent = intent
        self._journal = journal
        self._clear_way_back()
        self._file = standing(folder, intent.file.name)
        self._beside = standing(folder, intent.temporary)

    def _clear_way_back(self) -> None:
        """Put right what stands beside the file since it was to be taken back."""
        name, back = self._intent.file.name, effects.name_of_back(self._intent.temporary)
        beside = standing(self._folder, back)
        if beside == ABSENT:
            return
        before, after = self._intent.before, self._intent.after
        if self._is(beside, after) or self._is_part(back, beside, before):
            system.remove(self._folder, back)
        elif system.look(self._folder, name) is None:  # theirs, taken away in the last moment
            system.rename_to_free(self._folder, back, name)
        elif self._is(standing(self._folder, name), before):  # theirs, swapped out
            effects.swap(self._folder, back, name)
            system.remove(self._folder, back)

    def judged(self) -> Settled:
        match self._intent.effect:
            case "create":
                return self._create()
            case "change":
                return self._change()
            case "remove":
                return self._remove()

    def _create(self) -> Settled:
        if self._is(self._file, self._intent.after):
            return self._in()
        if self._file == ABSENT or self._is_ours_beside():
            return self._out()
        return self._unclear()

    def _change(self) -> Settled:
        before, after = self._intent.before, self._intent.after
        beside_is_old = self._beside == ABSENT or self._is(self._beside, before)
        if self._is(self._file, after):
            if beside_is_old or self._is_ours_beside():
                return self._in()
            return self._swapped_back()
        if self._is(self._file, before) or self._is_ours_beside():
            return self._out()
        if self._is(self._beside, before):
            return self._in()  # it was in place, and somebody changed the file since
        return self._unclear()

    def _remove(self) -> Settled:
        before = self._intent.before
        if self._is(self._file, before):
            return self._out()
        if self._is(self._beside, before):
            return self._in()
        if self._beside != ABSENT:
            return self._renamed_back()
        if self._file == ABSENT:
            return self._in()
        return self._unclear()

    # -- what follows from it

    def _in(self) -> Settled:
        self._remove_beside()
        why = "it was whole; only the note of it was missing"
        return Settled(self._intent, "in", why, self._file.inode)

    def _out(self) -> Settled:
        self._remove_beside()
        before = self._intent.before
        as_it_was = self._is(self._file, before) if before is not None else self._file == ABSENT
        why = "it was cut off; the file is as it was before"
        if not as_it_was:
            why = "it was cut off and never took effect; another program changed the file since"
        return Settled(self._intent, "out", why, self._file.inode)

    def _remove_beside(self) -> None:
        if self._beside != ABSENT:
            system.remove(self._folder, self._intent.temporary)

    def _swapped_back(self) -> Settled:
        """Somebody wrote in the last moment: their file stands beside, and gets its name back."""
        effects.swap(self._folder, self._intent.temporary, self._intent.file.name)
        system.remove(self._folder, self._intent.temporary)
        return self._theirs()

    def _renamed_back(self) -> Settled:
        if self._file != ABSENT or self._beside.kind != "file":
            return self._unclear()
        system.rename_to_free(self._folder, self._intent.temporary, self._intent.file.name)
        return self._theirs()

    def _theirs(self) -> Settled:
        why = "another program changed the file in the same moment; its version was kept"
        return Settled(self._intent, "out", why)

    def _unclear(self) -> Settled:
        gone = "is gone" if self._file == ABSENT else "holds neither the old nor the new content"
        return Settled(self._intent, "unclear", f"the change was cut off, and the file {gone}")

    @staticmethod
    def _is(found: Standing, image: Image | None) -> bool:
        return image is not None and found.sha256 == image.sha256

    def _is_ours_beside(self) -> bool:
        """Whether the new content, or the beginning of it, still stands beside the file."""
        return self._is_part(self._intent.temporary, self._beside, self._intent.after)

    def _is_part(self, name: str, found: Standing, image: Image | None) -> bool:
        if image is None or found.kind != "file" or found.size > image.size:
            return False
        if found.sha256 == image.sha256:
            return True
        try:
            whole = self._journal.images.read(image)
        except ToolError:
            return False
        part = _content(self._folder, name)
        return whole.startswith(part.rstrip(b"\0"))  # a power cut may leave zeros at the end


def _content(folder: int, name: str) -> bytes:
    opened = system.open_at(folder, name, system.READING)
    try:
        return system.read_at(opened, system.facts(opened).st_size, 0)
    finally:
        system.close(opened)


# ---- taking one back ----------------------------------------------------------------------------


def _fallen(journal: Journal, found: Settled) -> Settled:
    """A change whose group did not get in as a whole is taken back."""
    if found.where != "in":
        return found
    intent = found.intent
    try:
        take_back(journal, intent)
    except effects.ConflictError:
        return Settled(intent, "unclear", "the file changed while the change was taken back")
    return Settled(intent, "out", "it was taken back, since not all of its group was done")


def take_back(journal: Journal, intent: Intent) -> None:
    """Make the file what it was before a change that is in; `ConflictError` if it is not in."""
    name, temporary = intent.file.name, effects.name_of_back(intent.temporary)
    if intent.effect == "remove":
        effects.make_folders(intent.file, intent.folders)
    with effects.locked_folder(intent.file.parent) as folder:
        if intent.before is None:
            effects.take_away(folder, temporary, name, sha256_in(intent.after))
        else:
            data = journal.images.read(intent.before)
            like = name if intent.after is not None else ""
            effects.write_beside(folder, temporary, data, like=like, mode=intent.mode)
            if intent.after is None:
                effects.put_new(folder, temporary, name)
            else:
                effects.put_in_place(folder, temporary, name, intent.after.sha256)
        system.sync(folder)
    if intent.before is None:
        effects.remove_folders(intent.file, intent.folders)


def unclear(found: Iterable[Settled]) -> tuple[Settled, ...]:
    """Those that only a person can settle."""
    return tuple(one for one in found if one.where == "unclear")
