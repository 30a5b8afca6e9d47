"""Snapshots around a command: what it changed is known, and a person can take it back."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arc_workbench.content import CommandChanges
from arc_workbench.errors import ToolError
from arc_workbench.workspace import (
    Author,
    FilePlan,
    Workspace,
    snapshot_commands,
    snapshot_notes,
    snapshot_rewind,
    snapshot_tree,
    snapshots,
)
from arc_workbench.workspace.deadline import Deadline
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter

ME = Author("s1", "call")
ODD = os.fsdecode(b"odd-\xff\xfe.txt")


def around(
    workspace: Workspace, command: Callable[[], object], spool: str = "j1"
) -> CommandChanges:
    """What is known of a command."""
    before = workspace.before_command()
    command()
    return workspace.after_command(before, spool, ME)


def kinds(changes: CommandChanges) -> dict[str, str]:
    return {row.path: row.kind for row in changes.rows}


def tree(root: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file and link, with its mode and what it holds."""
    return {
        str(path.relative_to(root)): (
            stat.S_IMODE(path.lstat().st_mode),
            path.readlink().as_posix() if path.is_symlink() else path.read_bytes(),
        )
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def modes(root: Path) -> dict[str, int]:
    """Every folder with its permission bits."""
    folders = [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]
    return {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in folders}


def fill(root: Path) -> None:
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    (root / "run.sh").write_text("echo\n", encoding="utf-8")
    (root / "run.sh").chmod(0o755)
    (root / "src/deep").mkdir(parents=True)
    (root / "src/deep/b.bin").write_bytes(bytes(range(256)) * 2000)  # not kept in the database
    (root / ODD).write_bytes(b"odd")
    (root / "link").symlink_to("a.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    fill(folder)
    return folder


def sh(root: Path, script: str) -> Callable[[], object]:
    return lambda: subprocess.run(["sh", "-ec", script], cwd=root, check=True)


# ---- what a command did -------------------------------------------------------------------------


def test_what_a_command_created_changed_and_removed_is_known(
    workspace: Workspace, root: Path
) -> None:
    found = around(
        workspace,
        sh(root, "echo 2 > a.txt; mkdir new; echo x > new/c.txt; rm src/deep/b.bin; rm odd*"),
    )

    assert kinds(found) == {
        "a.txt": "changed",
        "new/c.txt": "created",
        "src/deep/b.bin": "removed",
        r"odd-\xff\xfe.txt": "removed",
    }
    assert {row.path: row.size for row in found.rows}["src/deep/b.bin"] == 512_000
    assert (found.not_covered, found.note, found.more) == (0, "", 0)
    assert workspace.command_changes("j1", "s1") == found
    assert workspace.command_changes("j1", "another session") is None


def test_a_command_that_changes_nothing_is_known_for_that(workspace: Workspace, root: Path) -> None:
    assert around(workspace, sh(root, "cat a.txt > /dev/null; touch a.txt")).rows == ()


def test_modes_and_links_are_changes_too(workspace: Workspace, root: Path) -> None:
    found = around(workspace, sh(root, "chmod 600 run.sh; ln -sfn run.sh link; ln -s / elsewhere"))

    assert kinds(found) == {"run.sh": "changed", "link": "changed", "elsewhere": "created"}


def test_a_second_change_in_the_same_moment_and_of_the_same_size_is_found(
    workspace: Workspace, root: Path
) -> None:
    for number in range(20):
        (root / "a.txt").write_text(f"{number:03}\n", encoding="utf-8")
        before = workspace.before_command()
        (root / "a.txt").write_text(f"{number:03}x"[1:] + "\n", encoding="utf-8")

        assert kinds(workspace.after_command(before, f"j{number}", ME)) == {"a.txt": "changed"}


def test_links_are_never_followed_out_of_the_project(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "away").symlink_to(outside)

    found = around(workspace, sh(outside, "echo other > secret.txt; echo > new"))

    assert found.rows == ()


@requirement("REQ-S45")
def test_git_is_neither_run_nor_touched_and_what_it_ignores_is_left_out(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    trap = tmp_path / "ran"
    with (root / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {trap}"\n')
    (root / ".gitignore").write_text("*.log\nbuild/\n!keep.log\n/only.txt\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}

    found = around(
        workspace,
        sh(
            root,
            "mkdir build src/build node_modules; touch x.log src/y.log keep.log only.txt "
            "build/o src/build/o src/only.txt node_modules/m",
        ),
    )

    assert kinds(found) == {"keep.log": "created", "src/only.txt": "created"}
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before
    assert not trap.exists()


def test_ignore_rules_of_the_repository_above_hold(tmp_path: Path, home: Path) -> None:
    sub = tmp_path / "repo/pkg/sub"
    sub.mkdir(parents=True)
    (tmp_path / "repo/.git/info").mkdir(parents=True)
    (tmp_path / "repo/.git/info/exclude").write_text("private\n", encoding="utf-8")
    (tmp_path / "repo/.gitignore").write_text("/pkg/sub/out\n*.pyc\n", encoding="utf-8")
    workspace = Workspace(sub, home)

    found = around(workspace, sh(sub, "touch private out a.pyc seen"))

    assert kinds(found) == {"seen": "created"}
    workspace.close()


PATTERNS = r"""
*.log|!keep.log
a
/a
a/
a/b
a//b
**/b
a/**
a/**/b|!a/b
*|!*/|!*.c
/*|!/a
[a-b]|[!a]
[^a]b|\#h|\!bang
sp\ |d{e}|a\*b
a**|bar.?
[|[a|\
# a comment|!|/|//
./a|a/.
foo/*|!foo/ab
*.c
bs\\x
"""
NAMES = ("a", "b", "ab", "bar.c", "x.log", "keep.log", "#h", "!bang", "sp ", "d{e}", "a*b", "bs\\x")


@pytest.mark.parametrize("pattern", PATTERNS.strip("\n").split("\n"))
def test_what_is_ignored_is_what_git_ignores(tmp_path: Path, pattern: str) -> None:
    for folder in ("a/b", "foo/ab", "bar.c"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in (tmp_path, *tmp_path.rglob("*")):
        for name in NAMES:
            if not (folder / name).exists():
                (folder / name).touch()
    (tmp_path / ".gitignore").write_text(pattern.replace("|", "\n") + "\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-zo", "--exclude-standard"],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.PIPE,
    )

    found = snapshot_tree.walk(tmp_path, Deadline())

    assert set(found.entries) == set(os.fsdecode(listed.stdout).split("\0")) - {""}


def test_a_command_cannot_hide_what_it_does_by_an_ignore_rule(
    workspace: Workspace, root: Path
) -> None:
    found = around(workspace, sh(root, "echo '*' > .gitignore; echo 2 > a.txt; rm run.sh"))

    assert kinds(found) == {".gitignore": "created", "a.txt": "changed", "run.sh": "removed"}


def test_a_folder_that_ignores_itself_is_left_out(workspace: Workspace, root: Path) -> None:
    found = around(workspace, sh(root, "mkdir venv; echo '*' > venv/.gitignore; echo > venv/x"))

    assert found.rows == ()


def test_our_own_state_is_no_part_of_the_project(root: Path) -> None:
    workspace = Workspace(root, root / "state")

    found = around(workspace, lambda: workspace.apply(_written(workspace, "a.txt", "2")))

    assert found.rows == ()
    workspace.close()


def test_what_file_tools_change_meanwhile_is_not_the_commands_doing(
    workspace: Workspace, root: Path
) -> None:
    before = workspace.before_command()
    workspace.apply(_written(workspace, "a.txt", "mine"))
    (root / "run.sh").write_text("its\n", encoding="utf-8")

    found = workspace.after_command(before, "j1", ME)

    assert kinds(found) == {"run.sh": "changed"}
    assert found.note == "Left out, since file tools wrote them too: a.txt."


def test_commands_that_overlap_say_so(workspace: Workspace, root: Path) -> None:
    first = workspace.before_command()
    second = workspace.before_command()
    (root / "a.txt").write_text("2", encoding="utf-8")

    notes = [
        workspace.after_command(first, "j1", ME).note,
        workspace.after_command(second, "j2", ME).note,
        around(workspace, sh(root, "true"), "j3").note,
    ]

    assert notes == [snapshots.OVERLAPPED, snapshots.OVERLAPPED, ""]


def _written(workspace: Workspace, name: str, text: str) -> FilePlan:
    return workspace.plan_write(workspace.inside(name), text)


# ---- limits -------------------------------------------------------------------------------------


def test_a_large_file_is_named_as_not_covered_and_its_change_still_seen(
    workspace: Workspace, root: Path
) -> None:
    os.truncate(root / "a.txt", snapshot_tree.MAX_FILE_BYTES + 1)
    (root / "huge.img").touch()
    os.truncate(root / "huge.img", 1 << 40)  # a hole: nothing reads a tebibyte

    found = around(workspace, sh(root, "echo x >> a.txt; echo 1 > run.sh"))

    assert kinds(found) == {"a.txt": "changed", "run.sh": "changed"}
    assert (found.not_covered, found.not_covered_names) == (2, ("a.txt", "huge.img"))
    workspace.rewind_command("j1", ME)
    assert (root / "run.sh").read_text(encoding="utf-8") == "echo\n"


def test_the_largest_files_are_left_out_until_the_rest_fits(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MAX_TOTAL_BYTES", 1000)

    found = around(workspace, sh(root, "echo 2 > a.txt"))

    assert kinds(found) == {"a.txt": "changed"}
    assert found.not_covered_names == ("src/deep/b.bin",)


def test_a_project_with_too_many_names_has_no_snapshot_and_says_so(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_tree, "MAX_FILES", 4)

    found = around(workspace, sh(root, "rm a.txt"))

    assert found.rows == ()
    assert "more than 4 files" in found.note
    assert workspace.command_changes("j1", "s1") == found
    with pytest.raises(ToolError, match=r"not known\. It cannot be taken back"):
        workspace.rewind_command("j1", ME)


def test_only_the_newest_commands_are_kept_and_their_contents_go(
    workspace: Workspace, root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_commands, "MOST_RECORDS", 3)
    for number in range(8):
        data = bytes([number]) * (snapshots.INLINE_BYTES + 1)
        around(workspace, lambda data=data: (root / "a.txt").write_bytes(data), f"j{number}")

    kept = [workspace.command_changes(f"j{number}", "s1") is not None for number in range(8)]

    assert kept == [False] * 5 + [True] * 3
    assert (
        len(list(home.glob("*/commands/large/*"))) == 5
    )  # what three records need, what is there now, and b.bin
    workspace.rewind_command("j7", ME)
    assert (root / "a.txt").read_bytes()[:1] == b"\x06"


def test_everything_kept_is_for_its_owner_only(
    workspace: Workspace, root: Path, home: Path
) -> None:
    around(workspace, sh(root, "echo 2 > a.txt"))

    (store,) = home.glob("*/commands")
    modes = {path.stat().st_mode & 0o177 for path in store.rglob("*") if path.is_file()}
    assert modes == {0}
    assert {path.stat().st_mode & 0o077 for path in (store, store / "large")} == {0}


# ---- taking it back -----------------------------------------------------------------------------


WILD = """
echo 2 > a.txt; rm run.sh odd*; mkdir -p made/here; echo x > made/here/c; chmod 640 src/deep/b.bin
ln -sfn run.sh link; ln -s / elsewhere; rm -r src/two; mv three four
"""


@pytest.fixture
def wild(workspace: Workspace, root: Path) -> dict[str, tuple[int, bytes | str]]:
    """A project after a command that did everything at once; what it was before."""
    (root / "src/two").mkdir()
    (root / "src/two/x").write_text("x", encoding="utf-8")
    (root / "src/two/y").symlink_to("x")
    (root / "three").write_bytes(b"\0\1")
    was = tree(root)
    around(workspace, sh(root, WILD))
    return was


def test_a_command_is_taken_back_as_a_whole(
    workspace: Workspace, root: Path, wild: dict[str, tuple[int, bytes | str]]
) -> None:
    done = workspace.rewind_command("j1", ME)

    assert tree(root) == wild
    assert done.note == ""
    assert not (root / "made").exists()
    assert {change.place.shown for change in done.changes} == {
        *("a.txt", "run.sh", r"odd-\xff\xfe.txt", "made/here/c", "src/two/x", "three", "four")
    }


def test_what_was_taken_back_can_be_undone_and_taken_back_again(
    workspace: Workspace, root: Path
) -> None:
    was = tree(root)
    around(workspace, sh(root, "echo 2 > a.txt; rm run.sh; mkdir n; echo 1 > n/new"))
    after = tree(root)

    done = workspace.rewind_command("j1", ME)
    for change in reversed(done.changes):
        workspace.apply(workspace.plan_undo(change.id, confined=True))
    assert tree(root) == after
    workspace.rewind_command("j1", ME)

    assert tree(root) == was
    with pytest.raises(ToolError, match="left to take back"):
        workspace.rewind_command("j1", ME)


@requirement("REQ-S64")
def test_nothing_is_taken_back_where_a_file_changed_since(
    workspace: Workspace, root: Path, wild: dict[str, tuple[int, bytes | str]]
) -> None:
    (root / "a.txt").write_text("mine", encoding="utf-8")
    (root / "elsewhere").unlink()
    (root / "elsewhere").symlink_to("/tmp")
    now = tree(root)

    with pytest.raises(ToolError, match=r"^a\.txt, elsewhere are no longer what the command left"):
        workspace.rewind_command("j1", ME)

    assert tree(root) == now
    assert workspace.history() == ()


def test_what_is_as_it_was_already_is_left_alone(
    workspace: Workspace, root: Path, wild: dict[str, tuple[int, bytes | str]]
) -> None:
    (root / "a.txt").write_text("one\n", encoding="utf-8")

    done = workspace.rewind_command("j1", ME)

    assert "a.txt" not in {change.place.shown for change in done.changes}
    assert tree(root) == wild


def test_a_file_that_became_a_link_becomes_the_file_again(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    was = tree(root)
    around(workspace, sh(root, f"rm -r src a.txt link; ln -s {outside} src; ln -s run.sh a.txt"))

    workspace.rewind_command("j1", ME)

    assert tree(root) == was
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]


def test_links_come_back_where_the_files_could_not_be_taken_back(
    workspace: Workspace, root: Path, home: Path
) -> None:
    around(workspace, sh(root, "ln -s / elsewhere; echo 2 > a.txt"))
    workspace.close()
    (database,) = home.glob("*/commands/snapshots.db")
    with sqlite3.connect(database) as opened:
        opened.execute("DELETE FROM blobs")
    opened.close()
    now = tree(root)

    with pytest.raises(ToolError, match="held before the command is lost"):
        workspace.rewind_command("j1", ME)

    assert tree(root) == now


def test_a_file_and_a_folder_that_changed_places_are_not_taken_back(
    workspace: Workspace, root: Path
) -> None:
    around(workspace, sh(root, "rm a.txt; mkdir a.txt; echo > a.txt/in"))
    around(workspace, sh(root, "rm -r src; echo > src"), "j2")
    now = tree(root)

    for spool in ("j1", "j2"):
        with pytest.raises(ToolError, match="a file and a folder changed places"):
            workspace.rewind_command(spool, ME)

    assert tree(root) == now


@pytest.mark.parametrize("more", ["", "cd ..; rmdir parent; "])
def test_a_project_that_a_command_removed_comes_back_whole(
    tmp_path: Path, home: Path, more: str
) -> None:
    root = tmp_path / "parent/proj"
    root.mkdir(parents=True)
    fill(root)
    (root / "empty").mkdir(mode=0o700)
    (root / "src").chmod(0o750)
    root.chmod(0o711)
    was, folders = tree(root), modes(root)
    workspace = Workspace(root, home)

    found = around(workspace, sh(root.parent, f"rm -r proj; {more}"))
    done = workspace.rewind_command("j1", ME)

    assert set(kinds(found).values()) == {"removed"}
    assert found.note == snapshot_notes.GONE
    assert tree(root) == was
    assert modes(root) == folders
    assert done.note == snapshot_rewind.MADE_AGAIN
    with pytest.raises(ToolError, match="left to take back"):
        workspace.rewind_command("j1", ME)
    workspace.close()


def test_a_command_before_the_one_that_removed_the_project_can_be_taken_back_after_it(
    workspace: Workspace, root: Path
) -> None:
    was = tree(root)
    around(workspace, sh(root, "echo 2 > a.txt; rm link"))
    around(workspace, sh(root.parent, "rm -r proj"), "j2")

    with pytest.raises(ToolError, match="project folder is gone"):
        workspace.rewind_command("j1", ME)
    workspace.rewind_command("j2", ME)
    workspace.rewind_command("j1", ME)

    assert tree(root) == was


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ("ln -s moved proj", "A link stands where the project folder was"),
        ("echo > proj", "A file stands where the project folder was"),
        ("mkdir proj", "Another folder stands where the project folder was"),
        ("cp -a moved proj; echo 3 > proj/a.txt", "Another folder stands where the project folder"),
        ("mv moved proj; cd ..; mv p q; ln -s q p", "A link stands where the project folder was"),
        ("cd ..; mv p q; ln -s q p", "The project folder is gone, or has another name now"),
    ],
)
def test_a_project_whose_place_something_else_has_is_not_made_again(
    tmp_path: Path, home: Path, instead: str, said: str
) -> None:
    root = tmp_path / "p/proj"
    root.mkdir(parents=True)
    fill(root)
    workspace = Workspace(root, home)
    around(workspace, sh(root.parent, "mv proj moved"))
    subprocess.run(["sh", "-ec", instead], cwd=root.parent, check=True)
    now = tree(tmp_path)

    with pytest.raises(ToolError, match=f"^{said}.*nothing was taken back"):
        workspace.rewind_command("j1", ME)

    assert tree(tmp_path) == now
    workspace.close()


def test_a_project_that_was_moved_by_the_command_and_moved_back_needs_nothing(
    workspace: Workspace, root: Path
) -> None:
    around(workspace, sh(root.parent, "mv proj moved"))
    root.with_name("moved").rename(root)

    with pytest.raises(ToolError, match="left to take back"):
        workspace.rewind_command("j1", ME)


def test_a_command_after_the_project_is_gone_says_that_nothing_is_known(
    workspace: Workspace, root: Path
) -> None:
    around(workspace, sh(root.parent, "rm -r proj"))

    found = around(workspace, lambda: None, "j2")

    assert "its folder cannot be opened" in found.note
    with pytest.raises(ToolError, match=r"is not known\. It cannot be taken back"):
        workspace.rewind_command("j2", ME)


@pytest.mark.parametrize("bits", [0o4755, 0o2755, 0o6700])
def test_a_bit_to_run_as_the_owner_is_named_and_taken_away(
    workspace: Workspace, root: Path, bits: int
) -> None:
    was = tree(root)
    found = around(workspace, sh(root, f"chmod {bits:o} run.sh; cp run.sh x; chmod {bits:o} x"))

    assert "set-user-ID, set-group-ID): run.sh, x." in found.note
    workspace.rewind_command("j1", ME)

    assert tree(root) == was
    with pytest.raises(ToolError, match=r"^Nothing of what"):
        workspace.rewind_command("j1", ME)


def test_such_a_bit_goes_from_a_file_too_that_no_snapshot_has(
    workspace: Workspace, root: Path
) -> None:
    size = snapshot_tree.MAX_FILE_BYTES + 1
    found = around(workspace, sh(root, f"truncate -s {size} big; chmod 4755 big"))

    done = workspace.rewind_command("j1", ME)

    assert found.note.endswith("set-group-ID): big.")
    assert done.note.endswith("so left as it is: big.")
    assert stat.S_IMODE((root / "big").stat().st_mode) == 0o755


def test_a_bit_to_run_as_the_owner_never_comes_back_and_that_is_said(
    workspace: Workspace, root: Path
) -> None:
    (root / "run.sh").chmod(0o4755)
    around(workspace, sh(root, "chmod 755 run.sh"))
    with pytest.raises(ToolError, match=r"is not given back: run\.sh"):
        workspace.rewind_command("j1", ME)
    (root / "run.sh").chmod(0o4755)
    around(workspace, sh(root, "chmod 755 run.sh; echo 2 > run.sh"), "j2")

    done = workspace.rewind_command("j2", ME)

    assert (root / "run.sh").read_text(encoding="utf-8") == "echo\n"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o755
    assert done.note.endswith("is not given back: run.sh.")


def test_what_happens_to_folders_is_known_and_taken_back(workspace: Workspace, root: Path) -> None:
    (root / "shared").mkdir()
    (root / "shared").chmod(0o2770)
    (root / "empty").mkdir()
    was, folders = tree(root), modes(root)

    found = around(
        workspace, sh(root, "rmdir empty; rm src/deep/b.bin; chmod 555 src/deep shared; mkfifo f")
    )
    (root / "f").unlink()
    workspace.rewind_command("j1", ME)

    assert found.note == (
        "The permission bits of folders changed: shared/, src/deep/. "
        "Neither a file nor a link, so not taken back: f."
    )
    assert (tree(root), modes(root)) == (was, folders)


def test_no_file_comes_back_where_a_link_cannot(workspace: Workspace, root: Path) -> None:
    (root / "d").mkdir()
    (root / "d/l").symlink_to("a.txt")
    around(workspace, sh(root, "rm -r d; echo 2 > a.txt; chmod 700 src; ln -s / elsewhere"))
    (root / "d").write_text("in the way", encoding="utf-8")
    now, folders = tree(root), modes(root)

    with pytest.raises(ToolError, match=r"d/l cannot be put right; nothing was taken back"):
        workspace.rewind_command("j1", ME)

    assert (tree(root), modes(root)) == (now, folders)
    assert workspace.history() == ()
    (root / "d").unlink()
    workspace.rewind_command("j1", ME)
    assert (root / "d/l").is_symlink()


def test_a_link_that_became_a_file_and_back_leaves_nothing_beside_it(
    workspace: Workspace, root: Path
) -> None:
    was = tree(root)
    around(workspace, sh(root, "rm link; echo f > link; rm a.txt"))

    workspace.rewind_command("j1", ME)

    assert tree(root) == was


def test_a_file_that_grew_over_the_limit_is_named_when_nothing_can_be_taken_back(
    workspace: Workspace, root: Path
) -> None:
    around(workspace, sh(root, f"truncate -s {snapshot_tree.MAX_FILE_BYTES + 1} a.txt"))

    with pytest.raises(ToolError, match=r"^In no snapshot .* left as it is: a\.txt\. Nothing else"):
        workspace.rewind_command("j1", ME)


def test_a_command_that_goes_on_is_said_to_run_still(workspace: Workspace, root: Path) -> None:
    before = workspace.before_command()
    workspace.command_goes_on(before, "j1", ME)

    with pytest.raises(ToolError, match=r"^j1 still runs"):
        workspace.rewind_command("j1", ME)

    (root / "a.txt").write_text("2", encoding="utf-8")
    workspace.after_command(before, "j1", ME)
    workspace.command_goes_on(before, "j1", ME)  # said too late
    workspace.rewind_command("j1", ME)
    assert (root / "a.txt").read_text(encoding="utf-8") == "one\n"


def test_a_command_that_is_not_known_cannot_be_taken_back(workspace: Workspace) -> None:
    assert workspace.command_changes("j9", "s1") is None
    with pytest.raises(ToolError, match="j9 changed is not kept"):
        workspace.rewind_command("j9", ME)


def test_history_and_undo_know_nothing_of_what_commands_change(
    workspace: Workspace, root: Path
) -> None:
    around(workspace, sh(root, "echo 2 > a.txt"))

    assert workspace.history() == ()
    assert workspace.last_change("s1") == ""


# ---- interrupted and crashed --------------------------------------------------------------------


@pytest.mark.parametrize("looks", [0, 1, 3, 6])
def test_a_person_can_stop_a_snapshot_and_the_next_one_is_whole(
    workspace: Workspace, root: Path, looks: int
) -> None:
    with pytest.raises(ToolError, match="Aborted"):
        workspace.before_command(StopAfter(looks))

    assert kinds(around(workspace, sh(root, "echo 2 > a.txt"))) == {"a.txt": "changed"}


KILLED = """
import os, signal, sys
from pathlib import Path
from arc_workbench.workspace import Workspace, snapshot_store

put = snapshot_store.Store.put
def dying(store, files):
    put(store, files)
    sys.stdout.write("now\\n"); sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
snapshot_store.Store.put = dying
Workspace(Path(sys.argv[1]), Path(sys.argv[2])).before_command()
"""


def test_a_process_killed_within_a_snapshot_leaves_nothing_in_the_way(
    root: Path, home: Path
) -> None:
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", KILLED, root, home], stdout=subprocess.PIPE, check=False
        )
        assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"now\n")
    workspace = Workspace(root, home)

    found = around(workspace, sh(root, "echo 2 > a.txt"))

    assert (kinds(found), found.note) == ({"a.txt": "changed"}, "")
    assert len(list(home.glob("*/commands/large/*"))) == 1
    workspace.close()


@pytest.mark.parametrize("spoilt", [b"", b"not a database", None, b"SQLite format 3\0"])
def test_a_store_that_cannot_be_read_is_begun_anew(
    root: Path, home: Path, spoilt: bytes | None
) -> None:
    first = Workspace(root, home)
    around(first, sh(root, "echo 2 > a.txt"))
    first.close()
    (database,) = home.glob("*/commands/snapshots.db")
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 3] if spoilt is None else spoilt * 1000)
    workspace = Workspace(root, home)

    around(workspace, sh(root, "echo 30 > a.txt"), "j2")  # it may be found out only here
    found = around(workspace, sh(root, "echo 31 > a.txt"), "j3")

    assert (kinds(found), found.note) == ({"a.txt": "changed"}, "")
    workspace.rewind_command("j3", ME)
    assert (root / "a.txt").read_text(encoding="utf-8") == "30\n"
    workspace.close()


