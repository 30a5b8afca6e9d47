"""The journal's own file: what stands in it, how it is followed, and how it is put aside."""

import json
import stat
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Author, Workspace, lockfile, system
from arc_workbench.workspace.journal import JOURNAL
from arc_workbench.workspace.own_files import folder_for
from tests.requirements import requirement


def write(workspace: Workspace, name: str, content: str) -> str:
    plan = workspace.plan_write(workspace.inside(name), content)
    return workspace.apply(plan, Author("session", "call_1")).id


def records(root: Path, home: Path) -> list[dict[str, object]]:
    lines = (folder_for(home, root.resolve()) / JOURNAL).read_text(encoding="ascii").splitlines()
    return [json.loads(line) for line in lines]


def test_a_change_is_two_records_each_with_its_number_and_hash(
    workspace: Workspace, root: Path, home: Path
) -> None:
    write(workspace, "a.txt", "one\n")

    header, intent, done = records(root, home)

    assert [header["seq"], intent["seq"], done["seq"]] == [0, 1, 2]
    assert header["folder"] == str(root.resolve())
    assert (intent["change"], intent["op"], intent["shown"]) == ("c1", "create", "a.txt")
    assert (intent["before"], intent["session"], intent["call"]) == (None, "session", "call_1")
    assert (done["done"], done["inode"]) == ("c1", (root / "a.txt").stat().st_ino)
    assert len({str(record["hash"]) for record in (header, intent, done)}) == 3


@requirement("REQ-S62")
def test_the_journal_can_be_read_by_its_owner_only(
    workspace: Workspace, root: Path, home: Path
) -> None:
    write(workspace, "a.txt", "one\n")

    folder = folder_for(home, root.resolve())

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


@requirement("REQ-F31")
def test_two_sessions_follow_what_the_other_wrote(root: Path, home: Path) -> None:
    one, other = Workspace(root, home), Workspace(root, home)

    ids = [write(workspace, "a.txt", f"text {n}") for n, workspace in enumerate([one, other] * 3)]

    assert ids == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert one.history() == other.history()


def test_a_name_that_is_not_unicode_is_kept_and_undone(
    workspace: Workspace, root: Path, home: Path
) -> None:
    name = "caf\udce9.txt"
    (root / name).write_bytes(b"old")
    changed = write(workspace, name, "new")
    again = Workspace(root, home)

    again.apply(again.plan_undo(changed, confined=True))

    assert (root / name).read_bytes() == b"old"


@requirement("REQ-F32")
def test_a_session_that_never_lets_go_is_not_waited_for_for_ever(
    workspace: Workspace, root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "a.txt", "one")
    lock = system.open_own(folder_for(home, root.resolve()) / "lock", 2)
    assert system.try_lock(lock)
    monkeypatch.setattr(lockfile, "LOCK_SECONDS", 0.01)

    with pytest.raises(ToolError, match="Another session is writing in this folder"):
        write(workspace, "a.txt", "two")

    system.close(lock)
    assert write(workspace, "a.txt", "two") == "c2"


def test_the_record_of_this_program_is_not_written_by_its_tools(
    workspace: Workspace, root: Path, home: Path
) -> None:
    write(workspace, "a.txt", "one")
    journal = folder_for(home, root.resolve()) / JOURNAL

    with pytest.raises(ToolError, match="is part of the record that this program keeps"):
        workspace.apply(workspace.plan_write(workspace.anywhere(str(journal)), "nothing"))

    assert workspace.recovery().verdict == "clean"


def test_a_purge_keeps_the_contents_of_what_stays_also_of_empty_files(
    root: Path, home: Path
) -> None:
    days = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    workspace = Workspace(root, home, clock=lambda: next(days))
    for text in ("", "one", "", "two"):
        workspace.apply(workspace.plan_write(workspace.inside("a.txt"), text))

    gone = workspace.purge(2.0)
    workspace.apply(workspace.plan_write(workspace.inside("b.txt"), "b"))

    assert (gone.changes, gone.kept) == (1, 3)
    diffs = [workspace.change_diff(f"c{number}").unified.splitlines()[3:] for number in range(2, 6)]
    assert diffs[0] == ["+one", "\\ No newline at end of file"]
    assert diffs[1][0] == "-one"
    assert diffs[2][0] == "+two"
    assert diffs[3][0] == "+b"
    workspace.apply(workspace.plan_undo("c4", confined=True))
    assert (root / "a.txt").read_bytes() == b""
