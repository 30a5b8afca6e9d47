"""Arc's `workspace_list`, `workspace_read` and `workspace_search`."""

import hashlib
import json
from pathlib import Path

import pytest

from arc_workbench.content import Matches
from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets.arc import workspace_list, workspace_read, workspace_search
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

LIST, READ, SEARCH = workspace_list.TOOL, workspace_read.TOOL, workspace_search.TOOL


@requirement("S2-022", "S2-024", "S2-025", "S2-028", "S2-029")
def test_a_listing_without_arguments_is_the_whole_project(files: FileTools) -> None:
    files.write(b_txt="12")
    (files.root / "a").mkdir()
    (files.root / "a/c.txt").touch()
    for folder in (".git", "a/node_modules"):
        (files.root / folder).mkdir()
    (files.root / "lost").symlink_to("nowhere")

    result = files.call(LIST)

    assert result.details == {
        "path": ".",
        "entries": [
            {"path": "a", "type": "directory", "size": None},
            {"path": "a/c.txt", "type": "file", "size": 0},
            {"path": "b.txt", "type": "file", "size": 2},
            {"path": "lost", "type": "link", "size": None},
        ],
        "truncated": False,
        "next_offset": None,
        "note": "1 path not read: lost (dangling link)",
    }
    assert json.loads(result.text) == result.details
    flat = json.loads(files.call(LIST, recursive=False).text)["entries"]
    assert [entry["path"] for entry in flat] == ["a", "b.txt", "lost"]


@requirement("S2-023", "S2-026", "S2-027")
def test_a_truncated_listing_names_the_next_offset(files: FileTools) -> None:
    for number in range(205):
        (files.root / f"{number:03}").touch()

    first = files.call(LIST).details
    second = files.call(LIST, offset=first["next_offset"]).details
    small = files.call(LIST, limit=2, offset=1).details

    assert (first["truncated"], first["next_offset"]) == (True, 200)
    assert (second["truncated"], second["next_offset"]) == (False, None)
    assert json.dumps(small["entries"]).count("path") == 2
    assert small["next_offset"] == 3


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": -1}, {"offset": -1}])
def test_a_page_that_cannot_be_is_an_error(files: FileTools, arguments: dict[str, int]) -> None:
    assert files.call(LIST, **arguments).is_error


@requirement("S2-030", "S2-031", "S2-032", "S2-033", "S2-034")
def test_a_slice_has_the_hash_of_the_whole_and_the_next_line(files: FileTools) -> None:
    data = "".join(f"{n}\r\n" for n in range(1, 2501))
    files.write(a_txt=data)

    first = files.call(READ, path="a.txt").details
    second = files.call(READ, path="a.txt", start_line=first["next_start_line"]).details

    assert {**first, "content": ""} == {
        "path": "a.txt",
        "sha256": hashlib.sha256(data.encode()).hexdigest(),
        "start_line": 1,
        "end_line": 2000,
        "total_lines": 2501,
        "truncated": True,
        "next_start_line": 2001,
        "content": "",
    }
    assert (second["end_line"], second["next_start_line"]) == (2501, None)
    assert f"{first['content']}{second['content']}" == data


@requirement("S2-030", "REQ-S65")
def test_a_slice_is_at_most_64_kib_and_always_gets_on(files: FileTools) -> None:
    files.write(a_txt="x" * 100_000 + "\n" + "y" * 1000 + "\n" + "z\n" * 40_000)

    first = files.call(READ, path="a.txt").details
    second = files.call(READ, path="a.txt", start_line=2).details

    assert first["content"] == "x" * 65_536 + "\n"
    assert (first["next_start_line"], first["note"]) == (
        2,
        "Line 1 is longer than 64 KiB and is cut.",
    )
    assert second["end_line"] == 2001


def test_what_is_not_utf_8_or_not_there_or_before_the_first_line_is_an_error(
    files: FileTools,
) -> None:
    (files.root / "a.txt").write_bytes(b"\xff")

    assert "not UTF-8" in files.call(READ, path="a.txt").text
    assert files.call(READ, path="gone.txt").is_error
    assert files.call(READ, path="a.txt", start_line=0).is_error


@requirement("S2-035", "S2-036", "S2-037", "S2-038")
def test_a_search_is_literal_and_without_case(files: FileTools) -> None:
    files.write(a_txt="A.b(\naxb(\n", b_bin="\0a.b(", c_txt="-- a.B( --\n" * 60)
    (files.root / "sub").mkdir()

    result = files.call(SEARCH, query="a.B(").details

    assert isinstance(result["matches"], list)
    assert result["matches"][:2] == [
        {"path": "a.txt", "line": 1, "text": "A.b("},
        {"path": "c.txt", "line": 1, "text": "-- a.B( --"},
    ]
    assert (len(result["matches"]), result["truncated"]) == (50, True)
    assert result["note"] == "1 binary file matches, not shown: b.bin"
    assert files.call(SEARCH, query="a.b(", path="sub").details == {
        "matches": [],
        "truncated": False,
    }
    assert files.call(SEARCH, query="a", limit=0).is_error
    assert files.call(SEARCH, query="").is_error


def test_a_search_with_more_hits_says_so_to_people_too(files: FileTools) -> None:
    files.write(a_txt="x\n" * 3, b_txt="y\n")

    more = files.call(SEARCH, query="x", limit=2)
    one = files.call(SEARCH, query="y")

    assert isinstance(more.display[0], Matches)
    assert more.display[0].note == "There are more; narrow path or query."
    assert "note" not in more.details
    assert isinstance(one.display[0], Matches)
    assert (one.display[0].note, one.note) == ("", "1 match")


@requirement("REQ-S58", "REQ-S59", "S2-020")
@pytest.mark.parametrize(
    ("tool", "arguments"), [(LIST, {}), (READ, {}), (SEARCH, {"query": "secret"})]
)
@pytest.mark.parametrize("path", ["..", "/etc", "out", "out/x", "../proj/a.txt", "\0"])
def test_nothing_outside_the_project_is_seen(
    files: FileTools, tmp_path: Path, tool: Tool, arguments: dict[str, str], path: str
) -> None:
    (tmp_path / "x").write_text("secret", encoding="utf-8")
    (files.root / "out").symlink_to(tmp_path)

    assert files.call(tool, path=path, **arguments).is_error
    whole = files.call(SEARCH, query="secret").details
    assert whole["matches"] == []
    assert whole["note"] == "1 path not read: out (leads outside)"


def test_unknown_keys_are_passed_over(files: FileTools) -> None:
    assert not files.call(LIST, depth=3).is_error
