"""Changes on disk: whole or not at all, faithful, and never over somebody else's."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Change, Workspace
from tests.requirements import requirement


def write(workspace: Workspace, name: str, content: str) -> Change:
    return workspace.apply(workspace.plan_write(workspace.inside(name), content))


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@requirement("S1-038", "S1-039", "S2-064")
def test_a_file_is_created_with_its_folders_and_then_replaced(
    workspace: Workspace, root: Path
) -> None:
    first = write(workspace, "a/b/c.txt", "one\r\n")
    second = write(workspace, "a/b/c.txt", "two")

    assert (root / "a/b/c.txt").read_bytes() == b"two"
    assert names(root) == ["a", "a/b", "a/b/c.txt"]
    assert (first.id, first.op, first.size) == ("c1", "create", 5)
    assert (second.id, second.op, second.before_sha256) == ("c2", "change", first.sha256)


def test_numbering_goes_on_where_it_was_left(root: Path, home: Path) -> None:
    for number in (1, 2, 3):
        workspace = Workspace(root, home)
        assert write(workspace, "a.txt", f"text {number}").id == f"c{number}"
        workspace.close()


@requirement("REQ-S72", "BUG-E18", "J-27")
def test_mode_and_owner_are_kept_but_not_the_right_to_run_as_the_owner(
    workspace: Workspace, root: Path
) -> None:
    script = root / "run.sh"
    script.write_text("one", encoding="utf-8")
    if os.getuid() == 0:
        os.chown(script, 1234, 4321)
    script.chmod(0o4751)
    before = script.stat()

    write(workspace, "run.sh", "two")

    after = script.stat()
    assert stat.S_IMODE(after.st_mode) == 0o751
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_mtime_ns >= before.st_mtime_ns


@requirement("REQ-S72")
def test_extended_attributes_are_kept(workspace: Workspace, root: Path) -> None:
    target = root / "a.txt"
    target.write_text("one", encoding="utf-8")
    try:
        os.setxattr(target, "user.note", b"mine")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes here")

    write(workspace, "a.txt", "two")

    assert os.getxattr(target, "user.note") == b"mine"


def test_a_new_file_gets_the_usual_mode(workspace: Workspace, root: Path) -> None:
    (root / "usual").touch()

    write(workspace, "a.txt", "x")

    assert (root / "a.txt").stat().st_mode == (root / "usual").stat().st_mode


@requirement("REQ-S61")
def test_a_hard_link_is_replaced_by_name_and_the_other_name_keeps_its_bytes(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "a.txt").hardlink_to(outside / "secret.txt")

    write(workspace, "a.txt", "mine")

    assert (outside / "secret.txt").read_text(encoding="utf-8") == "secret\n"
    assert (root / "a.txt").read_text(encoding="utf-8") == "mine"


@requirement("REQ-S59")
def test_writing_through_a_link_inside_changes_its_destination(
    workspace: Workspace, root: Path
) -> None:
    (root / "real.txt").write_text("one", encoding="utf-8")
    (root / "link.txt").symlink_to("real.txt")

    change = write(workspace, "link.txt", "two")

    assert (root / "link.txt").is_symlink()
    assert (root / "real.txt").read_text(encoding="utf-8") == "two"
    assert change.place.shown == "real.txt"


@requirement("J-18", "REQ-S2", "REQ-S68", "REQ-F33", "REQ-F34", "S1-061")
@pytest.mark.parametrize("meanwhile", ["edited", "deleted", "replaced", "link", "folder"])
def test_a_file_that_changed_while_a_person_was_asked_is_left_alone(
    workspace: Workspace, root: Path, outside: Path, meanwhile: str
) -> None:
    target = root / "a.txt"
    target.write_text("one", encoding="utf-8")
    plan = workspace.plan_edit(workspace.inside("a.txt"), "one", "two")
    target.unlink()
    if meanwhile in {"edited", "replaced"}:
        target.write_text("one more", encoding="utf-8")
    elif meanwhile == "link":
        target.symlink_to(outside / "secret.txt")
    elif meanwhile == "folder":
        target.mkdir()

    with pytest.raises(ToolError, match=r"a.txt changed while you were asked; nothing ran\."):
        workspace.apply(plan)

    assert (outside / "secret.txt").read_text(encoding="utf-8") == "secret\n"
    assert names(root) == ([] if meanwhile == "deleted" else ["a.txt"])
    if meanwhile in {"edited", "replaced"}:
        assert target.read_text(encoding="utf-8") == "one more"
    assert write(workspace, "b.txt", "x").id == "c1"


@requirement("REQ-S68")
def test_a_file_that_appeared_meanwhile_is_not_overwritten(
    workspace: Workspace, root: Path
) -> None:
    plan = workspace.plan_write(workspace.inside("a.txt"), "mine")
    (root / "a.txt").write_text("theirs", encoding="utf-8")

    with pytest.raises(ToolError, match="changed while you were asked"):
        workspace.apply(plan)

    assert (root / "a.txt").read_text(encoding="utf-8") == "theirs"


@requirement("REQ-S60")
def test_a_folder_swapped_for_a_link_meanwhile_is_noticed(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "sub").mkdir()
    plan = workspace.plan_write(workspace.inside("sub/new.txt"), "mine")
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)

    with pytest.raises(ToolError):
        workspace.apply(plan)

    assert names(outside) == ["secret.txt"]


LIMITED_WRITER = """
import os, pathlib, resource, signal, sys
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
workspace = Workspace(*map(pathlib.Path, (sys.argv[1], os.environ["ARC_WORKBENCH_HOME"])))
plan = workspace.plan_write(workspace.inside(sys.argv[2]), "x" * 100_000)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    workspace.apply(plan)
except ToolError as fault:
    print(fault)
