"""ripgrep: where the program is, how it is asked, and what its answers mean.

First it names the files in which something matches; then it shows lines of those that are wanted,
which are handed to it open, so that it never goes through a name that somebody may have changed.
"""

import base64
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, TypedDict

from arc_workbench.errors import ToolError
from arc_workbench.workspace.children import MAX_OUTPUT_BYTES, Child, Outcome
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.findings import Query, RawLine, Span

PROGRAM = "ARC_RIPGREP"
MAX_ARGUMENT_BYTES = 500_000
MAX_PIECES = 100
MAX_SHOWN_BYTES = 16 << 20

Dialect = Literal["default", "pcre2"]

_QUIET = ("--no-config", "--color=never", "--no-mmap", "--crlf")
_NAMES = ("--binary", "--count", "--with-filename", "--null")
_EVERYTHING = ("--no-ignore", "--hidden", "--no-follow", "-g", "!.git/", "-g", "!node_modules/")
_NEEDS_PCRE2 = (b"look-around", b"backreferences are not supported")
_FAULT_OF_FILE = re.compile(rb"(?:rg: )?(.*?): (PCRE2: error matching|.*\(os error \d+\))")
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x[a-zA-Z]*\)")
_NOT_VERBOSE = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*x")
_OPEN_FILES = "/proc/self/fd" if Path("/proc/self/fd").is_dir() else "/dev/fd"


class Broken(Exception):
    """The program is not there, or does not do what it should; somebody else must answer."""


def program() -> str | None:
    """`ARC_RIPGREP` (`off` for none), `rg` on PATH, or the one installed beside the interpreter."""
    wished = os.environ.get(PROGRAM, "")
    if wished:
        return None if wished == "off" else wished
    beside = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    found = shutil.which("rg") or shutil.which("rg", path=beside)
    return found if found and Path(found).is_absolute() else None


@dataclass(frozen=True)
class Named:
    """Files in which something matches, and those that could not be searched, and why.

    With each file goes how many of its lines match: at least 1, and no more than can be shown.
    """

    paths: tuple[tuple[str, int], ...]
    unread: tuple[tuple[str, str], ...] = ()


