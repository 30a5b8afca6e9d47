"""A turn as a drawing: the same for the live view and for what is kept.

Each part has a key under which the live view replaces it: `head`, `s3` (a step), `s3p1` (its second
part), `lead0`, `end`. `lead`, `steps` and `s3-body` are what new parts are put into.
"""

from collections.abc import Sequence

from arc_workbench.content import Diff, Recovery
from arc_workbench.events import PermissionRequested, PermissionResolved
from arc_workbench.frontends import words
from arc_workbench.frontends.notebook import card as cards
from arc_workbench.frontends.notebook.elements import ROOT_CLASS, Element, Node, el
from arc_workbench.frontends.notebook.markdown import markdown
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.values import (
    bounded,
    display,
    mark,
    pairs,
    tail,
    words_of,
)
from arc_workbench.views import (
    CallState,
    CallView,
    CardView,
    NoteView,
    Part,
    RunState,
    SayView,
    SteerView,
    StepView,
    TurnView,
    shown_of,
)

LONGEST_NAME = 14
MAX_OPEN_DIFF_LINES = 60
MAX_SUBJECT = 300
MAX_SAID = 4_000
MAX_THOUGHT = 20_000
MAX_BRIEF = 100
MAX_BRIEF_TEXT = 200

_RUN_MARKS: dict[RunState, str] = {
    "running": "running",
    "waiting": "ask",
    "finished": "done",
    "stopped": "aborted",
    "error": "failed",
}
_CALL_MARKS: dict[CallState, str] = {
    "pending": "pending",
    "asking": "ask",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "denied": "denied",
    "stopped": "aborted",
}


# ---- the whole turn -----------------------------------------------------------------------------


def turn(view: TurnView, *, prompt: bool = False) -> Element:
    """The whole turn; with `prompt`, also what was asked for (a cell shows that already)."""
    before = [asked(view)] if prompt and view.prompt else []
    lines = [part(view, None, index) for index in range(len(view.lead))]
    steps = [step(view, each) for each in view.steps]
    return root(view, [*before, *lines], steps)


def root(view: TurnView, lead: Sequence[Node], steps: Sequence[Node]) -> Element:
    """The frame of a turn around what is drawn of it."""
    return el(
        "div",
        ROOT_CLASS,
        head(view),
        el("div", "", *lead, key="lead"),
        el("div", "", *steps, style=f"--aw-name:{_name_width(view)}ch", key="steps"),
        end(view),
    )


def head(view: TurnView, now: float | None = None) -> Element:
    """State, what answers, what it may do, what it took; `now` is the clock of a running turn."""
    state = view.state
    sign = mark(_RUN_MARKS[state], words.RUN_MARKS[state])
    nodes: list[Node] = [
        el("span", "aw-head__state", sign, " ", words.STATES[state]),
        " ",
        el("span", "aw-head__facts", *chips(words.facts(view), "action")),
        " ",
        el("span", "aw-head__count", words.tokens(view.usage), *_elapsed(view, now)),
    ]
    if view.reason is None:
        stop = {"aria-label": "Stop this run", "type": "button", "class": "aw-btn"}
        nodes.append(Element("button", stop, ("Stop",), do={"do": "stop"}))
    return el("header", "aw-head", *nodes, key="head")


def _elapsed(view: TurnView, now: float | None) -> list[Node]:
    until = view.ended_at or now
    if not view.started_at or until is None:
        return [el("span", "aw-elapsed aw-elapsed--live", only="live")]
    took = words.elapsed(until - view.started_at)
    return [" \u00b7 ", el("span", "aw-elapsed", took)]


def step(view: TurnView, step: StepView) -> Element:
    """One step with all its parts."""
    parts = [part(view, step, index) for index in range(len(step.parts))]
    return frame(view, step, parts)


def frame(view: TurnView, step: StepView, parts: Sequence[Node]) -> Element:
    """A step around what is drawn of it."""
    name = f"aw-t{view.number}-s{step.number}"
    is_row = bool(step.parts) and isinstance(step.parts[0], CallView)
    classes = "aw-step__n aw-step__n--row" if is_row else "aw-step__n"
    number = el("a", classes, str(step.number), href=f"#{name}", aria_label=f"Step {step.number}")
    body = el("div", "aw-step__body", *parts, key=f"s{step.number}-body")
    return el("section", "aw-step", number, " ", body, id=name, key=f"s{step.number}")


def brief_step(view: TurnView, step: StepView) -> Element:
    """One step in little room: calls as rows, and the first words of what was said."""
    parts: list[Node] = [each for part in step.parts[-MAX_BRIEF:] for each in _brief(part)]
    missing = len(step.parts) - MAX_BRIEF
    if missing > 0:
        parts.insert(0, el("p", "aw-soft", f"{words.plural(missing, 'more part')} not shown here."))
    return frame(view, step, parts)


