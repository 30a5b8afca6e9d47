"""What a command prints, as it arrives: the end of it to keep, and pieces of it to show."""

import codecs
import time
from collections.abc import Callable

from arc_workbench.shell.plain import Plain

_SEEK = 4096  # how far into a cut text a clean beginning is looked for
_PIECE = 8 * 1024
_PAUSE_SEC = 0.05


class Tail:
    """The last `keep` bytes of everything that was added."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Append; memory stays below three times `keep`."""
        self.total += len(data)
        self._kept += data[-self._keep :]
        if len(self._kept) > 2 * self._keep:
            del self._kept[: -self._keep]

    def text(self) -> tuple[str, int]:
        """The text, and how many bytes before it are left out.

        A cut text begins with a line, or at least with a word: half a secret is not recognised
        as one.
        """
        kept = bytes(self._kept[-self._keep :])
        if len(kept) < self.total:
            kept = kept[_clean_start(kept) :]
        return kept.decode("utf-8", "replace"), self.total - len(kept)


def _clean_start(cut: bytes) -> int:
    """Where the first whole line begins; in a long line the first word or character."""
    head = cut[:_SEEK]
    for mark in (b"\n", b" "):
        if (at := head.find(mark)) >= 0:
            return at + 1
    return next((at for at, byte in enumerate(cut[:4]) if byte & 0xC0 != 0x80), 0)


class Live:
    """Hands new output on as plain text: at most 20 times a second, at most 8 KiB at a time."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._plain = Plain()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = bytearray()
        self._skipped = 0
        self._next = 0.0

    def add(self, data: bytes) -> None:
        """Take output in; of a flood only the newest is kept."""
        self._waiting += data[-_PIECE:]
        surplus = max(0, len(self._waiting) - _PIECE)
        self._skipped += surplus + max(0, len(data) - _PIECE)
        del self._waiting[:surplus]

    def tick(self) -> None:
        """Show what has come, unless something was shown a moment ago."""
        if self._waiting and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE_SEC
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
        start = _clean_start(data)
        # The mark comes at once: what was shown last may be the beginning of a key.
        note = f"…\n[… {skipped + start} bytes not shown while they came …]\n"
        self._plain = Plain()
        return note + self._plain.feed(self._decoder.decode(data[start:], final))

    def _hand_on(self, text: str) -> None:
        if text:
            self._show(text)
