"""A turn as plain text: what a terminal prints and what stands beside the HTML of a notebook.

Equal turns give equal bytes: no colour, no clock, no money, no random id, no absolute path. So
output of commands is left out (it holds times), and the project's folder is cut from paths.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

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
from arc_workbench.events import PermissionRequested, PermissionResolved
from arc_workbench.frontends import rows, words
from arc_workbench.frontends.odd import escaped, look_through, strip_line
from arc_workbench.views import (
    CallView,
    CardView,
    NoteView,
    Part,
    SayView,
    SteerView,
    StepView,
    TurnView,
)

MAX_TEXT = 20_000
MAX_TURN = 100_000
MAX_DIFF_LINES = 200
MAX_LOOKED_AT = 5_000
MAX_LINE = 400
MAX_SUBJECT = 200
MAX_LEAD = 20
INDENT = "   "
IN_A_CHANGE = "; all of it: %agent changes CHANGE"
IN_THE_FILE = "; they stand in the file itself"

_NOTES = {"info": "i", "warning": "!", "error": "\u2717"}

Clean = Callable[[str], str]
Shorten = Callable[[re.Match[str]], str]


# ---- a turn -------------------------------------------------------------------------------------


def turn(view: TurnView) -> str:
    """The whole turn."""
    clean = _cleaner(view.project)
    lines = [_head(view, clean)]
    for part in view.lead[:MAX_LEAD]:
        lines += _part(part, clean)
    lines += _steps(view, clean)
    lines += _end(view, clean)
    return "\n".join(lines)


def _steps(view: TurnView, clean: Clean) -> list[str]:
    """The newest steps as far as there is room, in order."""
    kept: list[str] = []
    room = MAX_TURN
    for step in reversed(view.steps):
        drawn = "\n".join(_step(step, clean))
        room -= len(drawn)
        if room < 0 and kept:
            left = words.plural(len(view.steps) - len(kept), "earlier step")
            kept.append(f"... {left}. All of it: %agent transcript t{view.number}")
            break
        kept.append(drawn)
    return kept[::-1]


def title(view: TurnView) -> str:
    """The turn in one line: `t2  4 steps  completed  Make the...`."""
    clean = _cleaner(view.project)
    steps = words.plural(len(view.steps), "step")
    asked = _cut(" ".join(view.prompt[:1000].split()), 60, clean)
    return f"t{view.number}  {steps}  {view.reason or view.state}  {asked}".rstrip()


def row(call: CallView, project: str = "") -> str:
    """A call as one line: `\u2713 read  calc.py  lines 1-4`."""
    return _row(call, _cleaner(project))


def part(view: TurnView, part: Part) -> str:
    """One part of a step, for a front end that prints as it goes."""
    return "\n".join(_part(part, _cleaner(view.project)))


def block(shown: Display, most: int = MAX_DIFF_LINES) -> str:
    """One thing that was found, changed or recovered, as lines."""
    clean = _cleaner("")
    return "\n".join(_block(shown, clean, most, IN_THE_FILE))


def head(view: TurnView) -> str:
    """The first line of a turn: `t2  script:tour \u00b7 default mode \u00b7 full access`."""
    return _head(view, _cleaner(view.project))


def _head(view: TurnView, clean: Clean) -> str:
    return _cut(f"t{view.number}  {words.facts(view)}", MAX_SUBJECT, clean)


def _step(step: StepView, clean: Clean) -> Iterator[str]:
    inside = [line for each in step.parts for line in _part(each, clean)]
    number = str(step.number)
    first, *rest = inside or [""]
    yield f"{number.ljust(len(INDENT) - 1)} {first}".rstrip()
    yield from (f"{INDENT}{line}".rstrip() for line in rest)


def _part(part: Part, clean: Clean) -> Iterator[str]:
    match part:
        case SayView() if part.thinking:
            return
        case SayView():
            yield from _cut(part.text.strip(), MAX_TEXT, clean).split("\n")
        case NoteView():
            yield f"{_NOTES[part.level]} {_cut(' '.join(part.text.split()), MAX_TEXT, clean)}"
        case SteerView():
            yield from f"> {_cut(part.text, MAX_TEXT, clean)}".split("\n")
        case CallView():
            yield from _call(part, clean)
        case CardView():
            yield from _block(part.block, clean)


def _end(view: TurnView, clean: Clean) -> Iterator[str]:
    if view.reason is None:
        yield words.STATES[view.state]
        return
    detail = _cut(" ".join(view.detail.split()), MAX_TEXT, clean)
    sums = words.tally(view)
    yield f"{words.STATES[view.state]}{': ' if detail else ''}{detail}"
    yield from [sums] if sums else []


# ---- a call -------------------------------------------------------------------------------------


def _call(call: CallView, clean: Clean) -> Iterator[str]:
    yield _row(call, clean)
    if call.question is not None:
        yield f"  {words.title(call.question)} Waiting for an answer."
    elif call.decision is not None and (call.decision.prompt or call.decision.verdict == "deny"):
        yield f"  {_decision(call.decision, clean)}"
    blocks = call.question.display if call.question is not None else ()
    blocks = call.result.display if call.result is not None else blocks
    for block in blocks:
        yield from (f"  {line}" for line in _block(block, clean))
    yield from (f"  {line}" for line in _failure(call, clean))


def _row(call: CallView, clean: Clean) -> str:
    cells = (call.name, call.subject, words.note(call))
    shown = [_cut(" ".join(cell.split()), MAX_SUBJECT, clean) for cell in cells]
    return f"{words.CALL_MARKS[call.state]} {'  '.join(cell for cell in shown if cell)}"


def _decision(decision: PermissionResolved, clean: Clean) -> str:
    return " ".join(clean(" ".join(words.answered(decision)).strip()).split())


def _failure(call: CallView, clean: Clean) -> Iterator[str]:
    """The first line of what a tool says went wrong; output of a command is not repeated."""
    if call.state != "failed" or call.result is None:
        return
    if not any(isinstance(block, Output) for block in call.result.display):
        first = call.result.text.strip().partition("\n")[0]
        yield from [_cut(first, MAX_SUBJECT, clean)] if first else []


def _block(
    block: Display, clean: Clean, most: int = rows.MOST, where: str = IN_A_CHANGE
) -> Iterator[str]:
    match block:
        case Diff():
            yield from _bounded_diff(block, clean, where)
        case Matches() | Names() | Outline() | Changes() | Recovery() | CommandChanges():
            for line in rows.of(block, most):
                yield _cut(line.replace("\n", "\\n"), MAX_LINE, clean)
        case Output() | Command():
            return


def _bounded_diff(block: Diff, clean: Clean, where: str) -> Iterator[str]:
    most = MAX_DIFF_LINES if where == IN_A_CHANGE else MAX_LOOKED_AT
    lines = block.unified.removesuffix("\n").split("\n") if block.unified else []
    shown = (line.removesuffix("\r") for line in lines[:most])
    yield from (_cut(line, MAX_LINE, clean) for line in shown)
    if len(lines) > most:
        yield f"... {words.plural(len(lines) - most, 'more line')}{where}"


# ---- a question, for a prompt that is typed into ------------------------------------------------


def question_text(question: PermissionRequested) -> str:
    """The whole action as text, never cut; what may be typed is said by who asks."""
    lines = [f"{words.title(question)}  ({_inline(question.tool)}, step {question.step})"]
    lines += [f"  {line}" for line in _action(question)]
    lines += _warnings(question)
    lines += _facts(question)
    missing = words.not_offered(question)
    lines += [f"{missing}."] if missing else []
    return "\n".join(lines)


def _action(question: PermissionRequested) -> Iterator[str]:
    for block in question.display:
        match block:
            case Command():
                yield from _numbered(block.command)
            case Diff():
                yield from _change(block)
            case Output():
                yield from escaped(block.text).split("\n")
            case Matches() | Names() | Outline() | Changes() | Recovery() | CommandChanges():
                yield from (_inline(line) for line in rows.of(block))
    if not words.is_drawn(question):
        yield from escaped(question.description or question.subject, "action").split("\n")
        yield from _arguments(question.input)


def _change(block: Diff) -> Iterator[str]:
    if not block.unified:
        what = "a new, empty file" if block.created else "no change"
        yield f"{_inline(block.path)}: {what}"
        return
    for line in block.unified.removesuffix("\n").split("\n"):
        yield escaped(line.removesuffix("\r"), "code")


def _numbered(command: str) -> Iterator[str]:
    lines = command.removesuffix("\n").split("\n")
    width = len(str(len(lines)))
    for number, line in enumerate(lines, 1):
        yield f"{number:>{width}}  {escaped(line, 'action')}"


def _arguments(values: JsonObject) -> Iterator[str]:
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = escaped(text, "action").split("\n")
        yield f"{_inline(name)}: {first}"
        yield from (f"  {line}" for line in rest)


def _warnings(question: PermissionRequested) -> Iterator[str]:
    found = look_through(words.looked_through(question))
    if found.kinds:
        yield found.headline
        yield from (f"  {strip_line(odd)}" for odd in found.kinds)


def _facts(question: PermissionRequested) -> Iterator[str]:
    if any(isinstance(block, Command) for block in question.display):
        yield f"In: {_inline(words.folder(question.cwd))}"
    extra = words.unshown(question) if words.is_drawn(question) else {}
    if extra:
        yield "With:"
        yield from (f"  {line}" for line in _arguments(extra))
    facts = {
        "Asks because": question.because,
        "Sandbox": words.sandbox(question),
        "Can be undone": words.undoable(question),
        "Dry run": words.dry_run(question),
    }
    yield from (f"{name}: {_inline(text)}" for name, text in facts.items() if text)
    said = words.model_says(question)
    if said:
        yield f'The model says: "{_inline(said[:MAX_TEXT])}" (its words, not checked)'


def _inline(text: str) -> str:
    """A text that cannot pass for another line of the question."""
    return escaped(text, "action").replace("\n", "\\n")


# ---- cleaning -----------------------------------------------------------------------------------


def _cleaner(project: str) -> Clean:
    """Escapes what a screen would obey and cuts this machine's folders from paths."""
    rules = [*_rule(project, "", "."), *_rule(str(Path.home()), "~/", "~")]

    def clean(text: str) -> str:
        for pattern, shorten in rules:
            text = pattern.sub(shorten, text)
        return escaped(text)

    return clean


def _rule(folder: str, inside: str, itself: str) -> Iterator[tuple[re.Pattern[str], Shorten]]:
    """Replace a folder by one text where something in it is named, by another where it is."""
    name = folder.rstrip("/")
    if name:
        end = r"(?P<slash>/)|(?![\w.-])|(?=\.(?:\s|\Z))"
        pattern = re.compile(rf"(?<![\w/.-]){re.escape(name)}(?:{end})")
        yield pattern, lambda match: inside if match["slash"] else itself


def _cut(text: str, limit: int, clean: Clean) -> str:
    """A text, cleaned, and how much of it is left out."""
    if len(text) <= limit:
        return clean(text)
    return f"{clean(text[:limit])}... {words.plural(len(text) - limit, 'more character')}"
