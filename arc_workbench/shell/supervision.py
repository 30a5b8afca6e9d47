"""Orders to the process that starts supervisors, one for all commands of this process.

It is started at the first command and ends with this process, however that ends: it holds one end
of a socket whose other end only we have, and looks whether we are still its parent.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

from arc_workbench.errors import ToolError
from arc_workbench.shell.listening import readable
from arc_workbench.supervisor import program
from arc_workbench.supervisor.order import READY, Line, OrderJson

_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # what Python may not start without
_TRIES = 2
_PATIENCE = 10
_MOMENT_SEC = 0.3
_ABOVE_STANDARD = 10  # a process without standard files would give one of their numbers


class Supervisors:
    """The waiting process, started when it is needed and again when it is gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._kept: list[object] = []

    def take(self, order: OrderJson) -> Line:
        """Hand an order over; the line on which its supervisor reports and is told.

        Raises `ToolError` where no supervisor can be started, so that nothing ever runs without.
        """
        try:
            line = self._new_line()
        except OSError as fault:
            raise ToolError(
                f"The command could not be started: nothing can watch over it ({fault})."
            ) from fault
        line.send(order)
        return line

    def _new_line(self) -> Line:
        """A supervisor that has said that it is there; what waits for orders may have died."""
        with self._lock:
            for _ in range(_TRIES):
                line = self._asked()
                if line is not None:
                    return line
                if not self._has_died():
                    break
                self._forget()
        raise OSError("no process can be started now")

    def _asked(self) -> Line | None:
        waiting = self._waiting()
        ours, theirs = socket.socketpair()
        line = Line(ours)
        try:
            socket.send_fds(waiting, [b"."], [theirs.fileno()])
        except OSError:
            line.close()
            return None
        finally:
            theirs.close()
        if self._answers(line) and line.receive() == READY:
            return line
        line.close()
        return None

    def _answers(self, line: Line) -> bool:
        """Whether anything comes; somebody may have stopped the process, which then goes on."""
        for _ in range(_PATIENCE):
            if readable(line, 1.0):
                return True
            if self._process is not None:
                self._process.send_signal(signal.SIGCONT)
        return False

    def _has_died(self) -> bool:
        """Whether the waiting process is over; that shows a moment after its socket is closed."""
        if self._process is not None:
            try:
                self._process.wait(_MOMENT_SEC)
            except subprocess.TimeoutExpired:
                return False
        return True

    def _waiting(self) -> socket.socket:
        """The socket to the waiting process; a fork of this process starts one of its own."""
        if self._owner != os.getpid():
            self._kept.append((self._socket, self._process))
            self._socket, self._process, self._owner = None, None, os.getpid()
        if self._process is not None and self._process.poll() is not None:
            self._forget()
        if self._socket is None:
            self._socket, self._process = _start()
        return self._socket

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
            self._kept.append(self._process)  # one that has not ended is not let go of
        self._socket = self._process = None


def _start() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    if sys.platform == "win32":
        raise OSError("Windows has no process that could end everything a command starts")
    if not sys.executable:
        raise OSError("this Python does not know its own program")
    ours, theirs = socket.socketpair()
    here = Path(program.__file__)
    root = here.parent.parent.parent
    number = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)
    others = [entry for entry in sys.path if entry and Path(entry).is_absolute()]
    command = [sys.executable, "-I", "-S", "-X", "utf8", str(here), str(number)]
    try:
        process = subprocess.Popen(
            [*command, str(os.getpid()), str(root), *others],
            cwd=here.anchor,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[number],
            start_new_session=True,
        )
    except OSError:
        ours.close()
        raise
    finally:
        os.close(number)
        theirs.close()
    return ours, process


SUPERVISORS = Supervisors()
