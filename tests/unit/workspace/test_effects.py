"""The steps on a name: each does what it says, or leaves everything as it was."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.workspace import anchors, effects, system
from arc_workbench.workspace.effects import ABSENT, ConflictError
from arc_workbench.workspace.reading import sha256_of
from tests.requirements import requirement

TEMPORARY = ".arc-workbench-0.tmp"
OLD, NEW = sha256_of(b"old"), sha256_of(b"new")


@pytest.fixture(params=["swapping", "renaming"])
def folder(
    root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    if request.param == "renaming":

        def cannot(*_: object) -> None:
            raise system.Cannot

        monkeypatch.setattr(system, "_rename2", cannot)
    with anchors.open_folder(root) as opened:
        yield opened


def held(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir()}


def test_a_file_takes_the_place_of_another(folder: int, root: Path) -> None:
    (root / "a.txt").write_bytes(b"old")
    (root / "a.txt").chmod(0o640)

    inode = effects.write_beside(folder, TEMPORARY, b"new", like="a.txt")
    effects.put_in_place(folder, TEMPORARY, "a.txt", OLD)

    assert held(root) == {"a.txt": b"new"}
    facts = (root / "a.txt").stat()
    assert (facts.st_ino, facts.st_mode & 0o777) == (inode, 0o640)


@requirement("REQ-S68")
def test_a_file_that_is_another_by_then_keeps_its_place(folder: int, root: Path) -> None:
    (root / "a.txt").write_bytes(b"theirs")
    inode = (root / "a.txt").stat().st_ino
    effects.write_beside(folder, TEMPORARY, b"new", like="a.txt")

    with pytest.raises(ConflictError):
        effects.put_in_place(folder, TEMPORARY, "a.txt", OLD)

    assert held(root) == {"a.txt": b"theirs", TEMPORARY: b"new"}
    assert (root / "a.txt").stat().st_ino == inode


@requirement("REQ-S68")
def test_a_new_file_does_not_take_a_name_that_something_has(folder: int, root: Path) -> None:
    effects.write_beside(folder, TEMPORARY, b"new", mode=0o600)
    (root / "a.txt").symlink_to("nowhere")

    with pytest.raises(ConflictError):
        effects.put_new(folder, TEMPORARY, "a.txt")

    assert (root / "a.txt").is_symlink()


@requirement("REQ-S68")
def test_only_the_file_that_was_meant_is_removed(folder: int, root: Path) -> None:
    (root / "a.txt").write_bytes(b"theirs")

    with pytest.raises(ConflictError):
        effects.take_away(folder, TEMPORARY, "a.txt", OLD)
    assert held(root) == {"a.txt": b"theirs"}

    effects.take_away(folder, TEMPORARY, "a.txt", sha256_of(b"theirs"))
    assert held(root) == {}


def test_what_stands_at_a_name_is_told_without_following_it(folder: int, root: Path) -> None:
    (root / "a.txt").write_bytes(b"new")
    (root / "link").symlink_to("a.txt")
    (root / "folder").mkdir()

    assert effects.standing(folder, "none") == ABSENT
    assert effects.standing(folder, "a.txt").sha256 == NEW
    assert effects.standing(folder, "link").kind == "other"
    assert effects.standing(folder, "folder").kind == "other"


def test_folders_that_were_made_go_again_as_far_as_nothing_is_in_them(root: Path) -> None:
    effects.make_folders(root / "a/b/c/d.txt", ("a", "b", "c"))
    (root / "a/mine.txt").touch()

    effects.remove_folders(root / "a/b/c/d.txt", ("a", "b", "c"))

    assert sorted(path.name for path in root.rglob("*")) == ["a", "mine.txt"]


@requirement("REQ-S60")
def test_a_folder_behind_a_link_is_not_opened(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)

    with pytest.raises(ConflictError), effects.locked_folder(root / "link"):
        pytest.fail("it was opened")


@requirement("REQ-F32")
def test_a_folder_that_another_session_holds_is_waited_for_but_not_for_ever(root: Path) -> None:
    with (
        effects.locked_folder(root),
        pytest.raises(TimeoutError),
        effects.locked_folder(root, seconds=0.01),
    ):
        pytest.fail("two hold it")
