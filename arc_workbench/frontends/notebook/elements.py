"""The closed vocabulary of a drawing: elements that can be text and shape, and nothing active.

A drawing is a tree of `Element`. `to_html` writes what is kept in a notebook, `to_json` what the
live view builds nodes from. Words of a model, a tool or a file are children or a checked link,
never another attribute.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pydantic import JsonValue

from arc_workbench.content import JsonObject

Tag = Literal[
    "a", "b", "blockquote", "br", "button", "code", "dd", "del", "details", "div", "dl", "dt",
    "em", "form", "h3", "h4", "header", "hr", "i", "ins", "label", "li", "mark", "ol", "p", "pre",
    "s", "section", "small", "span", "strong", "summary", "table", "tbody", "td", "textarea", "th",
    "thead", "tr", "ul",
]  # fmt: skip
Only = Literal["", "live", "saved"]

TAGS: frozenset[str] = frozenset(get_args(Tag))
LIVE_TAGS = frozenset({"button", "form", "label", "textarea"})
VOID_TAGS = frozenset({"br", "hr"})

_NAME = r"aw(?:-{1,2}|__)?[a-z0-9]+(?:(?:-{1,2}|__)[a-z0-9]+)*"
_ID = r"aw-[a-z0-9]+(?:-[a-z0-9]+)*"
_HOST = r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_WEB = re.compile(rf"https?://{_HOST}(?::\d{{1,5}})?(?:[/?#][!#-;=?-\[\]_a-z~]*)?")
_MAIL = re.compile(rf"mailto:[A-Za-z0-9.!#$%&'*+/=?^_{{|}}~-]+@{_HOST}")

ATTRIBUTES: Mapping[str, re.Pattern[str]] = {
    "aria-busy": re.compile(r"true"),
    "aria-describedby": re.compile(_ID),
    "aria-hidden": re.compile(r"true"),
    "aria-label": re.compile(r"[A-Z][A-Za-z0-9 ]{0,60}"),
    "aria-labelledby": re.compile(_ID),
    "class": re.compile(rf"(?:(?:{_NAME}|aw|mathjax_ignore|tex2jax_ignore)(?: |$))+"),
    "colspan": re.compile(r"\d"),
    "for": re.compile(_ID),
    "href": re.compile(rf"#{_ID}|{_WEB.pattern.replace('(?P<host>', '(?:')}"
                       rf"|{_MAIL.pattern.replace('(?P<host>', '(?:')}"),
    "id": re.compile(_ID),
    "open": re.compile(r""),
    "rel": re.compile(r"noopener noreferrer"),
    "role": re.compile(r"group|log|status"),
    "rows": re.compile(r"\d"),
    "scope": re.compile(r"col|rowgroup"),
    "start": re.compile(r"\d{1,9}"),
    "style": re.compile(r"--aw-[a-z]+:\d{1,3}(?:ch|%)"),
    "target": re.compile(r"_blank"),
    "type": re.compile(r"button"),
}  # fmt: skip
"""Every attribute there is, and what its value may be."""

ROOT_CLASS = "aw mathjax_ignore tex2jax_ignore"
"""Of the outermost element: the two last keep formulas in words from being set (REQ-S26)."""

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

Node: TypeAlias = "Element | str"


@dataclass(frozen=True)
class Element:
    """One element. Raises ValueError where tag or attribute is not in the vocabulary.

    `do`, `key` and `field` exist in the live form alone: the verb that a button sends, the name
    under which the node is replaced, the name of a field's value. `only` keeps a node out of the
    other form.
    """

    tag: Tag
    attrs: Mapping[str, str]
    children: tuple[Node, ...]
    do: JsonObject | None = None
    key: str = ""
    field: str = ""
    only: Only = ""

    def __post_init__(self) -> None:
        if self.tag not in TAGS:
            raise ValueError(f"<{self.tag}> is not in the vocabulary")
        for name, value in self.attrs.items():
            rule = ATTRIBUTES.get(name)
            if rule is None or not rule.fullmatch(value):
                raise ValueError(f"<{self.tag} {name}={value!r}> is not in the vocabulary")


def el(
    tag: Tag,
    classes: str = "",
    *children: Node,
    do: JsonObject | None = None,
    key: str = "",
    field: str = "",
    only: Only = "",
    **attrs: str,
) -> Element:
    """An element; `aria_label=` is the attribute `aria-label`, `for_=` is `for`."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
    if classes:
        named = {"class": classes, **named}
    return Element(tag, named, tuple(children), do=do, key=key, field=field, only=only)


def joined(nodes: Iterable[Node]) -> Iterator[Node]:
    """Neighbouring strings as one, so that a plain text is a single node."""
    texts: list[str] = []
    for node in nodes:
        if isinstance(node, str):
            texts.append(node)
            continue
        if texts:
            yield "".join(texts)
            texts = []
        yield node
    if texts:
        yield "".join(texts)


@dataclass(frozen=True)
class Link:
    """An address that may be followed, and the host it leads to."""

    href: str
    host: str


def link(url: str) -> Link | None:
    """The address if it is plain http, https or mailto; None for anything else.

    No user part, no letters outside ASCII: what is shown as the host is where it leads.
    """
    match = _WEB.fullmatch(url) or _MAIL.fullmatch(url)
    return Link(url, match["host"].lower()) if match else None


def to_html(node: Node) -> str:
    """The saved form: no button, no field, nothing that acts."""
    return "".join(_html(node))


def _html(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield html.escape(_writable(node), quote=False)
        return
    if node.only == "live" or node.tag in LIVE_TAGS:
        return
    attrs = "".join(f' {name}="{html.escape(value)}"' for name, value in node.attrs.items())
    yield f"<{node.tag}{attrs}>"
    if node.tag in VOID_TAGS:
        return
    if node.tag == "pre" and node.children and _starts_with_newline(node.children[0]):
        yield "\n"  # a reader drops the first newline of a <pre>
    for child in node.children:
        yield from _html(child)
    yield f"</{node.tag}>"


def _starts_with_newline(node: Node) -> bool:
    return isinstance(node, str) and node.startswith("\n")


def to_json(node: Node) -> JsonValue:
    """The live form: text is a string, an element `[tag, attributes, ...children]`."""
    if isinstance(node, str):
        return _writable(node)
    attrs: JsonObject = dict(node.attrs)
    if node.do is not None:
        attrs["do"] = dict(node.do)
    if node.key:
        attrs["key"] = node.key
    if node.field:
        attrs["field"] = node.field
    return [node.tag, attrs, *(to_json(child) for child in _live(node.children))]


def _live(children: Iterable[Node]) -> Iterator[Node]:
    return (child for child in children if isinstance(child, str) or child.only != "saved")


def _writable(text: str) -> str:
    """No character that a page or a file cannot hold; the odd ones were named before."""
    return _UNWRITABLE.sub("\ufffd", text)


def text_of(node: Node) -> str:
    """All words of a drawing, in order."""
    if isinstance(node, str):
        return node
    return "".join(text_of(child) for child in node.children)


def classes_of(node: Node) -> set[str]:
    """Every class that the saved form of a drawing uses."""
    if isinstance(node, str) or node.only == "live" or node.tag in LIVE_TAGS:
        return set()
    own = set(node.attrs.get("class", "").split())
    return own.union(*(classes_of(child) for child in node.children))
