"""Names that are not UTF-8: every file tool shows them escaped, and none of them breaks."""

import json
import os
from pathlib import Path

import pytest

from arc_workbench.tools.tool import Prepared, Tool
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

ODD = os.fsdecode(b"bad\xff.txt")
SHOWN = "bad\\xff.txt"

READERS: list[tuple[Tool, dict[str, object]]] = [
    (read.TOOL, {"path": "link.txt"}),
    (ls.TOOL, {}),
    (glob.TOOL, {"pattern": "*"}),
    (grep.TOOL, {"pattern": "needle"}),
    (grep.TOOL, {"pattern": "needle", "path": "link.txt"}),
    (workspace_read.TOOL, {"path": "link.txt"}),
    (workspace_list.TOOL, {}),
    (workspace_search.TOOL, {"query": "needle"}),
    (workspace_search.TOOL, {"query": "needle", "path": "link.txt"}),
]
ARCTURN_WRITERS: list[tuple[Tool, dict[str, object]]] = [
    (write.TOOL, {"content": "new"}),
    (edit.TOOL, {"oldText": "needle", "newText": "new"}),
]
ARC_WRITERS: list[tuple[Tool, dict[str, object]]] = [
    (workspace_write.TOOL, {"content": "new"}),
    (workspace_edit.TOOL, {"old_string": "needle", "new_string": "new"}),
]


@pytest.fixture(params=["a plain folder", "a folder that is not UTF-8"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> FileTools:
    """A project with a file whose name is not UTF-8, and a link to it."""
    plain = request.param == "a plain folder"
    root = tmp_path / ("proj" if plain else os.fsdecode(b"pr\xfej"))
    root.mkdir()
    (root / ODD).write_text("needle", encoding="utf-8")
    (root / "link.txt").symlink_to(ODD)
    return FileTools(root)


def all_text(prepared: Prepared) -> str:
    """Whatever a record or a prompt takes from a call; fails where that is no UTF-8."""
    texts = [prepared.subject, prepared.description, prepared.suggested_rule]
    texts += [f"{key}={value}" for key, value in prepared.binds.items()]
    texts += [block.model_dump_json() for block in prepared.display]
    whole = "\n".join(texts)
    whole.encode("utf-8")
    return whole


@requirement("REQ-F68", "REQ-S25", "J-26")
@pytest.mark.parametrize(("tool", "arguments"), READERS)
def test_a_tool_that_reads_shows_the_name_escaped(
    odd: FileTools, tool: Tool, arguments: dict[str, object]
) -> None:
    prepared = odd.prepare(tool, **arguments)
    result = odd.call(tool, **arguments)

    all_text(prepared)
    stored = result.model_dump_json().encode("utf-8")
    assert not result.is_error
    assert json.dumps(SHOWN)[1:-1].encode() in stored or tool is read.TOOL
    assert b"\xef\xbf\xbd" not in stored


@requirement("REQ-F68", "REQ-S25", "J-26")
@pytest.mark.parametrize(("tool", "arguments"), ARCTURN_WRITERS + ARC_WRITERS)
def test_a_tool_that_writes_through_a_link_names_the_file_escaped(
    odd: FileTools, tool: Tool, arguments: dict[str, object]
) -> None:
    where: dict[str, object] = {"path": "link.txt"}
    if (tool, arguments) in ARC_WRITERS:
        where["expected_sha256"] = odd.workspace.read(odd.workspace.inside("link.txt")).sha256

    prepared = odd.prepare(tool, **where, **arguments)
    result = odd.call(tool, **where, **arguments)

    assert SHOWN in prepared.subject
    assert SHOWN in all_text(prepared)
    assert SHOWN in str(result.details["path"])
    result.model_dump_json().encode("utf-8")
    assert (odd.root / ODD).read_text(encoding="utf-8") == "new"


@requirement("REQ-F68")
@pytest.mark.parametrize("name", [SHOWN, "dir\\xff/a.txt"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (read.TOOL, {}),
        (workspace_read.TOOL, {}),
        (grep.TOOL, {"pattern": "x"}),
        *ARCTURN_WRITERS,
        (workspace_write.TOOL, {"content": "new"}),
    ],
)
def test_the_escaped_name_is_refused_with_the_reason_and_nothing_is_made(
    odd: FileTools, tool: Tool, arguments: dict[str, object], name: str
) -> None:
    (odd.root / os.fsdecode(b"dir\xff")).mkdir()
    (odd.root / os.fsdecode(b"dir\xff") / "a.txt").touch()
    before = sorted(os.fsencode(path) for path in odd.root.rglob("*"))

    result = odd.call(tool, path=name, **arguments)

    assert result.is_error
    assert "not UTF-8 and is shown escaped" in result.text
    assert result.details["nameIsNotUtf8"] is True
    assert sorted(os.fsencode(path) for path in odd.root.rglob("*")) == before


@requirement("REQ-F68", "REQ-S2")
def test_two_names_that_look_alike_are_two_actions(odd: FileTools) -> None:
    twin = odd.root / SHOWN
    twin.write_text("needle", encoding="utf-8")

    through_link = odd.prepare(write.TOOL, path="link.txt", content="new")
    by_name = odd.prepare(write.TOOL, path=SHOWN, content="new")

    assert through_link.subject == by_name.subject
    assert through_link.binds != by_name.binds


@requirement("REQ-F68")
def test_what_was_left_out_is_named_escaped(odd: FileTools) -> None:
    (odd.root / os.fsdecode(b"bin\xfe")).write_bytes(b"\0needle")

    result = odd.call(grep.TOOL, pattern="needle")

    assert "1 binary file matches, not shown: bin\\xfe" in result.text
