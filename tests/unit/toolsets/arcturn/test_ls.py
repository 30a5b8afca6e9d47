"""Arcturn's `ls`."""

import pytest

from arc_workbench.toolsets.arcturn.ls import TOOL, readable_size
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-100", "S1-101", "S1-102", "S1-103", "S1-105", "S1-168", "J-25")
def test_folders_come_first_and_files_have_sizes(files: FileTools) -> None:
    files.write(b_txt="x" * 2048, A_txt="12345")
    (files.root / "sub").mkdir()
    (files.root / "to-sub").symlink_to("sub")
    (files.root / "dangling").symlink_to("nowhere")

    result = files.call(TOOL)

    assert TOOL.effect == "read"
    assert result.text == ("sub/\nto-sub/\nA.txt  (5 B)\nb.txt  (2.0 KB)\ndangling")
    assert result.details == {"path": ".", "entryCount": 5, "truncated": False}


@requirement("S1-104")
def test_five_hundred_entries_are_shown(files: FileTools) -> None:
    for number in range(501):
        (files.root / f"{number:03}").touch()

    result = files.call(TOOL, path=".")

    assert result.text.split("\n")[499:501] == ["499  (0 B)", ""]
    assert "[Showing 500 of 501 entries." in result.text
    assert result.details["truncated"] is True


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KB"),
        (1536, "1.5 KB"),
        (1024**2 - 1, "1.0 MB"),
        (5 * 1024**2, "5.0 MB"),
        (3 * 1024**3 // 2, "1.5 GB"),
        (2000 * 1024**3, "2000.0 GB"),
    ],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert readable_size(size) == text


def test_what_is_no_folder_is_an_error_and_an_empty_one_is_said_to_be(files: FileTools) -> None:
    files.write(a_txt="x")
    (files.root / "empty").mkdir()

    assert files.call(TOOL, path="a.txt").is_error
    assert files.call(TOOL, path="gone").is_error
    assert files.call(TOOL, path="empty").text == "(empty folder)"


def test_a_name_cannot_pretend_to_be_two(files: FileTools) -> None:
    (files.root / "a\nb/").mkdir()

    assert files.call(TOOL).text == "a\\x0ab/"
