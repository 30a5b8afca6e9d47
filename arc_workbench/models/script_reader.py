"""Reads shapes and plain values from the nodes of a script, refusing at the line what is amiss."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from arc_workbench.models.script_patterns import may_take_for_ever
from arc_workbench.models.script_yaml import Entry, Fields, Items, Leaf, Node, refuse

T = TypeVar("T")

_SHOWN = 40


class NodeReader:
    """Reads one script; every method raises `ScriptError` where the node is not what it wants."""

    def __init__(self, script: str) -> None:
        self.script_name = script

    # ---- shapes ----

    def any_fields(self, node: Node) -> dict[str, Entry]:
        """A mapping with whatever keys."""
        if not isinstance(node, Fields):
            self.refuse(node.line, "`word: value` is wanted here", "See docs/scripts.md.")
        return node.entries

    def fields(self, node: Node, known: Sequence[str]) -> dict[str, Entry]:
        """A mapping that has none but the known keys."""
        fields = self.any_fields(node)
        for word, entry in fields.items():
            if word not in known:
                self.unknown(word, entry.line, known)
        return fields

    def needed(self, fields: dict[str, Entry], word: str, node: Node) -> Entry:
        """What stands under a word that may not be left out."""
        if word not in fields:
            self.refuse(node.line, f"{word} is missing", f"Write `{word}:`.")
        return fields[word]

    def list_of(self, entry: Entry, read: Callable[[Node], T]) -> tuple[T, ...]:
        """A list of at least one thing."""
        if not isinstance(entry.node, Items) or not entry.node.items:
            self.refuse(entry.line, "a list is wanted here", "Begin each item with `- `.")
        return tuple(read(item) for item in entry.node.items)

    def one_or_more(self, node: Node, read: Callable[[Node], T]) -> tuple[T, ...]:
        """A list, or one thing that stands for a list of one."""
        if not isinstance(node, Items):
            return (read(node),)
        return self.list_of(Entry(node.line, node), read)

    # ---- plain values ----

    def text(self, node: Node) -> str:
        """Any single value, as it is written: a number may be a phrase."""
        if not isinstance(node, Leaf):
            self.refuse(node.line, "text is wanted here", "Write it on the line, or after `|`.")
        return node.text

    def words(self, entry: Entry) -> str:
        """Text that is not blank."""
        text = self.text(entry.node)
        if not text.strip():
            self.refuse(entry.line, "words are missing", "Write them behind the colon.")
        return text

    def count(self, entry: Entry, most: int) -> int:
        """A whole number from 1 on."""
        value = entry.node.value if isinstance(entry.node, Leaf) else None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            self.refuse(entry.line, "no whole number in range", f"Write 1 to {most}.")
        return value

    def yes_or_no(self, entry: Entry) -> bool:
        """`true` or `false`."""
        value = entry.node.value if isinstance(entry.node, Leaf) else None
        if not isinstance(value, bool):
            self.refuse(entry.line, "neither true nor false", "Write one of them.")
        return value

    def choice(self, entry: Entry, choices: Sequence[T], *also: str) -> T:
        """One of `choices`; `also` are words that are named as known beside them."""
        text = self.text(entry.node)
        found = [choice for choice in choices if choice == text]
        if not found:
            self.unknown(text, entry.line, [*also, *map(str, choices)])
        return found[0]

    def pattern(self, entry: Entry) -> re.Pattern[str]:
        """A regular expression; `^` and `$` stand at the ends of lines."""
        text = self.text(entry.node)
        try:
            with warnings.catch_warnings(action="error"):
                pattern = re.compile(text, re.MULTILINE)
        except (re.error, OverflowError, RecursionError, Warning) as fault:
            reason = " ".join(str(fault).split())[: 2 * _SHOWN]
            self.refuse(entry.line, f"the pattern is not valid ({reason})", "Mend it.")
        if may_take_for_ever(text):
            problem = "the pattern could take for ever: it repeats something that varies"
            self.refuse(entry.line, problem, "Set its repeats apart, or do not nest them.")
        return pattern

    # ---- refusals ----

    def unknown(self, word: str, line: int, known: Sequence[str]) -> NoReturn:
        """Refuse a word, naming those there are."""
        shown = shortened(word) or '""'
        self.refuse(line, f"{shown} is unknown", f"Known: {', '.join(known)}")

    def refuse(self, line: int, problem: str, remedy: str) -> NoReturn:
        """Raise the one line that a person reads."""
        refuse(self.script_name, line, problem, remedy)


def shortened(word: str) -> str:
    """A word of the script, fit for a message of one line."""
    return " ".join(word.split())[:_SHOWN]
