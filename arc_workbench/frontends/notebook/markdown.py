"""Words of a model as elements: Markdown without HTML, without pictures, with checked links.

Anything that is not in the vocabulary is shown as the text it is. `markdown_it` is imported when
the first words are drawn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from arc_workbench.frontends.notebook.elements import Element, Node, Tag, el, link
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.syntax import highlighted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_MARKDOWN = 20_000
MAX_PLAIN = 60_000
MAX_NESTING = 20

_BLOCKS: Mapping[str, Tag] = {
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "list_item": "li",
    "ordered_list": "ol",
    "paragraph": "p",
    "table": "table",
    "tbody": "tbody",
    "td": "td",
    "th": "th",
    "thead": "thead",
    "tr": "tr",
}
_INLINES: Mapping[str, Tag] = {"em": "em", "s": "s", "strong": "strong"}
_RIGHT = "text-align:right"


def markdown(text: str) -> tuple[Node, ...]:
    """The words as elements. Very long words are not read as Markdown but shown as they are."""
    if len(text) > MAX_MARKDOWN:
        return tuple(_plain(text))
    return tuple(_blocks(_Tokens(_parser().parse(text))))


def _plain(text: str) -> Iterator[Node]:
    yield el("p", "aw-asis", *chips(text[:MAX_PLAIN]))
    if len(text) > MAX_PLAIN:
        left = len(text) - MAX_PLAIN
        yield el("p", "aw-soft", f"{left:,} more characters are in the transcript.")


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "maxNesting": MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


class _Tokens:
    """A flat list of opening, closing and single tokens, taken one by one."""

    def __init__(self, tokens: "Sequence[Token]") -> None:
        self._tokens = tokens
        self._at = 0

    def take(self) -> "Token | None":
        if self._at >= len(self._tokens):
            return None
        self._at += 1
        return self._tokens[self._at - 1]


def _blocks(tokens: _Tokens) -> Iterator[Node]:
    """The blocks up to the token that closes the one they are in."""
    while (token := tokens.take()) is not None and token.nesting >= 0:
        if token.nesting:
            yield from _block(token, tuple(_blocks(tokens)))
        elif token.type == "inline":
            yield from _inlines(_Tokens(token.children or []))
        else:
            yield _leaf(token)


def _block(token: "Token", inside: tuple[Node, ...]) -> Iterator[Node]:
    kind = token.type.removesuffix("_open")
    if token.hidden:
        yield from inside
    elif kind == "heading":
        yield el("h3" if token.tag in {"h1", "h2", "h3"} else "h4", "", *inside)
    elif kind == "ordered_list":
        start = str(token.attrGet("start") or 1)
        yield Element("ol", {} if start == "1" else {"start": start}, inside)
    else:
        yield el(_BLOCKS[kind], _class_of(token, kind), *inside)


def _class_of(token: "Token", kind: str) -> str:
    if kind == "table":
        return "aw-table"
    return "aw-num" if kind in {"td", "th"} and token.attrGet("style") == _RIGHT else ""


def _leaf(token: "Token") -> Element:
    match token.type:
        case "hr":
            return el("hr")
        case "fence":
            words = token.info.split()
            return _code(token.content, words[0] if words else "")
        case _:
            return _code(token.content, "")


def _code(text: str, language: str) -> Element:
    return el("pre", "", el("code", "", *highlighted(text.removesuffix("\n"), language)))


def _inlines(tokens: _Tokens) -> Iterator[Node]:
    while (token := tokens.take()) is not None and token.nesting >= 0:
        if token.nesting:
            yield from _span(token, tuple(_inlines(tokens)))
        else:
            yield from _SINGLE.get(token.type, _as_text)(token)


def _span(token: "Token", inside: tuple[Node, ...]) -> Iterator[Node]:
    kind = token.type.removesuffix("_open")
    if kind != "link":
        yield el(_INLINES[kind], "", *inside)
        return
    yield from _anchor(str(token.attrGet("href") or ""), inside)


def _anchor(url: str, inside: tuple[Node, ...]) -> Iterator[Node]:
    """A link with the host that it leads to; an address that is no such link stays text."""
    target = link(url)
    if target is None:
        yield from inside
        yield from chips(f" ({url})")
        return
    yield el("a", "", *inside, href=target.href, rel="noopener noreferrer", target="_blank")
    if inside != (target.href,):
        yield el("span", "aw-soft", f" ({target.host})")


def _image(token: "Token") -> Iterator[Node]:
    """No picture is fetched: its words, then its address as text."""
    yield from chips(f"[picture: {token.content}] ({token.attrGet('src') or ''})")


def _as_text(token: "Token") -> Iterator[Node]:
    yield from chips(token.content)


_SINGLE: "Mapping[str, Callable[[Token], Iterator[Node]]]" = {
    "code_inline": lambda token: iter((el("code", "", *chips(token.content)),)),
    "hardbreak": lambda _: iter((el("br"),)),
    "image": _image,
    "softbreak": lambda _: iter(("\n",)),
}
