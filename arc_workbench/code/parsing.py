"""The program that parses Python code, in a process of its own that can be killed.

The parser can take for ever or fill all memory, does not let go of the interpreter meanwhile, and
prints warnings. This file is run by its path, without the package, and imports only what Python
has built in: every module of the standard library would cost as much as parsing a small file. It
takes code in UTF-8 on standard input and answers a line for each declaration; `python.py` is its
other end.
"""

import _ast as ast
import gc
import sys

if sys.platform != "win32":
    import resource

CPU_SECONDS = 2
MAX_MEMORY_BYTES = 1 << 30
ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST

Declared = tuple[int, str, str, int]  # line, kind, name ("" if the line says it), depth
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def declared(text: str) -> list[Declared] | None:
    """Classes with one nested level, functions and constants; `None` if it cannot be parsed."""
    try:
        module: object = compile(text, "", "exec", ONLY_TREE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assert isinstance(module, ast.Module)
    found: list[Declared] = []
    for node in _statements(module.body):
        found += _declared(node, 0)
        if isinstance(node, ast.ClassDef):
            for member in _statements(node.body):
                found += _declared(member, 1)
    return found


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements in order, those under `if`, `try` and `with` as if they stood outside."""
    found: list[ast.stmt] = []
    waiting = body[::-1]
    while waiting:
        node = waiting.pop()
        inner = _inner(node)
        if inner:
            waiting += inner[::-1]
        else:
            found.append(node)
    return found


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
            plain = name.lstrip("_")
            capital = len(plain) > 1 and plain.isascii() and plain.isupper()
            return name if capital and plain[0].isalpha() else ""
        case _:
            return ""


def _limit() -> None:
    if sys.platform == "win32":
        return
    for what, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(what, (most, most))
        except (OSError, ValueError):  # somebody set less
            continue


def main() -> None:
    """Answer one request; end by itself when it is too much."""
    _limit()
    gc.disable()  # the tree has no circles, and looking for some takes a third of the time
    found = declared(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    if found is None:
        sys.exit(1)
    said = "".join(f"{line}\t{kind}\t{name}\t{depth}\n" for line, kind, name, depth in found)
    sys.stdout.buffer.write(said.encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    main()
