"""Which program runs a command line on this platform."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Dialect = Literal["posix", "cmd"]


@dataclass(frozen=True)
class Interpreter:
    """The program that runs command lines; `longest` is how many bytes of one it can be given."""

    program: str
    dialect: Dialect
    longest: int

    @property
    def described(self) -> str:
        """The program in a few words for whoever writes the commands."""
        if self.dialect == "cmd":
            return (
                f"{self.program} /c (the Windows command line: single quotes, $(...) and heredocs "
                "do not work here)"
            )
        return f"{self.program} -c (POSIX sh, whatever $SHELL is: not everything of bash works)"

    def line(self, command: str) -> list[str] | str:
        """What to start so that `command` is read as a command line.

        cmd.exe has rules of quoting of its own: it gets one string, which `/s` makes it take as is.
        """
        if self.dialect == "cmd":
            return f'"{self.program}" /d /s /c "{command}"'
        return [self.program, "-c", "--", command]

    def file(self, script: str) -> list[str]:
        """What to start so that the file `script` is read as commands."""
        return [self.program, script]


# Linux gives one argument at most 128 KiB; cmd.exe takes 8,191 characters.
_POSIX = Interpreter("/bin/sh", "posix", longest=100_000)


def interpreter(os_name: str, environment: Mapping[str, str]) -> Interpreter:
    """The shell of a platform: /bin/sh whatever `$SHELL` says, or what `%ComSpec%` names."""
    if os_name != "nt":
        return _POSIX
    folded = {name.upper(): value for name, value in environment.items()}
    return Interpreter(folded.get("COMSPEC", "cmd.exe"), "cmd", longest=8_000)


def spawn_flags(os_name: str) -> int:
    """Flags for Windows: a process group of its own and no window. None elsewhere."""
    if os_name != "nt":
        return 0
    group: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return group | int(getattr(subprocess, "CREATE_NO_WINDOW", 0))
