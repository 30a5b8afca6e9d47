"""Which names a project's `.gitignore` files leave out, read without running git.

Patterns become the globs of this package, whose matching is bounded; one that they cannot say
leaves nothing out. What is tracked although a pattern names it is left out too: the index of git
is not read.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import anchors, system
from arc_workbench.workspace.globs import Check, Glob, compile_globs

NAME = ".gitignore"
MAX_BYTES = 256 << 10
MAX_RULES = 2000

_SPECIAL = frozenset("*?[{}")

Test = tuple[bool, bool, Callable[[str], object]]


@dataclass(frozen=True)
class Rule:
    """One pattern; with `keeps` (a leading `!`) what it fits is not left out."""

    glob: Glob
    keeps: bool
    folders_only: bool


@dataclass(frozen=True)
class Source:
    """The rules of one file; a folder is held against them without its first `cut` characters,
    after `lead`."""

    rules: tuple[Rule, ...]
    cut: int = 0
    lead: str = ""

    def tests(self, prefix: str, check: Check) -> Iterator[Test]:
        """What can fit a name in the folder `prefix`, the strongest first."""
        folder = self.lead + prefix[self.cut :]
        for rule in reversed(self.rules):
            if rule.glob.leads_into(folder, check):
                yield rule.keeps, rule.folders_only, rule.glob.in_folder(folder, check)


def tests_in(sources: Sequence[Source], prefix: str, check: Check) -> tuple[Test, ...]:
    """What says of names in a folder whether they are left out; the last source is strongest."""
    return tuple(test for source in reversed(sources) for test in source.tests(prefix, check))


def leaves_out(tests: Sequence[Test], name: str, *, is_folder: bool) -> bool:
    """Whether a name is left out."""
    for keeps, folders_only, fits in tests:
        if (is_folder or not folders_only) and fits(name):
            return not keeps
    return False


# ---- files --------------------------------------------------------------------------------------


def source_of(path: Path, *, cut: int = 0, lead: str = "") -> tuple[Source, ...]:
    """The rules in a file; none where it is a link, too large, or cannot be read."""
    rules = tuple(parsed(_read(path)))
    return (Source(rules, cut, lead),) if rules else ()


def above(root: Path) -> tuple[Source, ...]:
    """The rules for `root` that its repository has elsewhere than in the `.gitignore`s below it."""
    top = next((path for path in (root, *root.parents) if (path / ".git").exists()), None)
    if top is None:
        return ()
    way = root.relative_to(top).parts
    lead = "".join(f"{part}/" for part in way)
    sources = source_of(top / ".git" / "info" / "exclude", lead=lead)
    for depth in range(len(way)):
        folder = top.joinpath(*way[:depth])
        below = "".join(f"{part}/" for part in way[depth:])
        sources += source_of(folder / NAME, lead=below)
    return sources


def _read(path: Path) -> str:
    with suppress(OSError), anchors.opened(path) as opened:
        facts = system.facts(opened)
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES:
            return os.fsdecode(system.read_at(opened, MAX_BYTES, 0))
    return ""


# ---- patterns -----------------------------------------------------------------------------------


def parsed(text: str) -> Iterator[Rule]:
    """The rules that a text holds, in its order."""
    for line in text.removeprefix("\ufeff").split("\n")[:MAX_RULES]:
        pattern = _without_blanks(line.removesuffix("\r"))
        if not pattern or pattern.startswith("#"):
            continue
        keeps = pattern.startswith("!")
        glob = _glob(pattern[keeps:].removesuffix("/"))
        if glob is not None:
            yield Rule(glob, keeps, pattern.endswith("/"))


def _without_blanks(line: str) -> str:
    """The line without the blanks at its end, unless a backslash protects the first of them."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and len(kept) < len(line) else kept


def _glob(pattern: str) -> Glob | None:
    anchored = "/" in pattern
    plain = _translated(pattern.removeprefix("/"))
    if plain is None or not {"", ".", ".."}.isdisjoint(plain.split("/")):
        return None  # no name has such parts
    if plain.endswith("/**"):  # what is in the folder, not the folder itself
        plain += "/*"
    try:
        if not anchored:
            return compile_globs((plain,), anywhere=True)
        return compile_globs((plain,))
    except ToolError:
        return None


def _translated(pattern: str) -> str | None:
    """The pattern as our globs write it; None for what they cannot say."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        char, end = pattern[at], at + 1
        if char == "\\":
            if end == len(pattern):
                return None
            parts.append(_literal(pattern[end]))
            end += 1
        elif char == "[":
            end = pattern.find("]", at + 2 + pattern.startswith(("!", "^"), at + 1)) + 1
            inside = pattern[at + 1 : end - 1]
            if not end or not {"\\", "/", "{", "}"}.isdisjoint(inside) or "[:" in inside:
                return None
            parts.append(f"[!{inside[1:]}]" if inside.startswith("^") else f"[{inside}]")
        else:
            parts.append(_literal(char) if char in "{}" else char)
        at = end
    return "".join(parts)


def _literal(char: str) -> str:
    return f"[{char}]" if char in _SPECIAL else char
