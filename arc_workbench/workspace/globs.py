"""Glob patterns on `/`-separated names: `*`, `?`, `[…]`, `{a,b}` and `**`, dotfiles included.

Reading a pattern takes time in proportion to its length, which is bounded. Matching takes at most
the product of pattern and name, and looks meanwhile whether it shall stop.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import methodcaller

from arc_workbench.errors import ToolError
from arc_workbench.workspace.paths import MAX_NAME_BYTES

MAX_PATTERN_CHARS = 4096
MAX_ALTERNATIVES = 1000
MAX_EXPANDED_CHARS = 65_536

_BRACES = re.compile(r"\[[{}]\]|\{((?:\[[{}]\]|[^{}])*+)\}")  # the first kind is a plain brace
_BRACE = re.compile(r"\[[{}]\]|[{}]")
_STARS = re.compile(r"\*+")
_NOTHING = "(?!)"
_ENDING = re.compile(r"\(\?s:\.\*((?:\w|\\[.\-])+)\)\\Z")  # how `_part` puts *.py

Check = Callable[[], None]
Part = re.Pattern[str] | None


def _never() -> None:
    """Stands for a look at the clock where nobody waits."""


def _always(_: str) -> object:
    return True


def _one_of(patterns: list[re.Pattern[str]]) -> Callable[[str], object]:
    if len(patterns) == 1 and (ending := _ENDING.fullmatch(patterns[0].pattern)):
        return methodcaller("endswith", ending[1].replace("\\", ""))
    if len(patterns) == 1:
        return patterns[0].match
    return lambda name: any(pattern.match(name) for pattern in patterns)


def _could_lead(pattern: tuple[Part, ...], folders: list[str]) -> bool:
    """Whether a pattern that fits something in these folders is imaginable; its last is a file."""
    for at, folder in enumerate(folders):
        if at < len(pattern) and pattern[at] is None:
            return True
        part = pattern[at] if at < len(pattern) - 1 else None
        if part is None or not part.match(folder):
            return False
    return True


@dataclass(frozen=True)
class Glob:
    """The alternatives of one or more patterns, each a sequence of parts; None stands for `**`."""

    alternatives: tuple[tuple[Part, ...], ...]

    @cached_property
    def anywhere(self) -> Callable[[str], object] | None:
        """What says whether a file's own name fits, where its folder does not matter."""
        lasts = [one[-1] for one in self.alternatives if len(one) == 2 and one[0] is None]
        if len(lasts) < len(self.alternatives) or None in lasts:
            return None
        return _one_of([last for last in lasts if last is not None])

    def matches(self, name: str, check: Check = _never) -> bool:
        """Whether a relative name fits one of the alternatives; `check` may raise to end it."""
        parts = name.split("/")
        return any(_fits(alternative, parts, check) for alternative in self.alternatives)

    def in_folder(self, folder: str, check: Check = _never) -> Callable[[str], object]:
        """What says of a file's own name whether it fits in `folder`, which is "" or ends in /."""
        if self.anywhere is not None:
            return self.anywhere
        parts = folder.split("/")[:-1]
        lasts: list[Part] = []
        for alternative in self.alternatives:
            *before, last = alternative
            if last is None and _fits(alternative, parts, check):
                return _always
            if last is not None and _fits(tuple(before), parts, check):
                lasts.append(last)
            elif last is None:  # what stands before ** may be the file itself
                lasts += self._before_stars(before, parts, check)
        return _one_of([last for last in lasts if last is not None])

    def _before_stars(self, before: list[Part], parts: list[str], check: Check) -> list[Part]:
        while before and before[-1] is None:
            before = before[:-1]
        return before[-1:] if before and _fits(tuple(before[:-1]), parts, check) else []

    def leads_into(self, folder: str, check: Check = _never) -> bool:
        """Whether a name below `folder`, which ends in /, could fit at all."""
        if self.anywhere is not None:
            return True
        parts = folder.split("/")[:-1]
        check()
        return any(_could_lead(alternative, parts) for alternative in self.alternatives)


def compile_globs(
    patterns: tuple[str, ...], *, anywhere: bool = False, check: Check = _never
) -> Glob:
    """The patterns as one. With `anywhere`, one without `/` fits the last part of any name.

    Raises `ToolError` for a pattern that is empty, leaves the folder or is too long, and whatever
    `check` raises, which is called often.
    """
    if not patterns:
        raise ToolError("No pattern was given; name at least one, such as **/*.py.")
    plain = _expanded(patterns)
    return Glob(tuple(_parts(simple, anywhere=anywhere, check=check) for simple in plain))


def _parts(pattern: str, *, anywhere: bool, check: Check) -> tuple[Part, ...]:
    _require_closed_brackets(pattern)
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ToolError(f"{pattern}: a pattern is relative to path; set path to look elsewhere.")
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if not parts:
        raise ToolError("The pattern is empty; give one such as **/*.py.")
    if pattern.endswith("/"):
        parts.append("**")
    if anywhere and len(parts) == 1:
        parts.insert(0, "**")
    return tuple(_checked(part, check) for part in parts)


