"""The words of states, questions and answers, the same in every front end."""

import json
from collections.abc import Iterator
from pathlib import Path

from arc_workbench.content import (
    Changes,
    Command,
    CommandChanges,
    Diff,
    JsonObject,
    Matches,
    Names,
    Outline,
    Output,
    Recovery,
    Usage,
)
from arc_workbench.events import PermissionRequested, PermissionResolved, Scope
from arc_workbench.frontends.odd import Strictness
from arc_workbench.frontends.unified import changed, read
from arc_workbench.views import CallState, CallView, RunState, TurnView

STATES: dict[RunState, str] = {
    "running": "Running",
    "waiting": "Waiting for you",
    "finished": "Finished",
    "stopped": "Stopped",
    "error": "Ended with an error",
}
CALL_MARKS: dict[CallState, str] = {
    "pending": "\u25cb",
    "asking": "?",
    "running": "\u2026",
    "done": "\u2713",
    "failed": "\u2717",
    "denied": "\u2298",
    "stopped": "\u25a0",
}
RUN_MARKS: dict[RunState, str] = {
    "running": "\u2026",
    "waiting": "?",
    "finished": "\u2713",
    "stopped": "\u25a0",
    "error": "\u2717",
}
SCOPES: dict[Scope, str] = {"once": "Allow once", "session": "Allow for this session"}

DENIED = "Nothing runs. The agent is told and goes on."
DENIED_WITH_WORDS = "Nothing runs. Your words go to the agent as the result."

MAX_LOOKED_THROUGH = 200_000

UNCONFINED = "off: this runs with your rights"
_CONFINED = {
    "workspace-write": "workspace-write: it writes to the project and to temporary folders only",
    "required": "required: it writes to the project only, and has no network and no sockets",
    "unavailable": "workspace-write, but none works here: this runs with your rights",
}

_SMALL = "no one two three four five six seven eight nine ten eleven twelve"
_SHOWN_BY_COMMAND = frozenset({"command", "cwd", "description"})
SHOWN_BY_DIFF = frozenset(
    {
        *("content", "oldText", "newText", "old_string", "new_string"),
        *("expected_sha256", "description"),
    }
)


# ---- figures ------------------------------------------------------------------------------------


