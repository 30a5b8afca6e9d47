"""What must end with this process, told a moment before: worker threads are joined at its end.

One of them may wait for its command, so being told by `atexit` alone would be too late.
"""

import atexit
import os
import threading
from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet


class Closes(Protocol):
    """Something that can be closed."""

    def close(self) -> None:
        """End everything it runs."""
        ...


class AtExit:
    """Closes what was added by this very process, not by the one it was forked from."""

    def __init__(self) -> None:
        self._open: WeakSet[Closes] = WeakSet()
        self._owner = os.getpid()
        atexit.register(self.end)
        before_joining: Callable[[Callable[[], None]], object] | None = getattr(
            threading, "_register_atexit", None
        )
        if before_joining is not None:
            before_joining(self.end)

    def add(self, closes: Closes) -> None:
        """Close it at the end, if it is still there."""
        if self._owner != os.getpid():
            self._open, self._owner = WeakSet(), os.getpid()
        self._open.add(closes)

    def end(self) -> None:
        """Close everything."""
        if self._owner == os.getpid():
            for closes in list(self._open):
                closes.close()


AT_EXIT = AtExit()
