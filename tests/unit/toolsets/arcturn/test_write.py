"""Arcturn's `write`."""

from pathlib import Path

import pytest

from arc_workbench.content import Diff
from arc_workbench.toolsets.arcturn.write import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-038", "S1-039", "S1-043", "S1-168")
def test_a_file_is_created_with_its_folders_and_then_updated(files: FileTools) -> None:
    created = files.call(TOOL, path="a/b/c.txt", content="héllo\r\n")
    updated = files.call(TOOL, path="a/b/c.txt", content="x")

    assert created.text == "Created a/b/c.txt (8 bytes)."
    assert updated.text == "Updated a/b/c.txt (1 bytes)."
    assert (files.root / "a/b/c.txt").read_bytes() == b"x"
    assert created.details == {
        "path": "a/b/c.txt",
        "created": True,
        "bytes": 8,
        "sha256": created.details["sha256"],
        "change_id": "c1",
    }
    assert [change.id for _, change in files.changes] == ["c1", "c2"]


def test_a_write_shows_what_it_changes(files: FileTools) -> None:
    files.write(a_txt="one\ntwo\n")

    result = files.call(TOOL, path="a.txt", content="one\n2\nthree\n")

    assert result.display == (
        Diff(
            path="a.txt",
            unified="--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+three\n",
        ),
    )
    assert result.note == "+2 -1"


@requirement("S1-040", "S1-041", "S1-042")
def test_the_prompt_names_what_happens_and_suggests_a_rule_for_the_folder(
    files: FileTools,
) -> None:
    files.write(a_txt="x")

    create = files.prepare(TOOL, path="sub/new.txt", content="y")
    overwrite = files.prepare(TOOL, path="a.txt", content="y")

    assert TOOL.effect == "write"
    assert create.description == "Create file sub/new.txt"
    assert create.suggested_rule == f"{files.root}/sub/**"
    assert overwrite.description == "Overwrite file a.txt"
    assert overwrite.subject == str(files.root / "a.txt")
    assert overwrite.suggested_rule == f"{files.root}/**"
    assert not (files.root / "sub").exists()


@requirement("J-11", "J-12", "S1-177")
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_asked_about_and_reported_under_its_real_name(
    files: FileTools, tmp_path: Path, exists: bool
) -> None:
    target = tmp_path / "elsewhere" / "real.txt"
    target.parent.mkdir()
    if exists:
        target.write_text("old", encoding="utf-8")
    (files.root / "link.txt").symlink_to(target)

    prepared = files.prepare(TOOL, path="link.txt", content="new")
    result = files.call(TOOL, path="link.txt", content="new")

    verb = "Overwrite" if exists else "Create"
    assert prepared.description == f"{verb} file {target} (via link.txt)"
    assert prepared.subject == str(target)
    assert prepared.suggested_rule == f"{target.parent}/**"
    assert str(target) in result.text
    assert (files.root / "link.txt").is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_a_parent_that_is_a_file_stays_untouched(files: FileTools) -> None:
    files.write(file="x")

    result = files.call(TOOL, path="file/below.txt", content="y")

    assert result.is_error
    assert (files.root / "file").read_text(encoding="utf-8") == "x"


@requirement("BUG-E5")
def test_what_is_written_is_exactly_what_was_given(files: FileTools) -> None:
    content = "\ttab\r\nlf\n\u00a0“x” no end"

    files.call(TOOL, path="a.txt", content=content)

    assert (files.root / "a.txt").read_bytes() == content.encode()
