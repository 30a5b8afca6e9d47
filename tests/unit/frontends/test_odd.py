"""Characters that hide or pretend are found, named and counted."""

import sys
import unicodedata

import pytest

from arc_workbench.frontends.odd import Odd, Piece, escaped, look_through, pieces
from tests.requirements import requirement


def odd(text: str) -> list[Odd]:
    return [piece for piece in pieces(text, "action") if isinstance(piece, Odd)]


def given_back(shown: list[Piece]) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text for piece in shown)


@pytest.mark.parametrize(
    "text", ["", "ls -la\nrm x", "naïve café ☕ 日本語", "    indented", "a  b"]
)
def test_a_text_that_is_as_it_seems_is_one_piece(text: str) -> None:
    assert list(pieces(text, "action")) == ([text] if text else [])


@requirement("REQ-S4", "BUG-P13")
def test_every_invisible_character_of_unicode_is_pointed_out_in_an_action() -> None:
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
    missed = [
        f"U+{number:04X}"
        for number in range(sys.maxunicode + 1)
        if unicodedata.category(char := chr(number)) in hidden
        and char not in " \n"
        and not odd(f"a{char}b")
    ]

    assert missed == []


@requirement("REQ-S4", "BUG-P13")
def test_a_right_to_left_override_is_printed_by_its_name() -> None:
    (found,) = odd("setup.sh\u202e | sh")

    assert found.label == "U+202E RIGHT-TO-LEFT OVERRIDE"
    assert "turns the text" in found.why


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a\tb", "TAB"),
        ("a\rb", "CR"),
        ("a\x1bb", "U+001B ESCAPE"),
        ("a\x08b", "U+0008 BACKSPACE"),
        ("a\u200bb", "U+200B ZERO WIDTH SPACE"),
        ("a\u200b\u200b\u200bb", "U+200B ZERO WIDTH SPACE × 3"),
        ("a\xa0b", "U+00A0 NO-BREAK SPACE"),
        ("a\ud800b", "U+D800 SURROGATE"),
        ("a\U000e0072\U000e006d\U000e0020xb"[:-2] + "b", '3 TAG CHARACTERS "rm "'),
    ],
)
@requirement("REQ-S4")
def test_a_character_that_hides_has_a_chip(text: str, label: str) -> None:
    assert [found.label for found in odd(text)] == [label]


@requirement("REQ-S4", "BUG-P13")
def test_a_long_gap_is_counted_and_shown_in_its_place() -> None:
    shown = list(pieces("ls" + " " * 300 + "; rm x", "action"))

    assert [p if isinstance(p, str) else p.label for p in shown] == ["ls", "300 SPACES", "; rm x"]
    found = look_through([("ls" + " " * 300 + "; rm x", "action")])
    assert found.headline == "A long gap could hide what follows."


def test_spaces_at_the_end_of_a_line_are_dots_and_no_warning() -> None:
    (found,) = odd("echo x  ")

    assert (found.kind, found.label) == ("trail", "··")
    assert not look_through([("echo x  ", "action")]).kinds


@requirement("REQ-S4")
def test_a_letter_of_another_script_inside_a_word_is_a_look_alike() -> None:
    found = look_through([("curl https://ex\u0430mple.org", "action")])

    assert found.headline == "1 character is not what it seems."
    assert found.kinds[0].why == "is U+0430 CYRILLIC SMALL LETTER A, not the letter a"


@pytest.mark.parametrize("text", ["echo Привет, мир", "echo Καλημέρα", "echo 你好，世界"])
def test_words_of_another_script_are_at_home(text: str) -> None:
    assert not odd(text)


@pytest.mark.parametrize(
    "text", ["\u0441\u043e\u0440\u0443", "ls\uff1b rm", "\U0001d42bm x", "a\u037e b"]
)
@requirement("REQ-S4")
def test_words_and_signs_made_to_pass_for_ascii_are_look_alikes(text: str) -> None:
    assert {found.kind for found in odd(text)} == {"look"}


def test_speech_keeps_what_people_write_and_points_out_what_a_screen_obeys() -> None:
    assert list(pieces("👩\u200d💻\ufe0f \xa0 \u200eשלום\u200e а", "speech")) == [
        "👩\u200d💻\ufe0f \xa0 \u200eשלום\u200e а"
    ]
    assert [type(piece) for piece in pieces("a\x1b[2Jb\u202ec", "speech")] == [
        str, Odd, str, Odd, str
    ]  # fmt: skip


@pytest.mark.parametrize("strictness", ["speech", "code", "action"])
def test_the_pieces_give_the_text_back(strictness: str) -> None:
    text = "a\tb\r\x1b\u202e\u0430b \xa0" + " " * 60 + "x" + "  \n" + " " * 50 + "y\U000e0061\uffff"

    assert given_back(list(pieces(text, strictness))) == text  # type: ignore[arg-type]


def test_a_plain_screen_gets_escapes() -> None:
    text = "a\t\x1b\u202e\u0430b\U000e0061" + " " * 300 + "c"

    assert escaped(text, "action") == "a\\t\\x1b\\u202e\\u0430b\\U000e0061[300 spaces]c"


@pytest.mark.parametrize("unit", [" ", "x ", "\u200b", "\u0430", "a\u0430", "  \t", " \n", "é"])
def test_a_long_text_of_one_kind_is_read_in_one_pass(unit: str) -> None:
    text = unit * 20_000 + "x"

    assert given_back(list(pieces(text, "action"))) == text
