"""Plans of writes and edits: what they promise, and what they refuse before anybody is asked."""

import hashlib
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter

BOM = b"\xef\xbb\xbf"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_plan_of_a_new_file_says_all_and_does_nothing(workspace: Workspace, root: Path) -> None:
    plan = workspace.plan_write(workspace.inside("new/a.txt"), "héllo\n")

    assert (plan.op, plan.before_sha256, plan.content) == ("create", None, "héllo\n".encode())
    assert plan.binds == {
        "path": str(root / "new/a.txt"),
        "before": "absent",
        "after": sha("héllo\n".encode()),
    }
    assert plan.diff == "--- /dev/null\n+++ b/new/a.txt\n@@ -0,0 +1 @@\n+héllo\n"
    assert list(root.iterdir()) == []


@requirement("S2-019", "S2-065", "S2-069", "REQ-S67")
def test_an_existing_file_is_replaced_only_for_its_present_hash(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_bytes(b"one\r\n")
    place, now = workspace.inside("a.txt"), sha(b"one\r\n")

    with pytest.raises(ToolError, match=f"a.txt exists; .* Send expected_sha256 {now}") as caught:
        workspace.plan_write(place, "two", must_expect=True)
    assert caught.value.details == {"sha256": now}

    for stale in (sha(b"zero"), sha(b"one\n")):
        with pytest.raises(ToolError, match=f"changed since it was read.*{now}"):
            workspace.plan_write(place, "two", expected_sha256=stale, must_expect=True)

    for malformed in ("", now[:-1], now + "0", "g" * 64):
        with pytest.raises(ToolError, match="not a SHA-256"):
            workspace.plan_write(place, "two", expected_sha256=malformed, must_expect=True)

    for spelling in (now, now.upper(), f" {now} "):
        plan = workspace.plan_write(place, "two", expected_sha256=spelling, must_expect=True)
        assert (plan.op, plan.before_sha256) == ("change", now)


def test_a_hash_for_a_file_that_does_not_exist_is_refused(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="does not exist, but expected_sha256 was sent"):
        workspace.plan_write(
            workspace.inside("a.txt"), "x", expected_sha256=sha(b""), must_expect=True
        )


@requirement("S2-071", "S2-077")
def test_an_edit_needs_the_hash_where_it_is_demanded(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes(b"one")
    place = workspace.inside("a.txt")

    with pytest.raises(ToolError, match="Send expected_sha256"):
        workspace.plan_edit(place, "one", "two", must_expect=True)
    plan = workspace.plan_edit(place, "one", "two", expected_sha256=sha(b"one"), must_expect=True)

    assert plan.content == b"two"


@requirement("BUG-E4", "BUG-E5")
@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (BOM + b"hello\n", "bye\n", BOM + b"bye\n"),
        (BOM + b"hello\n", "\ufeffbye\n", BOM + b"bye\n"),
        (b"hello\n", "bye\n", b"bye\n"),
    ],
)
def test_a_byte_order_mark_is_kept_once_and_never_added(
    workspace: Workspace, root: Path, before: bytes, content: str, after: bytes
) -> None:
    (root / "a.txt").write_bytes(before)

    plan = workspace.plan_write(workspace.inside("a.txt"), content)

    assert plan.content == after
    assert "-hello\n+bye\n" in plan.diff


@requirement("BUG-E4")
@pytest.mark.parametrize("new", ["\ufeffbye", "\ufeff\ufeffbye"])
def test_new_text_at_the_start_brings_in_no_second_byte_order_mark(
    workspace: Workspace, root: Path, new: str
) -> None:
    (root / "a.txt").write_bytes(BOM + b"hello\n")

    plan = workspace.plan_edit(workspace.inside("a.txt"), "hello", new)

    assert plan.content == BOM + b"bye\n"
    assert "-hello\n+bye\n" in plan.diff


def test_a_second_mark_that_the_file_has_already_stays(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes(BOM + BOM + b"hello\n")

    assert workspace.plan_edit(workspace.inside("a.txt"), "hello", "bye").content == (
        BOM + BOM + b"bye\n"
    )


@requirement("BUG-E1", "S1-058")
@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (b"a\r\nb\r\n", "a\nb", "a\r\nb"),
        (BOM + b"hello", "hello", "\ufeffhello"),
    ],
)
def test_an_edit_that_comes_to_nothing_is_refused(
    workspace: Workspace, root: Path, before: bytes, old: str, new: str
) -> None:
    (root / "a.txt").write_bytes(before)

    with pytest.raises(ToolError, match="old and new text are the same once the file's line ends"):
        workspace.plan_edit(workspace.inside("a.txt"), old, new)


