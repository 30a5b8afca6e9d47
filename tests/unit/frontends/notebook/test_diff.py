"""A change as it is drawn."""

import re

import pytest

from arc_workbench.content import Diff
from arc_workbench.frontends.notebook.diff import DETAILED, WHOLE, Bounds, diff, is_cut
from arc_workbench.frontends.notebook.elements import text_of, to_html
from tests.requirements import requirement
from tests.unit.frontends.turns import CLOCK


def drawn(unified: str, path: str = "a.txt", *, created: bool = False) -> str:
    return to_html(diff(Diff(path=path, unified=unified, created=created)))


def hunk(*lines: str, old: int = 1, new: int = 1) -> str:
    before = sum(line[:1] in {" ", "-"} for line in lines)
    after = sum(line[:1] in {" ", "+"} for line in lines)
    return "\n".join((f"@@ -{old},{before} +{new},{after} @@", *lines)) + "\n"


def test_without_any_style_the_drawing_is_the_change_with_its_numbers() -> None:
    text = text_of(diff(Diff(path="src/clock.py", unified=CLOCK)))

    assert text.splitlines() == [
        "src/clock.py +4 −2top of the file",
        "   3   3   from datetime import time",
        "       4 + ",
        "       5 + DAY = 24 * 60",
        "inside to_minutes",
        "  11  13   def to_minutes(text: str) -> int:",
        "  12  14       # Minutes since midnight; 24:00 closes the day.",
        '  13     −     hours, minutes = text.split(":")',
        "  14     −     return int(hours) * 60 + int(minutes)",
        '      15 +     hours, minutes = (int(part) for part in text.split(":", 1))',
        "      16 +     return (hours * 60 + minutes) % DAY",
        "  15  17   ",
    ]


def test_the_words_that_changed_are_marked() -> None:
    html = drawn(hunk('-version = "1.4.9"', '+version = "1.5.0"'))

    assert re.findall(r"<del>(.*?)</del>", html) == ["4", "9"]
    assert re.findall(r"<ins>(.*?)</ins>", html) == ["5", "0"]


def test_lines_with_little_in_common_are_not_marked() -> None:
    html = drawn(hunk("-import os", "+return compute(everything, at=once)"))

    assert "<del>" not in html
    assert "<ins>" not in html


def test_code_is_coloured_by_the_name_of_its_file() -> None:
    line = hunk('+def f(): return "a"  # c')

    html = drawn(line, "a.py")
    assert '<span class="aw-k">def</span>' in html
    assert '<span class="aw-s">"a"</span>' in html.replace('</span><span class="aw-s">', "")
    assert '<span class="aw-c"># c</span>' in html
    assert "aw-k" not in drawn(line, "a.txt")


@pytest.mark.parametrize(
    ("unified", "words"),
    [
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
         ", before and after"),
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", ", before"),
        ("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", ", after"),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n", ", before and after"),
    ],
)  # fmt: skip
def test_a_missing_newline_at_the_end_is_said_once(unified: str, words: str) -> None:
    found = re.findall(r"No newline at the end of the file([^<]*)", drawn(unified))

    assert found == [words]


def test_a_new_file_is_called_new() -> None:
    html = drawn(hunk("+a", "+b"), created=True)

    assert '<span class="aw-tag">new</span>' in html
    assert "2 lines" in html
    assert "top of the file" not in html
    assert "empty" in drawn("", created=True)


def test_line_ends_of_another_system_are_said_once() -> None:
    html = drawn(hunk("-a\r", "+b\r"))

    assert "CRLF line ends" in html
    assert "aw-odd" not in html
    assert "CR</span>" in drawn(hunk("-a", "+b\r"))


@requirement("REQ-S4", "REQ-S25")
def test_characters_that_hide_are_printed_in_their_place() -> None:
    html = drawn(hunk("+access = \u202e'admin'\u200b  "), "a.py")

    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in html
    assert "U+200B ZERO WIDTH SPACE" in html
    assert '<span class="aw-space">··</span>' in html


@requirement("REQ-S30")
def test_a_huge_change_says_how_much_of_it_is_not_shown() -> None:
    block = Diff(path="a", unified=hunk(*(f"+{n}" for n in range(12_185))))
    html = to_html(diff(block, where="%agent transcript t2"))

    assert html.count("aw-add") == 200
    assert "11,985 changed lines not shown here." in html
    assert "All of it: <code>%agent transcript t2</code>" in html


@requirement("REQ-S30")
def test_a_huge_line_says_how_much_of_it_is_not_shown() -> None:
    html = drawn(hunk("+" + "x" * 1_000_000))

    assert len(html) < 10_000
    assert "… 998,000 more characters" in html


@requirement("REQ-S4")
def test_what_somebody_is_asked_about_is_whole_or_known_to_be_cut() -> None:
    some = Diff(path="a", unified=hunk(*(f"+{n}" for n in range(5_000))))
    most = Diff(path="a", unified=hunk(*(f"+{n}" for n in range(20_000))))
    wide = Diff(path="a", unified=hunk("+" + "x" * 100_001))

    assert to_html(diff(some, WHOLE)).count("aw-add") == 5_000
    assert not is_cut(some, WHOLE)
    assert is_cut(most, WHOLE)
    assert is_cut(wide, WHOLE)
    assert is_cut(some, Bounds())


@requirement("REQ-S30")
def test_a_million_lines_are_drawn_within_bounds() -> None:
    html = drawn("@@ -0,0 +1,1000000 @@\n" + "+x\n" * 1_000_000)

    assert len(html) < 100_000
    assert "+1,000,000 −0" in html


def test_what_is_left_out_says_where_it_is() -> None:
    many = "".join(f"+line {number}\n" for number in range(5_000))
    block = Diff(path="a.txt", unified=f"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,5000 @@\n{many}")

    assert "All of it: %agent changes c7" in text_of(diff(block, where="%agent changes c7"))
    assert "1,000 changed lines not shown here. They stand in the file itself." in (
        text_of(diff(block, DETAILED))
    )
