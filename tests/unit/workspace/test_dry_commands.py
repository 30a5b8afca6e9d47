"""A command in a dry run: it works on a copy, and what it did there waits in the dry run."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.workspace import DryCopy, Workspace, snapshot_dry, snapshot_tree
from arc_workbench.workspace.shadow import Shadow
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter

ODD = os.fsdecode(b"odd-\xff.txt")


@pytest.fixture
def workspace(root: Path, home: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A project with all kinds of names, and a dry run on."""
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    (root / "run.sh").write_text("echo\n", encoding="utf-8")
    (root / "run.sh").chmod(0o755)
    (root / "sub").mkdir(mode=0o750)
    (root / "sub/b.txt").write_text("b\n", encoding="utf-8")
    (root / ODD).write_bytes(b"odd")
    (root / "link").symlink_to("a.txt")
    made = Workspace(root, home)
    made.begin_dry_run(tmp_path / "dry")
    yield made
    made.close()


def looks(root: Path) -> dict[str, tuple[int, object]]:
    """Every name below a folder, with its mode and what it holds."""
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            str(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else None,
        )
        for path in root.rglob("*")
    }


def sh(copy: DryCopy, script: str) -> None:
    subprocess.run(["sh", "-ec", script], cwd=copy.folder, check=True)


def run(workspace: Workspace, script: str) -> tuple[dict[str, Diff], str]:
    """What a command in the dry run comes to, and the note with it."""
    with workspace.dry_copy() as copy:
        sh(copy, script)
        diffs = workspace.take_dry_copy(copy)
        return {diff.path: diff for diff in diffs}, copy.note


def write(workspace: Workspace, name: str, text: str) -> None:
    workspace.apply(workspace.plan_write(workspace.inside(name), text))


# ---- the copy -----------------------------------------------------------------------------------


def test_the_copy_is_the_whole_project(workspace: Workspace, root: Path) -> None:
    for name in (".git", "node_modules"):
        (root / name).mkdir()
        (root / name / "x").write_text(name, encoding="utf-8")
    (root / ".gitignore").write_text("ignored\n", encoding="utf-8")
    (root / "ignored").write_text("still needed", encoding="utf-8")

    with workspace.dry_copy() as copy:
        assert looks(copy.folder) == looks(root)
        assert root not in copy.folder.parents
        assert (copy.folder / "a.txt").stat().st_mtime_ns == (root / "a.txt").stat().st_mtime_ns


@requirement("REQ-S144")
def test_the_copy_has_what_the_dry_run_changed(workspace: Workspace, root: Path) -> None:
    write(workspace, "run.sh", "changed\n")
    write(workspace, "new/deep/c.txt", "new\n")
    run(workspace, "rm a.txt")

    with workspace.dry_copy() as copy:
        assert (copy.folder / "run.sh").read_text(encoding="utf-8") == "changed\n"
        assert (copy.folder / "run.sh").stat().st_mode & 0o777 == 0o755
        assert (copy.folder / "new/deep/c.txt").read_text(encoding="utf-8") == "new\n"
        assert not (copy.folder / "a.txt").exists()
    assert (root / "a.txt").exists()


def test_holes_in_a_file_are_not_filled(workspace: Workspace, root: Path) -> None:
    with (root / "disk.img").open("wb") as file:
        file.seek(1 << 35)
        file.write(b"end")

    with workspace.dry_copy() as copy:
        made = (copy.folder / "disk.img").stat()
        with (copy.folder / "disk.img").open("rb") as file:
            file.seek(1 << 35)
            assert file.read() == b"end"
    assert made.st_size == (1 << 35) + 3
    assert made.st_blocks * 512 < 1 << 20


def test_a_copy_is_gone_once_it_is_closed(workspace: Workspace, home: Path) -> None:
    copy = workspace.dry_copy()
    sh(copy, "mkdir -p locked/in; touch locked/in/x; chmod 0 locked/in locked")

    copy.close()
    copy.close()

    assert list(home.glob("*/dry-copies/*")) == []


DIES = """
import os, sys
from pathlib import Path
from arc_workbench.workspace import Workspace
made = Workspace(Path(sys.argv[1]), Path(sys.argv[2]))
made.begin_dry_run(Path(sys.argv[3]))
copy = made.dry_copy()
os.kill(os.getpid(), 9)
"""


def test_the_copy_of_a_process_that_was_killed_is_cleared_away_but_none_in_use(
    workspace: Workspace, root: Path, home: Path, tmp_path: Path
) -> None:
    with workspace.dry_copy() as mine:
        subprocess.run([sys.executable, "-c", DIES, root, home, tmp_path / "other"], check=False)
        assert len(list(home.glob("*/dry-copies/*/project"))) == 2

        with workspace.dry_copy():
            assert len(list(home.glob("*/dry-copies/*/project"))) == 2
        assert (mine.folder / "a.txt").exists()


