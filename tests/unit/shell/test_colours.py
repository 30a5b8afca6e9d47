"""The colours of terminal output, as ranges over its plain text."""

import random
import re
from typing import get_args

import pytest

from arc_workbench.content import Colour, Style
from arc_workbench.shell.colours import MAX_STYLES, styled
from arc_workbench.shell.plain import Plain, plain
from tests.requirements import requirement

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ALL = 10**6
ALPHABET = (
    *"\x1b[]P\x9b\x9d\x9c\x07\\05;:?!KGCDXPmab\xe9 \n\r\b\t\v\x85\x84\x18",
    *(
        "\x1b[31m",
        "\x1b[m",
        "\x1b[1;4m",
        "\x1b[38;5;200m",
        "\x1b[48:2::1:2:3m",
        "\x1b[2K",
        "\x1b[1K",
    ),
    *("\x1b]0;t\x07", "\x1b[3D", "\x1b[2P", "\x1b[2@", "\x1b[9X", "\x1b[90C", "text", "x" * 90),
)
LETTERS = {"a": (), "b": ("red",), "c": ("bold",), "d": ("green", "underline"), "e": ("blue",)}
PENS = {"a": "0", "b": "0;31", "c": "0;1", "d": "0;4;32", "e": "0;34"}


def looks(raw: str) -> list[tuple[str, str]]:
    """Each look with the text it lies over."""
    text, styles = styled(raw, ALL)
    return [(style.look, text[style.start : style.end]) for style in styles]


@requirement("REQ-S24")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("plain", []),
        ("\x1b[31mred\x1b[0m x", [("red", "red")]),
        ("\x9b31mred\x9bm x", [("red", "red")]),
        ("\x1b[1;31mx\x1b[22my", [("bold", "x"), ("red", "xy")]),
        ("\x1b[91mx\x1b[39my\x1b[97mz", [("bright_red", "x"), ("bright_white", "z")]),
        ("\x1b[2;3;4mx\x1b[23;24my\x1b[22mz", [("italic", "x"), ("underline", "x"), ("dim", "xy")]),
        ("\x1b[4:3mx\x1b[4:0my\x1b[21mz", [("underline", "x"), ("underline", "z")]),
        ("\x1b[7mx\x1b[27my", [("bold", "x")]),
        ("\x1b[30;42mPASS\x1b[49mx", [("bold", "PASS"), ("green", "PASS"), ("black", "x")]),
        ("\x1b[37;40mx", [("white", "x")]),
        ("\x1b[38;5;9mx", [("bright_red", "x")]),
        ("\x1b[38;5;208mx\x1b[38;5;240my", [("yellow", "x"), ("bright_black", "y")]),
        ("\x1b[38;2;250;5;5mx", [("bright_red", "x")]),
        ("\x1b[38:2::0:0:240mx\x1b[38:2:0:200:0my", [("blue", "x"), ("green", "y")]),
        ("\x1b[38:5:1mx", [("red", "x")]),
        ("\x1b[58;5;1;3mx", [("italic", "x")]),
        ("\x1b[38;5;999;3mx\x1b[38;9;3my", [("italic", "xy")]),
        ("\x1b[38mx\x1b[38;5my\x1b[38;2;1mz", [("black", "yz")]),
        ("\x1b[99999999999999999999mx\x1b[38;2;999;0;0my", [("bright_red", "y")]),
        ("\x1b[>4;2mx\x1b[?1my\x1b[1 mz", []),
        ("\x1b[31ma\nb\tc\x1b[0m\td", [("red", "a\nb\tc")]),
        ("\x1b[31;\x1b[32mx", [("green", "x")]),
        ("\x1b]0;\x1b[31mx", [("red", "x")]),
        ("\x1b]0;[31mtitle\x07x", []),
    ],
)
def test_what_a_sequence_asks_for_lies_over_the_text_it_is_for(
    raw: str, expected: list[tuple[str, str]]
) -> None:
    assert sorted(looks(raw)) == sorted(expected)


@requirement("REQ-F46")
@pytest.mark.parametrize(
    ("raw", "text", "expected"),
    [
        ("\x1b[31m 5%\r\x1b[32m100%", "100%", [("green", "100%")]),
        ("\x1b[31mlong\r\x1b[32mab", "abng", [("green", "ab"), ("red", "ng")]),
        ("\x1b[31mlong\x1b[2K\r\x1b[0mab", "ab", []),
        ("\x1b[31mabc\x1b[0m\b\bx", "axc", [("red", "a"), ("red", "c")]),
        ("\x1b[31ma\x1b[3Cb", "a   b", [("red", "a"), ("red", "b")]),
        ("\x1b[31mabc\x1b[2D\x1b[K", "a", [("red", "a")]),
        ("\x1b[31mabcd\x1b[3D\x1b[2P", "ad", [("red", "ad")]),
    ],
)
def test_a_look_goes_where_its_characters_go(
    raw: str, text: str, expected: list[tuple[str, str]]
) -> None:
    assert styled(raw, ALL)[0] == text
    assert looks(raw) == expected


