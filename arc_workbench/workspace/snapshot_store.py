"""Where snapshots keep contents and records: a database and, for large files, a folder beside it.

Contents are found by their SHA-256. A process that dies in the middle leaves what was there before;
a database that cannot be read is thrown away and begun anew, for it holds nothing but copies. It is
never synced: what a power cut spoils does not fit its hash, and is refused when it is wanted.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast
from weakref import WeakSet

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import reason
from arc_workbench.workspace.reading import sha256_of

FORMAT = 1

_DATABASE = "snapshots.db"
_LARGE = "large"
_POLL_SECONDS = 0.02
_SPOILED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

_TABLES = """
CREATE TABLE files (path BLOB PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER,
    inode INTEGER, settled INTEGER, hash TEXT) WITHOUT ROWID;
CREATE INDEX files_hash ON files (hash);
CREATE TABLE blobs (hash TEXT UNIQUE, size INTEGER, data BLOB);
CREATE TABLE commands (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, spool TEXT,
    record TEXT, bytes INTEGER);
CREATE INDEX commands_spool ON commands (session, spool);
CREATE TABLE kept (number INTEGER, hash TEXT);
CREATE INDEX kept_hash ON kept (hash);
CREATE INDEX kept_number ON kept (number);
CREATE TABLE loose (hash TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE running (number INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER, begun INTEGER);
"""


class Known(NamedTuple):
    """A file whose content is kept; `settled` when its facts were old enough to be trusted."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    settled: bool
    sha256: str

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """What is the same only while nobody wrote."""
        return self[:4]


class UnusableStoreError(Exception):
    """Nothing can be kept now; says why."""


@dataclass(frozen=True)
class _Opened:
    database: sqlite3.Connection
    inode: int
    pid: int


_STORES: WeakSet["Store"] = WeakSet()
_PARENTS: list[sqlite3.Connection] = []


def _after_fork() -> None:
    for store in list(_STORES):
        store.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Store:
    """The store of one project, in a folder of our state. May be used from any thread.

    Everything but `hold`, `close` and `folder` is for who holds it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._opened: _Opened | None = None
        self._version = -1
        self._files: dict[str, Known] = {}
        _STORES.add(self)

    def close(self) -> None:
        """Let the files go; they are opened again when they are needed."""
        with self._lock:
            self._let_go()

    def begin_anew(self) -> None:
        """In a child that was forked off: share neither files nor locks with the parent."""
        self._lock = threading.RLock()
        self._let_go()

    @contextmanager
    def hold(self, deadline: Deadline) -> Generator[None]:
        """Be the only one inside, of all sessions of this folder; what was done stays.

        Raises `UnusableStoreError` where nothing can be kept, and what `deadline` raises while it
        waits. What a `ToolError` cut off is kept as far as it came.
        """
        self._take_lock(deadline)
        try:
            database = self._begun(deadline)
            try:
                yield
            except ToolError:
                database.execute("COMMIT")
                raise
            except BaseException:
                self._forget()
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
        except sqlite3.Error as fault:
            raise self._unusable(fault) from fault
        except own_files.UnusableError as fault:
            raise UnusableStoreError(str(fault).replace("of the journal", "of the store")) from None
        except OSError as fault:
            raise UnusableStoreError(reason(fault)) from fault
        finally:
            self._lock.release()

    def _take_lock(self, deadline: Deadline) -> None:
        while not self._lock.acquire(timeout=_POLL_SECONDS):
            deadline.check()

    def _begun(self, deadline: Deadline) -> sqlite3.Connection:
        """The database, in a transaction of ours."""
        anew = False
        while True:
            try:
                database = self._database()
                database.execute("BEGIN IMMEDIATE")
                self._follow(database)
            except sqlite3.Error as fault:
                if getattr(fault, "sqlite_errorcode", 0) & 0xFF in _BUSY:
                    deadline.check()
                    time.sleep(_POLL_SECONDS)
                elif anew or not _is_spoiled(fault):
                    raise
                else:
                    anew = True
                    self._throw_away()
            else:
                return database

    def _unusable(self, fault: sqlite3.Error) -> UnusableStoreError:
        if _is_spoiled(fault):
            with suppress(OSError):
                self._throw_away()
        self._let_go()  # with what it had begun
        return UnusableStoreError(str(fault))

    # ---- the database ---------------------------------------------------------------------------

    def _database(self) -> sqlite3.Connection:
        opened, path = self._opened, self.folder / _DATABASE
        if opened is not None and opened.pid == os.getpid() and _inode(path) == opened.inode:
            return opened.database
        self._let_go()
        self._make(path)
        database = sqlite3.connect(
            path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        self._opened = _Opened(database, _inode(path), os.getpid())
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.execute("PRAGMA journal_mode = TRUNCATE")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        return database

    def _make(self, path: Path) -> None:
        own_files.make_folder(self.folder)
        own_files.require_ours(self.folder, folder=True)
        system.make_own_folder(self.folder / _LARGE)
        own_files.require_ours(self.folder / _LARGE, folder=True)
        system.close(system.open_own(path, os.O_RDWR | os.O_CREAT))
        own_files.require_ours(path, folder=False)

    def _follow(self, database: sqlite3.Connection) -> None:
        """Have the tables, and the list of files in memory as the database has it."""
        (found,) = database.execute("PRAGMA user_version").fetchone()
        if found == 0:
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {FORMAT}")
        elif found != FORMAT:
            raise sqlite3.DatabaseError("it was made by another version of this program")
        (version,) = database.execute("PRAGMA data_version").fetchone()
        if self._version < 0:
            self._sweep(database)
        if version != self._version:
            self._files = {
                os.fsdecode(path): Known(size, mtime, ctime, inode, bool(settled), sha256)
                for path, size, mtime, ctime, inode, settled, sha256 in database.execute(
                    "SELECT path, size, mtime, ctime, inode, settled, hash FROM files"
                )
            }
            self._version = version

    def _forget(self) -> None:
        self._version = -1
        self._files = {}

    def _let_go(self) -> None:
        opened, self._opened = self._opened, None
        self._forget()
        if opened is None:
            return
        if opened.pid == os.getpid():
            opened.database.close()
        else:
            _PARENTS.append(opened.database)  # closing it here could undo what the parent does

    def _throw_away(self) -> None:
        """Remove everything: the next look begins anew."""
        self._let_go()
        for name in (_DATABASE, f"{_DATABASE}-journal"):
            (self.folder / name).unlink(missing_ok=True)

    def _sweep(self, database: sqlite3.Connection) -> None:
        """Remove large contents that a process left which died before it could note them."""
        rows = database.execute("SELECT hash FROM blobs WHERE data IS NULL")
        noted = {sha256 for (sha256,) in rows}
        for path in (self.folder / _LARGE).iterdir():
            if path.name not in noted:
                path.unlink(missing_ok=True)

    @property
    def database(self) -> sqlite3.Connection:
        """The database, for who holds the store."""
        assert self._opened is not None, "the store is not held"
        return self._opened.database

    # ---- contents -------------------------------------------------------------------------------

    @property
    def files(self) -> dict[str, Known]:
        """The files of the project as they were seen last; only `put` and `drop` change it."""
        return self._files

    def put(self, files: Sequence[tuple[str, Known, bytes | None]]) -> None:
        """Keep what files hold; None for a content that lies in the file `large(sha256)`."""
        database = self.database
        database.executemany(
            "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)",
            ((known.sha256, known.size, data) for _, known, data in files),
        )
        self._loosen(path for path, _, _ in files)
        database.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((os.fsencode(path), *known) for path, known, _ in files),
        )
        self._files.update((path, known) for path, known, _ in files)

    def drop(self, paths: Iterable[str]) -> None:
        """Forget files that are no longer there."""
        gone = list(paths)
        self._loosen(gone)
        self.database.executemany(
            "DELETE FROM files WHERE path = ?", ((os.fsencode(path),) for path in gone)
        )
        for path in gone:
            self._files.pop(path, None)

    def _loosen(self, paths: Iterable[str]) -> None:
        """Note that the contents of these files may be needed no more."""
        held = (self._files[path].sha256 for path in paths if path in self._files)
        self.database.executemany(
            "INSERT OR IGNORE INTO loose VALUES (?)", ((one,) for one in held)
        )

    def large(self, name: str) -> Path:
        """The file of a large content."""
        return self.folder / _LARGE / name

    def has(self, sha256: str) -> bool:
        """Whether a content is kept."""
        found = self.database.execute("SELECT 1 FROM blobs WHERE hash = ?", (sha256,))
        return found.fetchone() is not None

    def content(self, sha256: str) -> bytes | None:
        """A content, or None where it was lost."""
        row = self.database.execute("SELECT data FROM blobs WHERE hash = ?", (sha256,)).fetchone()
        if row is None:
            return None
        data = cast("bytes | None", row[0])
        if data is None:
            try:
                data = self.large(sha256).read_bytes()
            except FileNotFoundError:
                return None
        return data if sha256_of(data) == sha256 else None


def _is_spoiled(fault: sqlite3.Error) -> bool:
    code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF in _SPOILED or "no such table" in str(fault)


def _inode(path: Path) -> int:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return 0
