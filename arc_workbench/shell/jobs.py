"""One command, as the process that asked for it sees it: waited for, followed, told to end."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from arc_workbench.errors import ToolError
from arc_workbench.shell import records
from arc_workbench.shell.listening import readable
from arc_workbench.shell.output import PIECE, Live
from arc_workbench.shell.processes import end_abandoned
from arc_workbench.shell.spool import Output
from arc_workbench.shell.states import JobState, Status
from arc_workbench.supervisor.order import OUTPUT, Line, began

_PAUSE_SEC = 0.05
_LATE_SEC = 1.0  # after which a supervisor is woken that should have ended its command
_LOST_SEC = 6.0  # after which it is given up
_TERM_SEC = 2.0


class Job:
    """A command that was handed to a supervisor, which reports over `line`.

    `settled` is called when it has ended, before anybody hears of that; what it says is noted.
    `follow` is for one thread at a time; the rest may be called from any.
    """

    def __init__(
        self,
        folder: Path,
        state: JobState,
        line: Line,
        mark: str,
        settled: Callable[[], str] = str,
    ) -> None:
        self.folder = folder
        self.output = Output(folder / OUTPUT)
        self.over = threading.Event()
        self._line = line
        self._mark = mark
        self._settled = settled
        self._leader: int | None = None
        self._supervisor = (0, "")
        self._group: Path | None = None
        self._due: float | None = None
        self._told: Status = "limited"
        self._began = time.monotonic()
        self._state = replace(state, started_at=time.time())
        self._seen = 0
        self._fault = ""
        self._asked = False
        self._follower = 0
        self._lock = threading.Lock()

    @property
    def state(self) -> JobState:
        """How it stands now."""
        state = self._state
        if not state.running:
            return state
        return replace(
            state,
            duration_sec=time.monotonic() - self._began,
            total_bytes=self.output.size,
        )

    @property
    def handed_on(self) -> int:
        """How many bytes of its output `follow` has been through."""
        return self._seen

    def follow(
        self, stop: Callable[[], bool], live: Live | None, until: float | None = None
    ) -> bool:
        """Wait for the end, handing output on; whether it has ended.

        `stop` aborts it; at `until` (monotonic) waiting ends and the command goes on. Raises
        `ToolError` when it could not be started. Whatever is raised in here, the command has ended.
        """
        self._follower = threading.get_ident()
        try:
            while not self.over.is_set():
                if until is not None and time.monotonic() >= until:
                    self._follower = 0
                    return False
                if stop():
                    self.tell_to_end("aborted")
                self._press()
                if readable(self._line, _pause(until)):
                    self._hear()
                self._show(live)
        except BaseException:
            self.tell_to_end("aborted")
            self.wait()
            raise
        if live is not None:
            self._show(live)
            live.finish()
        if self._fault:
            raise ToolError(f"The command could not be started: {self._fault}.")
        return True

    def wait_over(self, seconds: float) -> None:
        """Wait for the end that another thread waits for, too; not for what this very one does."""
        if self._follower != threading.get_ident():
            self.over.wait(seconds)

    def wait_for_start(self) -> None:
        """Wait until it runs; raises `ToolError` when it could not be started."""
        while self._leader is None and not self.over.is_set():
            if readable(self._line, _LATE_SEC):
                self._hear()
            else:
                self._wake(signal.SIGCONT)
        if self._fault:
            raise ToolError(f"The command could not be started: {self._fault}.")

    def wait(self) -> None:
        """Wait for the end, whatever it is."""
        while not self.over.is_set():
            if readable(self._line, _PAUSE_SEC):
                self._hear()
            self._press()

    def tell_to_end(self, status: Status) -> None:
        """Kill it and all it started, at once; `status` is how it shall be said to have ended."""
        if not self._asked:
            self._asked, self._told = True, status
            self._is_due(0.0)
            self._send({"kill": status})

    def ask_to_end(self) -> None:
        """Ask all of it to end (TERM); what has not after two seconds is killed."""
        self._is_due(_TERM_SEC)
        self._send({"term": True})

    def name(self, job_id: str) -> None:
        """It is a background job from now on."""
        self._state = replace(self._state, job_id=job_id)
        self._send({"about": {"job_id": job_id}})

    # ---- inside -----------------------------------------------------------------------------

    def _send(self, said: dict[str, object]) -> None:
        with self._lock:
            self._line.send(said)

    def _hear(self) -> None:
        said = self._line.receive()
        if said is None:
            self._end(self._abandoned())
        elif "started" in said:
            self._leader = cast("int", said["started"])
        elif "supervisor" in said:
            supervisor = cast("int", said["supervisor"])
            self._supervisor = (supervisor, began(supervisor))
            self._group = Path(str(said["group"])) if said["group"] else None
            if self._due is None and self._state.limit_sec is not None:
                self._told = "timed_out"
                self._is_due(self._state.limit_sec)
        elif "ended" in said:
            ending = cast("dict[str, object]", said["ended"])
            self._fault = str(ending["fault"])
            started_at = {"started_at": self._state.started_at}
            self._end(records.state_of({**records.about(self._state), **started_at, **ending}))

    def _is_due(self, seconds: float) -> None:
        """The command is to be over in so long."""
        self._due = time.monotonic() + seconds

    def _press(self) -> None:
        """See to it that a supervisor does what is due: a command may have stopped it."""
        late = 0.0 if self._due is None else time.monotonic() - self._due
        if late >= _LATE_SEC:
            self._wake(signal.SIGCONT if late < _LOST_SEC else signal.SIGKILL)

    def _wake(self, number: int) -> None:
        pid, when = self._supervisor
        if pid and began(pid) == when:
            with suppress(OSError):
                os.kill(pid, number)

    def _abandoned(self) -> JobState:
        """Nobody watches over it any more: end what is left of it."""
        end_abandoned(self._leader, self._mark, self._group)
        state = records.lost(self.state)
        if self._due is not None and time.monotonic() >= self._due:
            state = replace(state, status=self._told, limit="")
        records.write(self.folder, state)
        return state

    def _end(self, state: JobState) -> None:
        said = self._settled()
        if said:
            state = replace(state, note=f"{state.note}\n{said}".strip())
        if said or state.job_id:  # a quick one may have ended before it was told its name
            records.write(self.folder, state)
        self._state = state
        self._line.close()
        self.over.set()

    def _show(self, live: Live | None) -> None:
        """Hand on what was printed since; of a flood only the end is read."""
        if live is None:
            return
        size = self.output.size
        skipped = max(0, size - self._seen - PIECE)
        if size > self._seen:
            data = self.output.read(self._seen + skipped, PIECE)
            self._seen += skipped + len(data)
            live.add(data, skipped)
        live.tick()


def _pause(until: float | None) -> float:
    left = _PAUSE_SEC if until is None else until - time.monotonic()
    return min(_PAUSE_SEC, max(0.0, left))
