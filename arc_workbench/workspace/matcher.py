"""The program that reads files and matches lines, in a process of its own that can be killed.

A pattern can take for ever, and `re` does not let go of the interpreter meanwhile. This file is run
by its path, without the package, so it imports only small parts of the standard library. It takes a
JSON line and names, each ended by a NUL, on standard input; `fallback.py` is its other end.
"""

import codecs
import json
import os
import re
import signal
import stat
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO, TypedDict

WHOLE_FILE_BYTES = 8 << 20
BUFFER_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
MAX_PIECES = 100
MAX_ANSWER_BYTES = 32 << 20
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)

Line = tuple[int, str]
Span = tuple[int, int]
Told = tuple[int, str, list[Span] | None]


class Request(TypedDict):
    """What to look for: `opened` are files to show lines of; without any, names follow."""

    pattern: str
    literal: bool
    ignore_case: bool
    context: int
    most: int
    seconds: int
    opened: list[int]


class Answer(TypedDict, total=False):
    """What was found: the first key for an expression that is none, the next two for names."""

    fault: str
    position: int
    matched: list[int]
    unread: list[int]
    lines: dict[str, list[Told]]
    cut: list[int]


class Search:
    """How to find an expression in a line, and how to tell quickly that a file has none."""

    def __init__(self, text: str, *, literal: bool, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        plain = text if literal else needed_text(text)
        self._pattern = re.compile(re.escape(text), flags) if literal else _compiled(text, flags)
        self._exact = literal and not ignore_case
        self._fold = ignore_case
        self._needed = plain.lower().encode() if ignore_case else plain.encode()
        if ignore_case and not plain.isascii():
            self._needed = b""
        self._exotic = ignore_case and bool(set(plain.lower()) & set("iks"))

    def spans(self, line: str) -> list[Span] | None:
        """Where it matches, as far as that is something; None where it does not match."""
        found = self._pattern.search(line)
        if found is None:
            return None
        spans: list[Span] = []
        for one in self._pattern.finditer(line):
            if one.end() > one.start():
                spans.append(one.span())
            if len(spans) == MAX_PIECES:
                break
        return spans

    def is_in(self, data: bytes) -> bool:
        """Whether a line of a file, of which this is the whole, matches."""
        if self._needed and not self._may_hold(data):
            return False
        if self._exact:
            return True
        lines = self.candidates(data.replace(b"\0", b"\n"))
        return any(self._pattern.search(line) for _, line in lines)

    def candidates(self, data: bytes) -> Iterator[Line]:
        """The lines that may match, or all of them where it is not quick to tell."""
        if not self._needed or self._is_exotic(data):
            return _lines(data)
        return _lines_around(data, data.lower() if self._fold else data, self._needed)

    def may_be_in(self, buffer: bytearray, size: int) -> bool:
        """The same without the look at lines, for the beginning of a buffer."""
        if not self._needed or self._fold:
            return True
        return buffer.find(self._needed, 0, size) >= 0

    def _may_hold(self, data: bytes) -> bool:
        if not self._fold:
            return self._needed in data
        if self._needed in data.lower():
            return True
        return self._is_exotic(data)

    def _is_exotic(self, data: bytes) -> bool:
        """Whether a letter outside ASCII could stand for one of the needed ones."""
        return self._exotic and not data.isascii() and any(odd in data for odd in _EXOTIC)


# Letters outside ASCII that are equal to one inside when case does not matter.
_EXOTIC = tuple(letter.encode() for letter in "\u0131\u0130\u017f\u212a")
_TOKEN = re.compile(
    r"(?P<plain>[^\\.^$*+?{}\[\]|()]|\\[^\w\s])"
    r"|(?P<other>[.^$()]|\\[wWdDsSbBAZnrtfv]|\[\^?\]?[^\[\]\\]*\])"
    r"|(?P<often>[*?]|\+|\{\d*,?\d*\})"
)


def needed_text(pattern: str) -> str:
    """The longest text that stands in whatever the expression matches; "" where that is unsure."""
    best = run = ""
    depth = at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None or pattern.startswith("(?", at):
            return ""
        at = token.end()
        depth += (token[0] == "(") - (token[0] == ")")
        if token["plain"] and depth == 0:
            run += token[0][-1]
            continue
        if token["often"] and token[0] != "+":
            run = run[:-1]  # it may not be there at all
        best, run = max(best, run, key=len), ""
    return max(best, run, key=len)


# ---- sets of characters that this dialect says otherwise ----------------------------------------

_NAMED_SETS = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t\\x20",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": "\\x20-~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t-\\r\\x20",
    "upper": "A-Z",
    "word": "0-9A-Z_a-z",
    "xdigit": "0-9A-Fa-f",
}
_OUTSIDE = "\\x80-\\U0010ffff"
_SET_TOKEN = re.compile(r"\\.|\[:(?P<not>\^?)(?P<name>\w*):\]|.", re.DOTALL)
_OTHER_SETS = ("nested set", "set difference", "set intersection", "set symmetric")


