"""Declarations line by line, for code that no parser here understands.

Comments and texts are blanked out first. Then patterns are held against the lines outside of all
bodies but those of classes and namespaces: by braces, or in Python and Ruby by indentation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from arc_workbench.code.patterns import CONTAINERS, LEVEL, PATTERNS, Pattern
from arc_workbench.code.signatures import on_one_line, python_head, short_name
from arc_workbench.content import Declaration

LINE_CHARS = 400

_BLOCK = r"/\*.*?(?:\*/|\Z)"
_DOUBLE = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
_SINGLE = r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
_BACKTICK = r"`[^`\\]*(?:\\.[^`\\]*)*(?:`|\Z)"
_CHARACTER = r"'(?:\\.[^'\n]{0,8}|[^'\\\n])'"
_TRIPLE = r'"{3}.*?(?:"{3}|\Z)'
_TRIPLE_SINGLE = r"'{3}.*?(?:'{3}|\Z)"


_LINE = r"//[^\n]*"
_C_LIKE = (_BLOCK, _LINE, _DOUBLE, _SINGLE)
_SCRIPT = (_BLOCK, _LINE, _DOUBLE, _SINGLE, _BACKTICK)
_HASHED = (r"\#[^\n]*", _TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE)
NO_CODE = {
    "go": _SCRIPT,
    "javascript": _SCRIPT,
    "kotlin": (_BLOCK, _LINE, _TRIPLE, _DOUBLE, _CHARACTER),
    "php": (_BLOCK, r"(?://|\#(?!\[))[^\n]*", _DOUBLE, _SINGLE),
    "python": _HASHED,
    "ruby": _HASHED,
    "rust": (_BLOCK, _LINE, _DOUBLE, _CHARACTER),
    "tsx": _SCRIPT,
    "typescript": _SCRIPT,
}
NOT_LINE_ENDS = re.compile(r"[^\n]+")
SIGNS = re.compile(r"[{};]")
LINKAGE = re.compile(r"\s*extern\s*\{")
BODY_ON_THE_LINE = re.compile(r"\{[^{}]*\}?\s*$")


def declarations(language: str, text: str) -> list[Declaration]:
    """What the patterns of the language find; in time linear to the text."""
    code = _no_code(language).sub(_blank, text)
    lines = text.split("\n")
    find = _indented if language in {"python", "ruby"} else _braced
    return list(find(language, lines, code.split("\n")))


@cache
def _no_code(language: str) -> re.Pattern[str]:
    return re.compile("|".join(NO_CODE.get(language, _C_LIKE)), re.DOTALL)


def _blank(found: re.Match[str]) -> str:
    return NOT_LINE_ENDS.sub(lambda part: " " * len(part.group()), found.group())


def _match(language: str, line: str, depth: int) -> tuple[Pattern, str] | None:
    if not line or line.isspace():
        return None
    for pattern in PATTERNS[language]:
        if depth in pattern.depths and (found := pattern.regex.match(line[:LINE_CHARS])):
            return pattern, found["name"]
    return None


def _declaration(
    language: str, lines: list[str], index: int, kind: str, name: str, depth: int
) -> Declaration:
    head = lines[index][:LINE_CHARS]
    if language == "python":
        head = python_head(lines, index)
    return Declaration(
        line=index + 1,
        kind=kind,
        name=short_name(name),
        signature=on_one_line(BODY_ON_THE_LINE.sub("", head)),
        depth=depth,
    )


# ---- by indentation ------------------------------------------------------------------------------


def _indented(language: str, lines: list[str], code: list[str]) -> Iterator[Declaration]:
    open_class: int | None = None
    members: int | None = None
    for index, line in enumerate(code):
        bare = line.lstrip()
        if not bare:
            continue
        indent = len(line) - len(bare)
        if open_class is not None and indent <= open_class and not bare.startswith((")", "]", "}")):
            open_class = members = None
        if open_class is not None and members is None and indent > open_class:
            members = indent
        inside = open_class is not None
        if inside and indent != members:
            continue
        found = _match(language, line, int(inside))
        if found is None or (not inside and indent and language == "python"):
            continue
        pattern, name = found
        yield _declaration(language, lines, index, pattern.kind, name, int(inside))
        if not inside and pattern.kind in CONTAINERS:
            open_class = indent


# ---- by braces -----------------------------------------------------------------------------------


@dataclass
class _Braces:
    """How deep the current line lies, and in which bodies that are looked into."""

    depth: int = 0
    bodies: list[tuple[int, bool]] = field(default_factory=list[tuple[int, bool]])
    announced: bool | None = None

    @property
    def listening(self) -> bool:
        """Whether declarations here are listed."""
        return self.depth == (self.bodies[-1][0] if self.bodies else 0)

    @property
    def inside(self) -> int:
        """1 in the body of a class."""
        return int(any(is_class for _, is_class in self.bodies[-1:]))

    def announce(self, kind: str) -> None:
        """The next brace opens the body of a class or a namespace."""
        if kind in LEVEL or (kind in CONTAINERS and not self.inside):
            self.announced = kind not in LEVEL

    def pass_over(self, line: str) -> None:
        """Count the braces of a line."""
        for sign in SIGNS.finditer(line):
            match sign.group():
                case "{":
                    self.depth += 1
                    if self.announced is not None:
                        self.bodies.append((self.depth, self.announced))
                    self.announced = None
                case "}":
                    self.depth = max(0, self.depth - 1)
                    while self.bodies and self.bodies[-1][0] > self.depth:
                        self.bodies.pop()
                case _:
                    self.announced = None


def _braced(language: str, lines: list[str], code: list[str]) -> Iterator[Declaration]:
    braces = _Braces()
    for index, line in enumerate(code):
        if braces.listening and (found := _match(language, line, braces.inside)):
            pattern, name = found
            yield _declaration(language, lines, index, pattern.kind, name, braces.inside)
            braces.announce(pattern.kind)
        elif braces.listening and LINKAGE.match(line):
            braces.announce("namespace")
        braces.pass_over(line)
