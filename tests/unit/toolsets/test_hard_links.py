"""A file with several names: what a write does to the others is said."""

import pytest

from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets.arc import workspace_edit, workspace_write
from arc_workbench.toolsets.arcturn import edit, write
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

WRITERS: list[tuple[Tool, dict[str, object]]] = [
    (write.TOOL, {"content": "new"}),
    (edit.TOOL, {"oldText": "old", "newText": "new"}),
    (workspace_write.TOOL, {"content": "new"}),
    (workspace_edit.TOOL, {"old_string": "old", "new_string": "new"}),
]


def change(files: FileTools, tool: Tool, arguments: dict[str, object]) -> tuple[str, object]:
    arguments = {"path": "a.txt", **arguments}
    if tool in {workspace_write.TOOL, workspace_edit.TOOL}:
        seen = files.workspace.read(files.workspace.inside("a.txt")).sha256
        arguments["expected_sha256"] = seen
    result = files.call(tool, **arguments)
    assert not result.is_error
    return result.text, result.details.get("otherNames", result.details.get("other_names"))


@requirement("REQ-S61")
@pytest.mark.parametrize(("tool", "arguments"), WRITERS)
def test_a_file_with_other_names_is_reported(
    files: FileTools, tool: Tool, arguments: dict[str, object]
) -> None:
    files.write(a_txt="old")
    (files.root / "b.txt").hardlink_to(files.root / "a.txt")
    (files.root / "c.txt").hardlink_to(files.root / "a.txt")

    text, others = change(files, tool, arguments)

    assert "a.txt had 3 names (hard links); the others keep the old text." in text
    assert others == 2
    assert (files.root / "a.txt").read_text(encoding="utf-8") == "new"
    assert (files.root / "b.txt").read_text(encoding="utf-8") == "old"


@requirement("REQ-S61")
@pytest.mark.parametrize(("tool", "arguments"), WRITERS)
def test_a_file_with_one_name_is_not(
    files: FileTools, tool: Tool, arguments: dict[str, object]
) -> None:
    files.write(a_txt="old")

    text, others = change(files, tool, arguments)

    assert "hard link" not in text
    assert others is None
