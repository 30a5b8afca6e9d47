"""Arc's `workspace_write` and `workspace_edit`."""

import hashlib
import json
from pathlib import Path

import pytest

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.toolsets.arc import workspace_edit, workspace_write
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

WRITE, EDIT = workspace_write.TOOL, workspace_edit.TOOL


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@requirement("S2-064", "S2-067", "S2-068")
def test_a_file_is_created_and_the_change_has_an_id(files: FileTools) -> None:
    result = files.call(WRITE, path="a/b.txt", content="héllo\n")

    assert result.details == {
        "change_id": "c1",
        "path": "a/b.txt",
        "sha256": sha("héllo\n"),
        "bytes": 7,
        "created": True,
    }
    assert json.loads(result.text) == result.details
    assert result.display == (
        Diff(
            path="a/b.txt",
            unified="--- /dev/null\n+++ b/a/b.txt\n@@ -0,0 +1 @@\n+héllo\n",
            created=True,
        ),
    )
    assert (files.root / "a/b.txt").read_bytes() == "héllo\n".encode()


@requirement("S2-019", "S2-065", "S2-069", "REQ-S67")
def test_an_existing_file_needs_its_present_hash(files: FileTools) -> None:
    files.write(a_txt="one")

    def attempt(**more: str) -> tuple[bool, str]:
        result = files.call(WRITE, path="a.txt", content="two", **more)
        return result.is_error, result.text

    assert attempt() == (
        True,
        f"a.txt exists; nothing was written. Send expected_sha256 {sha('one')}.",
    )
    stale, said = attempt(expected_sha256=sha("zero"))
    assert stale
    assert said.startswith("a.txt changed since it was read; nothing was written. Read it again.")
    assert (files.root / "a.txt").read_bytes() == b"one"
    assert files.changes == []

    assert attempt(expected_sha256=sha("one").upper())[0] is False
    assert (files.root / "a.txt").read_bytes() == b"two"


def test_a_hash_for_a_new_file_is_refused(files: FileTools) -> None:
    assert files.call(WRITE, path="a.txt", content="x", expected_sha256=sha("")).is_error
    assert not (files.root / "a.txt").exists()


@requirement("S2-070", "S2-071", "S2-074", "S2-075", "S2-076", "S2-077")
def test_a_chain_of_edits_needs_no_further_reading(files: FileTools) -> None:
    files.write(a_txt="one two\n")

    first = files.call(
        EDIT, path="a.txt", old_string="one", new_string="1", expected_sha256=sha("one two\n")
    ).details
    second = files.call(
        EDIT, path="a.txt", old_string="two", new_string="2", expected_sha256=first["sha256"]
    ).details

    assert second == {
        "change_id": "c2",
        "path": "a.txt",
        "sha256": sha("1 2\n"),
        "bytes": 4,
        "created": False,
        "replacements": 1,
    }
    assert (files.root / "a.txt").read_bytes() == b"1 2\n"


@requirement("S2-071")
def test_an_edit_without_the_hash_or_with_a_stale_one_is_refused(files: FileTools) -> None:
    files.write(a_txt="one")

    without = files.call(EDIT, path="a.txt", old_string="one", new_string="1")
    stale = files.call(
        EDIT, path="a.txt", old_string="one", new_string="1", expected_sha256=sha("zero")
    )

    assert f"Send expected_sha256 {sha('one')}" in without.text
    assert without.details == {"sha256": sha("one")}
    assert "changed since it was read" in stale.text
    assert (files.root / "a.txt").read_bytes() == b"one"


@requirement("S2-073", "S2-078", "BUG-E15")
def test_a_text_must_match_once_unless_every_place_is_meant(files: FileTools) -> None:
    files.write(a_txt="foo\nfoo\nfoo\n")
    known = {"path": "a.txt", "expected_sha256": sha("foo\nfoo\nfoo\n")}

    twice = files.call(EDIT, old_string="foo\nfoo\n", new_string="x", **known)
    every = files.call(EDIT, old_string="foo", new_string="x", replace_all=True, **known)

    assert twice.is_error
    assert "2 places, lines 1 and 2" in twice.text
    assert every.details["replacements"] == 3
    assert (files.root / "a.txt").read_bytes() == b"x\nx\nx\n"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("a", "a"), ("zebra", "x")])
def test_what_changes_nothing_is_refused(files: FileTools, old: str, new: str) -> None:
    files.write(a_txt="a")

    assert files.call(
        EDIT, path="a.txt", old_string=old, new_string=new, expected_sha256=sha("a")
    ).is_error


@requirement("BUG-E1", "BUG-E7")
def test_a_match_that_overlooks_something_says_so(files: FileTools) -> None:
    files.write(a_txt="a\r\nb\r\n")

    result = files.call(
        EDIT,
        path="a.txt",
        old_string="a\nb",
        new_string="a\nB",
        expected_sha256=sha("a\r\nb\r\n"),
    )

    assert "line ends" in str(result.details["note"])
    assert (files.root / "a.txt").read_bytes() == b"a\r\nB\r\n"


@requirement("S2-020", "REQ-S58", "REQ-S59")
@pytest.mark.parametrize("path", ["../x", "/tmp/x", "out/x", "dangling"])
def test_nothing_is_written_outside_the_project(
    files: FileTools, tmp_path: Path, path: str
) -> None:
    (files.root / "out").symlink_to(tmp_path)
    (files.root / "dangling").symlink_to(tmp_path / "x")

    assert files.call(WRITE, path=path, content="y").is_error
    assert files.call(EDIT, path=path, old_string="a", new_string="b").is_error
    assert not (tmp_path / "x").exists()


@requirement("J-18", "REQ-S2")
def test_a_file_that_appears_while_a_person_decides_is_kept(files: FileTools) -> None:
    prepared = files.prepare(WRITE, path="a.txt", content="mine")
    files.write(a_txt="theirs")

    with pytest.raises(ToolError, match="changed while you were asked"):
        prepared.run()

    assert (files.root / "a.txt").read_bytes() == b"theirs"


@pytest.mark.parametrize("exists", [True, False])
def test_the_prompt_says_what_happens_to_which_file(files: FileTools, exists: bool) -> None:
    arguments = {"path": "a.txt", "content": "x"}
    if exists:
        files.write(a_txt="one")
        arguments["expected_sha256"] = sha("one")

    prepared = files.prepare(WRITE, **arguments)

    assert prepared.description == ("Overwrite file a.txt" if exists else "Create file a.txt")
    assert prepared.subject == str(files.root / "a.txt")
    assert prepared.binds["before"] == (sha("one") if exists else "absent")
    assert prepared.suggested_rule == f"{files.root}/**"
