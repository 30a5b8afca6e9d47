"""Waiting for what a supervisor says."""

import select

from arc_workbench.supervisor.order import Line


def readable(line: Line, pause_sec: float) -> bool:
    """Whether something was said, or the other end is closed; waits for it for so long."""
    if line.has_more:
        return True
    poll = select.poll()
    poll.register(line.fileno(), select.POLLIN)
    return bool(poll.poll(pause_sec * 1000))
