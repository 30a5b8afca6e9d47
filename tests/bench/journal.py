"""What the journal costs: a write and an undo against a bare durable write, and long histories."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from arc_workbench.workspace import Author, Workspace
from arc_workbench.workspace.images import Image
from arc_workbench.workspace.journal import Journal
from arc_workbench.workspace.ledger import Ledger
from arc_workbench.workspace.own_files import folder_for
from arc_workbench.workspace.records import Intent

REPEATS = 80
BYTES = 8192
GOAL = 2.5
RECOVERED = 10_000
HISTORY = 100_000
SECONDS = 1.0
FLAT = 1.5


def measure() -> bool:
    """Time all of it; whether each goal was met."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        return all([_writes(base), _recovery(base), _history(base)])


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# ---- one change ---------------------------------------------------------------------------------


def _writes(base: Path) -> bool:
    (base / "project").mkdir()
    workspace = Workspace(base / "project", base / "state")
    bare: list[float] = []
    written: list[float] = []
    undone: list[float] = []
    place = workspace.inside("a.txt")
    workspace.apply(workspace.plan_write(place, "begin"))
    for number in range(REPEATS):
        data = (f"{number:08d}" * (BYTES // 8)).encode("ascii")
        bare.append(_timed(lambda data=data: _bare_write(base / "project/bare.txt", data)))
        plan = workspace.plan_write(place, data.decode("ascii"))
        written.append(_timed(lambda plan=plan: workspace.apply(plan)))
        back = workspace.plan_undo(workspace.history(1)[0].id, confined=True)
        undone.append(_timed(lambda back=back: workspace.apply(back)))
    workspace.close()
    base_ms, write_ms, undo_ms = (
        statistics.median(each) * 1000 for each in (bare, written, undone)
    )
    write_ratio, undo_ratio = write_ms / base_ms, undo_ms / base_ms
    print(
        f"journal: bare durable write {base_ms:.2f} ms, journaled {write_ms:.2f} ms, ratio "
        f"{write_ratio:.2f}, undo {undo_ms:.2f} ms, ratio {undo_ratio:.2f} (goal {GOAL})"
    )
    return write_ratio <= GOAL and undo_ratio <= GOAL


def _bare_write(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".tmp")
    opened = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(opened, data)
    os.fsync(opened)
    os.close(opened)
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


# ---- many changes -------------------------------------------------------------------------------


def _recorded(base: Path, name: str, count: int, *, done: bool, group: bool) -> Workspace:
    """A journal with so many changes of so many small files, which are what the changes made."""
    root, state = base / name, base / f"{name}-state"
    root.mkdir()
    journal = Journal(folder_for(state, root), root)
    with journal.locked(create=True):
        image = Image("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", 0, 1)
        intents = [_intent(root, number, image, group=group) for number in range(1, count + 1)]
        for start in range(0, count, 1000 if done else count):
            batch = intents[start : start + (1000 if done else count)]
            journal.begin(batch)
            for intent in batch if done else ():
                journal.settle(intent.id, "done")
    journal.close()
    if not done:
        for intent in intents:
            intent.file.write_bytes(b"x")
    return Workspace(root, state)


def _intent(root: Path, number: int, image: Image, *, group: bool) -> Intent:
    return Intent(
        id=f"c{number}",
        verb="create",
        file=root / f"{number}.txt",
        shown=f"{number}.txt",
        before=None,
        after=image,
        mode=0,
        temporary=f".arc-workbench-{number:016x}.tmp",
        group="c1" if group else "",
        session="bench",
    )


def _recovery(base: Path) -> bool:
    met = True
    for name, done, group in (("settled", True, False), ("pending", False, True)):
        workspace = _recorded(base, name, RECOVERED, done=done, group=group)
        took = _timed(workspace.recovery)
        verdict = workspace.recovery().verdict
        workspace.close()
        print(f"journal: recovery of {RECOVERED} {name} changes {took:.2f} s, {verdict} (goal 1 s)")
        met = met and took < SECONDS and verdict == ("clean" if done else "repaired")
    return met


def _history(base: Path) -> bool:
    workspace = _recorded(base, "long", HISTORY, done=True, group=False)
    workspace.close()
    ledger = Ledger(base / "long-state", base / "long")
    took = _timed(lambda: ledger.history(50))
    ledger.close()
    long = Workspace(base / "long", base / "long-state")
    short = Workspace(base / "project", base / "state")
    appends: list[float] = []
    for workspace in (short, long):
        workspace.history(1)
        each: list[float] = []
        for number in range(REPEATS):
            plan = workspace.plan_write(workspace.inside("append.txt"), f"text {number}")
            each.append(_timed(lambda plan=plan, to=workspace: to.apply(plan, Author())))
        appends.append(statistics.median(each))
        workspace.close()
    ratio = appends[1] / appends[0]
    print(
        f"journal: history of {HISTORY} changes opens in {took:.2f} s (goal 1 s), a change then "
        f"costs {ratio:.2f} times one of a short history (goal {FLAT})"
    )
    return took < SECONDS and ratio <= FLAT
