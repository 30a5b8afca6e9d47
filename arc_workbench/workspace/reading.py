"""The bytes of files: a bounded slice of lines, the hash of the whole, encodings."""

import codecs
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import Place, reason, require_file
from arc_workbench.workspace.window import Window

CHUNK = 1 << 20
SNIFFED_BYTES = 8000
WHOLE_FILE_BYTES = 8 << 20
MAX_HASHED_BYTES = 512 << 20
MAX_TEXT_BYTES = 8 << 20
MAX_SLICE_BYTES = 4 << 20
MAX_PASSED_BYTES = 1 << 30  # how far lines are counted to find the first one of a slice

BOM = codecs.BOM_UTF8


@dataclass(frozen=True)
class Slice:
    """Lines `start_line` to `end_line` of a text file, without their `\\n`.

    A final line end counts as the start of one more, empty line, so `text` of consecutive slices
    adds up to the file. `total_lines` is unknown for a file over 8 MiB, `sha256` (of the whole
    file's bytes) for one over 512 MiB. `cut_lines` names lines that are not given whole; `lossy`
    says that bytes were not UTF-8 and were replaced, `encoding` what they probably are.
    """

    place: Place
    lines: tuple[str, ...]
    start_line: int
    total_lines: int | None
    next_line: int | None
    size: int
    sha256: str | None
    bom: bool
    cut_lines: tuple[int, ...]
    encoding: str

    @property
    def end_line(self) -> int:
        """The last line of the slice."""
        return self.start_line + len(self.lines) - 1

    @property
    def truncated(self) -> bool:
        """Whether lines follow."""
        return self.next_line is not None

    @property
    def lossy(self) -> bool:
        """Whether the text is not what the file says, byte for byte."""
        return self.encoding != "utf-8"

    @property
    def text(self) -> str:
        """The slice as it stands in the file, line ends included."""
        return "\n".join(self.lines) + ("\n" if self.truncated else "")


@dataclass(frozen=True)
class Snapshot:
    """A file at one moment: the hash of its bytes, and the bytes unless they are over 8 MiB."""

    sha256: str
    data: bytes | None = field(repr=False)


def read_slice(
    place: Place,
    *,
    start_line: int,
    max_lines: int,
    max_bytes: int | None,
    max_line_chars: int | None,
    lossy: bool,
    deadline: Deadline,
) -> Slice:
    """Lines of a text file within all the bounds, at least one; bounded memory at any size."""
    require_file(place)
    ceiling = MAX_SLICE_BYTES if max_bytes is None else max_bytes
    line_bytes = ceiling if max_line_chars is None else min(ceiling, 4 * max_line_chars + 4)
    window = Window(start_line, max_lines, ceiling, line_bytes)
    with opened(place) as file:
        size = os.fstat(file.fileno()).st_size
        digest, complete = _pass_through(file, place, size, window, deadline)
    if start_line > window.line:
        raise ToolError(
            f"{place.shown} has {window.line} lines; line {start_line} is past its end.",
            details={"totalLines": window.line},
        )
    lines, cut, encoding = _decoded(window, place, max_line_chars, lossy=lossy)
    bom = start_line == 1 and lines[0].startswith("\ufeff")
    return Slice(
        place=place,
        lines=(lines[0].removeprefix("\ufeff"), *lines[1:]) if bom else lines,
        start_line=start_line,
        total_lines=window.line if complete and size <= WHOLE_FILE_BYTES else None,
        next_line=window.next_line,
        size=size,
        sha256=digest,
        bom=bom,
        cut_lines=cut,
        encoding=encoding,
    )


def _pass_through(
    file: BinaryIO, place: Place, size: int, window: Window, deadline: Deadline
) -> tuple[str | None, bool]:
    """Feed the file once; its hash if it is not too large, and whether its end was reached."""
    hasher = hashlib.sha256() if size <= MAX_HASHED_BYTES else None
    left = size
    while left > 0 and (chunk := file.read(min(CHUNK, left))):
        deadline.check()
        if left == size:
            refuse_binary(chunk, place)
        left -= len(chunk)
        if hasher is not None:
            hasher.update(chunk)
        window.feed(chunk)
        if hasher is None and window.full:
            return None, False
        if size - left >= MAX_PASSED_BYTES:
            raise _too_far(place, window)
    window.end()
    return (hasher.hexdigest() if hasher is not None else None), True


