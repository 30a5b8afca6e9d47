"""Declarations from a syntax tree, where the grammar of the language is installed."""

import importlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

from arc_workbench.code.c_grammars import C_GRAMMARS
from arc_workbench.code.grammars import GRAMMARS as OTHER_GRAMMARS
from arc_workbench.code.nodes import Grammar, Node, Rule
from arc_workbench.code.signatures import on_one_line, short_name
from arc_workbench.content import Declaration

PARSE_SECONDS = 1.5
PIECE = 1 << 14
NESTED_BLOCKS = 50
HEAD_BYTES = 2000

GRAMMARS = {**OTHER_GRAMMARS, **C_GRAMMARS}
ANNOTATIONS = frozenset({
    "annotation", "attribute_declaration", "attribute_list", "comment", "decorator",
    "line_comment", "marker_annotation", "multiline_comment", "block_comment",
})  # fmt: skip

_loading = threading.Lock()


def declarations(
    language: str, text: str, seconds: float = PARSE_SECONDS
) -> list[Declaration] | None:
    """What the tree declares, also of a broken file.

    `None` without a grammar, and for text that is made to be slow: a parse ends after `seconds`.
    """
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    source = text.encode("utf-8", "replace")
    root = _parse(grammar, source, monotonic() + seconds)
    if root is None:
        return None
    walk = _Walk(grammar, source)
    walk.look(root.named_children, 0, None, NESTED_BLOCKS)
    return walk.found


def installed(language: str) -> bool:
    """Whether the grammar of a language can be used here."""
    return language in GRAMMARS and _language(GRAMMARS[language]) is not None


@cache
def _load(module: str, function: str) -> object | None:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        pointer: object = getattr(importlib.import_module(module), function)()
        language: object = tree_sitter.Language(pointer)
    except (ImportError, AttributeError, ValueError):  # absent, or of another generation
        return None
    return language


def _language(grammar: Grammar) -> object | None:
    with _loading:
        return _load(grammar.module, grammar.function)


def _parse(grammar: Grammar, source: bytes, end: float) -> Node | None:
    """The root of the tree; in pieces, so that other threads run and the time can be looked at."""
    language = _language(grammar)
    if language is None:
        return None

    def piece(at: int, _: object) -> bytes:
        return source[at : at + PIECE] if monotonic() < end else b""

    def must_stop(*_: object) -> bool:
        return monotonic() > end

    parser = importlib.import_module("tree_sitter").Parser(language)
    try:
        root: Node = parser.parse(piece, progress_callback=must_stop).root_node
    except ValueError:
        return None
    return root if monotonic() < end else None


@dataclass
class _Walk:
    """One pass over the outer levels of a tree."""

    grammar: Grammar
    source: bytes
    found: list[Declaration] = field(default_factory=list[Declaration])

    def look(self, nodes: Iterable[Node], depth: int, head: Node | None, blocks: int) -> None:
        """List what these nodes declare; `head` is where the signature begins, if outside."""
        for node in nodes:
            rule = self.grammar.rules.get(node.type)
            kind = rule.kind_of(node, depth) if rule is not None else ""
            if rule is not None and kind:
                self._declare(node, rule, kind, depth, head)
                self._members(node, rule, depth, blocks)
            elif blocks and (node.type in self.grammar.through or node.type == "ERROR"):
                begins = (head or node) if node.type in self.grammar.heads else None
                self.look(node.named_children, depth, begins, blocks - 1)

    def _members(self, node: Node, rule: Rule, depth: int, blocks: int) -> None:
        if not rule.members or not blocks or (rule.members == "deeper" and depth):
            return
        holder = (rule.holder or rule.body)(node)
        if holder is not None:
            deeper = depth + (rule.members == "deeper")
            self.look(holder.named_children, deeper, None, blocks - 1)

    def _declare(self, node: Node, rule: Rule, kind: str, depth: int, head: Node | None) -> None:
        named = rule.name(node)
        begin = _after_annotations(head or node)
        body = rule.body(node)
        end = body.start_byte if body is not None else node.end_byte
        text = self._text(begin.start_byte, min(end, begin.start_byte + HEAD_BYTES))
        if body is None and rule.brief:
            text = text.partition("\n")[0]
        self.found.append(
            Declaration(
                line=begin.start_point.row + 1,
                kind=kind,
                name=short_name(self._name(named)) or rule.unnamed,
                signature=on_one_line(rule.word + text),
                depth=depth,
            )
        )

    def _name(self, named: Node | tuple[int, int] | None) -> str:
        if named is None:
            return ""
        begin, end = named if isinstance(named, tuple) else (named.start_byte, named.end_byte)
        return self._text(begin, min(end, begin + HEAD_BYTES))

    def _text(self, begin: int, end: int) -> str:
        return self.source[begin:end].decode("utf-8", "ignore")


def _after_annotations(node: Node) -> Node:
    """The first part of a declaration that is not said about it from outside."""
    for index in range(node.child_count):
        child = node.child(index)
        if child.type == "modifiers":
            inner = [each for each in child.children if each.type not in ANNOTATIONS]
            if inner:
                return inner[0]
        elif child.type not in ANNOTATIONS:
            return child if index else node
    return node
