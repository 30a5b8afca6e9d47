"""Arcturn's `grep`."""

import pytest

from arc_workbench.content import Matches, MatchLine
from arc_workbench.toolsets.arcturn.grep import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-087", "S1-088", "S1-091", "S1-094", "S1-168")
def test_matches_are_shown_by_path_and_number(files: FileTools) -> None:
    files.write(b_txt="needle 2\nother", a_txt="x\nneedle 1\r\n", _env="needle 3")
    for folder in (".git", "node_modules"):
        (files.root / folder).mkdir()
        (files.root / folder / "x").write_text("needle 4", encoding="utf-8")

    result = files.call(TOOL, pattern=r"needle \d")

    assert TOOL.effect == "read"
    assert result.text == ".env:1:needle 3\na.txt:2:needle 1\nb.txt:1:needle 2"
    assert {**result.details, "engine": ""} == {
        "matchCount": 3,
        "filesSearched": 3,
        "truncated": False,
        "skippedCount": 0,
        "engine": "",
    }
    assert result.details["engine"] in {"ripgrep", "python"}
    assert result.display == (
        Matches(
            lines=(
                MatchLine(path=".env", line=1, text="needle 3", spans=((0, 8),)),
                MatchLine(path="a.txt", line=2, text="needle 1", spans=((0, 8),)),
                MatchLine(path="b.txt", line=1, text="needle 2", spans=((0, 8),)),
            ),
            count=3,
        ),
    )


@requirement("S1-092", "S1-093")
def test_context_has_its_own_mark_and_blocks_are_set_apart(files: FileTools) -> None:
    files.write(a_txt="1\nx2\n3\n4\n5\n6\nx7\n", b_txt="x\n")

    assert files.call(TOOL, pattern="x", contextLines=1).text == (
        "a.txt-1-1\na.txt:2:x2\na.txt-3-3\n--\na.txt-6-6\na.txt:7:x7\n--\nb.txt:1:x"
    )


@requirement("S1-090")
def test_two_hundred_matches_are_the_limit_over_all_files(files: FileTools) -> None:
    files.write(a_txt="x\n" * 150, b_txt="x\n" * 150)

    result = files.call(TOOL, pattern="x")

    assert result.text.count(":x") == 200
    assert result.text.endswith(
        "\n\n[Stopped after 200 matches; there are more. Narrow the pattern, path or glob.]"
    )
    assert (result.details["matchCount"], result.details["truncated"]) == (200, True)


@requirement("S1-089", "BUG-G2", "BUG-G4")
def test_what_was_not_searched_is_named_text_first(files: FileTools) -> None:
    files.write(source_c="foo\0\nneedle", z_txt="needle")
    for number in range(7):
        (files.root / f"{number}.png").write_bytes(b"\x89PNG\0needle")
    (files.root / "other.png").write_bytes(b"\x89PNG\0")
    (files.root / "lost").symlink_to("nowhere")

    result = files.call(TOOL, pattern="needle")

    body, note = result.text.split("\n\n")
    assert body == "z.txt:1:needle"
    assert note == (
        "[1 path not read: lost (dangling link); 8 binary files match, not shown: source.c, "
        "0.png, 1.png, 2.png, 3.png and 3 more]"
    )
    assert isinstance(result.display[0], Matches)
    assert result.display[0].note == note[1:-1]
    assert result.details["skippedCount"] == 9


@requirement("J-22", "J-23", "BUG-G9", "BUG-G6")
def test_one_file_no_match_no_path_and_no_expression(files: FileTools) -> None:
    files.write(a_txt="Needle\n", b_txt="needle\n")
    (files.root / "link").symlink_to("a.txt")

    assert files.call(TOOL, pattern="needle", path="b.txt").text == "b.txt:1:needle"
    assert files.call(TOOL, pattern="Needle", path="link").text == "a.txt:1:Needle"
    nothing = files.call(TOOL, pattern="zebra")
    assert (nothing.text, nothing.is_error) == ("No matches found.", False)
    missing = files.call(TOOL, pattern="x", path="gone")
    assert missing.is_error
    assert "nothing was searched" in missing.text
    invalid = files.call(TOOL, pattern="foo(")
    assert invalid.is_error
    assert "position 3" in invalid.text


def test_the_row_counts_matches_in_words(files: FileTools) -> None:
    files.write(a_txt="x\ny\ny\n")

    assert files.call(TOOL, pattern="x").note == "1 match"
    assert files.call(TOOL, pattern="y").note == "2 matches"
    assert files.call(TOOL, pattern="z").note == "0 matches"


def test_case_and_glob_narrow_or_widen(files: FileTools) -> None:
    files.write(a_py="Needle", b_txt="needle")

    assert files.call(TOOL, pattern="needle", caseInsensitive=True).details["matchCount"] == 2
    assert files.call(TOOL, pattern="needle", glob="*.py").details["matchCount"] == 0


@requirement("BUG-G10")
def test_an_interrupt_ends_a_search(files: FileTools) -> None:
    files.write(a_txt="a" * 40 + "!")
    files.signal.set()

    assert files.call(TOOL, pattern="(a+)+$").text.startswith("Aborted:")


@requirement("S1-176", "J-10")
@pytest.mark.parametrize("arguments", [{}, {"path": "link"}])
def test_the_subject_is_the_real_folder(files: FileTools, arguments: dict[str, str]) -> None:
    (files.root / "link").symlink_to(".")

    assert files.prepare(TOOL, pattern="x", **arguments).subject == str(files.root)


def test_a_long_line_is_cut(files: FileTools) -> None:
    files.write(a_txt="needle" + "x" * 3000)

    assert files.call(TOOL, pattern="needle").text == (
        "a.txt:1:needle" + "x" * 1994 + "… [line truncated at 2000 chars]"
    )
