"""The declarations of a Python file, by the standard library's parser."""

import ast
import re
from collections.abc import Iterable, Iterator

from arc_workbench.code.signatures import on_one_line, python_head
from arc_workbench.content import Declaration

MAX_CHARS = 1 << 20  # the parser holds the interpreter: about a quarter of a second for this much

CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]+")
ODD_ESCAPE = re.compile(r"\\(?=[^\n'\"N])")

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def declarations(text: str) -> list[Declaration] | None:
    """Classes with one nested level, functions and constants; `None` if it cannot be parsed."""
    if len(text) > MAX_CHARS:
        return None
    try:
        module = ast.parse(_without_warnings(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = text.split("\n")
    found: list[Declaration] = []
    for node in _statements(module.body):
        found += _declared(node, lines, 0)
        if isinstance(node, ast.ClassDef):
            for member in _statements(node.body):
                found += _declared(member, lines, 1)
    return found


def _without_warnings(text: str) -> str:
    """The same code for an outline, without the escapes that make the parser print warnings."""
    if "\\" not in text:
        return text
    return ODD_ESCAPE.sub("_", text.replace("\\\\", "__"))


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


def _declared(node: ast.stmt, lines: list[str], depth: int) -> list[Declaration]:
    if isinstance(node, Definition):
        kind = "class" if isinstance(node, ast.ClassDef) else ("function", "method")[depth]
        head = python_head(lines, node.lineno - 1)
        return [_declaration(node.lineno, kind, node.name, head, depth)]
    line = lines[node.lineno - 1]
    if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
        return [_declaration(node.lineno, "type", _alias(line), line, depth)]
    if depth == 0 and (name := _constant(node)):
        return [_declaration(node.lineno, "constant", name, line, depth)]
    return []


def _declaration(line: int, kind: str, name: str, head: str, depth: int) -> Declaration:
    return Declaration(line=line, kind=kind, name=name, signature=on_one_line(head), depth=depth)


def _constant(node: ast.stmt) -> str:
    """The name in capitals that this statement gives a value, if it is one."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name if CONSTANT.fullmatch(name) else ""
        case _:
            return ""


def _alias(line: str) -> str:
    found = re.match(r"\s*type\s+(\w+)", line)
    return found[1] if found else ""
