"""A dry run: changes land beside the project, are shown, and are applied as a whole or not."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Change, Workspace
from tests.requirements import requirement


@pytest.fixture
def workspace(root: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A project of two files, with a dry run on."""
    (root / "a.txt").write_bytes(b"one\r\ntwo\n")
    (root / "run.sh").write_text("old\n", encoding="utf-8")
    (root / "run.sh").chmod(0o755)
    made = Workspace(root, tmp_path / "state")
    made.begin_dry_run(tmp_path / "dry")
    yield made
    made.close()


def tree(root: Path) -> dict[str, tuple[int, str]]:
    """Every name below a folder, with its mode and the hash of its bytes."""
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in root.rglob("*")
    }


def write(workspace: Workspace, name: str, text: str) -> Change:
    return workspace.apply(workspace.plan_write(workspace.inside(name), text))


def edit(workspace: Workspace, name: str, old: str, new: str) -> Change:
    return workspace.apply(workspace.plan_edit(workspace.inside(name), old, new))


@requirement("REQ-S144")
def test_nothing_outside_the_dry_run_changes(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    before = tree(root)

    edit(workspace, "a.txt", "one", "1")
    write(workspace, "new/b.txt", "b")
    workspace.apply(workspace.plan_write(workspace.anywhere(str(tmp_path / "out.txt")), "x"))

    assert tree(root) == before
    assert not (tmp_path / "out.txt").exists()
    assert workspace.history() == ()


def test_later_reads_and_changes_see_what_the_dry_run_holds(workspace: Workspace) -> None:
    first = edit(workspace, "a.txt", "one", "1")
    second = edit(workspace, "a.txt", "two", "2")
    write(workspace, "b.txt", "new")

    assert workspace.read(workspace.inside("a.txt")).text == "1\r\n2\n"
    assert workspace.read(workspace.inside("b.txt")).text == "new"
    assert (first.id, second.id, second.before_sha256) == ("d1", "d2", first.sha256)
    with pytest.raises(ToolError, match="not found"):
        workspace.plan_edit(workspace.inside("a.txt"), "one", "x")


@requirement("REQ-S145")
def test_what_is_shown_is_what_is_applied_and_each_change_can_be_undone(
    workspace: Workspace, root: Path
) -> None:
    edit(workspace, "a.txt", "one", "1")
    edit(workspace, "run.sh", "old", "new")
    write(workspace, "new/b.txt", "b\n")
    shown = {diff.path: diff.unified for diff in workspace.dry_run_diffs()}

    done = workspace.apply_dry_run()

    assert (root / "a.txt").read_bytes() == b"1\r\ntwo\n"
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert {change.id for change in done} == {"c1", "c2", "c3"}
    assert {row.path: workspace.change_diff(row.id).unified for row in workspace.history()} == shown
    assert not workspace.dry_run
    workspace.apply(workspace.plan_undo(done[0].id, confined=True))
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"


@requirement("REQ-S145", "REQ-S70")
def test_a_file_that_changed_outside_meanwhile_stops_the_whole(
    workspace: Workspace, root: Path
) -> None:
    edit(workspace, "a.txt", "one", "1")
    edit(workspace, "run.sh", "old", "new")
    (root / "run.sh").write_text("theirs\n", encoding="utf-8")
    before = tree(root)

    with pytest.raises(ToolError, match=r"run\.sh changed since the dry run touched it"):
        workspace.apply_dry_run()

    assert tree(root) == before
    assert workspace.dry_run
    assert len(workspace.dry_run_diffs()) == 2


@requirement("REQ-S145", "J-75")
def test_a_folder_that_became_a_link_meanwhile_stops_the_whole(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    write(workspace, "sub/new.txt", "mine")
    edit(workspace, "a.txt", "one", "1")
    (root / "sub").symlink_to(outside)

    with pytest.raises(ToolError):
        workspace.apply_dry_run()

    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"


@requirement("REQ-S145")
def test_a_new_file_without_any_text_is_shown_and_applied(workspace: Workspace, root: Path) -> None:
    write(workspace, "pkg/__init__.py", "")

    (shown,) = workspace.dry_run_diffs()
    workspace.apply_dry_run()

    assert (shown.path, shown.created, shown.unified) == ("pkg/__init__.py", True, "")
    assert (root / "pkg/__init__.py").read_bytes() == b""


def test_a_name_cannot_be_a_file_and_a_folder(workspace: Workspace, root: Path) -> None:
    write(workspace, "x", "file")

    with pytest.raises(ToolError, match="cannot be a folder too"):
        write(workspace, "x/y", "below")

    workspace.apply_dry_run()
    assert (root / "x").read_text(encoding="utf-8") == "file"


def test_a_dry_run_whose_list_was_cut_is_not_taken_for_an_empty_one(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    edit(workspace, "a.txt", "one", "1")
    whole = (tmp_path / "dry" / "files.json").read_bytes()
    (tmp_path / "dry" / "files.json").write_bytes(whole[:-5])

    again = Workspace(root, tmp_path / "state")
    with pytest.raises(ToolError, match="list of the dry run cannot be read"):
        again.begin_dry_run(tmp_path / "dry")


def test_what_stands_in_the_way_does_not_hide_the_rest_of_the_diff(
    workspace: Workspace, root: Path
) -> None:
    write(workspace, "d/new.txt", "new\n")
    edit(workspace, "a.txt", "one", "1")
    (root / "d").write_text("a file now", encoding="utf-8")

    assert [diff.path for diff in workspace.dry_run_diffs()] == ["a.txt", "d/new.txt"]
    with pytest.raises(ToolError, match="changed since the dry run touched it"):
        workspace.apply_dry_run()


def test_discarding_forgets_everything_and_a_second_time_nothing(workspace: Workspace) -> None:
    edit(workspace, "a.txt", "one", "1")

    assert workspace.end_dry_run() == 1
    assert workspace.end_dry_run() == 0
    assert workspace.read(workspace.inside("a.txt")).text == "one\r\ntwo\n"


def test_a_change_back_to_the_start_is_no_change(workspace: Workspace) -> None:
    edit(workspace, "a.txt", "one", "1")
    edit(workspace, "a.txt", "1", "one")

    assert workspace.dry_run_diffs() == ()
    assert workspace.apply_dry_run() == ()
    assert workspace.history() == ()


def test_a_dry_run_goes_on_in_the_next_process(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    edit(workspace, "a.txt", "one", "1")

    again = Workspace(root, tmp_path / "state")
    again.begin_dry_run(tmp_path / "dry")

    assert again.read(again.inside("a.txt")).text == "1\r\ntwo\n"
    again.apply_dry_run()
    assert (root / "a.txt").read_bytes() == b"1\r\ntwo\n"


@requirement("REQ-S145", "REQ-F69")
def test_what_is_in_the_project_already_is_not_applied_again(
    workspace: Workspace, root: Path
) -> None:
    edit(workspace, "a.txt", "one", "1")
    edit(workspace, "run.sh", "old", "new")
    (root / "a.txt").write_bytes(b"1\r\ntwo\n")

    done = workspace.apply_dry_run()

    assert [change.place.shown for change in done] == ["run.sh"]


@requirement("REQ-S145")
def test_a_file_is_known_by_its_real_place_whatever_link_leads_there(
    workspace: Workspace, root: Path
) -> None:
    (root / "link.txt").symlink_to("a.txt")

    edit(workspace, "link.txt", "one", "1")

    assert workspace.read(workspace.inside("a.txt")).text == "1\r\ntwo\n"
    assert [diff.path for diff in workspace.dry_run_diffs()] == ["a.txt"]


@requirement("J-93")
def test_listings_say_that_they_show_the_project(workspace: Workspace) -> None:
    assert workspace.dry_run_note == ""

    edit(workspace, "a.txt", "one", "1")

    assert workspace.dry_run_note == ("[Dry run: shown as on disk, without its changes of a.txt.]")


def test_the_dry_run_is_for_its_owner_only(workspace: Workspace, tmp_path: Path) -> None:
    edit(workspace, "a.txt", "one", "1")

    modes = {path.lstat().st_mode & 0o077 for path in (tmp_path / "dry").rglob("*")}

    assert modes == {0}
    assert os.access(tmp_path / "dry", os.R_OK)


def test_nothing_is_undone_while_a_dry_run_is_on(root: Path, tmp_path: Path) -> None:
    workspace = Workspace(root, tmp_path / "state")
    write(workspace, "a.txt", "x")
    workspace.begin_dry_run(tmp_path / "dry")

    with pytest.raises(ToolError, match="A dry run is on"):
        workspace.plan_undo("c1", confined=True)
