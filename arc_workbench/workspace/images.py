"""What files held before and after each change: bytes in one append-only file, found by their hash.

The journal says where each image lies and where they end, so this file needs no frames of its own:
what no record names (room for more, or left by a crash) is written over, and what was damaged no
longer fits its hash.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from arc_workbench.errors import ToolError
from arc_workbench.workspace import system

CHUNK = 1 << 20
STEP = 1 << 20
REMEMBERED = 4096
MAX_BYTES = 4 << 30
"""How much one project's images may come to; beyond that nothing is written until a purge."""


@dataclass(frozen=True)
class Image:
    """The bytes of a file at one moment: their hash, and where they lie."""

    sha256: str
    at: int
    size: int


def sha256_in(image: Image | None) -> str:
    """The hash of an image, "" for none."""
    return image.sha256 if image is not None else ""


class Images:
    """One file of images, open; its owner holds the journal's lock while anything is added."""

    def __init__(self, opened: int) -> None:
        self._file = opened
        self._known: OrderedDict[str, Image] = OrderedDict()
        self._grown = 0

    def remember(self, image: Image) -> None:
        """Take note of an image that is there, so that it need not be added again."""
        self._known[image.sha256] = image
        self._known.move_to_end(image.sha256)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def add(self, data: bytes, sha256: str, end: int) -> tuple[Image, int]:
        """The image of `data`, appended at `end` if it is new, and the new end; not synced yet."""
        if (known := self._known.get(sha256)) is not None:
            return known, end
        _require_room(end, len(data))
        if len(data) <= STEP:
            self._grow(end + len(data))
        at = self._put(memoryview(data), end)
        return Image(sha256, end, len(data)), at

    def add_file(self, opened: int, size: int, end: int) -> tuple[Image, int]:
        """The image of an open file, read from its start and appended at `end`."""
        _require_room(end, size)
        hasher = hashlib.sha256()
        start, at = 0, end
        while chunk := system.read_at(opened, CHUNK, start):
            hasher.update(chunk)
            start += len(chunk)
            at = self._put(memoryview(chunk), at)
        found = hasher.hexdigest()
        if (known := self._known.get(found)) is not None:
            return known, end
        return Image(found, end, at - end), at

    def _grow(self, size: int) -> None:
        """Make room in a large step: a sync that finds the length unchanged takes half the time."""
        if size <= self._grown:
            return
        self._grown = system.facts(self._file).st_size
        if size > self._grown:
            grown = -(-size // STEP) * STEP
            self._put(memoryview(bytes(grown - self._grown)), self._grown)
            self._grown = grown

    def _put(self, left: memoryview, at: int) -> int:
        """Write all of it from `at`; where it ends."""
        while left:
            done = system.write_at(self._file, left[:CHUNK], at)
            left, at = left[done:], at + done
        return at

    def sync(self) -> None:
        """Wait until what was added is on the disk."""
        system.sync_data(self._file)

    def cut(self, size: int) -> None:
        """Take back what was added after `size`, and the room made for more."""
        self._grown = 0
        system.cut(self._file, size)

    def read(self, image: Image) -> bytes:
        """The bytes of an image; `ToolError` where they are missing or damaged (REQ-F16)."""
        data = system.read_at(self._file, image.size, image.at)
        if hashlib.sha256(data).hexdigest() != image.sha256:
            raise ToolError(
                "The journal's copy of that content is missing or damaged, so the change cannot be "
                "taken back; other changes are not affected.",
                details={"imageDamaged": image.sha256},
            )
        return data

    def raw(self, image: Image) -> bytes:
        """What lies where the image should, whole or not."""
        return system.read_at(self._file, image.size, image.at)

    def close(self) -> None:
        """Let the file go."""
        system.close(self._file)


def _require_room(end: int, size: int) -> None:
    if end + size > MAX_BYTES:
        raise ToolError(
            f"The journal of this folder holds {end >> 20} MiB, and {MAX_BYTES >> 30} GiB is its "
            "limit; nothing was written. A person can make room: arc-workbench purge"
        )
