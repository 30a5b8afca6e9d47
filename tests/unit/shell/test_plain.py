"""Terminal output as plain text."""

import random
import re
from pathlib import Path

import pytest

from arc_workbench.shell.plain import COLUMNS, Plain, plain
from tests.requirements import requirement

ROWS = 25
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
WITHOUT_ADDRESSING = (
    *("t0001-", "t0002-", "t0002j-", "t0003-", "t0003j-", "t0004-LF", "t0004j-", "t0005-CR"),
    *("t0007-", "t0008-", "t0012-", "t0013-", "t0501-", "t0502-"),
)
ALPHABET = "\x1b[]P\x9b\x9d\x9c\x07\\05;KGCDm \n\r\b\t\v\x85\x18abé"


@requirement("REQ-S24")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x07", ""),
        ("\x1bPq#0;2\nsixel\x1b\\after", "after"),
        ("\x1b]never closed\nnext", "\nnext"),
        ("\x9dtitle\x9cx", "x"),
        ("\x1b[?2004h\x1b[2J\x1b[Hx\x1b(B", "x"),
        ("\x1b", ""),
        ("a\x00b\x7fc\x0ed", "abcd"),
        ("one\x85two", "one\ntwo"),
        ("a\r\nb\r\n", "a\nb\n"),
    ],
)
def test_sequences_go_and_text_stays(raw: str, shown: str) -> None:
    assert plain(raw) == shown


@requirement("REQ-F46")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (" 5%\r50%\r100%\ndone", "100%\ndone"),
        ("longer text\rab", "abnger text"),
        ("longer text\r\x1b[Kab", "ab"),
        ("longer text\x1b[2K\rab", "ab"),
        ("abc\b\b\bx", "xbc"),
        ("_\bx_\by", "xy"),
        ("a\x1b[3Cb", "a   b"),
        ("abc\x1b[2Dx", "axc"),
        ("abc\x1b[1Gx", "xbc"),
        ("x" * 200 + "\ry" * 2, "y" + "x" * 199),
        ("a\vb", "a\n b"),
    ],
)
def test_the_last_state_of_a_line_wins(raw: str, shown: str) -> None:
    assert plain(raw) == shown


@requirement("REQ-S24")
def test_no_input_leaves_a_control_character() -> None:
    dice = random.Random(7)
    for _ in range(2000):
        raw = "".join(dice.choices(ALPHABET, k=dice.randint(0, 40)))
        pieces = Plain()

        shown = plain(raw)
        shown_in_pieces = "".join(map(pieces.feed, raw)) + pieces.end()

        assert not CONTROL.search(shown), raw
        assert not CONTROL.search(shown_in_pieces), raw
        assert plain(shown) == shown


@pytest.mark.parametrize("raw", ["\x1b]", "\x9d\n", "a\r", "\x1b[79C.", "\b", "\x1b[2K.", "\r"])
def test_a_hostile_flood_is_no_problem(raw: str) -> None:
    assert not CONTROL.search(plain(raw * (300_000 // len(raw))))


def test_pieces_may_be_cut_inside_a_sequence() -> None:
    pieces = Plain()

    shown = [pieces.feed(piece) for piece in ("a\x1b[3", "1mb\x1b]0;ti", "tle\x07c", "\x1b")]

    assert shown == ["a", "b", "c", ""]
    assert pieces.end() == ""


def test_a_line_written_over_in_a_later_piece_begins_anew() -> None:
    pieces = Plain()

    shown = [pieces.feed(piece) for piece in ("10%\r", "20%", "\r30%\r\n", "end\n")]

    assert shown == ["10%", "\n20%", "\n30%\n", "end\n"]


@requirement("REQ-S24")
def test_the_corpus_leaves_no_control_character(corpora: Path) -> None:
    files = sorted(_terminal(corpora).glob("*.in"))

    assert len(files) > 70
    for file in files:
        assert not CONTROL.search(plain(_read(file))), file.name


@pytest.mark.parametrize("name", WITHOUT_ADDRESSING)
def test_what_addresses_no_line_looks_as_on_a_terminal(corpora: Path, name: str) -> None:
    (file,) = _terminal(corpora).glob(f"{name}*.in")

    shown = plain(_wrapped(_read(file)))

    expected = _read(file.with_suffix(".text")).removesuffix("\n")
    assert _screen(shown) == _screen(expected)


def _terminal(corpora: Path) -> Path:
    return corpora / "terminal" / "escape_sequence_files"


def _read(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def _wrapped(text: str) -> str:
    """With the line ends that a terminal of 80 columns adds while it prints."""
    if "\x1b" in text:
        return text
    printed: list[str] = []
    column = 0
    for char in text:
        if char.isprintable() and column == COLUMNS:
            printed.append("\n")
            column = 0
        printed.append(char)
        column = column + 1 if char.isprintable() else _column_after(char, column)
    return "".join(printed)


def _column_after(control: str, column: int) -> int:
    stays = min(column, COLUMNS - 1)
    return {"\b": max(0, stays - 1), "\v": stays, "\f": stays}.get(control, 0)


def _screen(text: str) -> list[str]:
    """What a terminal of 25 rows shows in the end, without blank ends."""
    rows = [row.expandtabs().rstrip() for row in text.split("\n")]
    return "\n".join(rows[-ROWS:]).rstrip("\n").split("\n")
