"""What start-up finds, what it mends by itself, and what only a person can settle."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arc_workbench.content import Recovery
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.requirements import requirement

# Dies right before a call of the system: what it was about to do is named by the first argument.
DYING_WRITER = """
import os, pathlib, signal, sys
from arc_workbench.workspace import Workspace, system

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

root, state, fatal = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
workspace = Workspace(root, state)
plans = [workspace.plan_write(workspace.inside(name), "new\\n") for name in sys.argv[4:]]
setattr(system, fatal, die)
workspace.apply_all(plans)
"""


def die_before(call: str, root: Path, state: Path, *names: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING_WRITER, str(root), str(state), call, *names], check=False
    )
    assert done.returncode == -signal.SIGKILL


def held(root: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in root.iterdir()}


def write(workspace: Workspace, name: str, content: str) -> str:
    return workspace.apply(workspace.plan_write(workspace.inside(name), content)).id


@pytest.fixture
def file(root: Path) -> Path:
    path = root / "a.txt"
    path.write_text("old\n", encoding="utf-8")
    return path


def test_a_folder_without_a_journal_is_clean_and_looking_makes_none(root: Path, home: Path) -> None:
    workspace = Workspace(root, home / "state")

    assert workspace.recovery() == Recovery(verdict="clean", mutation_blocked=False)
    assert workspace.history() == ()
    assert not (home / "state").exists()


@requirement("REQ-F2", "REQ-F3", "REQ-F5")
@pytest.mark.parametrize(
    ("call", "status", "text"),
    [
        ("dress", "rolled_back", "old\n"),
        ("exchange", "rolled_back", "old\n"),
        ("remove", "committed", "new\n"),
    ],
)
def test_a_change_that_was_cut_off_is_settled_by_what_the_file_holds(
    root: Path, home: Path, file: Path, call: str, status: str, text: str
) -> None:
    die_before(call, root, home, "a.txt")

    workspace = Workspace(root, home)
    report = workspace.recovery()

    assert (report.verdict, report.mutation_blocked) == ("repaired", False)
    assert [(entry.id, entry.status, entry.next) for entry in report.entries] == [
        ("c1", status, "")
    ]
    assert [row.status for row in workspace.history()] == [status]
    assert held(root) == {"a.txt": text}
    assert Workspace(root, home).recovery().verdict == "clean"


def make_unclear(root: Path, home: Path, file: Path) -> Workspace:
    die_before("dress", root, home, "a.txt")
    for path in root.iterdir():
        path.unlink()
    file.write_text("mine\n", encoding="utf-8")
    return Workspace(root, home)


@requirement("S2-082", "S2-083")
def test_a_file_that_holds_neither_text_needs_a_person_and_blocks_writing_until_then(
    root: Path, home: Path, file: Path
) -> None:
    workspace = make_unclear(root, home, file)

    report = workspace.recovery()

    assert (report.verdict, report.mutation_blocked) == ("ambiguous", True)
    (entry,) = report.entries
    assert (entry.id, entry.path, entry.op, entry.status) == ("c1", "a.txt", "write", "ambiguous")
    assert "neither the old nor the new content" in entry.happened
    assert entry.next == "%agent recovery keep c1, or: %agent recovery restore c1"
    with pytest.raises(ToolError, match="Journal ambiguous: writing blocked, reading works"):
        write(workspace, "b.txt", "x")
    assert workspace.read(workspace.inside("a.txt")).text == "mine\n"
    assert [row.status for row in workspace.history()] == ["ambiguous"]
    assert Workspace(root, home).recovery().verdict == "ambiguous"


def test_what_a_person_keeps_stays_as_it_is(root: Path, home: Path, file: Path) -> None:
    workspace = make_unclear(root, home, file)

    report = workspace.decide("c1", "keep")

    assert report.verdict == "clean"
    assert held(root) == {"a.txt": "mine\n"}
    assert [row.status for row in workspace.history()] == ["kept"]
    assert write(workspace, "b.txt", "x") == "c2"
    assert Workspace(root, home).recovery().verdict == "clean"


def test_what_a_person_restores_is_as_before_and_that_can_be_undone(
    root: Path, home: Path, file: Path
) -> None:
    workspace = make_unclear(root, home, file)

    report = workspace.decide("c1", "restore")

    assert report.verdict == "clean"
    assert held(root) == {"a.txt": "old\n"}
    assert [(row.op, row.status) for row in workspace.history()] == [
        ("restore", "committed"),
        ("write", "rolled_back"),
    ]
    workspace.apply(workspace.plan_undo("c2", confined=True))
    assert held(root) == {"a.txt": "mine\n"}


def test_only_what_is_unclear_is_decided(workspace: Workspace, root: Path) -> None:
    write(workspace, "a.txt", "one")

    for name in ("c1", "c9", "journal", "nonsense"):
        with pytest.raises(ToolError, match="needs no decision"):
            workspace.decide(name, "keep")


@requirement("REQ-S70", "REQ-F69")
@pytest.mark.parametrize("call", ["exchange", "remove"])
def test_a_group_that_was_cut_off_is_taken_back_as_a_whole(
    root: Path, home: Path, file: Path, call: str
) -> None:
    (root / "b.txt").write_text("old b\n", encoding="utf-8")
    before = held(root)
    die_before(call, root, home, "new.txt", "a.txt", "b.txt")

    workspace = Workspace(root, home)

    assert workspace.recovery().verdict == "repaired"
    assert held(root) == before
    assert {row.status for row in workspace.history()} == {"rolled_back"}
    assert write(workspace, "a.txt", "next\n") == "c4"
    assert workspace.plan_undo("c4", confined=True).content == b"old\n"


@requirement("REQ-S70")
def test_a_group_one_file_of_which_changed_meanwhile_leaves_every_file_as_it_was(
    workspace: Workspace, root: Path, file: Path
) -> None:
    created = write(workspace, "c.txt", "made\n")
    plans = [
        workspace.plan_write(workspace.inside("a.txt"), "new\n"),
        workspace.plan_undo(created, confined=True),
        workspace.plan_write(workspace.inside("b/new.txt"), "new\n"),
    ]
    (root / "b").write_text("a file where a folder was to be\n", encoding="utf-8")

    with pytest.raises(ToolError):
        workspace.apply_all(plans)

    assert held(root) == {
        "a.txt": "old\n",
        "b": "a file where a folder was to be\n",
        "c.txt": "made\n",
    }
    assert workspace.recovery().verdict == "clean"


@requirement("REQ-F6")
def test_leftovers_beside_a_file_that_are_not_ours_are_kept(
    root: Path, home: Path, file: Path
) -> None:
    die_before("exchange", root, home, "a.txt")
    (beside,) = (path for path in root.iterdir() if path != file)
    beside.write_text("somebody's\n", encoding="utf-8")
    file.write_text("mine\n", encoding="utf-8")

    workspace = Workspace(root, home)
    assert workspace.recovery().verdict == "ambiguous"
    workspace.decide("c1", "keep")

    assert held(root) == {"a.txt": "mine\n", beside.name: "somebody's\n"}
