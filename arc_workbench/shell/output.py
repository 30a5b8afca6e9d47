"""What a command prints, as it arrives: pieces of it to show."""

import codecs
import re
import time
from collections.abc import Callable

from arc_workbench.shell.plain import Plain

SEEK = 4096  # how far into a cut text a clean beginning is looked for
PIECE = 8 * 1024
_KEY_LINES = re.compile(  # the rest of a key block whose first line was skipped
    rb"(?:[A-Za-z0-9+/]{40,100}={0,2}\r?\n)*(?:[A-Za-z0-9+/=]{1,100}\r?\n(?=-----END ))?"
)
_PAUSE_SEC = 0.05


def clean_start(cut: bytes) -> int:
    """Where the first whole line begins; in a long line the first word or character."""
    head = cut[:SEEK]
    for mark in (b"\n", b" "):
        if (at := head.find(mark)) >= 0:
            return at + 1
    return next((at for at, byte in enumerate(cut[:4]) if byte & 0xC0 != 0x80), 0)


class Live:
    """Hands new output on as plain text: 20 times a second at most, at most 8 KiB at a time."""

    def __init__(self, show: Callable[[str], None], pause_sec: float = _PAUSE_SEC) -> None:
        self._show = show
        self._pause_sec = pause_sec
        self._plain = Plain()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = bytearray()
        self._skipped = 0
        self._next = 0.0

    def add(self, data: bytes, skipped: int = 0) -> None:
        """Take output in, before which so many bytes were not read; the newest is kept."""
        if skipped:
            self._skipped += skipped + len(self._waiting)
            self._waiting.clear()
        self._waiting += data[-PIECE:]
        surplus = max(0, len(self._waiting) - PIECE)
        self._skipped += surplus + max(0, len(data) - PIECE)
        del self._waiting[:surplus]

    def tick(self) -> None:
        """Show what has come, unless something was shown a moment ago."""
        if self._waiting and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause_sec
            self._hand_on(self._take(final=False))

    def finish(self) -> None:
        """Show the rest."""
        self._hand_on(self._take(final=True) + self._plain.end())

    def _take(self, *, final: bool) -> str:
        data, skipped = bytes(self._waiting), self._skipped
        self._waiting.clear()
        self._skipped = 0
        if not skipped:
            return self._plain.feed(self._decoder.decode(data, final))
        self._decoder.reset()
        start = clean_start(data)
        if key := _KEY_LINES.match(data, start):
            start = key.end()
        # The mark comes at once: what was shown last may be the beginning of a key.
        note = f"…\n[… {skipped + start} bytes not shown while they came …]\n"
        self._plain = Plain()
        return note + self._plain.feed(self._decoder.decode(data[start:], final))

    def _hand_on(self, text: str) -> None:
        if text:
            self._show(text)
