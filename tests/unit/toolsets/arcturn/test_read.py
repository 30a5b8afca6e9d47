"""Arcturn's `read`."""

import base64
import hashlib

import pytest

from arc_workbench.content import Image, Text
from arc_workbench.toolsets.arcturn.read import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-029", "S1-168")
def test_lines_are_numbered_like_cat_does(files: FileTools) -> None:
    files.write(a_txt="one\r\ntwo\n")

    result = files.call(TOOL, path="a.txt")

    assert result.text == "     1\tone\n     2\ttwo\n     3\t"
    assert result.details == {
        "path": "a.txt",
        "totalLines": 3,
        "startLine": 1,
        "endLine": 3,
        "truncated": False,
        "sha256": hashlib.sha256(b"one\r\ntwo\n").hexdigest(),
    }


def test_an_empty_file_has_one_line(files: FileTools) -> None:
    files.write(a_txt="")

    assert files.call(TOOL, path="a.txt").text == "     1\t"


@requirement("S1-030")
def test_a_line_is_cut_past_two_thousand_characters(files: FileTools) -> None:
    files.write(a_txt="é" * 2000 + "\n" + "é" * 2001)

    first, second = files.call(TOOL, path="a.txt").text.split("\n")

    assert first == "     1\t" + "é" * 2000
    assert second == "     2\t" + "é" * 2000 + "… [line truncated at 2000 chars]"


@requirement("S1-036")
def test_past_the_limit_a_note_says_how_to_go_on(files: FileTools) -> None:
    files.write(a_txt="".join(f"{n}\n" for n in range(1, 2501)))

    whole = files.call(TOOL, path="a.txt")
    part = files.call(TOOL, path="a.txt", offset=11, limit=5)
    rest = files.call(TOOL, path="a.txt", offset=2500)

    assert whole.text.endswith(
        "  2000\t2000\n\n[Showing lines 1-2000 of 2501. Use offset=2001 to continue reading.]"
    )
    assert part.text.startswith("    11\t11\n")
    assert part.text.endswith(
        "    15\t15\n\n[Showing lines 11-15 of 2501. Use offset=16 to continue reading.]"
    )
    assert (part.details["startLine"], part.details["endLine"]) == (11, 15)
    assert rest.text == "  2500\t2500\n  2501\t"


@requirement("S1-034")
def test_lines_that_are_asked_for_are_literal_at_any_size(files: FileTools) -> None:
    files.write(a_py="def f(): ...\n" * 5000)

    for asked in ({"offset": 1}, {"limit": 2000}, {"offset": 1, "outline": True}):
        result = files.call(TOOL, path="a.py", **asked)
        assert result.text.startswith("     1\tdef f(): ...\n     2\t")
        assert "outlineUnavailable" not in result.details


@requirement("S1-035")
def test_without_an_outline_a_large_file_falls_back_to_its_body_in_silence(
    files: FileTools,
) -> None:
    files.write(a_dat="x\n" * 8192, b_dat="x\n" * 8191)

    large, small = files.call(TOOL, path="a.dat"), files.call(TOOL, path="b.dat")
    asked = files.call(TOOL, path="b.dat", outline=True)

    assert large.text.endswith(
        "\n  2000\tx\n\n[Showing lines 1-2000 of 8193. Use offset=2001 to continue reading.]"
    )
    assert "utline" not in large.text
    assert large.details["outlineUnavailable"] is True
    assert asked.details["outlineUnavailable"] is True
    assert "outlineUnavailable" not in small.details


@pytest.mark.parametrize("value", [0, -3, "x", None, True, [], 0.5])
def test_what_is_no_positive_number_stands_for_the_default(files: FileTools, value: object) -> None:
    files.write(a_txt="a\nb\n")

    assert files.call(TOOL, path="a.txt", offset=value, limit=value).details["endLine"] == 3


def test_fractions_are_cut_off(files: FileTools) -> None:
    files.write(a_txt="a\nb\nc\n")

    result = files.call(TOOL, path="a.txt", offset=2.9, limit=1.2)

    assert (result.details["startLine"], result.details["endLine"]) == (2, 2)


def test_a_start_past_the_end_names_the_total(files: FileTools) -> None:
    files.write(a_txt="a\nb")

    result = files.call(TOOL, path="a.txt", offset=3)

    assert result.is_error
    assert "has 2 lines" in result.text


@requirement("S1-170")
def test_a_missing_file_a_folder_and_no_name_are_errors(files: FileTools) -> None:
    missing = files.call(TOOL, path="gone.txt")
    folder = files.call(TOOL, path=".")
    nameless = files.call(TOOL, path="")

    assert str(files.root / "gone.txt") in missing.text
    assert "working directory" in missing.text
    assert "ls or glob" in folder.text
    assert missing.is_error
    assert folder.is_error
    assert nameless.is_error


@requirement("J-20")
def test_a_binary_file_is_called_binary(files: FileTools) -> None:
    files.write(a_bin="x\0y")

    result = files.call(TOOL, path="a.bin")

    assert "binary" in result.text
    assert result.details["binary"] is True


@requirement("REQ-S72")
def test_a_file_that_is_not_utf_8_is_shown_with_a_note(files: FileTools) -> None:
    (files.root / "a.txt").write_bytes("Straße".encode("latin-1"))

    assert files.call(TOOL, path="a.txt").text == (
        "     1\tStra\ufffde\n\n"
        "[Not UTF-8, probably windows-1252: what could not be read is shown as \ufffd.]"
    )


@requirement("J-21")
def test_of_a_very_large_file_the_note_names_its_bytes(files: FileTools) -> None:
    files.write(a_txt="x" * 99 + "\n")
    with (files.root / "a.txt").open("ab") as file:
        file.writelines([(b"x" * 99 + b"\n") * 10_000] * 9)

    result = files.call(TOOL, path="a.txt", limit=1)

    assert result.text.endswith(
        "\n\n[Showing lines 1-1 of a file of 9000100 bytes. Use offset=2 to continue reading.]"
    )
    assert result.details["totalLines"] is None


@requirement("S1-031")
@pytest.mark.parametrize("name", ["a.png", "b.JPG", "c.jpeg", "d.gif", "e.webp"])
def test_a_picture_comes_as_base64_instead_of_text(files: FileTools, name: str) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(50)
    (files.root / name).write_bytes(data)

    text, image = files.call(TOOL, path=name).content

    assert text == Text(text=f"Image {name} (image/png, 58 bytes)")
    assert image == Image(data=base64.b64encode(data).decode(), mime="image/png")


@requirement("S1-037", "S1-176", "J-10")
def test_reading_is_an_effect_that_needs_no_permission_and_its_subject_is_the_real_file(
    files: FileTools,
) -> None:
    files.write(a_txt="x")
    (files.root / "link").symlink_to("a.txt")

    prepared = files.prepare(TOOL, path="link")

    assert TOOL.effect == "read"
    assert prepared.subject == str(files.root / "a.txt")
    assert prepared.description == "Read a.txt (via link)"