def _too_far(place: Place, window: Window) -> ToolError:
    return ToolError(
        f"{place.shown}: line {window.first + len(window.lines)} ends beyond the first "
        f"{MAX_PASSED_BYTES >> 30} GiB, which is as far as lines are looked for. Ask for an "
        "earlier line, or take that part of the file with a command.",
        details={"linesCounted": window.line},
    )


def _decoded(
    window: Window, place: Place, max_chars: int | None, *, lossy: bool
) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    """The lines as text, the numbers of those that were cut, and the encoding."""
    encoding = "utf-8"
    lines: list[str] = []
    cut = set(window.cut)
    for number, raw in enumerate(window.lines, window.first):
        try:
            # Not final where the line was cut: the cut may stand inside a character.
            line, _ = codecs.utf_8_decode(raw, "strict", number not in cut)
        except UnicodeDecodeError:
            encoding = probable_encoding(raw)
            if not lossy:
                raise not_utf8(place, encoding) from None
            line = raw.decode("utf-8", "replace")
        if max_chars is not None and len(line) > max_chars:
            cut.add(number)
            line = line[:max_chars]
        lines.append(line)
    return tuple(lines), tuple(sorted(cut)), encoding


@contextmanager
def opened(place: Place) -> Generator[BinaryIO]:
    """The regular file at `place`, open for reading; failures come out as `ToolError`.

    Opening never waits for a pipe's other end, and no component of the path may have become a link
    since the place was resolved.
    """
    try:
        with (
            anchors.opened(place.held) as descriptor,
            os.fdopen(descriptor, "rb", closefd=False) as file,
        ):
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ToolError(f"{place.shown} is not a regular file, so it is not opened.")
            yield file
    except OSError as fault:
        raise ToolError(f"{place.shown} could not be read: {reason(fault)}.") from fault


def snapshot(place: Place, deadline: Deadline | None = None) -> Snapshot:
    """The file at `place` as it is now; raises `ToolError` at the deadline, if there is one."""
    require_file(place)
    hasher = hashlib.sha256()
    kept = bytearray()
    with opened(place) as file:
        if os.fstat(file.fileno()).st_size > MAX_HASHED_BYTES:
            raise ToolError(
                f"{place.shown} is over {MAX_HASHED_BYTES >> 20} MiB, too large for this."
            )
        while chunk := file.read(CHUNK):
            if deadline is not None:
                deadline.check()
            hasher.update(chunk)
            if len(kept) <= MAX_TEXT_BYTES:
                kept += chunk
    return Snapshot(hasher.hexdigest(), bytes(kept) if len(kept) <= MAX_TEXT_BYTES else None)


def refuse_binary(data: bytes, place: Place) -> None:
    """Raise `ToolError` if the beginning of a file holds a NUL byte."""
    if b"\0" in data[:SNIFFED_BYTES]:
        kind = probable_encoding(data[:SNIFFED_BYTES])
        hint = f" (perhaps {kind} text)" if kind.startswith("utf-") else ""
        raise ToolError(
            f"{place.shown} is a binary file{hint}; it is not shown as text.",
            details={"binary": True},
        )


def text_of(data: bytes, place: Place) -> tuple[str, bool]:
    """The text of a whole file without its byte order mark, and whether it has one.

    Raises `ToolError` when it is not UTF-8, so that no byte of such a file is ever rewritten.
    """
    bom = data.startswith(BOM)
    try:
        return data[len(BOM) if bom else 0 :].decode("utf-8"), bom
    except UnicodeDecodeError:
        raise not_utf8(place, probable_encoding(data)) from None


def not_utf8(place: Place, encoding: str) -> ToolError:
    """The error for a file whose bytes are some other encoding."""
    return ToolError(
        f"{place.shown} is not UTF-8, probably {encoding}; it was not touched. Convert it first, "
        "with a command that the person approves.",
        details={"encoding": encoding},
    )


def probable_encoding(data: bytes) -> str:
    """A guess at what bytes that are not UTF-8 are: only what can be told from them."""
    marks = (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    )
    for mark, name in marks:
        if data.startswith(mark):
            return name
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "some other encoding"
    return "windows-1252"


def sha256_of(data: bytes) -> str:
    """The lower-case hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()
