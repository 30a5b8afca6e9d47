"""Arcturn's `glob`."""

import os

from arc_workbench.content import Names
from arc_workbench.toolsets.arcturn.glob import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-095", "S1-096", "S1-097", "S1-099", "S1-168")
def test_files_are_found_newest_first(files: FileTools) -> None:
    files.write(old_py="", new_py="", a_txt="", _hidden_py="")
    for folder in (".git", "node_modules", "sub"):
        (files.root / folder).mkdir()
        (files.root / folder / "x.py").touch()
    for age, name in enumerate(["new.py", "sub/x.py", ".hidden.py", "old.py"]):
        os.utime(files.root / name, (1_000_000 - age, 1_000_000 - age))

    result = files.call(TOOL, pattern="**/*.py")

    assert TOOL.effect == "read"
    assert result.text == "new.py\nsub/x.py\n.hidden.py\nold.py"
    assert (result.details["matchCount"], result.details["truncated"]) == (4, False)
    assert isinstance(result.display[0], Names)
    assert [(name.path, name.kind) for name in result.display[0].names] == [
        (path, "file") for path in result.text.split("\n")
    ]


def test_patterns_may_be_several_and_are_relative_to_path(files: FileTools) -> None:
    (files.root / "sub").mkdir()
    for name in ("sub/a.py", "sub/b.md", "sub/c.txt", "d.py"):
        (files.root / name).touch()

    result = files.call(TOOL, pattern=["*.py", "*.md"], path="sub")

    assert sorted(result.text.split("\n")) == ["sub/a.py", "sub/b.md"]


@requirement("S1-098")
def test_five_hundred_files_are_shown_and_the_total_named(files: FileTools) -> None:
    for number in range(503):
        (files.root / f"{number}.txt").touch()

    result = files.call(TOOL, pattern="*.txt")

    assert result.text.count(".txt\n") == 500
    assert "[Showing the 500 newest of 503 files." in result.text
    assert (result.details["matchCount"], result.details["truncated"]) == (503, True)


@requirement("J-23", "BUG-G4")
def test_nothing_found_is_no_error_but_nowhere_to_look_is(files: FileTools) -> None:
    files.write(a_txt="")
    (files.root / "lost").symlink_to("nowhere")

    nothing = files.call(TOOL, pattern="*.zig")

    assert not nothing.is_error
    assert nothing.text == "No files found.\n\n[1 path not read: lost (dangling link)]"
    for path in ("gone", "a.txt"):
        missing = files.call(TOOL, pattern="*", path=path)
        assert missing.is_error
        assert "nothing was searched" in missing.text
