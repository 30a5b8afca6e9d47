"""Characters that hide or pretend, as chips in the place where they stand."""

from collections.abc import Iterable

from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.odd import Odd, Strictness, look_through, pieces

KINDS_SHOWN = 12


def chips(text: str, strictness: Strictness = "speech") -> tuple[Node, ...]:
    """The text as nodes; a plain text is one string and gives itself back."""
    return tuple(
        piece if isinstance(piece, str) else chip(piece) for piece in pieces(text, strictness)
    )


def strip(texts: Iterable[tuple[str, Strictness]]) -> Element | None:
    """The warning that says what in an action is not what it seems, or nothing."""
    found = look_through(texts)
    if not found.kinds:
        return None
    lines = [el("li", "", *_line(odd)) for odd in found.kinds[:KINDS_SHOWN]]
    if len(found.kinds) > KINDS_SHOWN:
        lines.append(el("li", "", f"and {len(found.kinds) - KINDS_SHOWN} more kinds"))
    mark = el("span", "aw-mark aw-mark--warn", "!", aria_hidden="true")
    words = el("div", "", el("p", "", el("b", "", found.headline)), el("ul", "", *lines))
    return el("div", "aw-ask__risk", mark, " ", words)


def chip(odd: Odd) -> Element:
    """What is printed in the place of odd characters."""
    match odd.kind:
        case "look":
            return el("i", "aw-look", odd.text)
        case "trail":
            return el("span", "aw-space", odd.label)
        case "hidden" | "gap":
            return el("span", "aw-odd", odd.label)


def _line(odd: Odd) -> tuple[Node, ...]:
    if odd.kind == "look":
        return el("i", "aw-look", odd.text), f" {odd.why}"
    return el("span", "aw-odd", odd.code), f" {odd.why}"
