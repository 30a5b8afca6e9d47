"""Looking for text in files: a literal or a regular expression, line by line.

The matching runs in a process of its own (`matcher.py`), so that a pattern that never ends can be
ended: by the deadline, or at once by a person.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import matcher
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.walking import Skip, SkipReason

MAX_CONTEXT_LINES = 50
MAX_LINE_CHARS = 2000
MAX_CHARS = 200_000
POLL_SECONDS = 0.05

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_REASONS: dict[str, SkipReason] = {
    "binary": "binary",
    "unreadable": "unreadable",
    "not a regular file": "not a regular file",
    "very long lines": "very long lines",
}


@dataclass(frozen=True)
class Line:
    """A line of a block; `cut` when it is not shown whole."""

    number: int
    text: str
    matched: bool
    cut: bool


@dataclass(frozen=True)
class Block:
    """Consecutive lines of one file: matches and their context."""

    path: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Hits:
    """What a search found; `truncated` when there is more."""

    blocks: tuple[Block, ...]
    count: int
    files_searched: int
    truncated: bool
    skipped: tuple[Skip, ...]


@dataclass(frozen=True)
class Query:
    """What to look for, and how much of it to give back."""

    text: str
    literal: bool
    ignore_case: bool
    context: int
    limit: int


def search(files: Iterable[tuple[str, Path]], query: Query, deadline: Deadline) -> Hits:
    """Matching lines of the named files, in their order.

    Raises `ToolError` for an invalid expression, at the deadline, and when a person interrupts.
    """
    named = list(files)
    _require_usable(query)
    answers = _ask(_request([path for _, path in named], query, deadline), deadline)
    blocks: list[Block] = []
    done: matcher.Done | None = None
    for answer in answers:
        if "fault" in answer:
            raise ToolError(
                f"{query.text!r} is not a valid regular expression: {answer['fault']}. "
                "Correct it, or escape what is meant literally."
            )
        if "block" in answer:
            blocks.append(_block(answer["block"], named))
        done = answer.get("done", done)
    if done is None:
        raise ToolError("The search ended early, without a result. Narrow the path or the pattern.")
    return Hits(
        blocks=tuple(blocks),
        count=done["matches"],
        files_searched=done["searched"],
        truncated=done["truncated"],
        skipped=tuple(Skip(named[index][0], _REASONS[why]) for index, why in done["skipped"]),
    )


def _require_usable(query: Query) -> None:
    if not query.text:
        raise ToolError("The pattern is empty; say what to look for.")
    if "\n" in query.text:
        raise ToolError("The pattern holds a line break, but lines are searched one by one.")


def _request(paths: list[Path], query: Query, deadline: Deadline) -> matcher.Request:
    return {
        "pattern": query.text,
        "literal": query.literal or not _SPECIAL.search(query.text),
        "ignore_case": query.ignore_case,
        "context": min(query.context, MAX_CONTEXT_LINES),
        "limit": query.limit,
        "max_chars": MAX_CHARS,
        "max_line_chars": MAX_LINE_CHARS,
        "seconds": int(deadline.seconds) + 2,
        "files": [os.fsencode(path).decode("latin-1") for path in paths],
    }


def _ask(request: matcher.Request, deadline: Deadline) -> list[matcher.Answer]:
    """The answers of a fresh process, which never outlives this call."""
    command = [sys.executable, "-I", "-S", str(Path(matcher.__file__))]
    # The request is in a file: a pipe that is filled while a time limit runs can lose its rest.
    with tempfile.TemporaryFile() as question:
        question.write(json.dumps(request).encode("ascii"))
        question.seek(0)
        with subprocess.Popen(
            command,
            stdin=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                output = _output(process, deadline)
            finally:
                process.kill()
    return [] if process.returncode else [json.loads(line) for line in output.splitlines()]


def _output(process: subprocess.Popen[bytes], deadline: Deadline) -> bytes:
    while True:
        with suppress(subprocess.TimeoutExpired):
            output, _ = process.communicate(timeout=POLL_SECONDS)
            return output
        deadline.check()


def _block(found: matcher.Found, named: list[tuple[str, Path]]) -> Block:
    lines = tuple(Line(**line) for line in found["lines"])
    return Block(named[found["file"]][0], lines)
