"""Another program that saves the same file in the last moment, in place or by a rename.

A child process wraps a call of `workspace.system` and acts as the other program before or after it.
The order of the calls themselves is checked in `tests/faults/test_power.py`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements import requirement

WATCHED_WRITER = """
import json, os, pathlib, sys
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace, system

root, moment = pathlib.Path(sys.argv[1]), sys.argv[2]

def before(name, then):
    call = getattr(system, name)
    def wrapper(*args):
        then(name, *args)
        return call(*args)
    setattr(system, name, wrapper)

def after(name, then):
    call = getattr(system, name)
    def wrapper(*args):
        result = call(*args)
        then(name, *args)
        return result
    setattr(system, name, wrapper)

def other_program(name, *args):
    global moment
    if moment:
        moment = ""
        if sys.argv[3] == "in place":
            root.joinpath("a.txt").write_text("theirs", encoding="utf-8")
        else:
            root.joinpath("new").write_text("theirs", encoding="utf-8")
            root.joinpath("new").rename(root / "a.txt")

workspace = Workspace(root, pathlib.Path(os.environ["ARC_WORKBENCH_HOME"]))
plan = workspace.plan_write(workspace.inside("a.txt"), "mine")
if moment:
    when, _, name = moment.partition(" ")
    (before if when == "before" else after)(name, other_program)
try:
    print(workspace.apply(plan).id)
except ToolError as error:
    print(error)
print(workspace.recovery().verdict)
"""


def write(root: Path, moment: str, how: str = "in place") -> str:
    """Write "mine" while another program writes "theirs" at that moment; what was said."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_WRITER, str(root), moment, how],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def held(root: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in root.iterdir()}


@requirement("REQ-S68", "REQ-F33")
@pytest.mark.parametrize("how", ["in place", "by rename"])
@pytest.mark.parametrize("moment", ["before open_at", "after write", "before exchange"])
def test_what_another_program_writes_just_before_the_swap_is_not_lost(
    root: Path, moment: str, how: str
) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")

    said = write(root, moment, how)

    assert said.splitlines() == [
        "a.txt changed while you were asked; nothing ran. The agent must ask again.",
        "clean",
    ]
    assert held(root) == {"a.txt": "theirs"}


@requirement("REQ-S68", "REQ-F33")
@pytest.mark.parametrize("moment", ["after write", "before rename_to_free"])
def test_a_file_that_another_program_creates_just_before_the_rename_is_not_lost(
    root: Path, moment: str
) -> None:
    said = write(root, moment)

    assert "a.txt changed while you were asked; nothing ran." in said
    assert held(root) == {"a.txt": "theirs"}


@requirement("REQ-S69")
@pytest.mark.parametrize("how", ["in place", "by rename"])
def test_a_write_that_reads_back_differently_is_not_called_a_success(root: Path, how: str) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")

    said = write(root, "before remove", how)

    assert "a.txt was written but reads back differently" in said
    assert said.splitlines()[-1] == "clean"
    assert held(root) == {"a.txt": "theirs"}