def test_all_sixteen_colours_have_their_names() -> None:
    bright = [*range(30, 38), *range(90, 98)]

    named = [looks(f"\x1b[{code}mx")[0][0] for code in bright]
    numbered = [looks(f"\x1b[38;5;{code}mx")[0][0] for code in range(16)]

    assert named == numbered == [*get_args(Colour)]


def test_the_end_that_is_kept_has_its_own_styles() -> None:
    raw = "\x1b[31mabc\x1b[0mdef\x1b[32mghi"

    assert styled(raw, 7) == (
        "cdefghi",
        (Style(start=0, end=1, look="red"), Style(start=4, end=7, look="green")),
    )
    assert styled(raw, 3) == ("ghi", (Style(start=0, end=3, look="green"),))


@requirement("REQ-S24", "REQ-F46")
def test_the_text_is_the_plain_text_whatever_the_input() -> None:
    dice = random.Random(11)
    for _ in range(3_000):
        raw = "".join(dice.choices(ALPHABET, k=dice.randint(0, 60)))
        keep = dice.choice((1, 5, 50, ALL))

        text, styles = styled(raw, keep)

        assert text == plain(raw)[-keep:], raw
        assert not CONTROL.search(text), raw
        assert all(0 <= each.start < each.end <= len(text) for each in styles), raw
        assert list(styles) == sorted(styles, key=lambda each: (each.start, each.end)), raw


@requirement("REQ-S24")
def test_random_bytes_are_no_problem() -> None:
    dice = random.Random(12)
    for _ in range(500):
        raw = dice.randbytes(dice.randint(0, 300)).decode("utf-8", "replace")
        raw += dice.randbytes(100).decode("latin-1")

        text, _ = styled(raw, ALL)

        assert text == plain(raw)
        assert not CONTROL.search(text)


def test_every_character_keeps_its_own_look_through_any_movement() -> None:
    dice = random.Random(13)
    moves = ("\r", "\b", "\n", "\t", "\v", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[3C", "\x1b[2D")
    moves += ("\x1b[5G", "\x1b[2X", "\x1b[2P", "\x1b[2@", "\x1b]0;x\x07", "\x1b[H", "\x1b")
    for _ in range(1_000):
        raw = ""
        for _ in range(dice.randint(1, 30)):
            letter = dice.choice("abcde")
            raw += f"\x1b[{PENS[letter]}m{letter * dice.choice((1, 2, 7, 90))}{dice.choice(moves)}"

        text, styles = styled(raw, ALL)

        for at, char in enumerate(text):
            if char in LETTERS:
                here = sorted(each.look for each in styles if each.start <= at < each.end)
                assert here == sorted(LETTERS[char]), (raw, at)


def test_text_that_comes_in_pieces_is_the_whole_when_nothing_is_written_over() -> None:
    dice = random.Random(14)
    parts = (
        "word ",
        "\n",
        "\r\n",
        "\x1b[31m",
        "\x1b[0m",
        "\x1b]0;t\x07",
        "\x9b1m",
        "\xe9\t",
        "\x1bE",
    )
    for _ in range(500):
        raw = "".join(dice.choices(parts, k=30))
        pieces, shown = Plain(), ""
        at = 0
        while at < len(raw):
            step = dice.randint(1, 9)
            shown += pieces.feed(raw[at : at + step])
            at += step

        assert shown + pieces.end() == styled(raw, ALL)[0]


@pytest.mark.parametrize(
    "raw", ["\x1b[31mx\x1b[32my", "\x1b[1;38;2;1;2;3mx\r", "\x1b[P\x1b[31mx", "\x1b[9;", "\x1b[:m"]
)
def test_a_flood_of_colours_gives_a_bounded_number_of_ranges(raw: str) -> None:
    text, styles = styled(raw * (500_000 // len(raw)), 50_000)

    assert len(styles) <= MAX_STYLES
    assert text == plain(raw * (500_000 // len(raw)))[-50_000:]
    if len(styles) == MAX_STYLES:
        assert styles[-1].end == len(text)


def test_one_sequence_with_very_many_parameters_is_read_once() -> None:
    assert looks("\x1b[" + "1;31;" * 100_000 + "4mx") == [
        ("bold", "x"),
        ("red", "x"),
        ("underline", "x"),
    ]


@requirement("REQ-F46")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("abcd\x1b[2D\x1b[1Kx", "  xd"),
        ("abcd\x1b[3D\x1b[2X", "a  d"),
        ("abcd\x1b[3D\x1b[2P", "ad"),
        ("abcd\x1b[3D\x1b[2@", "a  bcd"),
        ("ab\x1b[3ac\x1b[2`x", "ax   c"),
        ("a\x1b[3;9Cb", "a   b"),
        ("a\x1bEb\x1bDc", "a\nb\n c"),
        ("a\x1b[*2;\x18b", "ab"),
        ("x" * 80 + "\x1b[D!", "x" * 78 + "!x"),
        ("x" * 80 + "\x1b[K", "x" * 80),
        ("x" * 80 + "\x1b[P\x1b[X", "x" * 80),
        ("x" * 100 + "\r\x1b[80D\x1b[99P", " " * 80 + "x" * 20),
    ],
)
def test_what_edits_a_line_is_followed_and_nothing_in_the_last_column_is_lost(
    raw: str, shown: str
) -> None:
    assert plain(raw) == styled(raw, ALL)[0] == shown
