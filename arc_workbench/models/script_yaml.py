"""The YAML of a script, read into nodes that know their line and hold no surprises.

A subset: mappings, lists and scalars. Aliases, anchors and tags are refused, a key stands once, and
only `true`, `false`, `null` and numbers as JSON writes them are anything but text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from arc_workbench.errors import ScriptError

if TYPE_CHECKING:
    import yaml

Scalar = str | int | float | bool | None

MAX_DEPTH = 40
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Leaf:
    """A single value; `text` is how it is written."""

    line: int
    value: Scalar
    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    line: int
    items: tuple["Node", ...]


@dataclass(frozen=True)
class Entry:
    """What stands under a key, and the line of that key."""

    line: int
    node: "Node"


@dataclass(frozen=True)
class Fields:
    """A mapping; keys are the text that is written, whatever it looks like."""

    line: int
    entries: dict[str, Entry]


Node = Leaf | Items | Fields


def refuse(script: str, line: int, problem: str, remedy: str) -> NoReturn:
    """Raise the one line that a person reads about a faulty script."""
    raise ScriptError(f"{script} line {line}: {problem}; nothing ran. {remedy}", line=line)


class _Lines:
    """Lines as an editor counts them; PyYAML ends one at U+0085, U+2028 and U+2029 too."""

    def __init__(self, text: str) -> None:
        self._starts = [end.end() for end in _LINE_END.finditer(text)]

    def of(self, index: int) -> int:
        """The line of the character at `index`, from 1 on."""
        return bisect_right(self._starts, index) + 1


def read_yaml(script: str, text: str) -> Node:
    """Read one document. Raises `ScriptError` with the line, and nothing else."""
    import yaml

    lines = _Lines(text)
    try:
        return _Composer(script, _events(text), lines).document()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        problem = fault.problem or fault.context or "it breaks off"
        _unreadable(script, lines.of(mark.index) if mark else 1, problem)
    except yaml.reader.ReaderError as fault:
        line = lines.of(fault.position)
        _unreadable(script, line, "it holds a character that YAML does not allow")
    except (yaml.YAMLError, ValueError, OverflowError):
        # A number in an escape or a directive that is too large for what PyYAML does with it.
        _unreadable(script, 1, "a number in it is too large")


def _unreadable(script: str, line: int, problem: str) -> NoReturn:
    reason = " ".join(problem.split())[:120]
    refuse(script, line, f"this is no YAML ({reason})", "Check indentation, colons and quotes.")


class _Parser(Protocol):
    """The part of PyYAML's loader that is used here, typed."""

    def check_event(self) -> bool: ...
    def get_event(self) -> "yaml.Event": ...
    def dispose(self) -> None: ...


def _events(text: str) -> Iterator["yaml.Event"]:
    import yaml

    loader = cast("_Parser", yaml.SafeLoader(text))
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


class _Composer:
    """Builds nodes from the parser's events, so that every node keeps its line."""

    def __init__(self, script: str, events: Iterator["yaml.Event"], lines: _Lines) -> None:
        self._script = script
        self._events = events
        self._lines = lines

    def document(self) -> Node:
        import yaml

        next(self._events)  # the stream begins
        if isinstance(next(self._events), yaml.StreamEndEvent):
            refuse(self._script, 1, "the script is empty", "Begin with `script: 1`.")
        node = self._node(next(self._events), 0)
        next(self._events)  # the document ends
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            refuse(self._script, self._line(after), "a second document begins", "Keep one.")
        return node

    def _node(self, event: "yaml.Event", depth: int) -> Node:
        import yaml

        line = self._line(event)
        if depth > MAX_DEPTH:
            refuse(self._script, line, f"more than {MAX_DEPTH} levels", "Nest less.")
        self._check_plain(event, line)
        if isinstance(event, yaml.ScalarEvent):
            return self._leaf(event, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(line, tuple(self._items(depth)))
        return Fields(line, self._entries(depth))

    def _line(self, event: "yaml.Event") -> int:
        return self._lines.of(cast("int", event.start_mark.index))

    def _check_plain(self, event: "yaml.Event", line: int) -> None:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            self._refuse_word(f"*{event.anchor}", line)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._refuse_word(f"&{event.anchor}", line)
        tagged = isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if tagged and event.tag is not None:
            self._refuse_word(str(event.tag), line)

    def _refuse_word(self, word: str, line: int) -> NoReturn:
        refuse(
            self._script,
            line,
            f"anchors, aliases and tags are not part of a script ({word[:40]})",
            "Write it out, or put it in quotes.",
        )

    def _items(self, depth: int) -> Iterator[Node]:
        import yaml

        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> dict[str, Entry]:
        import yaml

        entries: dict[str, Entry] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._node(event, depth + 1)
            if not isinstance(key, Leaf):
                refuse(self._script, key.line, "a key is no single word", "Write a word.")
            self._check_new(key, entries)
            entries[key.text] = Entry(key.line, self._node(next(self._events), depth + 1))
        return entries

    def _check_new(self, key: Leaf, entries: dict[str, Entry]) -> None:
        if first := entries.get(key.text):
            problem = f"{key.text[:40]} stands twice, first in line {first.line}"
            refuse(self._script, key.line, problem, "Keep one.")

    def _leaf(self, event: "yaml.ScalarEvent", line: int) -> Leaf:
        text = cast("str", event.value)
        if _SURROGATE.search(text):
            refuse(self._script, line, "half of a character stands alone", "Write it whole.")
        return Leaf(line, text if event.style else _plain(text), text)


def _plain(text: str) -> Scalar:
    """An unquoted scalar: what JSON would take it for, and text otherwise."""
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[2] or number[3] else int(text)