def _brief(part: Part) -> list[Node]:
    match part:
        case CallView():
            return [row(part)]
        case SayView(thinking=False) | SteerView() | NoteView():
            return [el("p", "aw-text", *bounded(part.text, MAX_BRIEF_TEXT))]
        case SayView():
            return []
        case CardView(block=block):
            return [*display([block], "")]


def end(view: TurnView) -> Element:
    """How the turn ended, and what it came to."""
    nodes: list[Node] = []
    if view.reason is not None and view.detail:
        stopped = view.reason == "aborted"
        nodes.append(_line(("aborted", "\u25a0") if stopped else ("failed", "\u2717"), view.detail))
    sums = words.tally(view) if view.reason is not None else ""
    if sums:
        nodes.append(el("p", "aw-foot", f"{sums} \u00b7 ", *_ways(view)))
    return el("div", "", *nodes, key="end")


def _ways(view: TurnView) -> list[Node]:
    """What to type about what the turn came to."""
    transcript = el("code", "", f"%agent transcript t{view.number}")
    if not view.changes:
        return [transcript]
    changes = "dryrun diff" if any(change.dry_run for change in view.changes) else "changes"
    return [el("code", "", f"%agent {changes}"), " \u00b7 ", transcript]


def asked(view: TurnView) -> Element:
    """What the person asked for, for a place that does not show it already."""
    return el("div", "aw-you", *bounded(view.prompt.replace("\r\n", "\n"), MAX_SAID))


def _name_width(view: TurnView) -> int:
    """The column of tool names: wide enough for the toolset, so that it stands while it runs."""
    usual = 5 if view.toolset == "arcturn" else LONGEST_NAME
    longest = max((len(call.name) for call in view.calls.values()), default=0)
    return min(LONGEST_NAME, max(usual if not view.reason else 4, longest))


# ---- one part -----------------------------------------------------------------------------------


def part_key(step: StepView | None, index: int) -> str:
    """The name of a part; `step` is None for the lines before the first step."""
    return f"lead{index}" if step is None else f"s{step.number}p{index}"


def part(view: TurnView, step: StepView | None, index: int) -> Element:
    """One part of a step, or one line before the first."""
    parts = view.lead if step is None else step.parts
    key = part_key(step, index)
    match parts[index]:
        case SayView() as said:
            return _thought(said, key) if said.thinking else _said(said, key)
        case CallView() as call:
            return _call(view, call, key, _rank(parts, index))
        case NoteView() as line:
            return el("div", "", _note(line), key=key)
        case SteerView() as steered:
            return el("div", "", _steered(steered), key=key)
        case CardView(block=block):
            return el("div", "", *display([block], f"%agent transcript t{view.number}"), key=key)


def _rank(parts: Sequence[Part], index: int) -> int:
    return sum(isinstance(each, CallView) for each in parts[: index + 1])


def _said(said: SayView, key: str) -> Element:
    if said.open:
        return el("div", "aw-text aw-stream", said.text, key=key)
    return el("div", "aw-text", *markdown(said.text), key=key)


def _thought(said: SayView, key: str) -> Element:
    if said.open:
        return el("div", "aw-text aw-stream aw-stream--thought", said.text, key=key)
    text = said.text.strip()
    if not text:
        return el("p", "aw-soft", "Thought; the words are not given.", key=key)
    summary = el("summary", "", _chevron(), " Thought")
    body = el("div", "aw-think__body", el("p", "aw-asis", *bounded(text, MAX_THOUGHT)))
    return el("details", "aw-think", summary, body, key=key)


def _note(line: NoteView) -> Element:
    kinds = {"info": ("info", "i"), "warning": ("warn", "!"), "error": ("failed", "\u2717")}
    return _line(kinds[line.level], line.text)


def _line(sign: tuple[str, str], text: str) -> Element:
    """One mark, the first sentence in bold where another follows, and the rest."""
    shown = bounded(text, MAX_SAID)
    lead, stop, rest = text.partition(". ")
    if stop and len(text) <= MAX_SAID:
        shown = (el("b", "", *chips(lead + "."), " "), *chips(rest))
    classes = "aw-note aw-note--bad" if sign[0] == "failed" else "aw-note"
    return el("div", classes, mark(*sign), " ", el("span", "", *shown))


def _steered(steered: SteerView) -> Element:
    said = bounded(steered.text.replace("\r\n", "\n"), MAX_SAID)
    quote = el("span", "", el("b", "", "Steered:"), " \u201c", *said, "\u201d")
    return el("div", "aw-note", mark("info", "i"), " ", quote)


def _chevron() -> Element:
    return el("span", "aw-chev", "\u203a", aria_hidden="true")


# ---- a tool call --------------------------------------------------------------------------------