def _compiled(text: str, flags: int) -> re.Pattern[str]:
    """The expression; what would quietly mean something else here raises `re.error`."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", FutureWarning)
        pattern = re.compile(_with_plain_sets(text), flags)
    for one in said:
        if any(kind in str(one.message) for kind in _OTHER_SETS):
            raise re.error("sets within sets are not known to Python's expressions", text)
    return pattern


def _with_plain_sets(text: str) -> str:
    """The expression with `[:alpha:]` and the like, in a set, spelled out."""
    if "[:" not in text:
        return text
    parts: list[str] = []
    inside = False
    start = 0  # where a ] would be a character of the set that was just opened
    for token in _SET_TOKEN.finditer(text):
        sign = token[0]
        if inside and token["name"] is not None:
            parts.append(_spelled_out(text, token))
            continue
        parts.append(sign)
        if not inside and sign[0] == "[":
            inside, start = True, len(parts)
            if token["name"] is not None:  # [:alpha:] outside of a set is a set of these letters
                inside = False
        elif inside and sign == "^" and len(parts) == start + 1:
            start += 1
        elif inside and sign == "]" and len(parts) > start + 1:
            inside = False
    return "".join(parts)


def _spelled_out(text: str, token: re.Match[str]) -> str:
    name = token["name"]
    if name not in _NAMED_SETS:
        raise re.error(f"there is no set of characters [:{name}:]", text, token.start())
    if not token["not"]:
        return _NAMED_SETS[name]
    named = re.compile(f"[{_NAMED_SETS[name]}]")
    others = (char for char in map(chr, range(128)) if not named.match(char))
    return "".join(f"\\x{ord(char):02x}" for char in others) + _OUTSIDE


# ---- which files --------------------------------------------------------------------------------


class Scan:
    """Names the files that match, by their numbers."""

    def __init__(self, search: Search) -> None:
        self.matched: list[int] = []
        self.unread: list[int] = []
        self._search = search
        self._buffer = bytearray(BUFFER_BYTES)

    def run(self, names: list[bytes]) -> None:
        """Look into each of the files; pipes and the like do not get that far."""
        for number, name in enumerate(names):
            try:
                opened = os.open(name, FLAGS)
            except OSError:
                self.unread.append(number)
                continue
            try:
                if self._is_in(opened):
                    self.matched.append(number)
            except OSError:
                self.unread.append(number)
            finally:
                os.close(opened)

    def _is_in(self, opened: int) -> bool:
        buffer = self._buffer
        size = os.readv(opened, [buffer])
        if size == len(buffer):
            return self._is_in_large(opened)
        if size and buffer[0] >= 0xFE:
            return self._search.is_in(plain(bytes(memoryview(buffer)[:size])))
        return self._search.may_be_in(buffer, size) and self._search.is_in(
            plain(bytes(memoryview(buffer)[:size]))
        )

    def _is_in_large(self, opened: int) -> bool:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise OSError
        if found.st_size <= WHOLE_FILE_BYTES:
            return self._search.is_in(plain(os.pread(opened, WHOLE_FILE_BYTES, 0)))
        with os.fdopen(os.dup(opened), "rb") as file:
            file.seek(0)
            return any(self._search.spans(line) is not None for _, line in streamed(file, []))


def plain(data: bytes) -> bytes:
    """The text of a file in UTF-8 without a byte order mark, where one says what it is."""
    if data.startswith(codecs.BOM_UTF8):
        return data[3:]
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace").encode("utf-8", "replace")
    return data


def _lines(data: bytes) -> Iterator[Line]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, line.removesuffix(b"\r").decode("utf-8", "replace")


def _lines_around(data: bytes, folded: bytes, needed: bytes) -> Iterator[Line]:
    """The lines that hold the needed text, `folded` being the data as it is to be compared."""
    number, end = 1, 0
    at = folded.find(needed)
    while at >= 0:
        number += data.count(b"\n", end, at)
        first = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield number, data[first:end].removesuffix(b"\r").decode("utf-8", "replace")
        at = folded.find(needed, end)


def streamed(file: BinaryIO, cut: list[int]) -> Iterator[Line]:
    """Lines of a large file, of each no more than its first MiB; `cut` gets their numbers."""
    number, within = 1, False
    while raw := file.readline(MAX_LINE_BYTES):
        ends = raw.endswith(b"\n")
        if not within:
            text = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
            yield number, text.removeprefix("\ufeff") if number == 1 else text
        elif not cut:
            cut.append(number)
        within = not ends
        number += ends


# ---- which lines --------------------------------------------------------------------------------


class Show:
    """The first matching lines of files that were opened for us, with their context."""

    def __init__(self, request: Request, search: Search) -> None:
        self.cut: list[int] = []
        self._context = request["context"]
        self._most = request["most"]
        self._search = search
        self._room = MAX_ANSWER_BYTES

    def of(self, opened: int) -> list[Told]:
        """Lines in order; empty where nothing matches, and when enough was found before."""
        if self._most <= 0:
            return []
        if os.fstat(opened).st_size <= WHOLE_FILE_BYTES:
            data = plain(os.pread(opened, WHOLE_FILE_BYTES + 1, 0))
            return self._told(_lines(data) if self._context else self._search.candidates(data))
        cut: list[int] = []
        with os.fdopen(os.dup(opened), "rb") as file:
            file.seek(0)
            told = self._told(streamed(file, cut))
        if cut:
            self.cut.append(opened)
        return told

    def _told(self, lines: Iterator[Line]) -> list[Told]:
        told: list[Told] = []
        before: deque[Line] = deque(maxlen=self._context)
        after = 0
        for number, text in lines:
            spans = self._search.spans(text)
            if spans is not None:
                told += [(*line, None) for line in before]
                told.append((number, text, spans))
                before.clear()
                self._most -= 1
                after = self._context
            elif after:
                told.append((number, text, None))
                after -= 1
            else:
                before.append((number, text))
                continue
            self._room -= len(text)
            if (self._most <= 0 and not after) or self._room < 0:
                break
        return told


def _answer(value: Answer) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode("ascii"))


def main() -> None:
    """Answer one request; end by itself even if nobody is there to end it."""
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    request: Request = json.loads(head)
    if hasattr(signal, "alarm"):
        signal.alarm(request["seconds"])
    how = {"literal": request["literal"], "ignore_case": request["ignore_case"]}
    try:
        search = Search(request["pattern"], **how)
    except re.error as fault:
        _answer({"fault": fault.msg, "position": -1 if fault.pos is None else fault.pos})
        return
    except (RecursionError, OverflowError) as fault:
        _answer({"fault": str(fault), "position": 0})
        return
    if request["opened"]:
        show = Show(request, search)
        lines = {str(opened): show.of(opened) for opened in request["opened"]}
        _answer({"lines": lines, "cut": show.cut})
    else:
        scan = Scan(search)
        scan.run(rest.split(b"\0")[:-1])
        _answer({"matched": scan.matched, "unread": scan.unread})


if __name__ == "__main__":
    main()