@pytest.mark.parametrize("looked", [0, 2, 5, 8])
def test_a_person_can_stop_the_copying(workspace: Workspace, home: Path, looked: int) -> None:
    with pytest.raises(ToolError, match="Aborted"):
        workspace.dry_copy(StopAfter(looked))

    assert list(home.glob("*/dry-copies/*")) == []


@pytest.mark.parametrize("limit", ["MAX_TOTAL_BYTES", "MAX_FILES"])
def test_a_project_that_is_too_large_runs_no_command_in_a_dry_run(
    workspace: Workspace, home: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(snapshot_dry if "BYTES" in limit else snapshot_tree, limit, 4)

    with pytest.raises(ToolError, match="too large to be copied for a dry run"):
        workspace.dry_copy()

    assert list(home.glob("*/dry-copies/*")) == []


def test_without_a_dry_run_there_is_no_copy(root: Path, home: Path) -> None:
    with pytest.raises(ToolError, match="No dry run is on"):
        Workspace(root, home).dry_copy()


# ---- what is taken over -------------------------------------------------------------------------


@requirement("REQ-S144", "REQ-S145")
def test_what_a_command_did_waits_in_the_dry_run_and_is_applied_as_one(
    workspace: Workspace, root: Path
) -> None:
    was = looks(root)
    diffs, note = run(
        workspace,
        "echo two >> a.txt; rm sub/b.txt odd*; mkdir new; echo n > new/n.sh; chmod 700 new/n.sh",
    )

    assert looks(root) == was
    assert note == snapshot_dry.NOT_TAKEN
    assert {path: (diff.created, diff.removed) for path, diff in diffs.items()} == {
        "a.txt": (False, False),
        "sub/b.txt": (False, True),
        r"odd-\xff.txt": (False, True),
        "new/n.sh": (True, False),
    }
    assert "+two" in diffs["a.txt"].unified
    assert set(workspace.dry_run_diffs()) == set(diffs.values())
    with pytest.raises(ToolError, match="not found"):
        workspace.read(workspace.inside("sub/b.txt"))

    done = workspace.apply_dry_run()

    assert (root / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    assert (root / "new/n.sh").stat().st_mode & 0o777 == 0o700
    assert not (root / "sub/b.txt").exists()
    assert len(workspace.history()) == 4
    for change in done:
        workspace.apply(workspace.plan_undo(change.id, confined=True))
    assert {name: was for name, was in looks(root).items() if name != "new"} == was


def test_commands_go_on_from_what_earlier_ones_did(workspace: Workspace, root: Path) -> None:
    run(workspace, "rm a.txt; echo 1 > n.txt")
    diffs, _ = run(workspace, "test ! -e a.txt; echo 2 > n.txt; echo back > a.txt")

    assert diffs["n.txt"].unified.endswith("-1\n+2\n")
    assert diffs["a.txt"].created
    run(workspace, "rm n.txt")
    workspace.apply_dry_run()
    assert (root / "a.txt").read_text(encoding="utf-8") == "back\n"
    assert not (root / "n.txt").exists()


def test_a_file_that_came_and_went_is_no_change(workspace: Workspace) -> None:
    run(workspace, "echo > n.txt")
    run(workspace, "rm n.txt")

    assert workspace.dry_run_diffs() == ()
    assert workspace.apply_dry_run() == ()


def test_a_removed_file_can_be_written_again(workspace: Workspace, root: Path) -> None:
    run(workspace, "rm run.sh")
    write(workspace, "run.sh", "again\n")

    assert workspace.read(workspace.inside("run.sh")).text == "again\n"
    workspace.apply_dry_run()
    assert (root / "run.sh").read_text(encoding="utf-8") == "again\n"
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755


def test_a_command_that_only_touches_files_changes_nothing(workspace: Workspace) -> None:
    assert run(workspace, "touch a.txt; cp run.sh x; mv x run.sh; cat a.txt > y; rm y")[0] == {}


def test_a_change_right_after_the_copy_and_of_the_same_size_is_found(workspace: Workspace) -> None:
    with workspace.dry_copy() as copy:
        with (copy.folder / "a.txt").open("r+b") as file:
            file.write(b"two")
        os.utime(copy.folder / "a.txt", ns=(0, copy.made["a.txt"].copy[1]))

        assert [diff.path for diff in workspace.take_dry_copy(copy)] == ["a.txt"]


def test_git_ignored_files_links_and_modes_are_not_taken_over(
    workspace: Workspace, root: Path
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (root / "old.log").write_text("1", encoding="utf-8")

    diffs, note = run(
        workspace,
        "git add .; mkdir node_modules; touch node_modules/x a.log; rm old.log; ln -s / out; "
        "chmod +x a.txt; rm link; ln -s run.sh link",
    )

    assert diffs == {}
    assert note == f"{snapshot_dry.NOT_TAKEN} Nor is this: a.txt, link, out."


def test_a_file_that_the_project_changed_meanwhile_is_not_taken_over(
    workspace: Workspace, root: Path
) -> None:
    with workspace.dry_copy() as copy:
        (root / "a.txt").write_text("mine\n", encoding="utf-8")
        (root / "sub/b.txt").write_text("mine, and not touched by the command\n", encoding="utf-8")
        (root / "n.txt").write_text("mine\n", encoding="utf-8")
        sh(copy, "echo 2 > a.txt; echo 2 > n.txt; echo 2 > run.sh")

        diffs = workspace.take_dry_copy(copy)

    assert [diff.path for diff in diffs] == ["run.sh"]
    assert copy.note.endswith("Nor is this: a.txt, n.txt.")


@requirement("REQ-S145")
def test_a_file_that_changes_after_the_command_stops_the_whole_when_it_is_applied(
    workspace: Workspace, root: Path
) -> None:
    run(workspace, "rm a.txt; echo 2 > run.sh")
    (root / "a.txt").write_text("mine\n", encoding="utf-8")
    was = looks(root)

    with pytest.raises(ToolError, match=r"a\.txt changed since the dry run touched it"):
        workspace.apply_dry_run()

    assert looks(root) == was


def test_a_file_and_a_folder_that_change_places_are_not_taken_over(
    workspace: Workspace, root: Path
) -> None:
    diffs, note = run(
        workspace, "rm a.txt; mkdir a.txt; echo > a.txt/in; rm -r sub; echo > sub; echo 2 > run.sh"
    )

    assert sorted(diffs) == ["run.sh", "sub/b.txt"]
    assert note.endswith("Nor is this: a.txt, a.txt/in, sub.")
    workspace.apply_dry_run()
    assert (root / "a.txt").read_text(encoding="utf-8") == "one\n"


def test_nothing_comes_below_a_file_that_an_earlier_command_removed(
    workspace: Workspace, root: Path
) -> None:
    run(workspace, "rm a.txt")
    diffs, note = run(workspace, "mkdir a.txt; echo > a.txt/k; echo 2 > run.sh")

    assert sorted(diffs) == ["run.sh"]
    assert note.endswith("Nor is this: a.txt/k.")
    workspace.apply_dry_run()
    assert not (root / "a.txt").exists()
    assert (root / "run.sh").read_text(encoding="utf-8") == "2\n"


def test_a_dry_run_that_holds_both_says_truly_why_it_cannot_be_applied(
    workspace: Workspace, root: Path, home: Path, tmp_path: Path
) -> None:
    run(workspace, "rm a.txt")
    Shadow(tmp_path / "dry").put(root / "a.txt/k", None, b"k", 0)
    workspace.begin_dry_run(tmp_path / "dry")

    with pytest.raises(ToolError, match=r"a\.txt/k cannot be made, since a\.txt is a file of the"):
        workspace.apply_dry_run()

    assert (root / "a.txt").exists()


def test_a_file_that_is_too_large_is_named_and_not_taken_over(workspace: Workspace) -> None:
    diffs, note = run(workspace, f"truncate -s {snapshot_tree.MAX_FILE_BYTES + 1} big; echo > ok")

    assert (sorted(diffs), note.endswith("Nor is this: big.")) == (["ok"], True)


def test_nothing_is_taken_from_behind_a_link(workspace: Workspace, outside: Path) -> None:
    diffs, note = run(
        workspace, f"rm -r sub; ln -s {outside} sub; ln -sf {outside}/secret.txt a.txt"
    )

    assert sorted(diffs) == ["sub/b.txt"]
    assert note.endswith("Nor is this: a.txt, sub.")


def test_what_a_command_did_is_still_there_in_the_next_process(
    workspace: Workspace, root: Path, home: Path, tmp_path: Path
) -> None:
    run(workspace, "rm a.txt; echo 2 > run.sh")
    workspace.close()

    again = Workspace(root, home)
    again.begin_dry_run(tmp_path / "dry")

    assert {diff.path: diff.removed for diff in again.dry_run_diffs()} == {
        "a.txt": True,
        "run.sh": False,
    }
    again.close()
