"""The folder of one session, held by one process at a time."""

import re
import secrets
import time
from pathlib import Path

from filelock import FileLock, Timeout

from arc_workbench.errors import SessionError, SessionHeld, SettingsError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FOLDER = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}-(.+)")


class SessionDir:
    """A folder with `transcript.jsonl` and a lock that the operating system frees on death."""

    def __init__(self, folder: Path, name: str, lock: FileLock) -> None:
        self.folder = folder
        self.name = name
        self._lock = lock

    @property
    def id(self) -> str:
        """The folder's own name, unique among sessions."""
        return self.folder.name

    @property
    def transcript(self) -> Path:
        """The file of durable events, one JSON line each."""
        return self.folder / "transcript.jsonl"

    def release(self) -> None:
        """Let another process take the session."""
        self._lock.release()


def create(sessions: Path, name: str) -> SessionDir:
    """Make the folder of a new session (0700) and hold it."""
    check_name(name)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    folder = sessions / f"{stamp}-{secrets.token_hex(3)}-{name}"
    try:
        _private(sessions.parent)
        _private(sessions)
        folder.mkdir(mode=0o700)
    except OSError as fault:
        raise _unusable(sessions, fault) from None
    return _hold(folder, name)


def newest(sessions: Path, name: str) -> Path | None:
    """The folder of the newest session of this name, if there is one."""
    check_name(name)
    if not sessions.is_dir():
        return None
    found = [
        folder
        for folder in sessions.iterdir()
        if (match := FOLDER.fullmatch(folder.name))
        and match[1] == name
        and (folder / "transcript.jsonl").is_file()
    ]
    return max(
        found, key=lambda folder: (folder.name[:15], folder.stat().st_mtime_ns), default=None
    )


def names(sessions: Path) -> list[str]:
    """The names of all sessions on disk, sorted."""
    if not sessions.is_dir():
        return []
    found = (FOLDER.fullmatch(folder.name) for folder in sessions.iterdir())
    return sorted({match[1] for match in found if match})


def hold(folder: Path, name: str) -> SessionDir:
    """Take an existing session; raises `SessionHeld` where another process has it (message 23)."""
    return _hold(folder, name)


def check_name(name: str) -> None:
    """Raises `SettingsError` unless the name can be part of a folder's name."""
    if not NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} is no session name; nothing ran. Use letters, digits, '.', '_' and '-'.",
            key="session",
        )


def _private(folder: Path) -> None:
    """Make a folder for its owner alone; one that is there already is left as it is."""
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)


def _unusable(folder: Path, fault: OSError) -> SessionError:
    return SessionError(
        f"{folder} cannot hold sessions ({fault.strerror}); nothing ran. "
        "Set ARC_WORKBENCH_HOME to a folder that can be written."
    )


def _hold(folder: Path, name: str) -> SessionDir:
    lock = FileLock(folder / "lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SessionHeld(
            "Another notebook holds this session; nothing ran. Close it there, or --new."
        ) from None
    except OSError as fault:
        raise _unusable(folder, fault) from None
    return SessionDir(folder, name, lock)
