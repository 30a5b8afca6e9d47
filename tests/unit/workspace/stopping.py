"""A person who interrupts in the middle, at the same place in every run."""

import threading


class StopAfter(threading.Event):
    """A signal that is set once it was looked at `looks` times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    def is_set(self) -> bool:
        """Whether it was looked at often enough."""
        self._left -= 1
        return self._left < 0
