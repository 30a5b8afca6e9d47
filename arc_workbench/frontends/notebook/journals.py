"""The journal that a line is about: through the session, or of a folder that has none."""

# pyright: basic

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

from arc_workbench.agent.session import Session
from arc_workbench.content import ChangeRow, Diff, Recovery
from arc_workbench.errors import SettingsError, ToolError
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.odd import escaped
from arc_workbench.settings import project_folder
from arc_workbench.workbench import journal_of
from arc_workbench.workspace import Workspace

Verb = Literal["keep", "restore"]

LOOKED_THROUGH = 100_000
NO_FOLDER = "This session has no project folder; it changes no files."
WHICH = "Which change? Without a session there is no last one. See: %agent changes"


class Journal(Protocol):
    """What can be looked at and decided, with a session or without one."""

    @property
    def folder(self) -> Path | None:
        """The folder whose journal it is."""
        ...

    @property
    def said(self) -> str:
        """The folder in words, where no session names it; "" else."""
        ...

    def changes(self, limit: int) -> tuple[ChangeRow, ...]:
        """The newest changes first."""
        ...

    def change(self, change_id: str) -> ChangeRow | None:
        """One change."""
        ...

    def change_diff(self, change_id: str) -> Diff:
        """What a change did to its file."""
        ...

    def diff_since(self, change_id: str) -> Diff | None:
        """What became of the file after that change."""
        ...

    def note(self) -> str:
        """Why the history is not whole; "" where it is."""
        ...

    def undo(self, change_id: str) -> tuple[ChangeRow, Diff]:
        """Take a change back."""
        ...

    def recovery(self) -> Recovery:
        """What start-up found."""
        ...

    def recover(self, change_id: str, how: Verb) -> Recovery:
        """Decide about a change that needs it."""
        ...


def find(desk: Desk, project: str = "") -> Journal:
    """The journal of the session, or of the folder that is named or would be worked in."""
    session = desk.current
    if session is not None and not project:
        return _OfSession(session)
    folder = project_folder(desk.settings({"project": project} if project else {}))
    if folder is None:
        raise SettingsError(NO_FOLDER)
    return at(desk, folder)


def at(desk: Desk, folder: Path | None) -> Journal:
    """The journal of that folder as things are now: sessions come and go while a card stands."""
    session = desk.current
    if session is not None and session.project == folder:
        return _OfSession(session)
    if folder is None:
        raise SettingsError(NO_FOLDER)
    return _OfFolder(folder)


class _OfSession:
    """The journal as the current session has it open."""

    said = ""

    def __init__(self, session: Session) -> None:
        self.folder = session.project
        self._session = session
        self.changes = session.changes
        self.change_diff = session.change_diff
        self.diff_since = session.diff_since
        self.undo = session.undo
        self.recovery = session.recovery
        self.recover = session.recover

    def change(self, change_id: str) -> ChangeRow | None:
        """One change."""
        try:
            return self._session.change(change_id)
        except ToolError:
            return None

    def note(self) -> str:
        """Why the history is not whole."""
        return self._session.history_note


class _OfFolder:
    """The journal of a folder, opened for each use and let go again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = f"in {escaped(folder.name or '/', 'name')}, without a session"

    def changes(self, limit: int) -> tuple[ChangeRow, ...]:
        """The newest changes first."""
        with self._open() as files:
            return files.history(limit)

    def change(self, change_id: str) -> ChangeRow | None:
        """One change."""
        with self._open() as files:
            return files.change(change_id)

    def change_diff(self, change_id: str) -> Diff:
        """What a change did to its file."""
        with self._open() as files:
            return files.change_diff(change_id)

    def diff_since(self, change_id: str) -> Diff | None:
        """What became of the file after that change."""
        with self._open() as files:
            return files.diff_since(change_id)

    def note(self) -> str:
        """Why the history is not whole."""
        with self._open() as files:
            return files.history_note

    def undo(self, change_id: str) -> tuple[ChangeRow, Diff]:
        """Take a change back."""
        if not change_id:
            raise SettingsError(WHICH)
        with self._open() as files:
            done = files.apply(files.plan_undo(change_id, confined=False))
            return files.change(done.id), files.change_diff(done.id)

    def recovery(self) -> Recovery:
        """What start-up found."""
        with self._open() as files:
            return files.recovery()

    def recover(self, change_id: str, how: Verb) -> Recovery:
        """Decide about a change that needs it."""
        with self._open() as files:
            files.recovery()
            return files.decide(change_id, how)

    @contextlib.contextmanager
    def _open(self) -> Iterator[Workspace]:
        files = journal_of(self.folder, os.environ)
        try:
            yield files
        finally:
            files.close()
