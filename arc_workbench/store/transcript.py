"""The record of a session: one JSON line per durable event, on disk before anybody is shown it."""

import os
from pathlib import Path

from pydantic import ValidationError

from arc_workbench.errors import TranscriptError
from arc_workbench.events import EVENT, Event


class Transcript:
    """An append-only file; every line is synced before `append` returns (REQ-F62)."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def append(self, event: Event) -> None:
        """Write one event; raises `TranscriptError` where the disk refuses, no half line stays."""
        line = EVENT.dump_json(event) + b"\n"
        start = os.fstat(self._fd).st_size
        try:
            _write_all(self._fd, line)
            os.fsync(self._fd)
        except OSError as fault:
            os.truncate(self.file, start)
            raise TranscriptError(
                f"The transcript cannot be written ({fault.strerror}); the turn stops."
            ) from fault

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read(file: Path) -> tuple[list[Event], bytes]:
    """All events of a transcript, and the torn tail a crash may have left behind its last line.

    Raises `TranscriptError` naming the line where anything before the last line is damaged.
    """
    *lines, tail = file.read_bytes().split(b"\n")
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        try:
            event = EVENT.validate_json(line)
        except ValidationError as fault:
            if number == len(lines) and not tail and not _is_json_line(line):
                return events, line + b"\n"
            raise _damaged(number, _first(fault)) from None
        if event.seq != number:
            raise _damaged(number, "a line before it is missing or stands twice")
        events.append(event)
    return events, tail


def _damaged(number: int, why: str) -> TranscriptError:
    return TranscriptError(
        f"Line {number} of the transcript is damaged ({why}); nothing ran. Begin another: --new."
    )


def first(file: Path) -> Event | None:
    """The first event of a transcript, or None where it cannot be read."""
    with file.open("rb") as lines:
        line = lines.readline()
    try:
        return EVENT.validate_json(line)
    except ValidationError:
        return None


def repair(file: Path, tail: bytes) -> None:
    """Cut a torn tail off, so that the next line starts on a line of its own; it is kept beside."""
    if not tail:
        return
    file.with_suffix(".torn").write_bytes(tail)
    os.truncate(file, file.stat().st_size - len(tail))


def _is_json_line(line: bytes) -> bool:
    return line.startswith(b"{") and line.endswith(b"}")


def _first(fault: ValidationError) -> str:
    return fault.errors(include_url=False, include_input=False)[0]["msg"]


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
