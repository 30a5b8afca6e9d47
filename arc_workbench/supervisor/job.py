"""One command from its order to its end, in a process of its own."""

import errno
import os
import select
import signal
import socket
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn, Protocol, cast

from arc_workbench.supervisor import calls
from arc_workbench.supervisor.limits import Group, Limits, set_for_child
from arc_workbench.supervisor.order import (
    OUTPUT,
    READY,
    Ending,
    Line,
    OrderJson,
    began,
    write_record,
)
from arc_workbench.supervisor.spooling import Spool

_TICK_SEC = 0.1
_GRACE_SEC = 0.05  # for what still writes when the command itself has ended
_LOOK_SEC = 0.005
_TERM_SEC = 2.0
_CAGE = "bwrap"


class Tree(Protocol):
    """The processes of the command, whichever way this system lets us find them."""

    ended: dict[int, int]

    def descendants(self) -> list[int]: ...

    def named(self, pids: Iterable[int]) -> list[tuple[int, str]]: ...

    def memory_of(self, pids: Iterable[int]) -> int: ...

    def exact_memory_of(self, pids: Iterable[int]) -> int: ...

    def send(self, pids: Iterable[int], number: int) -> None: ...

    def reap(self) -> None: ...

    def end_all(self) -> list[tuple[int, str]]: ...


def supervise(control: socket.socket) -> None:
    """Run the one order that comes over `control` to its end, and report it there."""
    line = Line(control)
    line.send(READY)
    received = line.receive()
    if received is not None:
        _Job(line, cast("OrderJson", cast("object", received))).run()


