"""The end of patience: a time limit and a person's interrupt, looked at between two steps."""

import threading
from time import monotonic

from arc_workbench.errors import ToolError

SEARCH_SECONDS = 20.0
NARROWER = "Narrow it: a simpler pattern, a deeper path, or a glob."


class TimedOut(ToolError):
    """Time is up; who has a part of the answer may give that instead."""


class Deadline:
    """Raises `ToolError` from `check` once time is up or `signal` is set."""

    def __init__(
        self,
        seconds: float = SEARCH_SECONDS,
        signal: threading.Event | None = None,
        advice: str = NARROWER,
    ) -> None:
        self.seconds = seconds
        self._advice = advice
        self._end = monotonic() + seconds
        self._signal = signal

    def check(self) -> None:
        """Raise when the work must stop, and say why: `TimedOut` when it is the time."""
        if self._signal is not None and self._signal.is_set():
            raise ToolError("Aborted: the person stopped it; nothing was changed.")
        if monotonic() > self._end:
            raise TimedOut(f"This timed out after {self.seconds:g} s. {self._advice}")