@requirement("REQ-S65")
def test_planning_an_edit_looks_whether_the_person_stopped_it(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_text("é\n" * 100_000, encoding="utf-8")
    place = workspace.inside("a.txt")

    for looks in (1, 5, 40):
        with pytest.raises(ToolError, match="Aborted"):
            workspace.plan_edit(place, "é", "z", replace_all=True, signal=StopAfter(looks))
    with pytest.raises(ToolError, match="Aborted"):
        workspace.plan_edit(place, "zé\n", "x", signal=StopAfter(40))
    with pytest.raises(ToolError, match="Aborted"):
        workspace.plan_write(place, "z\n" * 100_000, signal=StopAfter(2))


@requirement("BUG-E2", "BUG-E3", "BUG-E4", "BUG-E11", "REQ-S71", "S1-056", "S2-070")
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (BOM + b"hello\n", "hello", "bye", BOM + b"bye\n"),
        (b"a\r\nword\r\nc", "word", "other", b"a\r\nother\r\nc"),
        (b"\tif x:\r\n\t\ty\r\n", "\tif x:\n\t\ty", "\tif z:\n\t\ty", b"\tif z:\r\n\t\ty\r\n"),
        (b"a:\n\tcc\nb:\n\tcc x\n", "cc x", "cc y", b"a:\n\tcc\nb:\n\tcc y\n"),
        (b"x  \n\xc2\xa0y\r\nz\n\n", "z", "Z", b"x  \n\xc2\xa0y\r\nZ\n\n"),
        (b"no end", "end", "END", b"no END"),
    ],
)
def test_an_edit_leaves_every_other_byte_alone(
    workspace: Workspace, root: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (root / "a.txt").write_bytes(before)

    plan = workspace.plan_edit(workspace.inside("a.txt"), old, new)

    assert plan.content == after


@requirement("BUG-E1", "BUG-E2")
def test_folded_line_ends_are_reported_and_the_diff_has_one_line(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    place = workspace.inside("a.txt")

    folded = workspace.plan_edit(place, "a\nb", "a\nB")

    assert folded.line_endings_folded
    assert [line for line in folded.diff.split("\n")[2:] if line[:1] in {"+", "-"}] == [
        "-b\r",
        "+B\r",
    ]
    assert not workspace.plan_edit(place, "b", "B").line_endings_folded


@requirement("BUG-E15", "S1-059")
def test_e15_overlapping_matches_are_refused(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes(b"foo\nfoo\nfoo\n")

    with pytest.raises(ToolError, match="2 places, lines 1 and 2"):
        workspace.plan_edit(workspace.inside("a.txt"), "foo\nfoo\n", "x")


@requirement("J-17", "REQ-S72")
def test_a_file_that_is_not_utf_8_is_not_edited(workspace: Workspace, root: Path) -> None:
    data = "Straße".encode("latin-1")
    (root / "a.txt").write_bytes(data)

    with pytest.raises(ToolError, match="not UTF-8, probably windows-1252; it was not touched"):
        workspace.plan_edit(workspace.inside("a.txt"), "Stra", "Stro")

    assert (root / "a.txt").read_bytes() == data


def test_overwriting_what_is_not_text_shows_no_garbage(workspace: Workspace, root: Path) -> None:
    (root / "a.bin").write_bytes(b"\0\xff\xfe")
    (root / "b.txt").write_bytes(b"\xff\xfe\xfd")

    for name in ("a.bin", "b.txt"):
        plan = workspace.plan_write(workspace.inside(name), "text")
        assert "not text" in plan.diff
        assert plan.content == b"text"


@requirement("REQ-S71")
def test_half_a_surrogate_pair_cannot_be_written(workspace: Workspace, root: Path) -> None:
    (root / "b.txt").write_text("b", encoding="utf-8")

    with pytest.raises(ToolError, match="surrogate pair at character 1"):
        workspace.plan_write(workspace.inside("a.txt"), "a\ud83d")
    with pytest.raises(ToolError, match="surrogate pair"):
        workspace.plan_edit(workspace.inside("b.txt"), "b", "\udc00")


@requirement("S1-057")
def test_what_cannot_be_a_file_is_refused_before_anything_is_made(
    workspace: Workspace, root: Path
) -> None:
    (root / "file").write_text("x", encoding="utf-8")
    (root / "folder").mkdir()

    for name in ("file/below.txt", "file/a/b.txt", "folder", "new/"):
        with pytest.raises(ToolError):
            workspace.plan_write(workspace.inside(name), "x")
    with pytest.raises(ToolError, match="to create one, write it"):
        workspace.plan_edit(workspace.inside("gone.txt"), "a", "b")
    with pytest.raises(ToolError, match="folder"):
        workspace.plan_edit(workspace.inside("folder"), "a", "b")

    assert (root / "file").read_text(encoding="utf-8") == "x"
    assert sorted(path.name for path in root.iterdir()) == ["file", "folder"]


def test_a_file_too_large_for_text_is_not_edited_but_may_be_replaced(
    workspace: Workspace, root: Path
) -> None:
    with (root / "big.txt").open("wb") as file:
        file.truncate((8 << 20) + 1)
    place = workspace.inside("big.txt")

    with pytest.raises(ToolError, match="too large to be edited"):
        workspace.plan_edit(place, "a", "b")
    assert "too large to compare" in workspace.plan_write(place, "small").diff
