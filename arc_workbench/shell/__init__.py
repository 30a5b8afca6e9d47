"""Commands of the project's shell: run in the foreground, bounded, ended with all they started."""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell import jobs
from arc_workbench.shell.environment import child_environment
from arc_workbench.shell.jobs import KEPT_BYTES, Finished, Order, Status
from arc_workbench.shell.notes import notes
from arc_workbench.shell.plain import plain
from arc_workbench.shell.platform import interpreter
from arc_workbench.shell.processes import Survivor

__all__ = ["KEPT_BYTES", "Finished", "Shell", "Status", "Survivor", "notes", "plain", "shell_words"]

_MAX_OUTPUT_BYTES = 1 << 30


def shell_words() -> str:
    """What runs commands on this machine, as a tool's description says it."""
    return interpreter(os.name, os.environ).described


class Shell:
    """Runs commands in the folder `root` with what `environment` holds, secrets left out."""

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str],
        *,
        max_output_bytes: int = _MAX_OUTPUT_BYTES,
    ) -> None:
        self.root = root
        self._interpreter = interpreter(os.name, environment)
        self._environment = child_environment(environment, os.name)
        self._max_output_bytes = max_output_bytes
        self._closed = threading.Event()

    @property
    def program(self) -> str:
        """The program that reads the commands."""
        return self._interpreter.program

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of variables that commands do not get because they look or hold secret."""
        return self._environment.left_out

    def directory(self, cwd: str | None) -> Path:
        """The folder a command is to run in: relative to the root, or any absolute one.

        Raises `ToolError` when there is no such folder.
        """
        folder = self.root / cwd if cwd else self.root
        try:
            if folder.is_dir():
                return folder.resolve()
            problem = "is not a folder" if folder.exists() else "does not exist"
        except OSError as fault:
            problem = f"cannot be used ({fault.strerror})"
        raise ToolError(f"{folder} {problem}; name an existing folder as the working directory.")

    def check(self, command: str) -> None:
        """Raises `ToolError` for what no shell can be given."""
        if not command.strip():
            raise ToolError("The command is empty; nothing ran. Name a program to run.")
        if "\0" in command:
            raise ToolError("The command holds a NUL character; nothing ran. Take it out.")

    def run(
        self,
        command: str,
        *,
        cwd: Path | None = None,
        timeout_sec: float,
        stdin_text: str | None = None,
        signal: threading.Event | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run `command` and wait; to be called in a worker thread.

        `signal` and `close` abort it within 50 ms. `on_output` gets plain text while it runs.
        Nothing that is known to be of the command (see `Family`) is alive afterwards. Raises
        `ToolError` when it cannot start.
        """
        self.check(command)
        folder = self.directory(str(cwd) if cwd else None)
        order = Order(command, folder, timeout_sec, self._max_output_bytes, stdin_text)

        def stop() -> bool:
            return self._closed.is_set() or (signal is not None and signal.is_set())

        return jobs.run(order, self._interpreter, self._environment, stop, on_output)

    def close(self) -> None:
        """Abort what runs; nothing can be run any more."""
        self._closed.set()
