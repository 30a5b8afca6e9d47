"""A journal in the hands of others: forks, people with editors, folders that move."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from arc_workbench.workspace.own_files import folder_for
from tests.requirements import requirement


def write(workspace: Workspace, name: str, text: str) -> str:
    return workspace.apply(workspace.plan_write(workspace.inside(name), text)).id


def journal_of(home: Path, root: Path) -> Path:
    return folder_for(home, root.resolve()) / "journal.jsonl"


FORKING_WRITER = """
import os, pathlib, sys, time
from arc_workbench.workspace import Workspace
root, state = map(pathlib.Path, sys.argv[1:3])
workspace = Workspace(root, state)
def write(name, text):
    workspace.apply(workspace.plan_write(workspace.inside(name), text))
write("a.txt", "first")
child = os.fork()
for number in range(60):
    if child:
        write("a.txt", str(number))
    else:
        workspace.history(5)
        write("b.txt", str(number))
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(workspace.recovery().verdict, len(workspace.history(1000)))
"""


@requirement("REQ-F30", "REQ-F31", "REQ-F32")
def test_a_child_that_was_forked_off_shares_neither_lock_nor_place(root: Path, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING_WRITER, str(root), str(home)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.split() == ["clean", "121"]


@requirement("REQ-F13", "REQ-F14")
@pytest.mark.parametrize("change", ["c1", "c2"])
def test_a_record_that_is_written_over_while_a_session_is_open_is_noticed(
    workspace: Workspace, root: Path, home: Path, change: str
) -> None:
    for text in ("one", "two", "three"):
        write(workspace, "a.txt", text)
    path = journal_of(home, root)
    start = f'{{"change":"{change}"'.encode()
    line = next(line for line in path.read_bytes().splitlines() if line.startswith(start))
    with path.open("r+b") as file:
        file.seek(path.read_bytes().index(line) + line.index(b'"shown"') + 9)
        file.write(b"b")

    with pytest.raises(ToolError, match="Journal tampered: writing blocked, reading works"):
        write(workspace, "a.txt", "four")

    assert workspace.recovery().verdict == "tampered"
    assert workspace.history_note.startswith("Journal tampered")
    with pytest.raises(ToolError, match="Journal tampered"):
        workspace.plan_undo("c3", confined=True)
    assert (root / "a.txt").read_text(encoding="utf-8") == "three"


@requirement("REQ-F14")
def test_numbers_go_on_after_a_damaged_journal_was_put_aside(
    workspace: Workspace, root: Path, home: Path
) -> None:
    for text in ("one", "two", "three"):
        write(workspace, "a.txt", text)
    workspace.close()
    path = journal_of(home, root)
    path.write_bytes(path.read_bytes().replace(b'"shown":"a.txt"', b'"shown":"b.txt"', 1))
    Workspace(root, home).decide("journal", "keep")

    number = int(write(Workspace(root, home), "a.txt", "four")[1:])

    assert number > 3


@requirement("REQ-S138")
def test_a_purge_leaves_what_was_put_aside_until_it_is_that_old(
    workspace: Workspace, root: Path, home: Path
) -> None:
    write(workspace, "a.txt", "one")
    workspace.close()
    path = journal_of(home, root)
    path.write_bytes(path.read_bytes().replace(b'"shown":"a.txt"', b'"shown":"b.txt"', 1))
    again = Workspace(root, home)
    with pytest.raises(ToolError, match="The journal is damaged; nothing was purged"):
        again.purge(0, only_look=True)
    again.decide("journal", "keep")
    aside = path.with_name("damaged-1")
    old = aside.stat().st_mtime

    assert again.purge(old - 10).aside == 0
    assert aside.exists()
    assert again.purge(old + 10).aside == 2
    assert sorted(found.name for found in path.parent.iterdir()) == [
        "images-2",
        "journal.jsonl",
        "lock",
    ]


def test_a_state_folder_behind_a_link_is_used_like_any_other(root: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert write(Workspace(root, tmp_path / "link"), "a.txt", "one") == "c1"
    assert write(Workspace(root, tmp_path / "real"), "a.txt", "two") == "c2"


@requirement("REQ-F34")
def test_a_project_that_was_moved_away_is_not_made_again(workspace: Workspace, root: Path) -> None:
    write(workspace, "a.txt", "one")
    root.rename(root.with_name("moved"))

    for place in (workspace.inside("sub/b.txt"), workspace.anywhere("sub/b.txt")):
        plan = workspace.plan_write(place, "two")
        with pytest.raises(ToolError, match="the project folder is gone, or has another name now"):
            workspace.apply(plan)

    assert not root.exists()


@requirement("REQ-S64")
def test_an_undo_that_a_later_change_stands_in_the_way_of_names_it(workspace: Workspace) -> None:
    write(workspace, "a.txt", "one")
    write(workspace, "a.txt", "two")

    with pytest.raises(ToolError, match=r"changed after c1; it was not undone.*by c2; undo that"):
        workspace.plan_undo("c1", confined=True)


def test_what_became_of_a_file_since_a_change_can_be_seen(workspace: Workspace, root: Path) -> None:
    write(workspace, "a.txt", "one\n")
    assert workspace.diff_since("c1") is None

    (root / "a.txt").write_text("two\n", encoding="utf-8")

    since = workspace.diff_since("c1")
    assert since is not None
    assert since.unified.splitlines()[3:] == ["-one", "+two"]


@requirement("REQ-S72")
def test_an_edit_gives_nobody_access_that_the_file_did_not_give(
    workspace: Workspace, root: Path
) -> None:
    """A folder's default ACL is handed down to every new file in it, also to a temporary one."""
    inherited = b"\x02\x00\x00\x00\x01\x00\x07\x00\xff\xff\xff\xff\x02\x00\x07\x00\xfe\xff\x00\x00"
    inherited += b"\x04\x00\x05\x00\xff\xff\xff\xff\x10\x00\x07\x00\xff\xff\xff\xff"
    inherited += b"\x20\x00\x05\x00\xff\xff\xff\xff"
    secret = root / "secret.txt"
    secret.write_text("old", encoding="utf-8")
    secret.chmod(0o640)
    try:
        os.setxattr(root, "system.posix_acl_default", inherited)
    except OSError as fault:
        pytest.skip(f"no access lists here: {fault}")

    workspace.apply(workspace.plan_edit(workspace.inside("secret.txt"), "old", "new"))

    assert "system.posix_acl_access" not in os.listxattr(secret)
    assert secret.stat().st_mode & 0o777 == 0o640


MOUNTED_WRITER = """
import pathlib, subprocess, sys
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
root, state = map(pathlib.Path, sys.argv[1:3])
workspace = Workspace(root, state)
workspace.apply(workspace.plan_write(workspace.inside("a.txt"), "one"))
(root / "mnt").mkdir()
subprocess.run(["mount", "--bind", str(state), str(root / "mnt")], check=True)
try:
    workspace.apply(workspace.plan_write(workspace.inside("mnt/evil.txt"), "x"))
except ToolError as fault:
    print(fault)
"""


@requirement("REQ-S143", "REQ-S62")
def test_our_state_is_known_also_where_it_is_mounted_into_the_project(
    root: Path, home: Path
) -> None:
    command = ["unshare", "-m", sys.executable, "-c", MOUNTED_WRITER, str(root), str(home)]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting needs root and its own mount namespace")

    assert "part of the record that this program keeps of itself" in done.stdout
    assert not (home / "evil.txt").exists()
