"""A journal in which something was changed: found out, said, and never taken for what was written.

Either writing is blocked, and reading goes on, or what was lost could be told from the files.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from arc_workbench.content import ChangeRow, Recovery
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace, records
from arc_workbench.workspace.journal import JOURNAL
from arc_workbench.workspace.own_files import folder_for
from tests.faults.model import ALL, Model
from tests.requirements import requirement

KINDS = ("create", "write", "undo", "edit")


class Kept:
    """A project with some changes, and its journal, which can be damaged and made whole again."""

    def __init__(self, base: Path, kinds: tuple[str, ...] = KINDS) -> None:
        (base / "project").mkdir(parents=True)
        self.model = Model(base / "project", base / "state", Random(5))
        self.model.seed(("a.txt", "b.txt"))
        for kind in kinds:
            self._do(kind)
        self.folder = folder_for(base / "state", (base / "project").resolve())
        self.journal = self.folder / JOURNAL
        self.data = self.journal.read_bytes()
        self._lock = (self.folder / "lock").read_bytes()
        _, self.rows = self.look()

    def _do(self, kind: str) -> None:
        operation = self.model.operation(kind)
        workspace = self.model.workspace()
        operation.run(workspace)
        workspace.close()
        self.model.files = operation.after

    def look(self) -> tuple[Recovery, tuple[ChangeRow, ...]]:
        """The verdict and the history, for somebody who opens the folder now."""
        workspace = self.model.workspace()
        try:
            return workspace.recovery(), workspace.history(ALL)
        finally:
            workspace.close()

    def hold(self, data: bytes) -> None:
        """Let the journal be this."""
        self.journal.write_bytes(data)
        (self.folder / "lock").write_bytes(self._lock)

    def write(self) -> str:
        """Try to write; the id of the change, or what was said."""
        workspace = self.model.workspace()
        try:
            return workspace.apply(workspace.plan_write(workspace.inside("new.txt"), "x")).id
        except ToolError as fault:
            return str(fault)
        finally:
            workspace.close()

    def require_blocked(self, happened: str) -> None:
        """Writing is blocked for that reason; the project can be read."""
        report, _ = self.look()
        assert report.verdict == "tampered"
        assert report.mutation_blocked
        assert happened in report.entries[0].happened
        assert "Journal tampered: writing blocked, reading works." in self.write()
        workspace = self.model.workspace()
        assert workspace.read(workspace.inside("a.txt")).text
        workspace.close()

    def begin_anew(self) -> None:
        """A person puts the journal aside; the files stay, writing works, the old one is kept."""
        workspace = self.model.workspace()
        assert workspace.decide("journal", "keep").verdict == "clean"
        workspace.close()
        written = self.write()
        assert written.startswith("c"), written
        assert self.look()[0].verdict == "clean"


@pytest.fixture
def kept(quick_folder: Path) -> Kept:
    return Kept(quick_folder / "kept")


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]


def nulled(data: bytes, at: int) -> bytes:
    return data[:at] + b"\0" + data[at + 1 :]


def without(data: bytes, at: int) -> bytes:
    return data[:at] + data[at + 1 :]


def cut(data: bytes, at: int) -> bytes:
    return data[:at]


@requirement("REQ-F10", "REQ-F13")
@pytest.mark.parametrize("damaged", [flipped, nulled, without, cut])
def test_one_byte_of_the_journal_is_never_damaged_unnoticed(
    kept: Kept, damaged: Callable[[bytes, int], bytes]
) -> None:
    unnoticed: list[int] = []
    mended = 0
    for at in range(len(kept.data)):
        kept.hold(damaged(kept.data, at))
        report, rows = kept.look()
        if report.mutation_blocked:
            continue
        mended += 1
        if rows != kept.rows or kept.look()[0].verdict != "clean":
            unnoticed.append(at)
    assert unnoticed == []
    assert mended < 200  # what came after the last record that was safe, and no more


@requirement("REQ-F10")
def test_a_torn_tail_is_put_aside_and_said_once_and_the_next_record_stands_whole(
    kept: Kept,
) -> None:
    torn = b'{"change":"c99","seq":'
    kept.hold(kept.data + torn)

    report, rows = kept.look()

    assert report.verdict == "repaired"
    assert f"the last {len(torn)} bytes were cut off in a crash" in report.entries[0].happened
    assert rows == kept.rows
    assert [path.read_bytes() for path in kept.folder.glob("torn-*")] == [torn]
    assert kept.look()[0].verdict == "clean"
    assert kept.write() == f"c{len(kept.rows) + 1}"
    assert len(kept.look()[1]) == len(kept.rows) + 1


@requirement("REQ-F12")
def test_a_block_of_zeros_in_the_middle_is_damage_and_not_skipped(kept: Kept) -> None:
    at = len(kept.data) // 3
    kept.hold(kept.data[:at] + b"\0" * 400 + kept.data[at + 400 :])

    kept.require_blocked("a record is not what was written")
    kept.begin_anew()


@requirement("REQ-F14")
@pytest.mark.parametrize("what", ["removed", "moved", "doubled", "first", "last", "replaced"])
def test_records_that_were_taken_out_moved_or_put_in_are_noticed(kept: Kept, what: str) -> None:
    lines = kept.data.splitlines(keepends=True)
    match what:
        case "removed":
            del lines[3]
        case "moved":
            lines[3], lines[4] = lines[4], lines[3]
        case "doubled":
            lines.insert(4, lines[3])
        case "first":
            del lines[0]
        case "last":
            del lines[-2:]
        case _:
            lines[3] = lines[1]
    kept.hold(b"".join(lines))

    kept.require_blocked("records are missing" if what == "last" else "not what was written")
    kept.begin_anew()


@requirement("REQ-F14")
def test_the_journal_of_another_folder_is_noticed(kept: Kept, quick_folder: Path) -> None:
    other = Kept(quick_folder / "other")
    kept.hold(other.data)

    report, _ = kept.look()

    assert "belongs to another folder" in report.entries[0].happened
    assert report.mutation_blocked
    kept.begin_anew()


@requirement("REQ-F14")
def test_an_older_journal_of_the_same_folder_is_noticed(kept: Kept) -> None:
    old = kept.data
    kept.write()
    kept.journal.write_bytes(old)

    kept.require_blocked("records are missing at the end")


@requirement("REQ-F15")
def test_a_journal_that_was_deleted_is_missed(kept: Kept) -> None:
    kept.journal.unlink()

    kept.require_blocked("the journal is gone, but there were records")
    kept.begin_anew()


@requirement("REQ-F15", "REQ-S62")
@pytest.mark.parametrize("what", ["link", "other owner", "others may write", "open folder", "pipe"])
def test_a_journal_that_is_not_ours_alone_is_not_used(
    kept: Kept, quick_folder: Path, what: str
) -> None:
    happened = {
        "link": "is a link or something else",
        "pipe": "is a link or something else",
        "other owner": "belongs to another user",
        "others may write": "can be written by other users",
        "open folder": "can be written by other users",
    }
    match what:
        case "link":
            kept.journal.rename(quick_folder / "elsewhere")
            kept.journal.symlink_to(quick_folder / "elsewhere")
        case "pipe":
            kept.journal.unlink()
            os.mkfifo(kept.journal, 0o600)
        case "other owner":
            if os.geteuid() != 0:
                pytest.skip("only root can give a file away")
            os.chown(kept.journal, 1234, 1234)
        case "others may write":
            kept.journal.chmod(0o620)
        case _:
            kept.folder.chmod(0o770)

    workspace = kept.model.workspace()
    report = workspace.recovery()

    assert report.verdict == "tampered"
    assert report.mutation_blocked
    assert happened[what] in report.entries[0].happened
    assert "writing blocked, reading works" in kept.write()
    assert workspace.read(workspace.inside("a.txt")).text
    with pytest.raises(ToolError, match="writing blocked"):
        workspace.decide("journal", "keep")
    workspace.close()


@requirement("REQ-F16")
def test_a_journal_without_what_the_files_held_before_is_damaged(kept: Kept) -> None:
    (kept.folder / "images-1").unlink()

    kept.require_blocked("the file with what the files held before is gone")
    kept.begin_anew()


@requirement("REQ-F16")
@pytest.mark.parametrize("what", ["damaged", "cut"])
def test_without_its_old_content_a_change_is_not_undone_and_others_are(
    kept: Kept, what: str
) -> None:
    kept.write()
    images = kept.folder / "images-1"
    data = images.read_bytes()
    images.write_bytes(b"\xff" * len(data) if what == "damaged" else data[:1])
    workspace = kept.model.workspace()

    with pytest.raises(ToolError, match="copy of that content is missing or damaged"):
        workspace.plan_undo("c4", confined=True)

    assert workspace.recovery().verdict == "clean"
    workspace.apply(workspace.plan_undo("c5", confined=True))
    workspace.close()


@requirement("REQ-F17")
def test_the_journal_of_a_newer_version_is_left_as_it_is(kept: Kept) -> None:
    newer = kept.data.replace(b'{"journal":"1"', b'{"journal":"2"', 1)
    body = newer.splitlines(keepends=True)[0]
    record = records.parsed(body)
    line, _ = records.seal({k: v for k, v in record.items() if k != "hash"}, records.FIRST)
    kept.hold(line)

    kept.require_blocked("a newer version wrote the journal")
    assert kept.journal.read_bytes() == line
    kept.begin_anew()


@requirement("REQ-F15")
def test_a_state_folder_that_was_cleared_away_is_noticed_and_made_again(kept: Kept) -> None:
    workspace = kept.model.workspace()
    workspace.apply(workspace.plan_write(workspace.inside("a.txt"), "one"))
    shutil.rmtree(kept.folder)

    with pytest.raises(ToolError, match="Journal tampered"):
        workspace.apply(workspace.plan_write(workspace.inside("a.txt"), "two"))
    workspace.decide("journal", "keep")
    change = workspace.apply(workspace.plan_write(workspace.inside("a.txt"), "two"))

    assert change.id == f"c{len(kept.rows) + 2}"
    workspace.close()
    assert Workspace(kept.model.root, kept.model.state).recovery().verdict == "clean"