def test_a_store_in_a_place_of_somebody_else_stops_no_command(
    root: Path, home: Path, outside: Path
) -> None:
    workspace = Workspace(root, home)
    around(workspace, sh(root, "true"))
    workspace.close()
    (store,) = home.glob("*/commands")
    store.rename(store.with_name("gone"))
    store.symlink_to(outside)

    found = around(workspace, sh(root, "echo 2 > a.txt"))

    assert found.note.startswith("No snapshot of the project can be taken")
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]


FULL = """
import resource, signal, sys
from pathlib import Path
from arc_workbench.workspace import Author, Workspace

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
root, made = Path(sys.argv[1]), Workspace(Path(sys.argv[1]), Path(sys.argv[2]))
for most in (4096, 100_000, 400_000, resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    before = made.before_command()
    (root / "a.txt").write_text(str(most))
    after = made.after_command(before, "j", Author("s1"))
    print(len(after.rows), after.note[:20])
"""


def test_a_disk_that_takes_no_more_stops_no_command(root: Path, home: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL, root, home], stdout=subprocess.PIPE, text=True, check=True
    )

    *failed, last = ended.stdout.splitlines()
    assert failed == ["0 No snapshot of the p"] * 3
    assert last == "1 "


def test_a_look_that_takes_too_long_is_given_up_and_does_not_hold_up_the_next_command(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "SECONDS", 0.0)
    assert "took over 0 s" in around(workspace, sh(root, "true")).note
    monkeypatch.setattr(snapshots, "SECONDS", 60.0)

    assert "took over 0 s" in around(workspace, sh(root, "echo 2 > a.txt")).note


