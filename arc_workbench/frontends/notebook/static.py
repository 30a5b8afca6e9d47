"""What is kept of a turn: HTML that needs no kernel and no script, and plain text."""

from arc_workbench.frontends import plain
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import (
    ROOT_CLASS,
    Element,
    Node,
    classes_of,
    el,
    to_html,
)
from arc_workbench.frontends.notebook.style import style_for
from arc_workbench.frontends.words import plural
from arc_workbench.views import StepView, TurnView

MAX_BYTES = 380_000
MAX_FULL_BYTES = 280_000
MAX_STEP_BYTES = 140_000
MAX_LEAD = 20


def static_bundle(view: TurnView, *, prompt: bool = False) -> dict[str, str]:
    """The turn as `text/html` and `text/plain`; with `prompt`, also what was asked for."""
    return {"text/html": html(view, prompt=prompt), "text/plain": plain.turn(view)}


def html(view: TurnView, *, prompt: bool = False) -> str:
    """The turn with its style, no larger than 400 KB; what is left out is said."""
    steps = _fitted(view)
    lead: list[Node] = [render.asked(view)] if prompt and view.prompt else []
    lead += [render.part(view, None, index) for index in range(min(MAX_LEAD, len(view.lead)))]
    lead += _left_out(len(view.lead) - MAX_LEAD, "line", view)
    lead += _left_out(len(view.steps) - len(steps), "earlier step", view)
    tree = render.root(view, lead, steps)
    return f"<style>\n{style_for(classes_of(tree))}\n</style>\n{to_html(tree)}"


def page(*nodes: Node) -> str:
    """What is no turn, with its style; the caller keeps it small."""
    tree = el("div", ROOT_CLASS, el("div", "aw-stack", *nodes))
    return f"<style>\n{style_for(classes_of(tree))}\n</style>\n{to_html(tree)}"


def _left_out(count: int, noun: str, view: TurnView) -> list[Node]:
    if count <= 0:
        return []
    where = el("code", "", f"%agent transcript t{view.number}")
    return [el("p", "aw-soft", f"{plural(count, noun)} not shown here. All of it: ", where)]


def _fitted(view: TurnView) -> list[Element]:
    """The newest steps in full, the ones before in brief, as far as there is room."""
    kept: list[Element] = []
    used = 0
    for step in reversed(view.steps):
        drawn, size = _drawn(view, step, MAX_FULL_BYTES - used)
        if used + size > MAX_BYTES:
            break
        kept.append(drawn)
        used += size
    return kept[::-1]


def _drawn(view: TurnView, step: StepView, room: int) -> tuple[Element, int]:
    """A step in full if it fits, else in brief; and its size."""
    if room > 0:
        full = render.step(view, step)
        size = len(to_html(full).encode("utf-8"))
        if size <= min(room, MAX_STEP_BYTES):
            return full, size
    brief = render.brief_step(view, step)
    return brief, len(to_html(brief).encode("utf-8"))