class Ripgrep:
    """One query to one program, in the dialect that can say it."""

    def __init__(self, command: str, query: Query, deadline: Deadline) -> None:
        self._command = command
        self._query = query
        self._deadline = deadline
        self.dialect: Dialect = "default"
        self.cut: set[int] = set()

    @property
    def name(self) -> str:
        """What answered: `ripgrep`, or `ripgrep (PCRE2)`."""
        return "ripgrep" if self.dialect == "default" else "ripgrep (PCRE2)"

    # ---- which files ----------------------------------------------------------------------------

    def start(self, folder: Path) -> Child:
        """Begin to look through everything below `folder`; see `finish`."""
        return self._child([*_EVERYTHING, *self._counting()], ["./"], cwd=folder)

    def finish(self, child: Child, folder: Path) -> Named:
        """The answer of `start`, in the other dialect if the first one cannot say it."""
        outcome = child.outcome()
        if self._must_change(outcome):
            with self.start(folder) as again:
                outcome = again.outcome()
        return self._named(outcome)

    def among(self, folder: Path, files: Iterable[str]) -> Named:
        """Those of the files, named below `folder` or absolute, in which something matches."""
        answers = [self._among(folder, some) for some in _in_portions(files)]
        return Named(
            tuple(chain.from_iterable(answer.paths for answer in answers)),
            tuple(chain.from_iterable(answer.unread for answer in answers)),
        )

    def _among(self, folder: Path, files: Sequence[str]) -> Named:
        while True:
            with self._child(self._counting(), files, cwd=folder) as child:
                outcome = child.outcome()
            if not self._must_change(outcome):
                return self._named(outcome)

    def _counting(self) -> Sequence[str]:
        return (*_NAMES, f"--max-count={self._query.limit + 1}")

    def _named(self, outcome: Outcome) -> Named:
        unread = self._checked(outcome)
        found = _COUNTED.findall(outcome.output)
        paths = ((os.fsdecode(path).removeprefix("./"), int(count)) for path, count in found)
        return Named(tuple(paths), unread)

    # ---- which lines ----------------------------------------------------------------------------

    def lines(self, opened: Sequence[int], most: int) -> dict[int, list[RawLine]]:
        """For each open file that matches, its first `most` matching lines with their context."""
        options = ["--json", "--text", "-j2", f"--max-count={most}"]
        if self._query.context:
            options.append(f"--context={self._query.context}")
        files = [f"{_OPEN_FILES}/{number}" for number in opened]
        with self._child(options, files, lent=opened, most_bytes=MAX_SHOWN_BYTES) as child:
            outcome = child.outcome()
        if not outcome.flooded:
            self._checked(outcome)
        elif len(opened) > 1:
            alone = [self.lines([number], most) for number in opened]
            return {number: lines for one in alone for number, lines in one.items()}
        else:
            self.cut.update(opened)
        found: dict[int, list[RawLine]] = {}
        told = outcome.output.rpartition(b"\n")[0]
        for number, line in _events(told, with_context=self._query.context > 0):
            found.setdefault(number, []).append(line)
        return found

    # ---- asking ---------------------------------------------------------------------------------

    def _child(
        self,
        options: Sequence[str],
        files: Sequence[str],
        *,
        cwd: Path | None = None,
        lent: Sequence[int] = (),
        most_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Child:
        query = self._query
        how = ["--fixed-strings"] if query.literal else []
        how += ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
        how += ["--pcre2"] if self.dialect == "pcre2" else []
        command = [self._command, *_QUIET, *how, *options, "-e", _closed(query), "--", *files]
        try:
            return Child(command, self._deadline, cwd=cwd, lent=lent, most_bytes=most_bytes)
        except OSError as fault:
            raise Broken(f"{self._command} could not be started") from fault

    def _must_change(self, outcome: Outcome) -> bool:
        """Whether only the other dialect can say this; it is taken from now on."""
        if self.dialect == "pcre2" or outcome.code != 2:
            return False
        if not any(sign in outcome.errors for sign in _NEEDS_PCRE2):
            return False
        self.dialect = "pcre2"
        return True

    def _checked(self, outcome: Outcome) -> tuple[tuple[str, str], ...]:
        """Files that could not be read; raises for a bad expression, and `Broken` for the rest."""
        if outcome.code in {0, 1} and not outcome.errors:
            return ()
        if outcome.code != 2 or b"PCRE2 is not available" in outcome.errors:
            raise Broken(f"{self._command} ended with {outcome.code}")
        errors = outcome.errors.decode("utf-8", "replace")
        _require_valid(self._query.text, errors)
        found = [_FAULT_OF_FILE.match(line) for line in outcome.errors.splitlines()]
        faults = [one for one in found if one is not None]
        if not faults:
            raise Broken(f"{self._command} failed")
        return tuple(_unread(fault) for fault in faults)


def _unread(fault: re.Match[bytes]) -> tuple[str, str]:
    slow = fault[2].startswith(b"PCRE2")
    path = os.fsdecode(fault[1]).removeprefix("./")
    return path, "the pattern takes too long" if slow else "unreadable"


def _closed(query: Query) -> str:
    """The expression, so that a comment at its end does not go on into what is put behind it."""
    text = query.text
    if query.literal or "#" not in text or not _VERBOSE.match(text) or _NOT_VERBOSE.search(text):
        return text
    return f"{text}\n"


def _in_portions(files: Iterable[str]) -> Iterator[list[str]]:
    """The names in lists that a command line can hold; none looks like an option, or like `-`."""
    some: list[str] = []
    size = 0
    for file in files:
        some.append(file if file.startswith("/") else f"./{file}")
        size += len(os.fsencode(file)) + 18
        if size > MAX_ARGUMENT_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


# ---- expressions that are none ------------------------------------------------------------------

_PARSE = re.compile(
    r"regex parse error:\n {4}(?P<shown>.*)\n {4}(?P<lead> *)\^+\n(?:.*\n)*?error: (?P<why>.*)"
)
_COMPILE = re.compile(r"PCRE2: error compiling pattern at offset (\d+): (.*)")
_TOO_LARGE = re.compile(r"[Cc]ompiled regex exceeds size limit.*")


def _require_valid(text: str, errors: str) -> None:
    if found := _PARSE.search(errors):
        wrapped = len("(?:") if found["shown"] == f"(?:{text})" else 0
        raise invalid(text, found["why"], len(found["lead"]) - wrapped)
    if found := _COMPILE.search(errors):
        raise invalid(text, found[2], min(int(found[1]), len(text)))
    if "regex parse error" in errors:
        raise invalid(text, errors.strip().splitlines()[-1].removeprefix("error: "), -1)
    if "is not allowed in a regex" in errors:
        raise ToolError(f"{text!r} asks for a line break, but lines are searched one by one.")
    if _TOO_LARGE.search(errors):
        raise ToolError(f"{text!r} is too large an expression. Use smaller repetitions.")


def invalid(text: str, why: str, position: int) -> ToolError:
    """The error for an expression that is none; a position that is not in it is found again."""
    if position < 0:
        position = len(text)
        try:
            re.compile(text)
        except re.error as fault:
            position = fault.pos if fault.pos is not None else position
        except (RecursionError, OverflowError):
            position = len(text)
    return ToolError(
        f"{text!r} is not a valid regular expression: {why} at position {position}. "
        "Correct it, or escape what is meant literally."
    )


# ---- reading its answers ------------------------------------------------------------------------

_ABOUT_FILES = (b'{"type":"begin"', b'{"type":"end"')


class _Said(TypedDict, total=False):
    text: str
    bytes: str


class _Piece(TypedDict):
    start: int
    end: int


class _Data(TypedDict):
    path: _Said
    lines: _Said
    line_number: int
    submatches: list[_Piece]


class _Event(TypedDict):
    type: str
    data: _Data


def _events(output: bytes, *, with_context: bool) -> Iterator[tuple[int, RawLine]]:
    """Lines by file. ripgrep 15 calls some lines of context matches, in which nothing matches."""
    for written in output.splitlines():
        if written.startswith(_ABOUT_FILES):
            continue
        event: _Event = json.loads(written)
        if event["type"] in {"match", "context"}:
            data = event["data"]
            opened = int(data["path"].get("text", "").rpartition("/")[2])
            empty = with_context and not data["submatches"]
            line = _line(data, matched=event["type"] == "match" and not empty)
            if line is not None:
                yield opened, line


def _line(data: _Data, *, matched: bool) -> RawLine | None:
    """The line without its end; None for a match of nothing but the end."""
    raw = _bytes(data["lines"]).removesuffix(b"\n").removesuffix(b"\r")
    text = raw.decode("utf-8", "replace")
    if not matched:
        return RawLine(data["line_number"], text, None)
    pieces = data["submatches"][:MAX_PIECES]
    if pieces and all(len(raw) <= piece["start"] < piece["end"] for piece in pieces):
        return None
    return RawLine(data["line_number"], text, tuple(_spans(raw, text, pieces)))


def _spans(raw: bytes, text: str, pieces: Iterable[_Piece]) -> Iterator[Span]:
    plain = len(raw) == len(text)
    for piece in pieces:
        start, end = piece["start"], min(piece["end"], len(raw))
        if start >= end:
            continue
        if plain:
            yield start, end
        else:
            first = len(raw[:start].decode("utf-8", "replace"))
            yield first, first + len(raw[start:end].decode("utf-8", "replace"))


def _bytes(said: _Said) -> bytes:
    if "text" in said:
        return said["text"].encode("utf-8")
    return base64.b64decode(said.get("bytes", ""))
