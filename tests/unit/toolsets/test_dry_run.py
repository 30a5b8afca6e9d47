"""What the tools say while a dry run is on."""

from pathlib import Path

import pytest

from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets.arc import (
    workspace_edit,
    workspace_list,
    workspace_read,
    workspace_search,
    workspace_write,
)
from arc_workbench.toolsets.arcturn import edit, glob, grep, ls, read, write
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

LOOKING: list[tuple[Tool, dict[str, object]]] = [
    (grep.TOOL, {"pattern": "one"}),
    (glob.TOOL, {"pattern": "**"}),
    (ls.TOOL, {}),
    (workspace_search.TOOL, {"query": "one"}),
    (workspace_list.TOOL, {}),
]


@pytest.fixture
def dry(files: FileTools, tmp_path: Path) -> FileTools:
    """A project with a dry run in which one file was changed."""
    files.write(a_txt="one\n")
    files.workspace.begin_dry_run(tmp_path / "dry")
    result = files.call(edit.TOOL, path="a.txt", oldText="one", newText="two")
    assert "[Dry run: the project is unchanged until the person applies it.]" in result.text
    return files


@requirement("J-93")
@pytest.mark.parametrize(("tool", "arguments"), LOOKING, ids=[tool.name for tool, _ in LOOKING])
def test_what_looks_at_the_project_says_that_it_does(
    dry: FileTools, tool: Tool, arguments: dict[str, object]
) -> None:
    result = dry.call(tool, **arguments)

    assert "Dry run: shown as on disk, without its changes of a.txt." in result.text


@requirement("J-93")
@pytest.mark.parametrize(("tool", "arguments"), LOOKING, ids=[tool.name for tool, _ in LOOKING])
@pytest.mark.parametrize("path", ["new", "new/b.txt"])
def test_what_is_there_only_in_the_dry_run_is_said_to_be_missing_on_disk(
    dry: FileTools, tool: Tool, arguments: dict[str, object], path: str
) -> None:
    assert not dry.call(write.TOOL, path="new/b.txt", content="b\n").is_error

    result = dry.call(tool, path=path, **arguments)

    assert result.is_error
    assert f"{path} does not exist" in result.text
    assert result.text.endswith(
        "[Dry run: shown as on disk, without its changes of a.txt, new/b.txt.]"
    )


def test_an_error_outside_of_a_dry_run_does_not_speak_of_one(files: FileTools) -> None:
    assert "Dry run" not in files.call(grep.TOOL, pattern="x", path="gone").text


def test_reading_and_changing_see_the_dry_run(dry: FileTools) -> None:
    assert dry.call(read.TOOL, path="a.txt").text.startswith("     1\ttwo")
    seen = dry.call(workspace_read.TOOL, path="a.txt").details
    assert seen["content"] == "two\n"

    changed = dry.call(
        workspace_edit.TOOL,
        path="a.txt",
        old_string="two",
        new_string="three",
        expected_sha256=seen["sha256"],
    ).details

    assert (changed["change_id"], changed["dry_run"]) == ("d2", True)
    assert dry.call(workspace_write.TOOL, path="b.txt", content="b").details["dry_run"] is True
    assert "Dry run" in dry.call(write.TOOL, path="c.txt", content="c").text
    assert [path.name for path in dry.root.iterdir()] == ["a.txt"]
