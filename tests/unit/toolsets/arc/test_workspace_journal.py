"""Arc's `workspace_history`, `workspace_recovery_status` and `workspace_undo`."""

import json
import os
from pathlib import Path

import pytest

from arc_workbench.content import Changes, Diff, Recovery
from arc_workbench.errors import ToolError
from arc_workbench.toolsets.arc import (
    workspace_edit,
    workspace_history,
    workspace_read,
    workspace_recovery_status,
    workspace_undo,
    workspace_write,
)
from arc_workbench.toolsets.arcturn import edit, write
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools

WRITE, EDIT, READ = workspace_write.TOOL, workspace_edit.TOOL, workspace_read.TOOL
HISTORY, RECOVERY, UNDO = (
    workspace_history.TOOL,
    workspace_recovery_status.TOOL,
    workspace_undo.TOOL,
)


@requirement("S2-079", "S2-080", "S2-081", "S2-066", "S2-072")
def test_the_history_names_changes_of_both_vocabularies_newest_first(files: FileTools) -> None:
    created = files.call(WRITE, path="a.txt", content="one\n")
    files.call(
        EDIT,
        path="a.txt",
        old_string="one",
        new_string="two",
        expected_sha256=created.details["sha256"],
    )
    files.call(write.TOOL, path="b.txt", content="b")

    result = files.call(HISTORY)

    assert result.details == {
        "changes": [
            {"change_id": "c3", "path": "b.txt", "op": "create", "status": "committed"},
            {"change_id": "c2", "path": "a.txt", "op": "edit", "status": "committed"},
            {"change_id": "c1", "path": "a.txt", "op": "create", "status": "committed"},
        ]
    }
    assert json.loads(result.text) == result.details
    (shown,) = result.display
    assert isinstance(shown, Changes)
    assert [row.id for row in shown.changes] == ["c3", "c2", "c1"]
    assert "c2" not in files.call(HISTORY, limit=1).text
    assert not HISTORY.direct


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_out_of_range_is_refused(files: FileTools, limit: int) -> None:
    assert "limit must be 1 to 1000" in files.call(HISTORY, limit=limit).text


@requirement("S2-082", "S2-085", "S2-086")
def test_the_recovery_report_of_a_sound_folder_is_clean(files: FileTools) -> None:
    result = files.call(RECOVERY)

    assert result.details == {"verdict": "clean", "mutation_blocked": False, "entries": []}
    assert result.display == (Recovery(verdict="clean", mutation_blocked=False),)
    assert not RECOVERY.direct


@requirement("S2-083", "S2-084", "REQ-F13")
def test_a_journal_that_was_tampered_with_blocks_changes_and_leaves_reading(
    files: FileTools,
) -> None:
    files.call(WRITE, path="a.txt", content="one\n")
    (journal,) = Path(os.environ["ARC_WORKBENCH_HOME"]).glob("workspaces/*/journal.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'"shown":"a.txt"', b'"shown":"b.txt"'))
    files.reopen()

    status = files.call(RECOVERY).details
    refused = files.call(WRITE, path="b.txt", content="x")

    assert (status["verdict"], status["mutation_blocked"]) == ("tampered", True)
    assert "a record is not what was written" in str(status["entries"])
    assert refused.is_error
    assert "Journal tampered: writing blocked, reading works." in refused.text
    assert files.call(READ, path="a.txt").details["content"] == "one\n"
    assert not (files.root / "b.txt").exists()


@requirement("S2-087", "S2-089", "S2-090", "S2-091")
def test_an_edit_is_undone_byte_for_byte_and_the_undo_too(files: FileTools) -> None:
    before = b"\xef\xbb\xbfone\r\ntwo\n\tthree"
    (files.root / "a.txt").write_bytes(before)
    (files.root / "a.txt").chmod(0o755)
    sha256 = files.call(READ, path="a.txt").details["sha256"]
    changed = files.call(
        EDIT, path="a.txt", old_string="two", new_string="2", expected_sha256=sha256
    )
    after = (files.root / "a.txt").read_bytes()

    undone = files.call(UNDO, change_id=changed.details["change_id"])

    assert (files.root / "a.txt").read_bytes() == before
    assert (files.root / "a.txt").stat().st_mode & 0o777 == 0o755
    assert undone.details == {
        "change_id": "c2",
        "path": "a.txt",
        "sha256": sha256,
        "undoes": "c1",
    }
    assert isinstance(undone.display[0], Diff)
    files.call(UNDO, change_id="c2")
    assert (files.root / "a.txt").read_bytes() == after
    assert not UNDO.direct


def test_undoing_a_new_file_removes_it_with_the_folders_made_for_it(files: FileTools) -> None:
    files.call(write.TOOL, path="a/b/c.txt", content="x")

    prepared = files.prepare(UNDO, change_id="c1")
    (shown,) = prepared.display
    files.call(UNDO, change_id="c1")

    assert isinstance(shown, Diff)
    assert shown.removed
    assert shown.unified.startswith("--- a/a/b/c.txt\n+++ /dev/null\n")
    assert list(files.root.iterdir()) == []


def test_edits_of_one_file_are_walked_back_one_by_one(files: FileTools) -> None:
    files.write(a_txt="0")
    for number in range(3):
        files.call(edit.TOOL, path="a.txt", oldText=str(number), newText=str(number + 1))

    texts: list[str] = []
    for change in ("c3", "c2", "c1"):
        files.call(UNDO, change_id=change)
        texts.append((files.root / "a.txt").read_text(encoding="utf-8"))

    assert texts == ["2", "1", "0"]


@requirement("S2-088", "REQ-S64")
def test_a_file_that_changed_since_is_not_undone(files: FileTools) -> None:
    files.call(write.TOOL, path="a.txt", content="mine")
    (files.root / "a.txt").write_text("theirs", encoding="utf-8")

    with pytest.raises(ToolError, match=r"a\.txt changed after c1; it was not undone\."):
        files.prepare(UNDO, change_id="c1")

    assert (files.root / "a.txt").read_text(encoding="utf-8") == "theirs"


@requirement("J-65")
@pytest.mark.parametrize("change", ["c9", "x", "", "c0", "c01", "1", "../c1", "c²"])
def test_an_id_that_names_no_change_is_refused(files: FileTools, change: str) -> None:
    files.call(write.TOOL, path="a.txt", content="x")

    assert files.call(UNDO, change_id=change).is_error
    assert (files.root / "a.txt").exists()


def test_a_change_outside_the_project_is_not_undone_through_arc(
    files: FileTools, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    files.call(write.TOOL, path=str(outside), content="x")

    refused = files.call(UNDO, change_id="c1")

    assert "lies outside the project folder; it was not undone" in refused.text
    assert outside.exists()


@requirement("REQ-S143", "REQ-S62")
def test_no_tool_writes_into_the_record_that_is_kept_of_it(files: FileTools) -> None:
    files.call(write.TOOL, path="a.txt", content="x")
    (journal,) = Path(os.environ["ARC_WORKBENCH_HOME"]).glob("workspaces/*/journal.jsonl")
    before = journal.read_bytes()
    (files.root / "link").symlink_to(journal.parent)

    for path in (str(journal), "link/journal.jsonl", str(journal.parent / "new.txt")):
        result = files.call(write.TOOL, path=path, content="x")
        assert "part of the record that this program keeps of itself" in result.text

    assert journal.read_bytes() == before
