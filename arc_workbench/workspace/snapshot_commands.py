"""The commands that a store knows: those that run, and what those that ended changed.

All of this is for who holds the store.
"""

import os
import time
from collections.abc import Sequence
from typing import cast

from arc_workbench.workspace.snapshot_store import Store

MOST_RECORDS = 50
MOST_RECORD_BYTES = 512 << 20
OPEN_SECONDS = 3 * 24 * 3600  # a command that is older is taken for one that ended

_FREED_PAGES = 4096


def begin(store: Store) -> tuple[int, bool]:
    """Note that a command begins: its number, and whether others run."""
    others = _running(store)
    cursor = store.database.execute(
        "INSERT INTO running (pid, begun) VALUES (?, ?)", (os.getpid(), int(time.time()))
    )
    return cast("int", cursor.lastrowid), others


def end(store: Store, number: int) -> bool:
    """Note that it ended; whether others began meanwhile."""
    store.database.execute("DELETE FROM running WHERE number = ?", (number,))
    found = store.database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'running'")
    row = found.fetchone()  # none where the store was begun anew meanwhile
    return row is not None and cast("int", row[0]) > number


def _running(store: Store) -> bool:
    """Whether a command runs; those whose process died are forgotten."""
    running = False
    rows = store.database.execute("SELECT number, pid, begun FROM running").fetchall()
    for number, pid, begun in rows:
        if _lives(pid) and time.time() - begun < OPEN_SECONDS:
            running = True
        else:
            store.database.execute("DELETE FROM running WHERE number = ?", (number,))
    return running


def keep(
    store: Store, session: str, spool: str, record: str, needed: Sequence[tuple[str, int]]
) -> None:
    """Keep the record of a command and the contents it needs, by hash and size.

    Drops the oldest records over `MOST_RECORDS` and `MOST_RECORD_BYTES`, and what is needed no
    more.
    """
    database = store.database
    size = sum(size for _, size in needed)
    cursor = database.execute(
        "INSERT INTO commands (session, spool, record, bytes) VALUES (?, ?, ?, ?)",
        (session, spool, record, size),
    )
    number = cursor.lastrowid
    database.executemany(
        "INSERT INTO kept VALUES (?, ?)", ((number, sha256) for sha256, _ in needed)
    )
    _drop_old(store)
    _collect(store)


def record(store: Store, session: str, spool: str) -> str | None:
    """The newest record of that command."""
    row = store.database.execute(
        "SELECT record FROM commands WHERE session = ? AND spool = ? ORDER BY number DESC",
        (session, spool),
    ).fetchone()
    return cast("str", row[0]) if row is not None else None


def _drop_old(store: Store) -> None:
    rows = store.database.execute("SELECT number, bytes FROM commands ORDER BY number DESC")
    total = 0
    for at, (number, size) in enumerate(rows.fetchall()):
        total += size
        if at >= MOST_RECORDS or (at and total > MOST_RECORD_BYTES):
            _drop_record(store, number)


def _drop_record(store: Store, number: int) -> None:
    for statement in (
        "INSERT OR IGNORE INTO loose SELECT hash FROM kept WHERE number = ?",
        "DELETE FROM kept WHERE number = ?",
        "DELETE FROM commands WHERE number = ?",
    ):
        store.database.execute(statement, (number,))


def _collect(store: Store) -> None:
    """Remove what nothing needs; not while a command runs, whose changes are not known yet."""
    if _running(store):
        return
    database = store.database
    database.execute(
        "DELETE FROM loose WHERE EXISTS (SELECT 1 FROM files WHERE files.hash = loose.hash) "
        "OR EXISTS (SELECT 1 FROM kept WHERE kept.hash = loose.hash)"
    )
    rows = database.execute(
        "SELECT blobs.hash FROM loose JOIN blobs ON blobs.hash = loose.hash WHERE data IS NULL"
    )
    for (sha256,) in rows.fetchall():
        store.large(sha256).unlink(missing_ok=True)
    database.execute("DELETE FROM blobs WHERE hash IN (SELECT hash FROM loose)")
    database.execute("DELETE FROM loose")
    database.execute(f"PRAGMA incremental_vacuum({_FREED_PAGES})").fetchall()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