"""


@requirement("REQ-F18", "BUG-E18", "REQ-F23")
@pytest.mark.parametrize("name", ["a.txt", "new/deep/b.txt"])
def test_a_write_that_fails_half_way_leaves_no_trace(root: Path, name: str) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", LIMITED_WRITER, str(root), name],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert os.strerror(errno.EFBIG).lower() in done.stdout
    assert "nothing was written" in done.stdout
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"
    assert names(root) == ["a.txt"]


ENDLESS_WRITER = """
import os, pathlib, sys
from arc_workbench.workspace import Workspace
workspace = Workspace(*map(pathlib.Path, (sys.argv[1], os.environ["ARC_WORKBENCH_HOME"])))
place = workspace.inside("a.txt")
letters = "ab"
while True:
    for letter in letters:
        workspace.apply(workspace.plan_write(place, letter * 1_000_000))
        print(letter, flush=True)
"""


@requirement("BUG-E18", "REQ-F3", "REQ-F4")
def test_a_writer_that_is_killed_leaves_a_whole_file(root: Path) -> None:
    (root / "a.txt").write_text("a" * 1_000_000, encoding="utf-8")
    for rounds in range(1, 6):
        with subprocess.Popen(
            [sys.executable, "-c", ENDLESS_WRITER, str(root)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            for _ in range(rounds):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)

        content = (root / "a.txt").read_text(encoding="utf-8")
        assert content in {"a" * 1_000_000, "b" * 1_000_000}


COUNTING_WRITER = """
import os, pathlib, sys
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
workspace = Workspace(*map(pathlib.Path, (sys.argv[1], os.environ["ARC_WORKBENCH_HOME"])))
place = workspace.inside("count.txt")
sys.stdin.readline()
won = 0
while won < int(sys.argv[2]):
    number = int(workspace.read(place).text)
    try:
        plan = workspace.plan_edit(place, str(number), str(number + 1))
        workspace.apply(plan)
    except ToolError:
        continue
    won += 1
"""


@requirement("REQ-F30", "REQ-S68")
def test_of_two_processes_that_change_one_file_none_loses_an_update(root: Path) -> None:
    (root / "count.txt").write_text("0", encoding="utf-8")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTING_WRITER, str(root), "60"], stdin=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=9)

    assert [writer.returncode for writer in writers] == [0, 0]
    assert (root / "count.txt").read_text(encoding="utf-8") == "120"


@requirement("REQ-F30")
def test_threads_of_one_session_get_different_numbers(workspace: Workspace, root: Path) -> None:
    ids: list[str] = []

    def work(number: int) -> None:
        ids.append(write(workspace, f"{number}.txt", "x").id)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)

    assert sorted(ids) == [f"c{number}" for number in range(1, 9)]
    assert len(names(root)) == 8


def test_a_file_that_is_read_only_stays(tmp_path: Path, root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    program = (
        "import os, pathlib, sys\n"
        "from arc_workbench.errors import ToolError\n"
        "from arc_workbench.workspace import Workspace\n"
        "os.chdir('/'); os.setuid(65534)\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "w = Workspace(root / 'project', root / 'state')\n"
        "for name in ('a.txt', 'new.txt'):\n"
        "    try: w.apply(w.plan_write(w.inside(name), 'x'))\n"
        "    except ToolError as fault: print(fault)\n"
    )
    folder = Path("/dev/shm") / f"arc-read-only-{os.getpid()}"
    (folder / "project").mkdir(parents=True)
    (folder / "state").mkdir()
    os.chown(folder / "state", 65534, 65534)
    (folder / "project/a.txt").write_text("old", encoding="utf-8")
    (folder / "project/a.txt").chmod(0o444)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert names(folder / "project") == ["a.txt"]
    finally:
        shutil.rmtree(folder)

    assert "a.txt is read-only; nothing was written." in done.stdout
    assert "new.txt could not be written: permission denied" in done.stdout
