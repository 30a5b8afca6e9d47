"""Colour for code: keywords, strings and comments, and nothing else.

`pygments` is imported when the first code is drawn. Only well-known kinds of file are coloured,
and only code of a size that a person reads.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby, pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from arc_workbench.frontends.notebook.elements import Node, Tag, el, joined
from arc_workbench.frontends.notebook.odd import chip
from arc_workbench.frontends.odd import Odd, Strictness, pieces

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_COLOURED = 40_000
MAX_COLOURED_LINE = 1_000

_LANGUAGES = {
    "python": "py pyi python python3 pycon",
    "javascript": "js mjs cjs jsx javascript",
    "typescript": "ts tsx typescript",
    "json": "json jsonl ipynb",
    "bash": "sh bash zsh shell console",
    "toml": "toml",
    "yaml": "yaml yml",
    "ini": "ini cfg",
    "html": "html htm xml svg",
    "css": "css",
    "c": "c h",
    "cpp": "cpp cc cxx hpp c++",
    "rust": "rs rust",
    "go": "go",
    "java": "java",
    "ruby": "rb ruby",
    "sql": "sql",
}
_BY_WORD = {word: name for name, words in _LANGUAGES.items() for word in words.split()}

Part = tuple[str, str]
"""A class (or none) and the text that has it."""
Span = tuple[int, int]


def language_of(path: str) -> str:
    """The language of a file by its name, or nothing."""
    return _BY_WORD.get(PurePosixPath(path).suffix.lower().removeprefix("."), "")


def highlighted(text: str, language: str) -> tuple[Node, ...]:
    """A block of code as nodes."""
    nodes: list[Node] = []
    for number, parts in enumerate(coloured(text.split("\n"), _known(language))):
        nodes += ["\n"] if number else []
        nodes += drawn(parts, "speech")
    return tuple(joined(nodes))


def _known(language: str) -> str:
    return _BY_WORD.get(language.lower(), "")


def coloured(lines: Sequence[str], language: str) -> list[list[Part]]:
    """Each line in parts, in order; the parts of a line are together the line."""
    whole = "\n".join(lines)
    longest = max(map(len, lines), default=0)
    if not language or len(whole) > MAX_COLOURED or longest > MAX_COLOURED_LINE:
        return [[("", line)] for line in lines]
    result: list[list[Part]] = [[]]
    for kind, text in _tokens(whole, language):
        first, *rest = text.split("\n")
        result[-1].append((kind, first))
        result.extend([(kind, line)] for line in rest)
    return result if len(result) == len(lines) else [[("", line)] for line in lines]


def drawn(parts: Sequence[Part], strictness: Strictness) -> Iterator[Node]:
    """Parts of one line as nodes."""
    yield from joined(node for _, node in placed(parts, strictness))


def placed(parts: Sequence[Part], strictness: Strictness) -> Iterator[tuple[int, Node]]:
    """The nodes of a line, each with its place; a string never reaches over the end of a part.

    What is odd is judged by the line, not by its parts.
    """
    kinds, ends = [kind for kind, _ in parts], [*accumulate(len(text) for _, text in parts)]
    start = at = 0
    for piece in pieces("".join(text for _, text in parts), strictness):
        if isinstance(piece, Odd):
            yield start, chip(piece)
            start += len(piece.text)
            continue
        stop = start + len(piece)
        while start < stop:
            while ends[at] <= start:
                at += 1
            cut = min(stop, ends[at])
            text = piece[len(piece) - (stop - start) : len(piece) - (stop - cut)]
            yield start, el("span", kinds[at], text) if kinds[at] else text
            start = cut


def marked(
    parts: Sequence[Part], marks: Sequence[Span], tag: Tag, strictness: Strictness
) -> tuple[Node, ...]:
    """Parts of one line as nodes, each stretch of `marks` inside a `tag`."""
    nodes: list[Node] = []
    entries = placed(_cut_at(parts, marks), strictness)
    for is_marked, group in groupby(entries, lambda entry: _is_in(entry[0], marks)):
        inside = joined(node for _, node in group)
        nodes += [el(tag, "", *inside)] if is_marked else inside
    return tuple(nodes)


def _is_in(place: int, marks: Sequence[Span]) -> bool:
    return any(start <= place < stop for start, stop in marks)


def _cut_at(parts: Sequence[Part], marks: Sequence[Span]) -> list[Part]:
    """The same line in parts that end where a mark begins or ends."""
    length = sum(len(text) for _, text in parts)
    places = sorted({0, length, *(place for mark in marks for place in mark)})
    return [part for start, stop in pairwise(places) for part in _slice(parts, start, stop)]


def _slice(parts: Sequence[Part], start: int, stop: int) -> list[Part]:
    cut: list[Part] = []
    at = 0
    for kind, text in parts:
        inside = text[max(0, start - at) : max(0, stop - at)]
        if inside:
            cut.append((kind, inside))
        at += len(text)
    return cut


def _tokens(text: str, language: str) -> Iterator[Part]:
    """Tokens that give the text back exactly, with our class for their kind."""
    from pygments.token import Comment, Keyword, Operator, String

    # Not `get_tokens`: that one takes carriage returns away.
    for _, kind, piece in _lexer(language).get_tokens_unprocessed(text):
        if kind in Comment and kind not in Comment.Preproc:
            yield "aw-c", piece
        elif kind in String:
            yield "aw-s", piece
        elif kind in Keyword or kind in Operator.Word:
            yield "aw-k", piece
        else:
            yield "", piece


@cache
def _lexer(language: str) -> "Lexer":
    from pygments.lexers import find_lexer_class_by_name

    return find_lexer_class_by_name(language)()
