"""Picking a few lines out of a stream of bytes, however many bytes there are."""


class Window:
    """Picks lines out of bytes that are fed to it, and never holds more than it will return."""

    def __init__(self, first: int, max_lines: int, max_bytes: int, max_line_bytes: int) -> None:
        self.first = first
        self.max_lines = max_lines
        self.max_bytes = max_bytes
        self.max_line_bytes = max_line_bytes
        self.line = 1
        self.lines: list[bytes] = []
        self.cut: list[int] = []
        self.full = False
        self._used = 0
        self._part = bytearray()
        self._part_cut = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the file."""
        at = self._skip(chunk)
        while not self.full and 0 <= at < len(chunk):
            end = chunk.find(b"\n", at)
            self._collect(chunk[at : len(chunk) if end < 0 else end])
            if end < 0:
                return
            self._finish_line()
            self.line += 1
            at = end + 1
        if self.full and at >= 0:
            self.line += chunk.count(b"\n", at)

    def end(self) -> None:
        """Take the last line, which no line end closes."""
        if self.line >= self.first and not self.full:
            self._finish_line()

    @property
    def next_line(self) -> int | None:
        """The first line that was left out, if the file has one."""
        following = self.first + len(self.lines)
        return following if self.line >= following and self.full else None

    def _skip(self, chunk: bytes) -> int:
        """Count lines before the first one; where in `chunk` that begins, or -1 if later."""
        missing = self.first - self.line
        if missing <= 0:
            return 0
        there = chunk.count(b"\n")
        if there < missing:
            self.line += there
            return -1
        at = 0
        for _ in range(missing):
            at = chunk.find(b"\n", at) + 1
        self.line = self.first
        return at

    def _collect(self, piece: bytes) -> None:
        if len(self.lines) == self.max_lines:
            self.full = True
            return
        room = self.max_line_bytes - len(self._part)
        self._part += piece[:room]
        self._part_cut |= len(piece) > room
        if self._used + len(self._part) > self.max_bytes:
            self._overflow()

    def _overflow(self) -> None:
        """The line does not fit: it is left for the next slice, unless it is the first."""
        if self.lines:
            self.full = True
            return
        del self._part[self.max_bytes :]
        self._part_cut = True

    def _finish_line(self) -> None:
        if len(self.lines) == self.max_lines:
            self.full = True
        if self.full:
            return
        if self._part_cut:
            self.cut.append(self.line)
        self._used += len(self._part) + 1
        self.lines.append(bytes(self._part))
        self._part = bytearray()
        self._part_cut = False
