"""The program that parses Python code, in a process of its own that can be killed.

The parser can take for ever or fill all memory, does not let go of the interpreter meanwhile, and
prints warnings. This file is run by its path, without the package, so it imports only the standard
library. It takes code in UTF-8 on standard input; `python.py` is its other end.
"""

import ast
import json
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

if sys.platform != "win32":
    import resource

CPU_SECONDS = 1.5
MAX_MEMORY_BYTES = 1 << 30

CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]+")

Declared = tuple[int, str, str, int]  # line, kind, name ("" if the line says it), depth
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def declared(text: str) -> list[Declared] | None:
    """Classes with one nested level, functions and constants; `None` if it cannot be parsed."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: list[Declared] = []
    for node in _statements(module.body):
        found += _declared(node, 0)
        if isinstance(node, ast.ClassDef):
            for member in _statements(node.body):
                found += _declared(member, 1)
    return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in order, those under `if`, `try` and `with` as if they stood outside."""
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        inner = _inner(node)
        if inner:
            waiting += inner[::-1]
        else:
            yield node


def _inner(node: ast.stmt) -> list[ast.stmt]:
    match node:
        case ast.If():
            return [*node.body, *node.orelse]
        case ast.With():
            return node.body
        case ast.Try() | ast.TryStar():
            handled = (statement for handler in node.handlers for statement in handler.body)
            return [*node.body, *handled, *node.orelse, *node.finalbody]
        case _:
            return []


def _declared(node: ast.stmt, depth: int) -> list[Declared]:
    if isinstance(node, Definition):
        kind = "class" if isinstance(node, ast.ClassDef) else ("function", "method")[depth]
        return [(node.lineno, kind, node.name, depth)]
    if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
        return [(node.lineno, "type", "", depth)]
    if depth == 0 and (name := _constant(node)):
        return [(node.lineno, "constant", name, depth)]
    return []


def _constant(node: ast.stmt) -> str:
    """The name in capitals that this statement gives a value, if it is one."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name if CONSTANT.fullmatch(name) else ""
        case _:
            return ""


def _limit() -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # nobody handles it, so it ends this
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Answer one request; end by itself when it is too much."""
    _limit()
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    sys.stdout.write(json.dumps(declared(text)))


if __name__ == "__main__":
    main()
