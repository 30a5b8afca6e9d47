"""What an outline needs of a syntax tree, and how one grammar's declarations are told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


class Point(Protocol):
    """A place in a file, counted from 0."""

    @property
    def row(self) -> int:
        """The line."""
        ...


class Node(Protocol):
    """A node of a syntax tree."""

    @property
    def type(self) -> str:
        """The grammar's name for what this is."""
        ...

    @property
    def start_byte(self) -> int:
        """Where it begins."""
        ...

    @property
    def end_byte(self) -> int:
        """Where it ends."""
        ...

    @property
    def start_point(self) -> Point:
        """The line it begins on."""
        ...

    @property
    def child_count(self) -> int:
        """How many children it has, signs included."""
        ...

    @property
    def children(self) -> "Sequence[Node]":
        """All children, signs included."""
        ...

    @property
    def named_children(self) -> "Sequence[Node]":
        """The children that are more than signs."""
        ...

    def child(self, index: int, /) -> "Node":
        """One child."""
        ...

    def child_by_field_name(self, name: str, /) -> "Node | None":
        """The child with this role."""
        ...


Finder = Callable[[Node], Node | None]


def at(*path: str) -> Finder:
    """Finds a node by the roles on the way to it."""

    def find(node: Node) -> Node | None:
        found: Node | None = node
        for field in path:
            found = found.child_by_field_name(field) if found is not None else None
        return found

    return find


def below(*types: str) -> Finder:
    """Finds a node by the types on the way to it; each may be several, divided by `|`."""
    ways = [frozenset(each.split("|")) for each in types]

    def find(node: Node) -> Node | None:
        found: Node | None = node
        for way in ways:
            children = found.named_children if found is not None else ()
            found = next((child for child in children if child.type in way), None)
        return found

    return find


def nothing(_: Node) -> None:
    """Finds nothing."""


def span(first: Node, last: Node | None = None) -> tuple[int, int]:
    """From the beginning of the one to the end of the other."""
    return first.start_byte, (last or first).end_byte


_name = at("name")
_body = at("body")


@dataclass(frozen=True)
class Rule:
    """How nodes of one type are declarations.

    `kind` outside of classes and `inside` of them ("" if it is not listed there, `None` if it is
    called the same), a text or told by the node; `name` is found, or `unnamed` stands for it. The
    signature, after `word`, ends where `body` begins; without a body it is all of the node, or
    with `brief` its first line. `members`: what the body, or else the `holder`, declares is listed
    one level deeper, or on the same level.
    """

    kind: str | Callable[[Node], str]
    inside: str | Callable[[Node], str] | None = None
    name: Callable[[Node], Node | tuple[int, int] | None] = _name
    unnamed: str = ""
    word: str = ""
    body: Finder = _body
    brief: bool = False
    members: Literal["", "deeper", "level"] = ""
    holder: Finder | None = None

    def kind_of(self, node: Node, depth: int) -> str:
        """What to call this node, "" if it is no declaration."""
        kind = self.inside if depth and self.inside is not None else self.kind
        return kind if isinstance(kind, str) else kind(node)


@dataclass(frozen=True)
class Grammar:
    """The declarations of one language.

    `module` and `function` give the grammar. Nodes of the types `through` are looked into;
    of those in `heads` the signature of what is declared in them begins with the node itself.
    """

    module: str
    rules: Mapping[str, Rule]
    through: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    function: str = "language"
