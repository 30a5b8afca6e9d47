"""Taking changes back: exactly one, only while the file is what it made, and once."""

import os
import stat
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Author, Change, Workspace
from tests.requirements import requirement


def write(workspace: Workspace, name: str, content: str, session: str = "") -> Change:
    plan = workspace.plan_write(workspace.inside(name), content)
    return workspace.apply(plan, Author(session=session))


def undo(workspace: Workspace, change_id: str) -> Change:
    return workspace.apply(workspace.plan_undo(change_id, confined=True))


def held(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file()
    }


@requirement("S2-089", "REQ-S64")
def test_an_edit_is_taken_back_and_the_rest_stays(workspace: Workspace, root: Path) -> None:
    write(workspace, "a.txt", "one")
    second = write(workspace, "a.txt", "two")
    write(workspace, "b.txt", "other")

    change = undo(workspace, second.id)

    assert held(root) == {"a.txt": "one", "b.txt": "other"}
    assert (change.op, change.sha256) == ("change", second.before_sha256)
    assert [(row.id, row.op, row.status, row.undoes) for row in workspace.history()] == [
        ("c4", "undo", "committed", "c2"),
        ("c3", "create", "committed", ""),
        ("c2", "write", "undone", ""),
        ("c1", "create", "committed", ""),
    ]


@requirement("REQ-S64", "REQ-S72")
def test_undoing_a_creation_removes_the_file_and_undoing_that_brings_it_back(
    workspace: Workspace, root: Path
) -> None:
    created = write(workspace, "run.sh", "echo")
    (root / "run.sh").chmod(0o755)

    gone = undo(workspace, created.id)

    assert held(root) == {}
    assert (gone.op, gone.sha256, gone.size) == ("remove", None, 0)
    back = undo(workspace, gone.id)
    assert held(root) == {"run.sh": "echo"}
    assert back.op == "create"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o755


@requirement("REQ-S64")
def test_an_undo_can_be_undone_and_that_again_but_none_twice(
    workspace: Workspace, root: Path
) -> None:
    write(workspace, "a.txt", "one")
    changed = write(workspace, "a.txt", "two")
    first = undo(workspace, changed.id)

    with pytest.raises(ToolError, match=r"c2 is undone already, by c3\. To redo it, undo c3\."):
        workspace.plan_undo(changed.id, confined=True)

    second = undo(workspace, first.id)
    assert held(root) == {"a.txt": "two"}
    third = undo(workspace, second.id)
    assert held(root) == {"a.txt": "one"}
    undo(workspace, third.id)
    assert held(root) == {"a.txt": "two"}
    undo(workspace, changed.id)
    assert held(root) == {"a.txt": "one"}


@requirement("REQ-S64")
def test_a_chain_of_changes_is_walked_back_one_by_one_also_after_a_restart(
    root: Path, home: Path
) -> None:
    texts = [f"text {number}" for number in range(8)]
    for text in texts:
        workspace = Workspace(root, home)
        write(workspace, "a.txt", text)
        workspace.close()

    for number in range(8, 1, -1):
        workspace = Workspace(root, home)
        undo(workspace, f"c{number}")
        assert held(root) == {"a.txt": texts[number - 2]}
        workspace.close()

    workspace = Workspace(root, home)
    undo(workspace, "c1")
    assert held(root) == {}


