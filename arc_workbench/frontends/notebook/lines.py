"""Single lines of a card: what was done, what to type, what else to know."""

from arc_workbench.frontends.notebook.elements import Element, el
from arc_workbench.frontends.notebook.odd import chips


def done(words: str) -> Element:
    """One line that says what was done."""
    sign = el("span", "aw-mark aw-mark--done", "\u2713", aria_hidden="true")
    return el("div", "aw-note", sign, " ", el("span", "", el("b", "", words)))


def command(words: str, line: str) -> Element:
    """What to type for something."""
    return el("p", "aw-soft", f"{words}: ", el("code", "", *chips(f"%agent {line}", "action")))


def soft(*words: str) -> list[Element]:
    """What else to know, a line each; nothing for what is empty."""
    return [el("p", "aw-soft", *chips(each)) for each in words if each]