def plural(count: int, noun: str) -> str:
    """ "1 line", "2,000 lines"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def tokens(usage: Usage) -> str:
    """ "12.4k tokens"; with a tilde where nobody counted them exactly."""
    total = usage.input_tokens + usage.output_tokens
    figure = f"{total / 1000:.1f}k" if total >= 1000 else str(total)
    return f"{'~' if usage.estimated else ''}{figure} tokens"


def elapsed(seconds: float) -> str:
    """ "0:42" or "1:02:03"."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """ "0.01 s", "12.4 s", "2:05"."""
    if seconds >= 60:
        return elapsed(seconds)
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"


def size(count: int) -> str:
    """Bytes for people."""
    if count < 1000:
        return plural(count, "byte")
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count / 1000:.1f} KB"


def folder(path: str) -> str:
    """A folder as people write it: the home folder is a tilde."""
    home = str(Path.home())
    inside = path == home or path.startswith(home.rstrip("/") + "/")
    return "~" + path[len(home.rstrip("/")) :] if inside and home != "/" else path


# ---- run and calls ------------------------------------------------------------------------------


def facts(view: TurnView) -> str:
    """What answers and what it may do."""
    dry = " \u00b7 dry run" if view.dry_run else ""
    return f"{view.model} \u00b7 {view.mode} mode \u00b7 {view.access} access{dry}"


def note(call: CallView) -> str:
    """The few words at the end of a row; empty where the mark says all."""
    given = call.result.note if call.result is not None else ""
    match call.state:
        case "done":
            return given
        case "failed" | "stopped":
            known = given in {"", "failed", "stopped"}
            return call.state if known else f"{call.state} \u00b7 {given}"
        case "denied":
            return "denied"
        case "asking":
            return _asks(call)
        case "pending":
            return "waiting"
        case "running":
            return "running"


def _asks(call: CallView) -> str:
    diffs = [b for b in (call.question.display if call.question else ()) if isinstance(b, Diff)]
    if not diffs:
        return "asks you"
    pairs = [changed(block.unified) for block in diffs]
    added, removed = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return f"asks you \u00b7 +{added:,} \u2212{removed:,}"


def tally(view: TurnView) -> str:
    """What the turn came to: files changed, and calls by their end."""
    parts = [_files(view)] if view.changes else []
    calls = [call for step in view.steps for call in step.calls]
    ends = [(word, sum(call.state == word for call in calls)) for word in _ENDS]
    counted = ", ".join(f"{count:,} {word}" for word, count in ends if count)
    if calls:
        parts.append(f"{plural(len(calls), 'call')}: {counted}" if counted else "")
    return " \u00b7 ".join(part for part in parts if part)


_ENDS: tuple[CallState, ...] = ("done", "failed", "denied", "stopped")


def _files(view: TurnView) -> str:
    pairs = [changed(change.diff) for change in view.changes]
    names = {change.path for change in view.changes}
    added, removed = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    lines = f"+{added:,} \u2212{removed:,}"
    if all(change.dry_run for change in view.changes):
        return f"{plural(len(names), 'file')} would change, {lines}"
    return f"{plural(len(names), 'file')} changed, {lines}"


# ---- questions and answers ----------------------------------------------------------------------


def title(question: PermissionRequested) -> str:
    """The question: the verb of the thing itself."""
    place = " in the dry run" if question.dry_run else ""
    for block in question.display:
        match block:
            case Command():
                return "Run this command?"
            case Diff():
                verb = "Create" if block.created else "Delete" if block.removed else "Change"
                return f"{verb} this file{place}?"
            case Output() | Matches() | Names() | Outline() | Changes() | Recovery():
                continue
            case CommandChanges():
                continue
    return "Use this tool?"


def is_drawn(question: PermissionRequested) -> bool:
    """Whether the tool drew its action; else its arguments are the action."""
    return any(isinstance(block, Command | Diff) for block in question.display)


def looked_through(question: PermissionRequested) -> Iterator[tuple[str, Strictness]]:
    """All texts of an action in which characters could hide, and how strictly each is read."""
    for block in question.display:
        match block:
            case Command():
                yield block.command[:MAX_LOOKED_THROUGH], "action"
            case Diff():
                yield block.path, "name"
                yield _added(block)[:MAX_LOOKED_THROUGH], "code"
            case Output() | Matches() | Names() | Outline() | Changes() | Recovery():
                continue
            case CommandChanges():
                continue
    values = unshown(question) if is_drawn(question) else question.input
    if not is_drawn(question):
        yield question.description[:MAX_LOOKED_THROUGH], "action"
    for name, value in values.items():
        yield name, "action"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield text[:MAX_LOOKED_THROUGH], "action"


def _added(block: Diff) -> str:
    """What a change brings in, without the line ends."""
    hunks = read(block.unified, MAX_LOOKED_THROUGH // 10).hunks
    lines = (line for hunk in hunks for line in hunk.lines if line.sign == "+")
    return "\n".join(line.text.removesuffix("\r") for line in lines)


def unshown(question: PermissionRequested) -> JsonObject:
    """The arguments that the drawing of the action does not hold already."""
    shown = {"description"}
    for block in question.display:
        shown |= _SHOWN_BY_COMMAND if isinstance(block, Command) else set()
        shown |= SHOWN_BY_DIFF | {"path"} if isinstance(block, Diff) else set()
    return {key: value for key, value in question.input.items() if key not in shown}


def model_says(question: PermissionRequested) -> str:
    """The words that the model put beside the action, if it did."""
    words = question.input.get("description")
    return words if isinstance(words, str) else ""


def sandbox(question: PermissionRequested) -> str:
    """What holds a command in."""
    if question.effect != "execute":
        return ""
    if question.dry_run:
        return f"required, on a copy: {_CONFINED['required'].partition(': ')[2]}"
    return _CONFINED.get(question.sandbox, UNCONFINED)


def undoable(question: PermissionRequested) -> str:
    """Whether the action can be taken back."""
    if question.effect != "write" or question.dry_run:
        return ""
    return "Yes, exactly, with %agent undo."


def dry_run(question: PermissionRequested) -> str:
    """What an answer comes to while a dry run is on."""
    if question.effect not in {"write", "execute"} or not question.dry_run:
        return ""
    return "Nothing changes yet: it waits in the dry run. Then: %agent dryrun apply, or discard."


def grant(question: PermissionRequested, scope: Scope) -> str:
    """How far a yes goes."""
    return _once(question) if scope == "once" else _session(question)


def _once(question: PermissionRequested) -> str:
    for block in question.display:
        match block:
            case Command():
                lines = block.command.rstrip("\n").count("\n") + 1
                what = "this line" if lines == 1 else f"these {few(lines)} lines"
                return f"Runs exactly {what}, one time."
            case Diff():
                place = " in the dry run" if question.dry_run else ""
                return f"{_what(block)}{place}, one time."
            case Output() | Matches() | Names() | Outline() | Changes() | Recovery():
                continue
            case CommandChanges():
                continue
    return "Runs exactly this, one time."


def _what(block: Diff) -> str:
    if block.created:
        return "Creates exactly this file"
    return "Deletes exactly this file" if block.removed else "Makes exactly this change"


def few(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    small = _SMALL.split()
    return small[count] if count < len(small) else f"{count:,}"


def _session(question: PermissionRequested) -> str:
    if question.effect == "execute":
        return "The same line, until the kernel stops. Any other command still asks."
    if question.effect == "write":
        return "Every change to this file by this tool, until the kernel stops."
    return "The same thing by this tool, until the kernel stops."


def not_offered(question: PermissionRequested) -> str:
    """What is not offered and why; empty where everything is."""
    if "session" in question.scopes:
        return ""
    if not question.subject:
        return "A longer permission is not offered: there is nothing that it could name"
    long = "several lines" if "\n" in question.subject else "this length"
    return f"A longer permission is not offered for a command of {long}"


def fingerprint(digest: str) -> str:
    """The first eight digits of the digest of what is shown."""
    digits = digest.rpartition(":")[2][:8]
    return f"{digits[:4]} {digits[4:]}".strip()


def answered(decision: PermissionResolved) -> tuple[str, str]:
    """One line about a decision: what was decided, and the words that go with it."""
    if decision.verdict == "allow":
        return _allowed(decision)
    match decision.by:
        case "person":
            return (
                ("Denied by you:", f"\u201c{decision.reason}\u201d")
                if decision.reason
                else ("Denied by you.", "")
            )
        case "policy":
            return "Policy denied it.", decision.reason or "Nobody can answer here."
        case "mode" | "list" | "rule" | "session":
            return "Denied.", decision.because


def _allowed(decision: PermissionResolved) -> tuple[str, str]:
    match decision.by:
        case "person":
            how_long = "once" if decision.scope == "once" else "for this session"
            return f"You allowed this {how_long}.", ""
        case "policy":
            return "Policy allowed it.", decision.reason
        case "mode" | "list" | "rule" | "session":
            return "Allowed.", decision.because