@requirement("S2-088", "REQ-S64")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("changed", "its bytes are others"),
        ("link", "another file has its name now|reached through a link"),
        ("hard link", "it has another name now, a hard link"),
        ("other inode", "another file has its name now"),
        ("deleted", "it is gone"),
        ("moved", "it is gone"),
        ("folder", "it is no regular file any more"),
        ("pipe", "it is no regular file any more"),
    ],
)
def test_a_file_that_is_not_what_the_change_left_is_not_touched(
    workspace: Workspace, root: Path, outside: Path, what: str, said: str
) -> None:
    write(workspace, "a.txt", "one")
    changed = write(workspace, "a.txt", "two")
    file = root / "a.txt"
    match what:
        case "changed":
            file.write_text("mine", encoding="utf-8")
        case "link":
            file.rename(outside / "a.txt")
            file.symlink_to(outside / "a.txt")
        case "hard link":
            (outside / "b.txt").hardlink_to(file)
        case "other inode":
            (root / "b.txt").write_text("two", encoding="utf-8")
            (root / "b.txt").rename(file)
        case "deleted":
            file.unlink()
        case "moved":
            file.rename(root / "b.txt")
        case "folder":
            file.unlink()
            file.mkdir()
        case _:
            file.unlink()
            os.mkfifo(file)
    before = _everything(root), _everything(outside)

    with pytest.raises(ToolError, match=r"a\.txt changed after c2; it was not undone\.") as fault:
        undo(workspace, changed.id)

    assert fault.match(said)
    assert fault.value.details == {"changedAfter": "c2"}
    assert (_everything(root), _everything(outside)) == before
    assert [row.status for row in workspace.history()] == ["committed", "committed"]


def _everything(folder: Path) -> list[tuple[str, int, int, bytes]]:
    return [
        (path.name, path.lstat().st_mode, path.lstat().st_ino, path.read_bytes())
        if path.is_file()
        else (path.name, path.lstat().st_mode, path.lstat().st_ino, b"")
        for path in sorted(folder.iterdir())
    ]


@requirement("REQ-S64")
def test_what_changes_between_the_plan_of_an_undo_and_the_undo_is_noticed(
    workspace: Workspace, root: Path
) -> None:
    write(workspace, "a.txt", "one")
    changed = write(workspace, "a.txt", "two")
    plan = workspace.plan_undo(changed.id, confined=True)
    (root / "b.txt").write_text("two", encoding="utf-8")
    (root / "b.txt").rename(root / "a.txt")

    with pytest.raises(ToolError, match="changed while you were asked"):
        workspace.apply(plan)

    assert held(root) == {"a.txt": "two"}


@requirement("REQ-S64")
def test_an_older_change_of_a_file_that_was_changed_later_is_not_undone(
    workspace: Workspace, root: Path
) -> None:
    first = write(workspace, "a.txt", "one")
    write(workspace, "a.txt", "two")

    with pytest.raises(ToolError, match=r"a\.txt changed after c1"):
        undo(workspace, first.id)

    assert held(root) == {"a.txt": "two"}


@pytest.mark.parametrize("name", ["", "c", "c0", "c01", "1", "x1", "c-1", "c9", "c²", "c1 "])
def test_a_change_that_is_not_there_is_said_to_be_none(workspace: Workspace, name: str) -> None:
    write(workspace, "a.txt", "one")

    with pytest.raises(ToolError, match=r"is no change|There is no change"):
        workspace.plan_undo(name, confined=True)


def test_the_newest_change_of_a_session_is_the_newest_that_is_in_force(
    workspace: Workspace,
) -> None:
    write(workspace, "a.txt", "one", session="mine")
    second = write(workspace, "a.txt", "two", session="mine")
    write(workspace, "b.txt", "x", session="other")
    assert workspace.last_change("mine") == second.id

    undo(workspace, second.id)

    assert workspace.last_change("mine") == "c1"
    assert workspace.last_change("nobody") == ""


@requirement("REQ-S72")
def test_an_undo_gives_back_every_byte(workspace: Workspace, root: Path) -> None:
    before = b"\xef\xbb\xbfone\r\ntwo\n\tthree \xc2\xa0\r\nno end"
    (root / "a.txt").write_bytes(before)
    (root / "a.txt").chmod(0o751)
    changed = write(workspace, "a.txt", "all new\n")

    undo(workspace, changed.id)

    assert (root / "a.txt").read_bytes() == before
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o751


def test_a_difference_can_be_shown_whatever_the_file_is_now(
    workspace: Workspace, root: Path
) -> None:
    write(workspace, "a.txt", "one\n")
    changed = write(workspace, "a.txt", "two\n")
    (root / "a.txt").unlink()

    diff = workspace.change_diff(changed.id)

    assert "-one\n+two\n" in diff.unified
    assert (diff.created, diff.removed) == (False, False)
    assert workspace.change_diff("c1").created
