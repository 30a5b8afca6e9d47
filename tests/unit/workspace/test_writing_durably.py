"""What the system is asked to do in a write, and in which order.

A child process wraps the few calls of `os` that touch the disk, so that the test sees them and can
act as another program between two of them.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.requirements import requirement

WATCHED_WRITER = """
import json, os, pathlib, sys
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace

root, moment = pathlib.Path(sys.argv[1]), sys.argv[2]
names, calls = {}, []

def other_program(now):
    if now == moment:
        root.joinpath("a.txt").write_text("theirs", encoding="utf-8")

def named(path):
    name = os.path.basename(path)
    return "temporary" if name.endswith(".tmp") else name

real_open, real_fsync, real_replace = os.open, os.fsync, os.replace

def watched_open(path, flags, *rest, **more):
    opened = real_open(path, flags, *rest, **more)
    names[opened] = named(path)
    if flags & os.O_CREAT:
        calls.append(["create", names[opened]])
    return opened

def watched_fsync(opened):
    size = os.fstat(opened).st_size if names[opened] == "temporary" else None
    calls.append(["fsync", names[opened], size])
    real_fsync(opened)
    other_program("after the first fsync" if len(calls) == 2 else "")

def watched_replace(source, target, **more):
    real_replace(source, target, **more)
    calls.append(["rename", named(source), named(target)])
    other_program("after the rename")

workspace = Workspace(root)
plan = workspace.plan_write(workspace.inside("a.txt"), "mine")
os.open, os.fsync, os.replace = watched_open, watched_fsync, watched_replace
fault = ""
try:
    workspace.apply(plan)
except ToolError as error:
    fault = str(error)
print(json.dumps({"calls": calls, "fault": fault}))
"""


def write(root: Path, moment: str = "never") -> tuple[list[list[object]], str]:
    """What the write asked of the system, and how it failed."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_WRITER, str(root), moment],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    told = json.loads(done.stdout)
    return told["calls"], told["fault"]


def content(root: Path) -> str:
    return (root / "a.txt").read_text(encoding="utf-8")


@requirement("REQ-F18", "REQ-S69", "BUG-E18")
def test_the_bytes_are_on_disk_before_the_name_and_the_name_before_the_answer(root: Path) -> None:
    for before in (None, "old"):
        if before is not None:
            (root / "a.txt").write_text(before, encoding="utf-8")

        calls, fault = write(root)

        assert fault == ""
        assert calls == [
            ["create", "temporary"],
            ["fsync", "temporary", len("mine")],
            ["rename", "temporary", "a.txt"],
            ["fsync", "proj", None],
        ]
        assert content(root) == "mine"


@requirement("REQ-S68", "REQ-F33")
def test_what_another_program_writes_just_before_the_rename_is_not_lost(root: Path) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")

    calls, fault = write(root, "after the first fsync")

    assert "a.txt changed while you were asked; nothing ran." in fault
    assert ["rename", "temporary", "a.txt"] not in calls
    assert content(root) == "theirs"
    assert [path.name for path in root.iterdir()] == ["a.txt"]


@requirement("REQ-S68", "REQ-F33")
def test_a_file_that_another_program_creates_just_before_the_rename_is_not_lost(root: Path) -> None:
    _, fault = write(root, "after the first fsync")

    assert "a.txt changed while you were asked; nothing ran." in fault
    assert content(root) == "theirs"


@requirement("REQ-S69")
def test_a_write_that_reads_back_differently_is_not_called_a_success(root: Path) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")

    _, fault = write(root, "after the rename")

    assert "a.txt was written but reads back differently" in fault
    assert content(root) == "theirs"
