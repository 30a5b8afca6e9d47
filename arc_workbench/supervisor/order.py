"""What a supervisor is told and what it reports: lines of JSON over a socket, and a record."""

import json
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

RECORD = "state.json"
OUTPUT = "output"
_BLOCK = 4096
READY = {"ready": True}
"""What a supervisor says first: only then is it given its order, so none is given to the dead."""


class OrderJson(TypedDict):
    """One command to run: what a record says of it (`about`), how to run it, and the limits."""

    about: dict[str, object]
    folder: str
    argv: list[str]
    cwd: str
    environment: dict[str, str]
    stdin: str | None
    timeout_sec: float | None
    most_bytes: int
    processes: int
    memory: int
    file_size: int
    writable: list[str] | None
    no_new_privileges: bool
    portable: bool
    mark: str
    asker: tuple[int, str]


@dataclass
class Ending:
    """How a command ended; `status` and `limit` are words of `shell.states`."""

    status: str = "running"
    exit_code: int | None = None
    signal: int | None = None
    limit: str = ""
    duration_sec: float = 0.0
    total_bytes: int = 0
    lost_from: int | None = None
    lost_why: str = ""
    lingering: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    killed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    fault: str = ""


class Line:
    """One end of the socket: whole lines in, whole lines out."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._waiting = b""

    def fileno(self) -> int:
        """The number to wait for."""
        return self._end.fileno()

    def send(self, value: object) -> None:
        """Send one value; nothing happens where nobody listens any more."""
        try:
            self._end.sendall(json.dumps(value).encode("ascii") + b"\n")
        except OSError:
            return

    def receive(self) -> dict[str, object] | None:
        """The next value, waiting for it; None when the other end is closed."""
        while b"\n" not in self._waiting:
            try:
                piece = self._end.recv(1 << 16)
            except ConnectionError:
                piece = b""
            if not piece:
                return None
            self._waiting += piece
        line, _, self._waiting = self._waiting.partition(b"\n")
        value: dict[str, object] = json.loads(line)
        return value

    @property
    def has_more(self) -> bool:
        """Whether another value is here already."""
        return b"\n" in self._waiting

    def close(self) -> None:
        """Close this end."""
        self._end.close()


def began(pid: int) -> str:
    """When a process began, in a word that is never the same for two with one number; "" for none.

    Where the system does not tell, the number alone has to do.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""


def write_record(folder: str, record: dict[str, object]) -> None:
    """Replace the record of a command as a whole.

    On a full disk the one that is there is written over: each is as long as whole blocks, so there
    is room for that.
    """
    place = Path(folder) / RECORD
    text = json.dumps(record)
    data = text.ljust(-(-len(text) // _BLOCK) * _BLOCK).encode("ascii")
    new = place.with_suffix(".new")
    try:
        new.touch(mode=0o600)
        new.write_bytes(data)
        new.replace(place)
    except OSError:
        with suppress(OSError), place.open("r+b") as file:
            file.write(data)
            file.truncate()
