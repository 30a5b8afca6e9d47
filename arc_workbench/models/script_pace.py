"""How fast a scripted model speaks: tokens per second, cut into pieces that arrive evenly."""

import asyncio
import math
from collections.abc import Iterator

CHARS_PER_TOKEN = 4
_PIECE_SEC = 0.01  # pieces come no more often than this; a quicker pace makes them longer
_SLOWEST_SEC = 60.0
_SLICE_SEC = 0.1  # the longest sleep, so that an interrupt never waits
_WHOLE_CHARS = 4_096  # the piece when nothing is paced


class Pace:
    """One stream's clock. A pace of 0 or below, or without end, never waits."""

    def __init__(self, tokens_per_sec: float) -> None:
        self._paced = tokens_per_sec > 0 and math.isfinite(tokens_per_sec)
        self._chars_per_sec = tokens_per_sec * CHARS_PER_TOKEN
        self._due: float | None = None

    def pieces(self, text: str) -> Iterator[str]:
        """The text, cut into what is said at a time."""
        size = _WHOLE_CHARS
        if self._paced:
            size = (
                max(1, round(self._chars_per_sec / CHARS_PER_TOKEN * _PIECE_SEC)) * CHARS_PER_TOKEN
            )
        return (text[start : start + size] for start in range(0, len(text), size))

    async def wait(self, piece: str) -> None:
        """Wait until the piece is due; long lateness is not made up for in a rush."""
        if not self._paced:
            return
        clock = asyncio.get_running_loop().time
        now = clock()
        due = now if self._due is None else max(self._due, now - _SLICE_SEC)
        self._due = due + min(len(piece) / self._chars_per_sec, _SLOWEST_SEC)
        for _ in range(math.ceil((due - now) / _SLICE_SEC)):
            await asyncio.sleep(min(_SLICE_SEC, max(0.0, due - clock())))
