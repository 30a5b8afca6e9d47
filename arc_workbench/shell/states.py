"""What is known of a command: how it stands, how it ended, and where its output lies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from arc_workbench.shell.plain import plain

Status = Literal["running", "completed", "failed", "timed_out", "killed", "aborted", "limited"]
"""`killed` by a person or at the end of the session, `aborted` with its call, `limited` by `limit`.

A command that ended by itself is `completed` with exit code 0, else `failed`.
"""

Limit = Literal["", "memory", "processes", "file size", "supervisor"]
"""What a `limited` command ran into; `supervisor`: what watched over it was killed, so it had to
end."""

SandboxMode = Literal["off", "workspace-write", "required"]

MAX_JOBS = 4
KEPT_BYTES = 50 * 1024


@dataclass(frozen=True)
class Survivor:
    """A process that was still there when its command had ended, or had to end."""

    pid: int
    name: str

    def __str__(self) -> str:
        """Its name in one line: a process may call itself anything."""
        name = self.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        line = " ".join(plain(name).split())
        shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in line)
        return f"{shown or '?'} (pid {self.pid})"


@dataclass(frozen=True)
class JobState:
    """One command at one moment; `job_id` is "" as long as it is in the foreground.

    Times are in seconds; `started_at` counts from the epoch, `limit_sec` is None for no limit.
    `lost_from` is the first byte of its
    output that was not kept, and why, "" for nothing lost. `lingering` were alive when the command
    itself had ended, `killed` when it had to end: none of them is left. `backend` is what confines
    it, "" for nothing; `unconfined` is why that is so where it was wanted.
    """

    spool_id: str
    command: str
    cwd: str
    status: Status = "running"
    job_id: str = ""
    call_id: str = ""
    exit_code: int | None = None
    signal_name: str | None = None
    limit: Limit = ""
    started_at: float = 0.0
    duration_sec: float = 0.0
    total_bytes: int = 0
    lost_from: int | None = None
    lost_why: str = ""
    lingering: tuple[Survivor, ...] = ()
    killed: tuple[Survivor, ...] = ()
    limit_sec: float | None = None
    backend: str = ""
    unconfined: str = ""
    note: str = ""

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.status == "running"


@dataclass(frozen=True)
class Tail:
    """The end of some output as it was printed, with placeholders for secrets.

    `cut_bytes` before it are left out.
    """

    raw: str
    cut_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class Result:
    """What a call waited for: the command's state and the end of its output."""

    state: JobState
    tail: Tail


@dataclass(frozen=True)
class Range:
    """A piece of a spool: `data` begins at byte `offset`; `eof` when no more will ever come."""

    offset: int
    data: bytes
    eof: bool


@dataclass(frozen=True)
class Piece:
    """A piece of a spool to show: `size` bytes from `offset` on, with placeholders for secrets."""

    offset: int
    size: int
    text: str
    eof: bool


@dataclass(frozen=True)
class JobBegan:
    """A command went to the background; so many bytes of its output were handed on before."""

    state: JobState
    shown_bytes: int = 0


@dataclass(frozen=True)
class JobSaid:
    """New output of a background job, as plain text."""

    job_id: str
    text: str


@dataclass(frozen=True)
class JobOver:
    """A background job has ended, and everything it had started."""

    state: JobState


JobNews = JobBegan | JobSaid | JobOver
JobSink = Callable[[JobNews], None]
