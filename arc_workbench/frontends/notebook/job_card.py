"""A background job as a card: the live form with its buttons, and the form that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from arc_workbench.content import JsonObject
from arc_workbench.frontends import jobs, words
from arc_workbench.frontends.notebook.elements import ROOT_CLASS, Element, Node, el
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.spool_pages import Page
from arc_workbench.frontends.notebook.static import page as static_page
from arc_workbench.frontends.notebook.values import bounded, mark, tail
from arc_workbench.views import JobView

MAX_COMMAND = 400
MAX_TAIL = 3_000
"""Of what is sent while it runs."""
MAX_KEPT = 8_000

STOP, WHOLE, BACK = "stop", "whole", "back"
MOVES = ("start", "earlier", "later", "end")


@dataclass(frozen=True)
class Facts:
    """What a card says that its view does not hold.

    `step` is the step that began it, 0 for unknown. `stopping`: the person pressed Stop job.
    `fault` is why that did not work. `page` is what is read of the whole output now. `undo` is the
    id by which what the command changed can be taken back.
    """

    step: int = 0
    stopping: bool = False
    fault: str = ""
    page: Page | None = None
    undo: str = ""


def kept(job: JobView, facts: Facts) -> str:
    """The card as HTML that needs no kernel: how it ended, or that it ran when it was kept."""
    nodes = [_head(job, facts, kept=True), _sub(job, facts), _kept_now(job), _tail(job, MAX_KEPT)]
    return static_page(_card(job, "aw-card aw-job aw-job--saved", *nodes))


def live(job: JobView, facts: Facts) -> Element:
    """The card that a page draws; `parts` are what is drawn again."""
    inside = list(parts(job, facts).values())
    card = _card(job, "aw-card aw-job aw-job--live", *inside)
    return el("div", ROOT_CLASS, el("div", "aw-stack", card), key="all")


def parts(job: JobView, facts: Facts) -> Mapping[str, Element]:
    """The parts of a live card by their keys."""
    read = facts.page is not None and not job.running  # then all of it stands there
    last = el("div", "", key="tail") if read else _tail(job, MAX_TAIL)
    drawn = (_head(job, facts), _sub(job, facts), last, _whole(facts.page))
    return {part.key: part for part in drawn}


def _card(job: JobView, classes: str, *nodes: Node) -> Element:
    name = "Job " + "".join(filter(str.isalnum, job.id.removeprefix("j")))[:20]
    return el("section", classes, *nodes, role="group", aria_label=name)


# ---- the first lines ----------------------------------------------------------------------------


def _head(job: JobView, facts: Facts, *, kept: bool = False) -> Element:
    title, sign = jobs.title(job), jobs.mark(job)
    if job.running and kept:
        title, sign = f"{title} when this was kept", ("pending", "\u25cb")
    elif job.running and facts.stopping:
        title = title.replace(", running", ", stopping")
    return el(
        "div",
        "aw-card__head",
        mark(*sign),
        " ",
        el("span", "aw-card__title aw-job__state", title),
        " ",
        el("code", "", *bounded(_line(job.command), MAX_COMMAND, whole=True)),
        " ",
        el("span", "aw-job__end", *_time(job), *_buttons(job, facts)),
        key="head",
    )


def _line(command: str) -> str:
    first, newline, rest = command.strip("\n").partition("\n")
    return (
        f"{first} \u2026 {words.plural(rest.count(chr(10)) + 1, 'more line')}" if newline else first
    )


def _time(job: JobView) -> list[Node]:
    """The clock of what runs is the page's; what is kept holds how long it took."""
    limit = f" of {words.elapsed(job.timeout_sec)}" if job.timeout_sec else ""
    if not job.running:
        return [el("span", "", words.duration(job.duration_sec))]
    return [el("span", "", el("span", "aw-elapsed"), limit, only="live")]


def _buttons(job: JobView, facts: Facts) -> list[Element]:
    label = "Back" if facts.page else "Whole output"
    press = BACK if facts.page else WHOLE
    shown = [_button(label, press, "aw-btn aw-btn--quiet")]
    if job.running and not facts.stopping:
        shown.append(_button("Stop job", STOP, "aw-btn"))
    return shown


def _button(label: str, name: str, classes: str) -> Element:
    do: JsonObject = {"do": "job", "prompt": name}
    return el("button", classes, label, type="button", do=do, only="live")


def _sub(job: JobView, facts: Facts) -> Element:
    said = [el("span", "", *chips(each[:300])) for each in jobs.facts(job, facts.step)]
    if job.lost:
        said[-1] = el("span", "", mark("warn", "!"), " ", *said[-1].children)
    if facts.undo and not job.running:
        way = el("code", "", *chips(f"%agent undo {facts.undo}", "action"))
        said.append(el("span", "", "Take back what it changed: ", way))
    if facts.fault:
        said.append(el("span", "aw-bad", *chips(facts.fault[:300])))
    if not job.running and job.bytes:
        more = el("code", "", f"%agent jobs tail {job.id}")
        said.append(el("span", "", "All of it: ", more, only="saved"))
    return el("div", "aw-job__sub", *_spaced(said), key="sub")


def _spaced(spans: list[Element]) -> list[Node]:
    """With a space between, for a reader that has no style."""
    nodes: list[Node] = []
    for span in spans:
        nodes += [" ", span] if nodes else [span]
    return nodes


def _kept_now(job: JobView) -> Node:
    if not job.running:
        return ""
    return el("p", "aw-job__sub", el("span", "", jobs.NOW, el("code", "", "%agent jobs")))


# ---- output -------------------------------------------------------------------------------------


def _tail(job: JobView, most: int) -> Element:
    """The last lines, held at their end; nothing where nothing was printed."""
    text = job.tail[-most:]
    if not text.strip():
        return el("div", "", key="tail")
    if len(text) < len(job.tail):
        text = text.partition("\n")[2] or text
    above = max(0, job.bytes - len(text.encode("utf-8", "replace")))
    shown = tail(text, above if not job.running else 0, live=job.running)
    return el("div", "aw-job__tail", shown, key="tail")


def _whole(page: Page | None) -> Element:
    """What is read of the whole output, and the ways to the rest."""
    if page is None:
        return el("div", "", key="whole")
    drawn: list[Node] = [el("div", "aw-bar", *_ways(page))]
    held = "aw-job__page aw-job__page--end" if page.stop == page.total else "aw-job__page"
    drawn.append(el("div", held, el("pre", "", *chips(page.text))))
    drawn.append(el("p", "", "The file: ", el("code", "", *chips(words.folder(page.file), "name"))))
    return el("div", "aw-job__whole", *drawn, key="whole")


def _ways(page: Page) -> list[Node]:
    place = f"Bytes {page.start:,} to {page.stop:,} of {page.total:,}"
    wanted = {
        "start": page.start > 0,
        "earlier": page.start > 0,
        "later": page.stop < page.total,
        "end": page.stop < page.total,
    }
    buttons = [
        _button(move.capitalize(), move, "aw-btn aw-btn--quiet") for move in MOVES if wanted[move]
    ]
    return [el("span", "", place), *buttons]
