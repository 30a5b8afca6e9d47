"""Unified diffs are read without losing a line."""

import difflib

import pytest

from arc_workbench.frontends.unified import Line, changed, read
from tests.requirements import requirement
from tests.unit.frontends.turns import CLOCK


def lines(unified: str) -> list[Line]:
    return [line for hunk in read(unified).hunks for line in hunk.lines]


def test_lines_have_their_numbers_before_and_after() -> None:
    shown = [(line.old, line.new, line.sign) for line in lines(CLOCK)]

    assert shown[:3] == [(3, 3, " "), (0, 4, "+"), (0, 5, "+")]
    assert shown[3:7] == [(11, 13, " "), (12, 14, " "), (13, 0, "-"), (14, 0, "-")]
    assert shown[7:] == [(0, 15, "+"), (0, 16, "+"), (15, 17, " ")]


def test_added_and_removed_lines_are_counted() -> None:
    assert changed(CLOCK) == (4, 2)
    assert changed("") == (0, 0)


def test_a_hunk_knows_what_it_is_in() -> None:
    assert [hunk.section for hunk in read(CLOCK).hunks] == ["", "to_minutes"]


@requirement("REQ-S1", "REQ-S25")
def test_no_line_of_a_file_passes_for_a_header() -> None:
    unified = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-@@ -1 +1 @@\n+++ b/y\n+@@ -9 +9 @@\n"

    assert [(line.sign, line.text) for line in lines(unified)] == [
        ("-", "-- a/y"),
        ("-", "@@ -1 +1 @@"),
        ("+", "++ b/y"),
        ("+", "@@ -9 +9 @@"),
    ]


@requirement("REQ-S1")
@pytest.mark.parametrize(
    "unified", ["not a diff", "@@ -1 +1 @@\n a\nsmuggled", "+x", "@@ -1 +1 @@\n*x"]
)
def test_a_line_that_fits_nowhere_is_kept(unified: str) -> None:
    assert [line for line in lines(unified) if line.sign == "?"]


def test_a_missing_newline_is_a_line_of_its_own() -> None:
    unified = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"

    assert [line.sign for line in lines(unified)] == ["-", "\\", "+"]


def test_separators_other_than_the_newline_stay_in_the_line() -> None:
    text = "a\x0bb\x0cc\x85d\u2028e\rf"

    assert [line.text for line in lines(f"@@ -0,0 +1 @@\n+{text}\n")] == [text]


def test_reading_stops_where_it_is_told_to() -> None:
    change = read(CLOCK, 4)

    assert not change.whole
    assert sum(len(hunk.lines) for hunk in change.hunks) == 4


@pytest.mark.parametrize(
    ("before", "after"), [("", "a\nb\n"), ("a\nb\nc\n", "a\nx\nc\n"), ("a\n", "")]
)
def test_what_difflib_writes_is_read_back(before: str, after: str) -> None:
    old, new = before.splitlines(), after.splitlines()
    unified = "\n".join(difflib.unified_diff(old, new, "a/x", "b/x", lineterm="")) + "\n"

    assert [line.text for line in lines(unified) if line.sign in {" ", "-"}] == old
    assert [line.text for line in lines(unified) if line.sign in {" ", "+"}] == new