def _call(view: TurnView, call: CallView, key: str, rank: int) -> Element:
    nodes: list[Node] = [_row(call, _where(view, call), key)]
    if call.question is not None:
        nodes.append(cards.card(call.question, rank))
    elif call.decision is not None and (call.decision.prompt or call.decision.verdict == "deny"):
        nodes.append(cards.answered(call.decision))
    return el("div", "aw-call", *nodes, key=key)


def _where(view: TurnView, call: CallView) -> str:
    """The command that shows what is left out of a change that is drawn."""
    if not any(isinstance(block, Diff) for block in shown_of(call.result)):
        return ""
    changes = [change for change in view.changes if change.call_id == call.id]
    if not changes:
        return ""
    return "%agent dryrun diff" if changes[0].dry_run else f"%agent changes {changes[0].change_id}"


def card(question: PermissionRequested, call: int = 0) -> Element:
    """The card of an open question."""
    return cards.card(question, call)


def row(call: CallView) -> Element:
    """A call as one line that does not open."""
    return el("div", "aw-row", *_cells(call))


def _row(call: CallView, where: str, key: str) -> Element:
    body = _body(call, where)
    if not body:
        return row(call)
    summary = el("summary", "", *_cells(call), " ", _chevron())
    attrs = {"class": "aw-tool"} | ({"open": ""} if _is_open(call) else {})
    inside = el("div", "aw-tool__body", *body)
    return Element("details", attrs, (summary, inside), key=f"{key}-row")


def _cells(call: CallView) -> list[Node]:
    took = words.duration(call.duration_sec) if call.duration_sec and call.result else ""
    return [
        mark(_CALL_MARKS[call.state], words.CALL_MARKS[call.state]),
        " ",
        el("span", "aw-tool__name", *chips(call.name[:80], "action")),
        " ",
        el("span", "aw-tool__subject", *chips(_one_line(call.subject), "action")),
        " ",
        el("span", "aw-tool__note", *_row_note(call)),
        " ",
        el("span", "aw-tool__time", took),
    ]


def _one_line(subject: str) -> str:
    """The first line of what is acted on; the whole of it stands in the card."""
    first, newline, rest = subject.strip("\n").partition("\n")
    more = f" \u2026 {words.plural(rest.count(chr(10)) + 1, 'more line')}" if newline else ""
    cut = words.plural(len(first) - MAX_SUBJECT, "more character")
    return first[:MAX_SUBJECT] + (f"\u2026 {cut}" if len(first) > MAX_SUBJECT else "") + more


def _row_note(call: CallView) -> list[Node]:
    nodes = chips(words.note(call)[:120])
    match call.state:
        case "done":
            return [el("span", "aw-sr", "done, " if nodes else "done"), *nodes]
        case "failed":
            return [el("span", "aw-bad", *nodes)]
        case "asking":
            return [el("span", "aw-strong", *nodes)]
        case _:
            return list(nodes)


def _is_open(call: CallView) -> bool:
    """A row stands open while there is something to look at.

    That is a failure, output as it comes, a change that is small enough to take in, and a journal
    that lets nothing be written.
    """
    if call.state == "running":
        return bool(call.tail)
    if call.state == "done":
        return _has_small_diff(call) or _is_blocked(call)
    return call.state == "failed"


def _is_blocked(call: CallView) -> bool:
    blocks = shown_of(call.result)
    return any(isinstance(block, Recovery) and block.mutation_blocked for block in blocks)


def _has_small_diff(call: CallView) -> bool:
    diffs = [block for block in shown_of(call.result) if isinstance(block, Diff)]
    return bool(diffs) and sum(diff.unified.count("\n") for diff in diffs) <= MAX_OPEN_DIFF_LINES


def _body(call: CallView, where: str) -> list[Node]:
    nodes: list[Node] = []
    arguments = _arguments(call)
    if arguments is not None:
        nodes.append(arguments)
    if call.decision is not None and _is_worth_saying(call.decision):
        nodes.append(el("p", "aw-soft", *chips(" ".join(words.answered(call.decision)))))
    if call.state == "running" and call.tail:
        nodes.append(tail(call.tail, live=True))
    if call.result is not None:
        shown = display(call.result.display, where)
        nodes += shown or words_of(call.result)
    return nodes


def _is_worth_saying(decision: PermissionResolved) -> bool:
    """A yes that nobody was asked for, unless it is what the usual mode does."""
    usual = decision.because.startswith("Mode default ")
    return decision.verdict == "allow" and not decision.prompt and not usual


def _arguments(call: CallView) -> Element | None:
    if call.input is None:
        raw = call.arguments.strip() if call.state != "pending" else ""
        return pairs({"arguments": raw}) if raw not in {"", "{}"} else None
    blocks = call.result.display if call.result is not None else ()
    blocks = call.question.display if call.question is not None else blocks
    drawn = (
        words.SHOWN_BY_DIFF
        if any(isinstance(block, Diff) for block in blocks)
        else frozenset[str]()
    )
    given = {name: value for name, value in call.input.items() if name not in drawn}
    return pairs(given) if given else None
