"""What can confine a command on this machine: tried, not guessed from what is installed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from arc_workbench.supervisor import landlock

_PLACES = (
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
)
_SECONDS = 10
_TRY = ": > inside && if (: > ../outside) 2>/dev/null; then exit 3; fi"

ISOLATION = (
    *("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)
"""What makes bubblewrap a wall also for root: it could remount what it sees otherwise."""

NO_NETWORK = ("--unshare-net",)


@dataclass(frozen=True)
class Backend:
    """One thing about the sandbox: whether it works, what was seen, and what to do next."""

    name: str
    state: Literal["ok", "missing", "off"]
    detail: str
    next: str = ""


@dataclass(frozen=True)
class Backends:
    """What works here: the path of bubblewrap and whether it can close off the network, both "" and
    False where not, with the reason in `why_not`; the version of Landlock, 0 for none."""

    bubblewrap: str = ""
    no_network: bool = False
    landlock: int = 0
    why_not: str = ""

    @property
    def findings(self) -> tuple[Backend, ...]:
        """The same for `doctor`."""
        return (self._bubblewrap(), self._landlock())

    def _bubblewrap(self) -> Backend:
        if self.bubblewrap and self.no_network:
            return Backend("bubblewrap", "ok", f"{self.bubblewrap} confines commands")
        if self.bubblewrap:
            detail = f"only workspace-write: {self.why_not}"
            return Backend("bubblewrap", "off", detail, "allow network namespaces for `required`")
        way = "install bubblewrap; it needs user namespaces"
        state = "missing" if "not installed" in self.why_not else "off"
        return Backend("bubblewrap", state, self.why_not, way)

    def _landlock(self) -> Backend:
        if not self.landlock:
            return Backend("landlock", "missing", "this kernel has none", "Linux 5.13 or newer")
        cut = "" if self.landlock >= _TRUNCATES else "; files outside can still be cut off"
        detail = (
            f"version {self.landlock}; keeps writes inside, but not modes and owners{cut}; "
            "protected names are looked at after the command"
        )
        return Backend("landlock", "ok", detail)


_TRUNCATES = 3


@lru_cache(maxsize=1)
def probe() -> Backends:
    """Try each way once in a scratch folder of ours; what was found is kept for this process."""
    version = landlock.abi()
    program, why_not = find_bubblewrap()
    if program:
        why_not = _tried(program)
    if program and not why_not:
        limit = _tried(program, *NO_NETWORK)
        return Backends(program, not limit, version, limit)
    return Backends("", False, version if _landlock_holds(version) else 0, why_not)


def find_bubblewrap(places: Sequence[str] = _PLACES) -> tuple[str, str]:
    """The program of the system, or why there is none.

    Not looked for on PATH: that may lead into a project, which could bring one of its own.
    """
    if sys.platform != "linux":
        return "", f"bubblewrap is not for {sys.platform}"
    for place in places:
        if os.access(place, os.X_OK):
            return place, ""
    return "", "bubblewrap is not installed"


def root_flags(uid: int) -> tuple[str, ...]:
    """The whole system read-only with its own /dev and /proc; root's settings of the kernel too."""
    shut = ("--ro-bind", "/proc/sys", "/proc/sys") if uid == 0 else ()
    return ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *shut)


def _tried(program: str, *more: str) -> str:
    """Why bubblewrap does not hold here, "" if it does."""
    with tempfile.TemporaryDirectory(prefix="arc-probe-") as scratch:
        inside = Path(scratch).resolve() / "project"
        inside.mkdir()
        bind = ("--bind", str(inside), str(inside))
        line = [
            program,
            *root_flags(os.geteuid()),
            *bind,
            *ISOLATION,
            *more,
            "--chdir",
            str(inside),
            "--",
        ]
        return _outcome([*line, "/bin/sh", "-c", _TRY], inside)


def _outcome(line: Sequence[str], inside: Path) -> str:
    try:
        ran = subprocess.run(
            line,
            cwd=inside,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"it does not run ({fault})"
    if (inside.parent / "outside").exists():
        return "it does not confine: a file outside was written"
    if ran.returncode or not (inside / "inside").exists():
        return f"it fails: {ran.stderr.strip() or f'exit code {ran.returncode}'}"
    return ""


def _landlock_holds(version: int) -> bool:
    if not version:
        return False
    with tempfile.TemporaryDirectory(prefix="arc-probe-") as scratch:
        inside = Path(scratch).resolve() / "project"
        inside.mkdir()
        here = [sys.executable, "-I", "-S", landlock.__file__, str(inside)]
        return not _outcome([*here, "--", "/bin/sh", "-c", _TRY], inside)
