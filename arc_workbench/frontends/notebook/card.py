"""The permission card: a question, the whole action, what there is to know, and the choices."""

import re
from collections.abc import Iterator, Sequence

from arc_workbench.content import (
    Changes,
    Command,
    CommandChanges,
    Diff,
    Display,
    JsonObject,
    Matches,
    Names,
    Outline,
    Output,
    Recovery,
)
from arc_workbench.events import PermissionRequested, PermissionResolved, Scope
from arc_workbench.frontends import words
from arc_workbench.frontends.notebook.diff import WHOLE, diff, is_cut
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.odd import chips, strip
from arc_workbench.frontends.notebook.values import display, mark, pairs

MAX_WHOLE = 200_000
MAX_COMMAND_LINES = 5_000

_FIRST_WORD = re.compile(r"(\s*)(\S+)(.*)", re.DOTALL)


def card(question: PermissionRequested, call: int = 0) -> Element:
    """An open question; `call` is the place of the call in its step.

    The live form has the choices; the saved form says that an answer is waited for.
    """
    name = _id(question)
    cut = _is_cut(question)
    title = el("h4", "aw-ask__title", words.title(question), id=name)
    meta = el("span", "aw-ask__meta", *chips(question.tool, "action"), _place(question, call))
    parts: list[Node] = [
        el("div", "aw-ask__head", mark("ask", "?"), " ", title, " ", meta),
        *_action(question),
        *_warnings(question, cut),
        el("div", "aw-ask__part", _facts(question)),
        _choices(question, cut),
        el("p", "aw-ask__part aw-strong", "Waiting for an answer.", only="saved"),
        _end(question, cut),
    ]
    key = f"ask-{question.prompt}"
    return el("section", "aw-ask", *parts, role="group", aria_labelledby=name, key=key)


def answered(decision: PermissionResolved) -> Element:
    """The one line that a question becomes."""
    bold, rest = words.answered(decision)
    allowed = decision.verdict == "allow"
    sign = mark("done", "\u2713") if allowed else mark("denied", "\u2298")
    said = [" ", *chips(rest)] if rest else []
    return el("div", "aw-note", sign, " ", el("span", "", el("b", "", bold), *said))


def _id(question: PermissionRequested) -> str:
    return "aw-q-" + (re.sub(r"[^a-z0-9]", "", question.prompt.lower()) or "0")


def _place(question: PermissionRequested, call: int) -> str:
    return f" \u00b7 step {question.step}" + (f", call {call}" if call else "")


# ---- the action ---------------------------------------------------------------------------------


def _action(question: PermissionRequested) -> Iterator[Element]:
    """All that would happen, whole; a tool without a drawing shows its arguments."""
    drawn = False
    for block in question.display:
        yield el("div", "aw-ask__part", *_block(block))
        drawn = drawn or isinstance(block, Command | Diff)
    if not drawn:
        yield el("div", "aw-ask__part", *_description(question), _well(question.input))


def _block(block: Display) -> Sequence[Element]:
    match block:
        case Command():
            return (_command(block.command),)
        case Diff():
            return (diff(block, WHOLE),)
        case Output():
            return (el("pre", "aw-well", *chips(block.text[:MAX_WHOLE])),)
        case Matches() | Names() | Outline() | Changes() | Recovery() | CommandChanges():
            return display([block], "")


def _description(question: PermissionRequested) -> list[Element]:
    text = question.description or question.subject
    return [el("p", "", *chips(text[:MAX_WHOLE], "action"))] if text else []


def _well(values: JsonObject) -> Element:
    inside = pairs(values, whole=True) if values else el("span", "aw-soft", "no arguments")
    return el("div", "aw-well", inside)


def _command(command: str) -> Element:
    """Every line with its number, the word that is run in bold, wrapped and never cut."""
    nodes: list[Node] = []
    shown = command[:MAX_WHOLE].removesuffix("\n").split("\n")[:MAX_COMMAND_LINES]
    for number, line in enumerate(shown, 1):
        nodes += [
            el("i", "", str(number), aria_hidden="true"),
            el("code", "", *_command_line(line), "\n"),
        ]
    return el("div", "aw-cmd", *nodes)


def _command_line(line: str) -> Iterator[Node]:
    match = _FIRST_WORD.fullmatch(line)
    if match is None or match[2].startswith("#"):
        yield from chips(line, "action")
        return
    parts = chips(line, "action")
    lead = match[1] + match[2]
    if isinstance(parts[0], str) and parts[0].startswith(lead):
        yield from [match[1]] if match[1] else []
        yield el("b", "", match[2])
        yield from [parts[0][len(lead) :], *parts[1:]]
    else:
        yield from parts


def _is_cut(question: PermissionRequested) -> bool:
    """Whether the action is so large that not all of it is drawn."""
    return any(_too_long(block) for block in question.display)