def _checked(part: str, check: Check) -> Part:
    check()
    return None if part == "**" else _part(part)


@lru_cache(maxsize=4096)
def _part(pattern: str) -> re.Pattern[str]:
    """One part as an expression that gives back nothing of what a star took, so never backtracks.

    That loses no match: when the piece after a star fits, the first place where it does is as good
    as any for what follows; only the last piece must stand at the end.
    """
    tokens = list(_tokens(pattern))
    if sum(not token.startswith("*") for token in tokens) > MAX_NAME_BYTES:
        return re.compile(_NOTHING)  # no name has room for so many characters
    first, *others = _pieces(tokens)
    if not others:
        return re.compile(f"(?s:{first})\\Z")
    *inner, last = others
    held = "".join(f"(?>.*?{piece})" for piece in inner)
    return re.compile(f"(?s:{first}{held}.*{last})\\Z")


def _pieces(tokens: list[str]) -> list[str]:
    """What stands before, between and after the stars, as expressions of a fixed length."""
    pieces = [""]
    for token in tokens:
        if token.startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += _translated(token)
    return pieces


def _tokens(pattern: str) -> Iterator[str]:
    """Runs of stars, whole brackets, and single characters; a `[` that nothing closes is one."""
    at, last_close = 0, pattern.rfind("]")
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "*" and (stars := _STARS.match(pattern, at)):
            end = stars.end()
        elif pattern[at] == "[" and at < last_close:
            negated = pattern.startswith("!", at + 1)
            close = pattern.find("]", at + 2 + negated)
            end = close + 1 if close > 0 else end
        yield pattern[at:end]
        at = end


def _translated(token: str) -> str:
    if len(token) == 1:
        return "." if token == "?" else re.escape(token)
    return fnmatch.translate(token).removeprefix("(?s:").removesuffix(")\\Z")


def _fits(pattern: tuple[Part, ...], parts: list[str], check: Check) -> bool:
    """The usual two-pointer match: only the last `**` is ever reconsidered."""
    check()
    at = name = 0
    star, resume = -1, 0
    while name < len(parts):
        part = pattern[at] if at < len(pattern) else None
        if at < len(pattern) and part is None:
            star, resume = at, name
            at += 1
        elif part is not None and part.match(parts[name]):
            at, name = at + 1, name + 1
        elif star >= 0:
            check()
            resume += 1
            at, name = star + 1, resume
        else:
            return False
    return all(part is None for part in pattern[at:])


def _expanded(patterns: tuple[str, ...]) -> list[str]:
    """The patterns without braces, once for each alternative."""
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise ToolError(
                f"The pattern has {len(pattern)} characters, and at most {MAX_PATTERN_CHARS} are "
                "taken. Give a shorter one."
            )
        _require_closed_braces(pattern)
    done: list[str] = []
    waiting = list(patterns)
    _require_few(waiting)
    while waiting:
        current = waiting.pop()
        options = _first_braces(current)
        if options is None:
            done.append(current)
        else:
            waiting += options
            _require_few(done, waiting)
    return done


def _require_closed_braces(pattern: str) -> None:
    opened: list[int] = []
    for brace in _BRACE.finditer(pattern):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            opened.pop()
    if opened:
        raise _unclosed(pattern, "{", opened[0])


def _require_closed_brackets(pattern: str) -> None:
    at = 0
    for token in _tokens_of_parts(pattern):
        if token == "[":
            raise _unclosed(pattern, "[", at)
        at += len(token)


def _tokens_of_parts(pattern: str) -> Iterator[str]:
    for part in pattern.split("/"):
        yield from _tokens(part)
        yield "/"


def _unclosed(pattern: str, sign: str, at: int) -> ToolError:
    return ToolError(
        f"{pattern}: the {sign} at position {at} is not closed. Close it, or write [{sign}] where "
        "the character itself is meant."
    )


def _require_few(*lists: list[str]) -> None:
    count = sum(map(len, lists))
    if count > MAX_ALTERNATIVES or sum(sum(map(len, some)) for some in lists) > MAX_EXPANDED_CHARS:
        raise ToolError(
            f"The pattern has too many alternatives (over {MAX_ALTERNATIVES}, or over "
            f"{MAX_EXPANDED_CHARS} characters in all); use fewer or shorter braces."
        )


def _first_braces(pattern: str) -> list[str] | None:
    """What the innermost first `{a,b}` makes of the pattern, or None if there is none."""
    found = next((one for one in _BRACES.finditer(pattern) if "," in (one[1] or "")), None)
    if found is None:
        return None
    head, tail = pattern[: found.start()], pattern[found.end() :]
    return [head + option + tail for option in found[1].split(",")]