class _Job:
    """A command at work. It ends when it wants, when it must, and when nobody wants it any more."""

    def __init__(self, line: Line, order: OrderJson) -> None:
        self._line = line
        self._order = order
        self._parent = os.getppid()
        self._about = order["about"]
        self._ending = Ending()
        self._limits = Limits(order["processes"], order["memory"], order["file_size"])
        self._term_until: float | None = None
        self._asked: set[int] = set()
        self._leader = 0

    def run(self) -> None:
        """Everything, in order."""
        began, self._about["started_at"] = time.monotonic(), time.time()
        self._tree = _tree_for(self._order)
        output = Path(self._order["folder"]) / OUTPUT
        self._spool = Spool(bytes(output), self._order["most_bytes"])
        self._group = Group(None if self._order["portable"] else self._limits.processes)
        group = str(self._group.path or "")
        self._line.send({"supervisor": os.getpid(), "group": group})
        started = self._start()
        self._spool.close_writer()
        try:
            if started:
                self._record()
                self._line.send({"started": self._leader})
                timeout = self._order["timeout_sec"]
                self._watch(None if timeout is None else began + timeout)
                self._let_others_finish()
        finally:
            self._end_rest(started=started)
        self._spool.drain_rest()
        self._spool.finish()
        self._ending.duration_sec = round(time.monotonic() - began, 6)
        self._close()

    # ---- starting -------------------------------------------------------------------------------

    def _start(self) -> bool:
        """Fork the command; False when it could not be started, with the fault in the ending."""
        stdin = _stdin(self._order["stdin"])
        reading, writing = os.pipe()
        parent = os.getpid()
        self._leader = os.fork()
        if self._leader == 0:
            self._become(stdin, writing, parent)
        os.close(writing)
        os.close(stdin)
        said = b""
        while piece := os.read(reading, 4096):
            said += piece
        os.close(reading)
        if not said:
            return True
        os.waitpid(self._leader, 0)
        number, _, words = said.decode("utf-8", "replace").partition(" ")
        too_long = int(number) == errno.E2BIG
        self._ending.status = "failed"
        self._ending.fault = "it is too long, or a variable is" if too_long else words
        return False

    def _become(self, stdin: int, said: int, parent: int) -> NoReturn:
        """In the fork: become the command, or say why that is not possible."""
        order = self._order
        try:
            os.setsid()
            calls.die_with_parent(parent)
            self._group.enter()
            set_for_child(self._limits)
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            for target, source in enumerate((stdin, self._spool.writer, self._spool.writer)):
                os.dup2(source, target)
            os.chdir(order["cwd"])
            if order["no_new_privileges"] or order["writable"] is not None:
                calls.forbid_new_privileges()
            if order["writable"] is not None:
                from arc_workbench.supervisor.landlock import restrict

                restrict([os.fsencode(path) for path in order["writable"]])
            environment = {
                os.fsencode(name): os.fsencode(value)
                for name, value in order["environment"].items()
            }
            argv = [os.fsencode(word) for word in order["argv"]]
            os.execve(argv[0], argv, environment)
        except OSError as fault:
            os.write(said, f"{fault.errno or 0} {fault}".encode("utf-8", "replace"))
        finally:
            os._exit(127)

    # ---- watching -------------------------------------------------------------------------------

    def _watch(self, deadline: float | None) -> None:
        """Until the command itself has ended, or must end."""
        look_at = 0.0
        handle = _handle_of(self._leader)
        try:
            while self._goes_on():
                self._wait(None if self._has_ended else handle, deadline)
                self._tree.reap()
                now = time.monotonic()
                if self._nobody_is_left():
                    self._must_end("killed")
                if self._has_ended:
                    continue
                if deadline is not None and now >= deadline:
                    self._must_end("timed_out")
                if now >= look_at:
                    look_at = now + _TICK_SEC
                    self._hold_to_limits()
        finally:
            if handle is not None:
                os.close(handle)

    @property
    def _has_ended(self) -> bool:
        """Whether the command itself has, not counting what it left behind."""
        return self._leader in self._tree.ended

    def _nobody_is_left(self) -> bool:
        """Whether the process that asked is gone, whoever may hold its socket open."""
        asker = self._order["asker"]
        if asker[1]:
            return began(asker[0]) != asker[1]
        return os.getppid() != self._parent

    def _goes_on(self) -> bool:
        """Whether there is something to wait for: also for what was asked to end and may still."""
        if self._ending.status != "running":
            return False
        if self._term_until is None:
            return not self._has_ended
        pids = self._tree.descendants()
        if time.monotonic() >= self._term_until or not pids:
            self._must_end("killed")
            return False
        self._ask_to_end([pid for pid in pids if pid not in self._asked])
        return True

    def _ask_to_end(self, pids: list[int]) -> None:
        """Each once, those that are only born now too; what is stopped must go on to hear it.

        Not bubblewrap itself: it would take the rest with it, which may want to clean up.
        """
        self._asked.update(pids)
        heard = [pid for pid, name in self._tree.named(pids) if name != _CAGE]
        self._tree.send(heard, signal.SIGTERM)
        self._tree.send(heard, signal.SIGCONT)

    def _wait(self, handle: int | None, deadline: float | None) -> None:
        """For output, for orders and for the end of the command, a tick at most."""
        if self._line.has_more:  # it came together with what was read before
            self._obey()
            return
        pause = _TICK_SEC if handle is not None and self._term_until is None else _LOOK_SEC
        for until in (deadline, self._term_until):
            if until is not None:
                pause = min(pause, max(0.0, until - time.monotonic()))
        waiting: list[int] = [self._line.fileno()]
        if self._spool.open:
            waiting.append(self._spool.reader)
        if handle is not None:
            waiting.append(handle)
        ready = select.select(waiting, [], [], pause)[0]
        if self._spool.reader in ready:
            self._spool.drain()
        if self._line.fileno() in ready:
            self._obey()

    def _obey(self) -> None:
        """What the process that asked wants now; its end is the end of the command, too."""
        while True:
            said = self._line.receive()
            if said is None:
                self._must_end("killed")
                return
            if "about" in said:
                self._about.update(cast("dict[str, object]", said["about"]))
                self._record()
            if "kill" in said:
                self._must_end(str(said["kill"]))
            if "term" in said and self._term_until is None:
                self._term_until = time.monotonic() + _TERM_SEC
            if not self._line.has_more:
                return

    def _hold_to_limits(self) -> None:
        pids = self._tree.descendants()
        if len(pids) >= self._limits.processes or self._group.was_full:
            self._must_end("limited", "processes")
        elif self._takes_too_much(pids):
            self._must_end("limited", "memory")

    def _takes_too_much(self, pids: list[int]) -> bool:
        most = self._limits.memory
        return self._tree.memory_of(pids) > most and self._tree.exact_memory_of(pids) > most

    def _must_end(self, status: str, limit: str = "") -> None:
        if self._ending.status == "running":
            self._ending.status, self._ending.limit = status, limit

    # ---- ending ---------------------------------------------------------------------------------

    def _let_others_finish(self) -> None:
        """A moment for a `tee` or `cat` that outlives the shell by as long as it has to write."""
        if self._ending.status != "running":
            return
        until = time.monotonic() + _GRACE_SEC
        while self._spool.open and (left := until - time.monotonic()) > 0:
            if select.select([self._spool.reader], [], [], left)[0]:
                self._spool.drain()
        while time.monotonic() < until and self._tree.descendants():
            time.sleep(_LOOK_SEC)

    def _end_rest(self, *, started: bool) -> None:
        """Nothing of the command is alive after this."""
        ending = self._ending
        left = self._tree.end_all()
        if not started:
            pass
        elif ending.status == "running":
            ending.lingering = left
            self._judge()
        else:
            ending.killed = left
        self._group.remove()

    def _judge(self) -> None:
        """It ended by itself: how."""
        ending = self._ending
        code = os.waitstatus_to_exitcode(self._tree.ended[self._leader])
        ending.status = "completed" if code == 0 else "failed"
        ending.exit_code = code if code >= 0 else None
        ending.signal = -code if code < 0 else None
        if code in {-signal.SIGXFSZ, 128 + signal.SIGXFSZ}:
            ending.status, ending.limit = "limited", "file size"
        elif self._group.was_full:
            ending.status, ending.limit = "limited", "processes"

    def _close(self) -> None:
        """Write down how it ended, then say it."""
        spool, ending = self._spool, self._ending
        ending.total_bytes, ending.lost_from, ending.lost_why = (
            spool.total,
            spool.lost_from,
            spool.lost_why,
        )
        spool.close()
        self._record()
        self._line.send({"ended": asdict(ending)})
        self._line.close()

    def _record(self) -> None:
        write_record(self._order["folder"], {**self._about, **asdict(self._ending), **_identity()})


def _identity() -> dict[str, object]:
    """What tells whether this very process is still there to change the record."""
    return {"supervisor": os.getpid(), "supervisor_began": began(os.getpid())}


def _tree_for(order: OrderJson) -> Tree:
    if not order["portable"] and calls.become_subreaper():
        from arc_workbench.supervisor.tree import Below

        return Below()
    from arc_workbench.supervisor.portable import Marked

    return Marked(order["mark"])


def _handle_of(pid: int) -> int | None:
    """Something that can be waited for; None where the system has no such thing."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _stdin(text: str | None) -> int:
    """A file without a name that holds the input: a child that never reads it stops nobody."""
    if text is None:
        return os.open(os.devnull, os.O_RDONLY)
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        return os.dup(file.fileno())
