"""How a command ended, in sentences for whoever reads its result."""

import signal
from collections.abc import Iterable

from arc_workbench.shell.jobs import Finished
from arc_workbench.shell.processes import Survivor

_NAMED = 10


def notes(done: Finished) -> tuple[str, ...]:
    """What the output and the exit code do not say; nothing for an ordinary end."""
    found = (_cut(done), _overflow(done), _signal(done), _lingering(done), _killed(done))
    return tuple(sentence for sentence in found if sentence)


def _cut(done: Finished) -> str:
    if not done.cut_bytes:
        return ""
    return (
        f"The first {done.cut_bytes} of {done.total_bytes} bytes of output are left out; to read "
        "all of it, run the command with its output in a file."
    )


def _overflow(done: Finished) -> str:
    if done.status != "overflowed":
        return ""
    return f"The command was killed because it had printed {done.total_bytes} bytes."


def _signal(done: Finished) -> str:
    if done.status != "failed":
        return ""
    if done.signal_name:
        return f"The command was killed by {done.signal_name}."
    name = _signal_of_last(done.exit_code or 0)
    return f"Exit code {done.exit_code} usually means killed by {name}." if name else ""


def _signal_of_last(exit_code: int) -> str:
    """The signal that a shell's exit code stands for."""
    try:
        return signal.Signals(exit_code - 128).name
    except ValueError:
        return ""


def _lingering(done: Finished) -> str:
    count = len(done.lingering)
    if not count:
        return ""
    was = "1 process was" if count == 1 else f"{count} processes were"
    return (
        f"{was} still running when the command ended, and ended with it: {_names(done.lingering)}."
    )


def _killed(done: Finished) -> str:
    return f"Killed: {_names(done.killed)}." if done.killed else ""


def _names(processes: Iterable[Survivor]) -> str:
    words = [str(process) for process in processes]
    more = [f"{len(words) - _NAMED} more"] if len(words) > _NAMED else []
    return ", ".join([*words[:_NAMED], *more])
