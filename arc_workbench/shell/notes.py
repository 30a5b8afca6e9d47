"""How a command ended, in sentences for whoever reads its result."""

import re
import signal
from collections.abc import Iterable

from arc_workbench.shell.plain import plain
from arc_workbench.shell.records import signal_number
from arc_workbench.shell.states import JobState, Result, Survivor

NO_SANDBOX = "note: sandbox requested but unavailable on this platform"
"""The first line of the output of a command that should have been confined and was not."""

_NAMED = 10
_ASKED_CHARS = 200
_QUESTION = re.compile(
    r"[?:]\s*$|[\[(]\s*y(?:es)?\s*/\s*n(?:o)?\s*[\])]\s*[:?]?\s*$|pass(?:word|phrase)[^\n]{0,60}$",
    re.IGNORECASE,
)
_LIMITS = {
    "memory": "The command was ended because it used more memory than it may.",
    "processes": "The command was ended because it had more processes than it may.",
    "file size": "The command was ended because it wrote a larger file than it may.",
    "supervisor": "What watched over the command was killed, so the command was ended.",
}


def notes(state: JobState) -> tuple[str, ...]:
    """What the output and the exit code do not say; nothing for an ordinary end."""
    found = (
        _LIMITS.get(state.limit, ""),
        _lost(state),
        _signal(state),
        _lingering(state.lingering),
        f"Killed: {_names(state.killed)}." if state.killed else "",
        f"No sandbox ({state.unconfined}); it ran unconfined." if state.unconfined else "",
        "" if state.note.startswith(NO_SANDBOX) else state.note,
    )
    return tuple(sentence for sentence in found if sentence)


def question(result: Result, *, had_input: bool) -> str:
    """What the command asked at last, where it failed because nobody could answer; else "".

    That is the unfinished last line of its output, if it looks like a question.
    """
    if had_input or result.state.status not in ("failed", "timed_out"):
        return ""
    last = plain(result.tail.raw.rpartition("\n")[2]).rpartition("\n")[2].strip()
    return last[-_ASKED_CHARS:] if last and _QUESTION.search(last) else ""


def asked(question: str) -> str:
    """The sentence about a question that nobody could answer."""
    return f'It asked "{question}" and nobody can type. Use a flag that answers.'


def shell_exit_code(state: JobState) -> int | None:
    """What a shell's `$?` would say: 128 and the signal's number after a signal.

    None while it runs. What was ended from outside counts as killed by SIGKILL where nothing else
    is known.
    """
    if state.running or state.exit_code is not None:
        return state.exit_code
    return 128 + signal_number(state.signal_name or "SIGKILL")


def how_it_ended(state: JobState) -> str:
    """A few words: `running`, `exit 3`, `SIGTERM`, `timed out`, `killed`, `memory limit`."""
    match state.status:
        case "running" | "killed" | "aborted":
            return state.status
        case "timed_out":
            return "timed out"
        case "limited":
            return f"{state.limit} limit" if state.limit != "supervisor" else "killed"
        case "completed" | "failed":
            return state.signal_name or f"exit {state.exit_code}"


def _lost(state: JobState) -> str:
    if state.lost_from is None:
        return ""
    return f"Output from byte {state.lost_from} on is not all there: {state.lost_why}."


def _signal(state: JobState) -> str:
    if state.status != "failed":
        return ""
    if state.signal_name:
        return f"The command was killed by {state.signal_name}."
    name = _signal_of_last(state.exit_code or 0)
    return f"Exit code {state.exit_code} usually means killed by {name}." if name else ""


def _signal_of_last(exit_code: int) -> str:
    """The signal that a shell's exit code stands for."""
    try:
        return signal.Signals(exit_code - 128).name
    except ValueError:
        return ""


def _lingering(processes: tuple[Survivor, ...]) -> str:
    if not processes:
        return ""
    was = "1 process was" if len(processes) == 1 else f"{len(processes)} processes were"
    return f"{was} still running when the command ended, and ended with it: {_names(processes)}."


def _names(processes: Iterable[Survivor]) -> str:
    words = [str(process) for process in processes]
    more = [f"{len(words) - _NAMED} more"] if len(words) > _NAMED else []
    return ", ".join([*words[:_NAMED], *more])
