"""The declarations of a Python file, by the standard library's parser in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

from arc_workbench.code import parsing
from arc_workbench.code.signatures import on_one_line, python_head
from arc_workbench.content import Declaration

MAX_CHARS = 1 << 20
MOST_SECONDS = 6.0  # the process ends itself after less work; this is for one that has to wait
LINE_CHARS = 400


def declarations(text: str, seconds: float = MOST_SECONDS) -> list[Declaration] | None:
    """Classes with one nested level, functions and constants; `None` if it cannot be parsed.

    That includes code that is made to be slow.
    """
    if len(text) > MAX_CHARS:
        return None
    found = _parsed(text, seconds)
    if found is None:
        return None
    lines = text.split("\n")
    return [_declaration(lines, one) for one in found]


def _parsed(text: str, seconds: float) -> list[parsing.Declared] | None:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(Path(parsing.__file__))],
            input=text.encode("utf-8", "surrogatepass"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    said = done.stdout.decode("utf-8", "surrogatepass")
    return [_read(line) for line in said.split("\n") if line]


def _read(line: str) -> parsing.Declared:
    at, kind, name, depth = line.split("\t")
    return int(at), kind, name, int(depth)


def _declaration(lines: list[str], one: parsing.Declared) -> Declaration:
    line, kind, name, depth = one
    head = lines[line - 1][:LINE_CHARS]
    if kind not in {"constant", "type"}:
        head = python_head(lines, line - 1)
    return Declaration(
        line=line, kind=kind, name=name or _alias(head), signature=on_one_line(head), depth=depth
    )


def _alias(line: str) -> str:
    found = re.match(r"\s*type\s+(\w+)", line)
    return found[1] if found else ""
