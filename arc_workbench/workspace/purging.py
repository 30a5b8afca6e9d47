"""Taking old changes out of a journal, with what files held before them; newer ones stay.

The changes that stay are written into a new journal with a new file of images, which then takes
the old one's place in one step. A crash leaves the old journal or the new one, whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files, records, system
from arc_workbench.workspace.images import Image, Images
from arc_workbench.workspace.journal import CHANGING, Journal
from arc_workbench.workspace.records import FIRST


@dataclass(frozen=True)
class Purged:
    """How many changes go and stay; the bytes of the images that go, and those of all there are.

    `oldest` is the time of the oldest change, in seconds since the epoch, 0 where there is none.
    `aside` counts the files that were put aside and are that old themselves; they go too.
    """

    changes: int
    kept: int
    freed: int
    size: int
    oldest: int
    aside: int = 0


def look(journal: Journal, before: float) -> Purged:
    """What a purge of changes made before that time (seconds since the epoch) would take.

    Raises `ToolError` for a damaged journal.
    """
    if journal.damage is not None:
        raise ToolError("The journal is damaged; nothing was purged. See %agent recovery")
    aside = _put_aside(journal, before)
    first = _first_kept(journal, before)
    gone = range(journal.ids.start, first)
    kept = sum(image.size for image in _images(journal, range(first, journal.ids.stop)))
    size = journal.images_end
    return Purged(
        changes=len(gone),
        kept=len(journal.ids) - len(gone),
        freed=(max(0, size - kept) if gone else 0) + sum(path.stat().st_size for path in aside),
        size=size,
        oldest=journal.intent(journal.ids.start).time if len(journal.ids) else 0,
        aside=len(aside),
    )


def purge(journal: Journal, before: float) -> Purged:
    """Take those changes out; what was taken is returned. Raises `ToolError` for a damaged one."""
    found = look(journal, before)
    for path in _put_aside(journal, before):
        system.remove_own(path)
    if not found.changes:
        return found
    first = _first_kept(journal, before)
    name = journal.free_name("images-")
    own_files.write_whole(journal.folder, name, b"")
    opened = own_files.open_own(journal.folder / name, CHANGING)
    new = Images(opened)
    try:
        moves = _copied(journal, new, range(first, journal.ids.stop))
    finally:
        new.close()
    old = journal.images_path
    journal.replace_by(_rewritten(journal, first, name, moves))
    journal.let_go()
    system.remove_own(old)
    own_files.sync_folder(journal.folder)
    return found


def _first_kept(journal: Journal, before: float) -> int:
    """The first change that is young enough, or not settled: everything from there on stays."""
    for number in journal.ids:
        if journal.state(number) == "prepared" or journal.intent(number).time >= before:
            return number
    return journal.ids.stop


def _images(journal: Journal, numbers: range) -> Sequence[Image]:
    """The images of these changes, each once."""
    found: dict[tuple[int, int], Image] = {}
    for number in numbers:
        intent = journal.intent(number)
        for image in filter(None, (intent.before, intent.after)):
            found[image.at, image.size] = image
    return list(found.values())


@dataclass(frozen=True)
class _Moves:
    """Where each image, known by its place and size, lies in the new file, and where they end."""

    places: dict[tuple[int, int], int]
    end: int


def _copied(journal: Journal, new: Images, numbers: range) -> _Moves:
    """Copy images into another file."""
    places: dict[tuple[int, int], int] = {}
    end = 0
    for image in _images(journal, numbers):
        placed, end = new.add(journal.images.raw(image), image.sha256, end)
        places[image.at, image.size] = placed.at
    new.sync()
    return _Moves(places, end)


def _rewritten(journal: Journal, first: int, images: str, moves: _Moves) -> bytes:
    line, head = records.seal(journal.header(images, first), FIRST)
    lines = [line]
    for record in journal.records():
        change = next(iter(record))
        if change == "journal" or int(str(record[change])[1:]) < first:
            continue
        moved = {key: _moved(key, value, moves) for key, value in record.items() if key != "hash"}
        line, head = records.seal({**moved, "seq": len(lines)}, head)
        lines.append(line)
    return b"".join(lines)


def _moved(key: str, value: object, moves: _Moves) -> object:
    if key == "end":
        return moves.end
    if key not in {"before", "after"} or value is None:
        return value
    sha256, at, size = cast("tuple[str, int, int]", value)
    return [sha256, moves.places[at, size], size]


def _put_aside(journal: Journal, before: float) -> list[Path]:
    """Journals that were damaged, ends that were cut off, and contents that no journal names."""
    if not journal.folder.is_dir():
        return []
    kinds = ("torn-", "damaged-", "images-")
    others = (path for path in journal.folder.iterdir() if path != journal.images_path)
    return [
        path for path in others if path.name.startswith(kinds) and path.stat().st_mtime < before
    ]
