"""Regular expressions of scripts, kept from taking for ever.

`re` cannot be interrupted, so an expression in which a repeat repeats something that can itself be
read in several ways is refused when the script is read, and of a long text only the ends are
searched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_SEARCHED_CHARS = 100_000

_TOKEN = re.compile(
    r"(?P<skip>\(\?#[^)]*\)|\(\?[aiLmsux-]+\))"
    r"|(?P<atom>\\(?:x[0-9a-fA-F]{2}|[uU][0-9a-fA-F]+|N\{[^}]*\}|[0-9]+|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*+\]|\(\?P=\w+\))"
    r"|(?P<open>\((?:\?(?:P<\w+>|<?[=!]|[:>]|[aiLmsux-]+:|\(\w+\)))?)"
    r"|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<repeat>[*+?][?+]?|\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\}[?+]?)"
    r"|(?P<char>.)",
    re.DOTALL,
)
_VERBOSE = re.compile(r"\(\?[aiLmsu]*x")
_LITERAL = re.compile(r"\\?[^\w\\]|\w", re.DOTALL)


@dataclass
class _Item:
    """One thing that stands in an expression, and how often it may stand there."""

    text: str
    branches: "list[list[_Item]] | None" = None
    least: int = 1
    varies: bool = False

    @property
    def literal(self) -> str:
        """The character that must stand here, if it is one."""
        one = self.branches is None and self.least > 0 and _LITERAL.fullmatch(self.text)
        return self.text[-1] if one and self.text not in {".", "^", "$"} else ""


@dataclass
class _Open:
    """A group that is being read."""

    branches: list[list[_Item]] = field(default_factory=lambda: [[]])


def search(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match; of a text over 100,000 characters, in its first or last half of that."""
    if len(text) <= MAX_SEARCHED_CHARS:
        return pattern.search(text)
    half = MAX_SEARCHED_CHARS // 2
    return pattern.search(text[:half]) or pattern.search(text[-half:])


def may_take_for_ever(text: str) -> bool:
    """Whether a repeat in a valid expression repeats what can be read in several ways.

    Says so of some harmless ones too. What it lets through ends in a time that is a power of the
    text's length, not an exponential.
    """
    if _VERBOSE.search(text):  # what looks like a character may be a space or a remark
        return True
    stack = [_Open()]
    for token in _TOKEN.finditer(text):
        branch = stack[-1].branches[-1]
        match token.lastgroup:
            case "open":
                stack.append(_Open())
            case "close" if len(stack) > 1:
                group = stack.pop().branches
                stack[-1].branches[-1].append(_Item("", group, varies=not _is_settled(group)))
            case "bar":
                stack[-1].branches.append([])
            case "repeat" | "least" | "comma" | "most" if branch:
                if _repeats(branch[-1], token):
                    return True
            case "skip":
                pass
            case _:
                branch.append(_Item(token[0]))
    return False


def _repeats(item: _Item, token: re.Match[str]) -> bool:
    """Note the repeat on its item; whether the two together may take for ever."""
    least, most = _bounds(token)
    item.least = least
    risky = most > 1 and item.branches is not None and not _is_determined(item.branches)
    item.varies = item.varies or least != most
    return risky


def _bounds(token: re.Match[str]) -> tuple[int, float]:
    endless = float("inf")
    if token[0][0] in "*+?":
        return int(token[0][0] == "+"), 1 if token[0][0] == "?" else endless
    least = int(token["least"] or 0)
    if not token["comma"]:
        return least, least
    return least, int(token["most"]) if token["most"] else endless


def _is_settled(branches: Sequence[Sequence[_Item]]) -> bool:
    """Whether a text fits in one way at most, and its length shows which: nothing in it varies."""
    if any(item.varies for branch in branches for item in branch):
        return False
    firsts = [branch[0].literal.casefold() if branch else "" for branch in branches]
    return len(branches) == 1 or ("" not in firsts and len(set(firsts)) == len(firsts))


def _is_determined(branches: Sequence[Sequence[_Item]]) -> bool:
    """Whether each next character of a text says where in the repeated group it stands."""
    if len(branches) > 1 or not branches[0]:
        return _is_settled(branches)
    [items] = branches
    following = [*items[1:], items[0]]
    return all(
        _ends_before(item, after)
        for item, after in zip(items, following, strict=True)
        if item.varies
    )


def _ends_before(item: _Item, after: _Item) -> bool:
    """Whether what varies cannot go on over the character that must follow."""
    if item.branches is not None or not after.literal:
        return False
    try:
        goes_on = re.compile(item.text, re.IGNORECASE | re.DOTALL).fullmatch(after.literal)
    except re.error:  # a reference to another group
        return False
    return goes_on is None
