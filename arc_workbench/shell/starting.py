"""Starting a command: what is asked for becomes an order, confined as the session wants it."""

import os
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from arc_workbench.content import text_of
from arc_workbench.errors import ToolError
from arc_workbench.shell.environment import ChildEnvironment
from arc_workbench.shell.jobs import Job
from arc_workbench.shell.platform import Interpreter
from arc_workbench.shell.records import about
from arc_workbench.shell.sandbox import Backends, Confinement, probe
from arc_workbench.shell.sandbox_guard import shown
from arc_workbench.shell.sandbox_session import Cage, Sandbox
from arc_workbench.shell.states import JobState, SandboxMode
from arc_workbench.shell.supervision import SUPERVISORS
from arc_workbench.shell.table import JobTable
from arc_workbench.shell.usual import usual_limits
from arc_workbench.supervisor.limits import Limits
from arc_workbench.supervisor.order import OrderJson, began

WhenOver = Callable[[str], str]
"""Called once with the id of the output when a command is over; what it says is noted."""


@dataclass(frozen=True)
class Guarded:
    """What a sandbox keeps from being written inside the project.

    `state` are folders of ours; `is_protected` says it of a name by its parts.
    """

    state: tuple[Path, ...] = ()
    is_protected: Callable[[Sequence[str]], bool] = lambda parts: False


@dataclass(frozen=True)
class Wanted:
    """One command that is asked for, in an existing folder; `overlay` stands for the project."""

    command: str
    cwd: Path
    timeout_sec: float | None
    stdin_text: str | None = None
    call_id: str = ""
    overlay: Path | None = None
    when_over: WhenOver | None = None


@dataclass
class Starter:
    """Hands the commands of one session over `root` to supervisors."""

    root: Path
    interpreter: Interpreter
    environment: ChildEnvironment
    table: JobTable
    max_output_bytes: int
    limits: Limits | None
    redact: Callable[[str], str]
    portable: bool
    guarded: Guarded
    backends: Callable[[], Backends] = probe
    _cages: Sandbox | None = None
    _preparing: threading.Lock = field(default_factory=threading.Lock)

    def start(self, wanted: Wanted, sandbox: SandboxMode) -> Job:
        """The command at work; raises `ToolError` where it cannot be started.

        Whatever comes of it, what must follow a command follows.
        """
        over = _Over(wanted.when_over)
        try:
            return self._handed_over(wanted, sandbox, over)
        except BaseException:
            over()
            raise

    def _handed_over(self, wanted: Wanted, sandbox: SandboxMode, over: "_Over") -> Job:
        size = len(_bytes(wanted.command, "The command"))
        _bytes(wanted.stdin_text or "", "stdin_text")
        cage = over.cage = self._cage(wanted, sandbox)
        how = cage.confinement
        spool_id, place = self.table.new_spool()
        over.spool_id = spool_id
        state = JobState(
            spool_id,
            self.redact(wanted.command),
            text_of(wanted.cwd),
            call_id=wanted.call_id,
            limit_sec=wanted.timeout_sec,
            backend=how.backend,
            unconfined=how.reason if how.note else "",
            note=how.note,
        )
        mark = secrets.token_hex(8)
        order = self._order(wanted, how, place, mark, self._argv(wanted.command, size, place))
        order["about"] = about(state)
        job = Job(place, state, SUPERVISORS.take(order), mark, over)
        self.table.add(job)
        return job

    def _order(
        self, wanted: Wanted, how: Confinement, place: Path, mark: str, argv: Sequence[str]
    ) -> OrderJson:
        limits = self.limits or usual_limits()
        rules = how.landlock
        return {
            "about": {},
            "folder": str(place),
            "argv": [*how.prefix, *argv],
            "cwd": str(wanted.cwd),
            "environment": {**self.environment.marked(mark), **how.environment},
            "stdin": wanted.stdin_text,
            "timeout_sec": wanted.timeout_sec,
            "most_bytes": self.max_output_bytes,
            "processes": limits.processes,
            "memory": limits.memory,
            "file_size": limits.file_size,
            "writable": [os.fsdecode(path) for path in rules.writable] if rules else None,
            "no_new_privileges": bool(how.backend),
            "portable": self.portable,
            "mark": mark,
            "asker": (os.getpid(), began(os.getpid())),
        }

    def _cage(self, wanted: Wanted, sandbox: SandboxMode) -> Cage:
        """How the command is confined; raises `ToolError` where it must be and cannot."""
        if sandbox == "off" and wanted.overlay is None:
            return Cage(Confinement(), None)
        with self._preparing:
            if self._cages is None:
                own = self.table.own_folder()
                self._cages = Sandbox(
                    project=self.root.resolve(),
                    scratch=own / "scratch",
                    aside=own / "aside",
                    state=[*self.guarded.state, own],
                    is_protected=self.guarded.is_protected,
                    backends=self.backends,
                )
            return self._cages.cage(sandbox, cwd=wanted.cwd, overlay=wanted.overlay)

    def _argv(self, command: str, size: int, place: Path) -> list[str]:
        """What to start; a command too long for one argument is read from a file instead."""
        shell = self.interpreter
        if size <= shell.longest:
            line = shell.line(command)
            return [line] if isinstance(line, str) else line
        script = place / "command.sh"
        try:
            script.touch(mode=0o600)
            script.write_text(command, encoding="utf-8")
        except OSError as fault:
            raise ToolError(
                f"The command could not be started: it is too long for one argument, and no file "
                f"can be written for it ({fault.strerror})."
            ) from fault
        return shell.file(str(script))


class _Over:
    """What must happen once when a command is over, or could not begin."""

    def __init__(self, when_over: WhenOver | None) -> None:
        self.cage: Cage | None = None
        self.spool_id = ""
        self._when_over = when_over

    def __call__(self) -> str:
        """Do it; what is to be noted of it."""
        acts: list[Callable[[], str]] = []
        if self.cage is not None:
            acts.append(self.cage.settled)
        if self._when_over is not None:
            acts.append(partial(self._when_over, self.spool_id))
        self.cage = self._when_over = None
        said: list[str] = []
        for act in acts:
            try:
                said.append(act())
            except (ToolError, OSError) as fault:
                said.append(shown(str(fault)))
        return " ".join(filter(None, said))


def _bytes(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{what} holds half a surrogate pair, which is not a character.") from None