def _too_long(block: Display) -> bool:
    match block:
        case Diff():
            return is_cut(block, WHOLE)
        case Command():
            lines = block.command.count("\n")
            return len(block.command) > MAX_WHOLE or lines > MAX_COMMAND_LINES
        case Output():
            return len(block.text) > MAX_WHOLE
        case Matches() | Names() | Outline() | Changes() | Recovery() | CommandChanges():
            return False


def _warnings(question: PermissionRequested, cut: bool) -> Iterator[Element]:
    odd = strip(words.looked_through(question))
    if odd is not None:
        yield odd
    if cut:
        bold = el("b", "", "This is not the whole action.")
        line = el("p", "", bold, " It is too long to be shown; deny it unless you know the rest.")
        yield el("div", "aw-ask__risk", mark("warn", "!"), " ", el("div", "", line))


# ---- what there is to know ----------------------------------------------------------------------


def _facts(question: PermissionRequested) -> Element:
    rows: list[Node] = []
    for name, nodes in _fact_rows(question):
        rows += [el("dt", "", name), el("dd", "", *nodes)]
    return el("dl", "aw-facts", *rows)


def _fact_rows(question: PermissionRequested) -> Iterator[tuple[str, tuple[Node, ...]]]:
    if any(isinstance(block, Command) for block in question.display):
        yield "In", (el("code", "", *chips(words.folder(question.cwd), "action")),)
    extra = words.unshown(question) if words.is_drawn(question) else {}
    if extra:
        yield "With", (pairs(extra, whole=True),)
    if question.because:
        yield "Asks because", chips(question.because)
    if words.sandbox(question):
        yield "Sandbox", (words.sandbox(question),)
    if words.undoable(question):
        yield "Can be undone", (words.undoable(question),)
    if words.dry_run(question):
        yield "Dry run", (words.dry_run(question),)
    said = words.model_says(question)
    if said:
        aside = el("span", "aw-soft", "Its words, not checked.")
        yield "The model says", ("\u201c", *chips(said[:2_000]), "\u201d ", aside)


# ---- the choices --------------------------------------------------------------------------------


def _choices(question: PermissionRequested, cut: bool) -> Element:
    """First what runs nothing, a gap, then what runs something; each with how far it goes."""
    deny: JsonObject = {"do": "deny", "prompt": question.prompt}
    rows: list[Node] = [
        *_choice("Deny", deny, words.DENIED, f"{_id(question)}-deny"),
        _why(question),
        el("span", "aw-choices__gap"),
    ]
    for scope in _scopes(question, cut):
        allow: JsonObject = {"do": "allow", "prompt": question.prompt, "scope": scope}
        name = f"{_id(question)}-{scope}"
        rows += _choice(words.SCOPES[scope], allow, words.grant(question, scope), name)
    return el("div", "aw-choices", *rows, only="live")


def _scopes(question: PermissionRequested, cut: bool) -> tuple[Scope, ...]:
    """Nothing beyond one time for an action that could not be shown whole (REQ-S4)."""
    return tuple(scope for scope in question.scopes if scope == "once" or not cut)


def _choice(word: str, do: JsonObject, grant: str, name: str) -> tuple[Element, Element]:
    button = el("button", "aw-btn", word, type="button", aria_describedby=name, do=do)
    return button, el("span", "", grant, id=name)


def _why(question: PermissionRequested) -> Element:
    """Deny with words: a form that opens in its place; its first word is then the way back."""
    name = f"{_id(question)}-why"
    deny: JsonObject = {"do": "deny", "prompt": question.prompt}
    shut = el("span", "aw-why__shut", "Deny and say why\u2026")
    back = el("span", "aw-why__back", "Back")
    summary = el(
        "summary",
        "aw-why__head",
        el("span", "aw-btn", shut, back),
        el("span", "", words.DENIED_WITH_WORDS),
    )
    label = el("label", "aw-label", "The agent reads this as the result", for_=name)
    field = el("textarea", "aw-field", rows="2", id=name, field="reason")
    stop: JsonObject = {**deny, "then_stop": True}
    goes_on = "Nothing runs. The agent goes on with your words."
    rows = (
        *_choice("Deny with this reason", deny, goes_on, f"{name}-deny"),
        *_choice("Deny and stop", stop, "Nothing runs, and this turn ends.", f"{name}-stop"),
    )
    form = el("form", "aw-why__form", label, field, el("div", "aw-choices", *rows))
    return el("details", "aw-why", summary, form)


def _end(question: PermissionRequested, cut: bool) -> Element:
    digits = words.fingerprint(question.digest)
    nodes: list[Node] = [el("span", "", f"Action {digits}: what is shown is what runs")]
    missing = words.not_offered(question)
    if cut and not missing:
        missing = "A longer permission is not offered: not all of it could be shown"
    if missing:
        nodes += [" ", el("span", "", missing)]
    return el("div", "aw-ask__end", *nodes)
