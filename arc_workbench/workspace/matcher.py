"""The program that reads files and matches lines, in a process of its own that can be killed.

A pattern can take for ever, and `re` does not let go of the interpreter meanwhile. This file is run
by its path, without the package, so it imports only small parts of the standard library. It takes
one JSON object on standard input and answers with JSON lines; `searching.py` is its other end.
"""

import json
import os
import re
import signal
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypedDict

SNIFFED_BYTES = 8000
WHOLE_FILE_BYTES = 8 << 20
MAX_LINE_BYTES = 1 << 20
LEAD_CHARS = 200


class Request(TypedDict):
    """What to look for and where; `files` are the bytes of their names, read as Latin-1."""

    pattern: str
    literal: bool
    ignore_case: bool
    context: int
    limit: int
    max_chars: int
    max_line_chars: int
    seconds: int
    files: list[str]


class Shown(TypedDict):
    """One line of a block: its number, its text, whether it matches, whether it is cut."""

    number: int
    text: str
    matched: bool
    cut: bool


class Found(TypedDict):
    """Consecutive lines of one file, which has this index in the request."""

    file: int
    lines: list[Shown]


class Done(TypedDict):
    """The last answer; `skipped` holds indices of files and why they were left out."""

    matches: int
    searched: int
    truncated: bool
    skipped: list[tuple[int, str]]


class Answer(TypedDict, total=False):
    """One JSON line of the answer; exactly one key is there."""

    fault: str
    block: Found
    done: Done


Line = tuple[int, str]
Place = tuple[int, int]
Search = Callable[[str], Place | None]


class Matcher:
    """One run over all files, until the limit or the ceiling for text is reached."""

    def __init__(self, request: Request, search: Search, may_match: Callable[[str], bool]) -> None:
        self._request = request
        self._search = search
        self._may_match = may_match
        self.matches = 0
        self.searched = 0
        self.truncated = False
        self._chars = 0
        self.skipped: list[tuple[int, str]] = []

    def run(self) -> None:
        for index, name in enumerate(self._request["files"]):
            self._file(index, name.encode("latin-1"))
            if self.truncated:
                break

    def _file(self, index: int, path: bytes) -> None:
        try:
            with _opened(path) as file:
                self._lines(index, file)
        except OSError:
            self.skipped.append((index, "unreadable"))
        except NotRegularError:
            self.skipped.append((index, "not a regular file"))

    def _lines(self, index: int, file: BinaryIO) -> None:
        size = os.fstat(file.fileno()).st_size
        head = file.read(SNIFFED_BYTES)
        if b"\0" in head:
            self.skipped.append((index, "binary"))
            return
        self.searched += 1
        file.seek(0)
        if size > WHOLE_FILE_BYTES:
            self._collect(index, self._streamed(index, file))
            return
        text = file.read(WHOLE_FILE_BYTES + 1).decode("utf-8", "replace")
        text = text.removeprefix("\ufeff").removesuffix("\r")
        if self._may_match(text):
            self._collect(index, enumerate(_split(text), 1))

    def _streamed(self, index: int, file: BinaryIO) -> Iterator[Line]:
        """Lines of a large file, of each no more than its first MiB."""
        number, within, cut = 1, False, False
        while raw := file.readline(MAX_LINE_BYTES):
            ends = raw.endswith(b"\n")
            if not within:
                text = raw.decode("utf-8", "replace").rstrip("\n").removesuffix("\r")
                yield number, text.removeprefix("\ufeff") if number == 1 else text
            elif not cut:
                cut = True
                self.skipped.append((index, "very long lines"))
            within = not ends
            number += ends

    def _collect(self, index: int, lines: Iterator[Line]) -> None:
        """Write out the matching lines with their context, neighbours as one block."""
        block: list[Shown] = []
        before: deque[Line] = deque(maxlen=self._request["context"])
        after = 0
        for number, text in lines:
            found = self._search(text)
            if found and self._is_full():
                break
            if found:
                first = before[0][0] if before else number
                if block and block[-1]["number"] < first - 1:
                    self._write(index, block)
                    block = []
                block += [self._shown(*line, None) for line in before]
                block.append(self._shown(number, text, found))
                before.clear()
                self.matches += 1
                after = self._request["context"]
            elif after:
                block.append(self._shown(number, text, None))
                after -= 1
            else:
                before.append((number, text))
        self._write(index, block)

    def _is_full(self) -> bool:
        request = self._request
        self.truncated = self.matches >= request["limit"] or self._chars >= request["max_chars"]
        return self.truncated

    def _shown(self, number: int, text: str, found: Place | None) -> Shown:
        most = self._request["max_line_chars"]
        start = max(0, found[0] - LEAD_CHARS) if found and found[1] > most else 0
        part = text[start : start + most]
        self._chars += len(part)
        return {
            "number": number,
            "text": ("…" if start else "") + part,
            "matched": found is not None,
            "cut": len(part) < len(text),
        }

    def _write(self, index: int, lines: list[Shown]) -> None:
        if lines:
            _answer({"block": {"file": index, "lines": lines}})


# In these, what follows a line end could matter, or a match could run on over line ends.
_LOOKS_BEYOND_LINES = re.compile(
    r"\(\?[!>]|\(\?<!|\(\?[aiLmsux-]|\\[AZsSWDnrfvxuUN0-9]|[*+?}]\+|\[\^"
)


def literal_search(text: str, *, ignore_case: bool) -> tuple[Search, Callable[[str], bool]]:
    """How to find `text` in a line, and how to rule out a whole file at once."""
    wanted = text.casefold() if ignore_case else text

    def search(line: str) -> Place | None:
        at = (line.casefold() if ignore_case else line).find(wanted)
        return None if at < 0 else (at, at + len(wanted))

    return search, lambda whole: search(whole) is not None


def pattern_search(text: str, *, ignore_case: bool) -> tuple[Search, Callable[[str], bool]]:
    """The same for an expression; raises what `re.compile` raises."""
    flags = re.IGNORECASE if ignore_case else 0
    pattern = re.compile(text, flags)

    def search(line: str) -> Place | None:
        found = pattern.search(line)
        return found.span() if found else None

    if _LOOKS_BEYOND_LINES.search(text):
        return search, lambda _: True
    in_lines = re.compile(text, flags | re.MULTILINE)
    return search, lambda whole: in_lines.search(whole.replace("\r\n", "\n")) is not None


class NotRegularError(Exception):
    """The name leads to a pipe, a device or a folder."""


def _opened(path: bytes) -> BinaryIO:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotRegularError
    return file


def _split(text: str) -> Iterator[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return (line.removesuffix("\r") for line in lines)


def _answer(value: Answer) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode("ascii") + b"\n")


def main() -> None:
    """Answer one request; end by itself even if nobody is there to end it."""
    request: Request = json.loads(sys.stdin.buffer.read())
    if hasattr(signal, "alarm"):
        signal.alarm(request["seconds"])
    make = literal_search if request["literal"] else pattern_search
    try:
        search, may_match = make(request["pattern"], ignore_case=request["ignore_case"])
    except (re.error, RecursionError, OverflowError) as fault:
        _answer({"fault": str(fault)})
        return
    matcher = Matcher(request, search, may_match)
    matcher.run()
    _answer(
        {
            "done": {
                "matches": matcher.matches,
                "searched": matcher.searched,
                "truncated": matcher.truncated,
                "skipped": matcher.skipped,
            }
        }
    )


if __name__ == "__main__":
    main()
