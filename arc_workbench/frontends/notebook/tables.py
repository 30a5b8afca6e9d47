"""Tables and what stands in their cells."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.words import plural

AT_ONCE = 40
MOST = 300
MAX_PATH = 300
MAX_UNBROKEN = 24

T = TypeVar("T")

Head = tuple[str, str]
"""The words over a column, and the class of its cells (`aw-num` for figures)."""


def table(label: str, rows: Sequence[Element], *heads: Head) -> Element:
    """Rows under their heads; `label` is what a screen reader calls the table."""
    titles = [el("th", kind, words, scope="col") for words, kind in heads]
    top = [el("thead", "", el("tr", "", *titles))] if heads else []
    return el("table", "aw-table", *top, el("tbody", "", *rows), aria_label=label)


def row(*cells: Node) -> Element:
    """One row; a cell that is no `td` or `th` yet becomes one."""
    return el("tr", "", *(cell if _is_cell(cell) else el("td", "", cell) for cell in cells))


def _is_cell(node: Node) -> bool:
    return not isinstance(node, str) and node.tag in {"td", "th"}


def number(words: str) -> Element:
    """A cell with a figure."""
    return el("td", "aw-num", words)


def path(name: str) -> tuple[Node, ...]:
    """A name of the disk: whatever hides in it is shown as what it is."""
    cut = f"{name[:MAX_PATH]} \u2026" if len(name) > MAX_PATH else name
    return chips(cut, "name")


def named(name: str) -> Element:
    """A name of the disk in a cell of its own: a long one may break anywhere, a short one not."""
    return el("code", "aw-long" if len(name) > MAX_UNBROKEN else "aw-whole", *path(name))


def words(text: str) -> Element:
    """Words in a cell; only a word that is very long breaks in its middle."""
    longest = max(map(len, text.split()), default=0)
    return el("td", "aw-long" if longest > MAX_UNBROKEN else "aw-whole", *chips(text))


def identity(name: str) -> Element:
    """The id of a change."""
    return el("code", "aw-strong aw-whole", *chips(name[:40], "action"))


def folded(draw: Callable[[Sequence[T]], Element], items: Sequence[T], noun: str) -> list[Element]:
    """The first rows, the next in a fold, and how many are in neither."""
    parts = [draw(items[:AT_ONCE])]
    more = items[AT_ONCE:MOST]
    if more:
        chevron = el("span", "aw-chev", "\u203a", aria_hidden="true")
        summary = el("summary", "", chevron, f" Show {plural(len(more), f'more {noun}')}")
        parts.append(el("details", "aw-more", summary, draw(more)))
    return [*parts, *missing(len(items) - MOST, f"more {noun}s")]


def missing(count: int, noun: str) -> list[Element]:
    """How many rows are not drawn."""
    words = f"{count:,} {noun} not shown here."
    return [el("p", "aw-soft", words)] if count > 0 else []
