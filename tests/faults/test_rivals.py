"""Several processes in one folder: none loses what another wrote, and none is led out of it."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.conftest import ROOT
from tests.faults.model import ALL
from tests.requirements import requirement

ROUNDS = 1_000
TORTURE_ROUNDS = 10_000

Process = subprocess.Popen[str]


@pytest.fixture
def root(quick_folder: Path) -> Path:
    folder = quick_folder / "project"
    folder.mkdir()
    return folder


def started(root: Path, what: str, *rest: str) -> Process:
    """A process that waits to be told to go."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.rivals", what, str(root), *rest],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@contextmanager
def running(process: Process) -> Generator[Process]:
    """Killed at the end."""
    try:
        go(process)
        yield process
    finally:
        process.kill()
        process.communicate()


def together(*processes: Process) -> list[int]:
    """Let them go at once; how they ended."""
    for process in processes:
        go(process)
    for process in processes:
        process.communicate()
    return [process.returncode for process in processes]


def count_together(root: Path, home: Path, rounds: int) -> None:
    (root / "count.txt").write_text("0", encoding="utf-8")

    ended = together(*(started(root, "count", str(rounds // 2)) for _ in range(2)))

    assert ended == [0, 0]
    assert (root / "count.txt").read_text(encoding="utf-8") == str(rounds // 2 * 2)
    rows = Workspace(root, home).history(ALL)
    assert sum(row.status == "committed" for row in rows) == rounds // 2 * 2


@requirement("REQ-F30", "REQ-S68")
def test_no_update_of_two_processes_is_lost(root: Path, home: Path, scale: float) -> None:
    count_together(root, home, max(10, int(ROUNDS * scale)))


@pytest.mark.torture
@requirement("REQ-F30", "REQ-S68")
def test_no_update_of_two_processes_is_lost_in_ten_thousand(root: Path, home: Path) -> None:
    count_together(root, home, TORTURE_ROUNDS)


@requirement("REQ-F31")
def test_records_of_several_processes_are_whole_and_their_numbers_unique(
    root: Path, home: Path
) -> None:
    ended = together(*(started(root, "append", name, "60") for name in "abc"))

    assert ended == [0, 0, 0]
    workspace = Workspace(root, home)
    rows = workspace.history(ALL)
    assert workspace.recovery().verdict == "clean"
    assert [row.id for row in rows] == [f"c{number}" for number in range(180, 0, -1)]
    for name in "abc":
        assert sum(row.session == name for row in rows) == 60
        assert (root / f"{name}.txt").read_text(encoding="utf-8") == f"{name} 59"


@requirement("REQ-F32", "REQ-F3")
def test_the_lock_of_a_process_that_was_killed_is_free_and_its_change_settled(
    root: Path, home: Path
) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")
    with running(started(root, "hold")) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        assert len(list(root.iterdir())) == 2

    workspace = Workspace(root, home)
    change = workspace.apply(workspace.plan_write(workspace.inside("b.txt"), "x"))

    assert change.id == "c2"
    assert workspace.recovery().verdict == "repaired"
    assert [row.status for row in workspace.history()] == ["committed", "rolled_back"]
    assert {path.name for path in root.iterdir()} == {"a.txt", "b.txt"}
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"


def race(root: Path, home: Path, rounds: int) -> None:
    """Read, write, edit and undo below a folder that is swapped for a link all the time."""
    outside = root.parent / "outside"
    for folder in (outside, root / "sub"):
        folder.mkdir()
    (outside / "a.txt").write_text("secret 0", encoding="utf-8")
    (root / "sub/a.txt").write_text("mine 0", encoding="utf-8")
    workspace = Workspace(root, home)
    done = 0
    with running(started(root, "swap", str(outside))):
        for number in range(rounds):
            try:
                place = workspace.inside("sub/a.txt")
                text = workspace.read(place).text
                assert text.startswith("mine")
                if number % 2:
                    plan = workspace.plan_edit(place, text, f"mine {number}")
                else:
                    plan = workspace.plan_write(workspace.inside(f"sub/new{number}.txt"), "x")
                workspace.apply(plan)
                done += 1
            except ToolError:
                continue
    assert done > 0
    assert workspace.recovery().verdict == "clean"
    assert {path.name for path in outside.iterdir()} == {"a.txt"}
    assert (outside / "a.txt").read_text(encoding="utf-8") == "secret 0"


@requirement("REQ-S60")
def test_a_folder_swapped_for_a_link_never_leads_out(root: Path, home: Path, scale: float) -> None:
    race(root, home, max(50, int(ROUNDS * scale)))


@pytest.mark.torture
@requirement("REQ-S60")
def test_a_folder_swapped_for_a_link_never_leads_out_in_ten_thousand(
    root: Path, home: Path
) -> None:
    race(root, home, TORTURE_ROUNDS)
