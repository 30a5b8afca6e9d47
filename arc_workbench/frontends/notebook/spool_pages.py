"""The whole output of a job, a page at a time, as it lies in its file."""

from dataclasses import dataclass
from pathlib import Path

from arc_workbench.content import text_of
from arc_workbench.shell.plain import plain

PAGE_BYTES = 16_000
_TO_A_CHARACTER = 4


@dataclass(frozen=True)
class Page:
    """Bytes `start` to `stop` of `total` as plain text; `file` is where all of it lies."""

    file: str
    text: str
    start: int
    stop: int
    total: int


def first(file: Path) -> Page:
    """The beginning."""
    return at(file, 0)


def last(file: Path) -> Page:
    """The end."""
    return before(file, _size(file))


def after(file: Path, page: Page) -> Page:
    """What follows on a page."""
    return at(file, min(page.stop, _size(file)))


def before(file: Path, stop: int) -> Page:
    """What stands before a byte: it begins at a line where one begins in it."""
    start = max(0, stop - PAGE_BYTES)
    data = _read(file, start, stop - start)
    if start:
        skip = data.find(b"\n", 0, -1) + 1 or _into_a_character(data)
        start, data = start + skip, data[skip:]
    return _page(file, start, data)


def at(file: Path, start: int) -> Page:
    """What begins at a byte: it stops at the end of a line where there is one."""
    data = _read(file, start, PAGE_BYTES)
    if len(data) == PAGE_BYTES:
        cut = data.rfind(b"\n") + 1 or len(data) - _half_a_character(data)
        data = data[:cut]
    return _page(file, start, data)


def _page(file: Path, start: int, data: bytes) -> Page:
    text = plain(data.decode("utf-8", "replace"))
    stop = start + len(data)
    return Page(text_of(file), text, start, stop, max(stop, _size(file)))


def _size(file: Path) -> int:
    return file.stat().st_size


def _read(file: Path, start: int, count: int) -> bytes:
    with file.open("rb") as stream:
        stream.seek(start)
        return stream.read(count)


def _into_a_character(data: bytes) -> int:
    """How many bytes at the beginning belong to a character that began before."""
    count = 0
    while count < _TO_A_CHARACTER and count < len(data) and data[count] & 0xC0 == 0x80:
        count += 1
    return count


def _half_a_character(data: bytes) -> int:
    """How many bytes at the end are the beginning of a character that goes on."""
    for back in range(1, min(_TO_A_CHARACTER, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            whole = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return back if whole > back else 0
        if byte & 0x80 == 0:
            return 0
    return 0
