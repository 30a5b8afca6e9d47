"""The stylesheet, cut into the blocks that a drawing uses."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOOK = Path(__file__).with_name("look.css")

_BLOCK = re.compile(r"/\* block (?P<name>[a-z-]+)(?:: (?P<classes>[a-z_ -]+))? \*/\n")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BREAK = re.compile(r"\n\s*")


@dataclass(frozen=True)
class Block:
    """Rules that belong together, and the classes that call for them."""

    name: str
    classes: frozenset[str]
    rules: str


def style_for(classes: AbstractSet[str]) -> str:
    """The rules for a drawing that uses these classes."""
    used = (block for block in blocks() if not block.classes or block.classes & classes)
    return "\n".join(block.rules for block in used)


@cache
def blocks() -> tuple[Block, ...]:
    """All blocks, in the order in which they stand."""
    text = LOOK.read_text(encoding="utf-8")
    starts = [*_BLOCK.finditer(text)]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return tuple(
        Block(
            start["name"],
            frozenset((start["classes"] or "").split()),
            _compact(text[start.end() : end]),
        )
        for start, end in zip(starts, ends, strict=True)
    )


def _compact(rules: str) -> str:
    return _BREAK.sub("\n", _COMMENT.sub("", rules)).strip()
