"""Arcturn's `edit`."""

import pytest

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.toolsets.arcturn.edit import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"


@requirement("S1-056", "S1-063", "S1-168", "S1-169")
def test_one_text_is_replaced_and_the_diff_returned(files: FileTools) -> None:
    files.write(a_txt="one\ntwo\n")

    result = files.call(TOOL, path="a.txt", oldText="two", newText="2")

    assert (files.root / "a.txt").read_bytes() == b"one\n2\n"
    assert result.text == f"Edited a.txt: 1 replacement.\n\n{DIFF}"
    assert result.display == (Diff(path="a.txt", unified=DIFF),)
    assert result.details == {
        "path": "a.txt",
        "replacements": 1,
        "diff": DIFF,
        "sha256": result.details["sha256"],
        "change_id": "c1",
    }


@requirement("S1-057", "S1-058", "S1-059", "S1-060", "S1-061")
@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("gone.txt", "x", "y", "write"),
        (".", "x", "y", "folder"),
        ("a.txt", "zebra", "y", "not found"),
        ("a.txt", "o", "y", r"2 places, lines 1 and 2.*context.*replaceAll: true"),
        ("a.txt", "", "y", "empty"),
        ("a.txt", "one", "one", "equal"),
    ],
)
def test_an_edit_that_cannot_be_made_fails_before_anybody_is_asked(
    files: FileTools, path: str, old: str, new: str, said: str
) -> None:
    files.write(a_txt="one\ntwo\n")

    with pytest.raises(ToolError, match=f"(?s){said}"):
        files.prepare(TOOL, path=path, oldText=old, newText=new)

    assert (files.root / "a.txt").read_bytes() == b"one\ntwo\n"


@requirement("S1-061", "S1-062")
def test_the_prompt_is_about_that_very_file(files: FileTools) -> None:
    files.write(a_txt="one\ntwo\n")

    prepared = files.prepare(TOOL, path="./a.txt", oldText="two", newText="2")

    assert prepared.description == "Edit file a.txt"
    assert prepared.subject == prepared.suggested_rule == str(files.root / "a.txt")
    assert prepared.display == (Diff(path="a.txt", unified=DIFF),)
    assert set(prepared.binds) == {"path", "before", "after"}


@requirement("J-18")
def test_a_file_changed_while_a_person_decides_is_not_touched(files: FileTools) -> None:
    files.write(a_txt="one\n")
    prepared = files.prepare(TOOL, path="a.txt", oldText="one", newText="1")
    files.write(a_txt="one, and mine\n")

    with pytest.raises(ToolError, match=r"a\.txt changed while you were asked; nothing ran"):
        prepared.run()

    assert (files.root / "a.txt").read_bytes() == b"one, and mine\n"
    assert files.changes == []


@requirement("BUG-E19", "BUG-E9")
def test_every_place_is_replaced_once_and_literally(files: FileTools) -> None:
    files.write(a_txt="aaa")

    result = files.call(TOOL, path="a.txt", oldText="a", newText=r"a\1a", replaceAll=True)

    assert (files.root / "a.txt").read_bytes() == rb"a\1aa\1aa\1a"
    assert result.details["replacements"] == 3


@requirement("BUG-E1", "J-19")
def test_folded_line_ends_are_told(files: FileTools) -> None:
    files.write(a_txt="a\r\nb\r\nc")

    result = files.call(TOOL, path="a.txt", oldText="a\nb", newText="a\nB")

    assert (files.root / "a.txt").read_bytes() == b"a\r\nB\r\nc"
    assert "the file's were kept" in result.text
    assert result.details["lineEndingNormalized"] is True


@requirement("BUG-E7")
def test_a_canonical_match_is_told(files: FileTools) -> None:
    files.write(a_txt="cafe\u0301 ole\u0301\n")

    result = files.call(TOOL, path="a.txt", oldText="café", newText="tea")

    assert (files.root / "a.txt").read_text(encoding="utf-8") == "tea ole\u0301\n"
    assert "another Unicode spelling" in result.text


@requirement("BUG-E4")
def test_a_byte_order_mark_survives(files: FileTools) -> None:
    files.write(a_txt="\ufeffhello\n")

    files.call(TOOL, path="a.txt", oldText="hello", newText="bye")

    assert (files.root / "a.txt").read_bytes() == b"\xef\xbb\xbfbye\n"
