"""Ends a command when the process that started it is gone, however that came about.

`Watcher` starts this file as a program of its own session. The program waits at a pipe that only
the starting process holds open, and at its parent; it does nothing unless that process dies.
"""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

_LOOK_SEC = 1.0  # a fork of the starting process may hold the pipe open when that is dead
_PASSED_ON = (
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
)  # what Python may not start without


class Watcher:
    """The watcher of one command; where no interpreter can be started there is none."""

    def __init__(self, mark: str) -> None:
        self._process = _start(mark)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """The command is over: nothing is watched any more."""
        if self._process:
            self._process.kill()
            self._process.wait()
            if self._process.stdin:
                self._process.stdin.close()

    def watch(self, leader: int) -> None:
        """The process to be ended with its group, session, descendants and all with the mark."""
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.write(f"{leader}\n".encode())


def _start(mark: str) -> subprocess.Popen[bytes] | None:
    if not sys.executable:
        return None
    here = Path(__file__)
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(here), mark, str(os.getpid()), *sys.path],
            cwd=here.anchor,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
    except OSError:
        return None


def main(mark: str, parent: int, path: list[str]) -> None:
    """Wait for the death of the parent, then end its command."""
    leader = _first_line(parent)
    _wait_for_end(parent)
    if leader and hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(leader, signal.SIGKILL)
    sys.path[:] = path
    from arc_workbench.shell.processes import end_abandoned

    end_abandoned(leader, mark)


def _first_line(parent: int) -> int | None:
    """The leader; nothing when the parent died before it could say which."""
    line = b""
    while not line.endswith(b"\n") and _readable(parent):
        piece = os.read(0, 64)
        if not piece:
            break
        line += piece
    return int(line) if line.endswith(b"\n") else None


def _wait_for_end(parent: int) -> None:
    while _readable(parent) and os.read(0, 64):
        continue


def _readable(parent: int) -> bool:
    """Wait for input or its end; false when the parent is gone."""
    if sys.platform == "win32":
        return True
    while not select.select([0], [], [], _LOOK_SEC)[0]:
        if os.getppid() != parent:
            return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
