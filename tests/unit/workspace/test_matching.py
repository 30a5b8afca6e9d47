"""Finding a text in another, and what may be overlooked to find it."""

import pytest

from arc_workbench.workspace.matching import Span, find
from tests.requirements import requirement


def found(text: str, old: str, *, every: bool = False) -> list[str]:
    return [text[span.start : span.end] for span in find(text, old, every=every).spans]


@requirement("BUG-E15")
def test_overlapping_places_are_all_counted() -> None:
    match = find("foo\nfoo\nfoo\n", "foo\nfoo\n", every=False)

    assert match.spans == (Span(0, 8), Span(4, 12))


def test_one_pass_over_every_place_leaves_out_overlaps() -> None:
    assert find("aaaaa", "aa", every=True).spans == (Span(0, 2), Span(2, 4))


@requirement("BUG-E1", "BUG-E3", "J-19")
@pytest.mark.parametrize(
    ("text", "old", "spelled"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "a\r\nb"),
        ("\tif x:\r\n\t\ty\r\n", "\tif x:\n\t\ty\n", "\tif x:\r\n\t\ty\r\n"),
        ("a\nb\r\nc\n", "a\nb\nc", "a\nb\r\nc"),
        ("a\nb\n", "a\r\nb", "a\nb"),
        ("\r\n\r\nx", "\n\nx", "\r\n\r\nx"),
    ],
)
def test_line_ends_are_overlooked_when_nothing_matches_exactly(
    text: str, old: str, spelled: str
) -> None:
    assert found(text, old) == [spelled]
    assert find(text, old, every=False).likeness == "line ends"


def test_an_exact_place_wins_over_a_likeness() -> None:
    match = find("a\r\nb a\nb", "a\nb", every=False)

    assert (match.likeness, len(match.spans)) == ("exact", 1)


@requirement("BUG-E7")
@pytest.mark.parametrize(
    ("text", "old", "spelled"),
    [
        ("cafe\u0301 ole\u0301", "café", "cafe\u0301"),
        ("café olé", "cafe\u0301", "café"),
        ("x\r\ncafe\u0301\r\n", "café\n", "cafe\u0301\r\n"),
        ("q\u0323\u0307 q\u0307\u0323.", "q\u0307\u0323.", "q\u0307\u0323."),
        ("한글", "\u1112\u1161\u11ab글", "한글"),
    ],
)
def test_other_spellings_of_the_same_characters_are_found(
    text: str, old: str, spelled: str
) -> None:
    assert found(text, old) == [spelled]


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("e\u0301\u0323 é", "\u1eb9\u0300"),
        ("\u1112\u1161\u11ab", "하"),  # the first two of three letters of one syllable
        ("é", "e"),
    ],
)
def test_half_a_character_is_not_a_place(text: str, old: str) -> None:
    assert found(text, old) == []


def test_a_text_that_repeats_without_end_is_counted_only_so_far() -> None:
    assert len(find("a" * 100_000, "aa", every=False).spans) == 1001