def test_a_process_that_was_forked_off_has_a_store_of_its_own(
    workspace: Workspace, root: Path
) -> None:
    before = workspace.before_command()
    child = os.fork()
    if not child:
        found = around(workspace, sh(root, "echo > new"), "child")
        os._exit(0 if kinds(found) == {"new": "created"} else 1)
    _, status = os.waitpid(child, 0)

    assert status == 0
    assert kinds(workspace.after_command(before, "j1", ME)) == {"new": "created"}


def test_two_sessions_share_one_store(root: Path, home: Path) -> None:
    one, other = Workspace(root, home), Workspace(root, home)
    before = one.before_command()
    found = around(other, sh(root, "echo 2 > a.txt"), "j2")
    (root / "a.txt").write_text("3\n", encoding="utf-8")
    around(other, sh(root, "echo 4 > a.txt"), "j3")

    mine = one.after_command(before, "j1", ME)

    assert (kinds(found), found.note) == ({"a.txt": "changed"}, snapshots.OVERLAPPED)
    assert kinds(mine) == {"a.txt": "changed"}
    one.rewind_command("j1", ME)  # what it was is still kept, although the other went on
    assert (root / "a.txt").read_text(encoding="utf-8") == "one\n"
    one.close()
    other.close()


def test_threads_take_turns(workspace: Workspace, root: Path) -> None:
    notes: list[str] = []

    def run(number: int) -> None:
        name = f"t{number}.txt"
        found = around(workspace, lambda: (root / name).write_text(name, encoding="utf-8"), name)
        notes.append("" if name in kinds(found) else f"{name}: {found}")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert notes == [""] * 6


# ---- many files ---------------------------------------------------------------------------------


@pytest.mark.timeout(120)
@pytest.mark.parametrize("count", [1_000, 20_000])
def test_many_small_files_are_no_trouble(root: Path, home: Path, count: int) -> None:
    (root / ".gitignore").write_text("*.pyc\n__pycache__/\n/dist\n*.egg-info\n", encoding="utf-8")
    for number in range(count):
        folder = root / f"pkg{number // 100}"
        if not number % 100:
            folder.mkdir()
        (folder / f"m{number}.py").write_text(f"x = {number}\n" * 40, encoding="utf-8")
    workspace = Workspace(root, home)
    time.sleep(0.2)  # old enough to be trusted at once

    at = time.perf_counter()
    before = workspace.before_command()
    first = time.perf_counter()
    found = workspace.after_command(before, "j1", ME)
    second = time.perf_counter()
    said = f"\n{count} files: first {first - at:.3f} s, nothing changed {second - first:.3f} s\n"
    sys.stdout.write(said)

    assert (found.rows, found.note) == ((), "")
    around(workspace, sh(root, "rm -r pkg0 pkg5"))
    assert len(workspace.rewind_command("j1", ME).changes) == 200
    workspace.close()
