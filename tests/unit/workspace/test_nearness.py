"""What is said about a text that was not found: where it nearly stands, and what differs."""

import random
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from arc_workbench.workspace.differing import SHOWN_CHARS, quoted
from arc_workbench.workspace.editing import replace
from arc_workbench.workspace.matching import never
from arc_workbench.workspace.nearness import nearest
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter


def words(text: str, old: str, new: str = "z") -> str:
    return nearest(text, old, new, never).words


@requirement("S1-058")
@pytest.mark.parametrize(
    ("text", "old", "line", "said"),
    [
        ("a\ndef f():\n\treturn x\n", "def f():\n    return x", 3, "1 tab, the text with 4 spaces"),
        ("x\n  a\n", "\n\t  a", 2, "2 spaces, the text with 1 tab and 2 spaces"),
        ("\u00a0\u00a0a b\n", "  a b", 1, "2 times U+00A0 NO-BREAK SPACE, the text with 2 spaces"),
        ("foo  \nbar\n", "foo\nbar", 1, "ends with 2 spaces, the text with no blank"),
        ("foo\nbar\n", "foo\t\nbar", 1, "ends with no blank, the text with 1 tab"),
        ("x = 'a\u00a0b'\n", "x = 'a b'", 1, "U+00A0 NO-BREAK SPACE where the text has U+0020"),
        ("a\u200bb = 2\n", "ab = 2", 1, "U+200B ZERO WIDTH SPACE, which cannot be seen"),
        ("ab = 2\n", "a\u200bb = 2", 1, "text holds U+200B ZERO WIDTH SPACE, which cannot be"),
        ("ab = 2\n", "\ufeffab = 2", 1, "the text holds U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("a\x07b\n", "ab\n", 1, "U+0007"),
        ("say \u2018hi\u2019\n", "say 'hi'", 1, "U+2018 LEFT SINGLE QUOTATION MARK where the text"),
        ("say \"hi\"\n", "say \u201chi\u201d", 1, "U+0022 QUOTATION MARK where the text has U+201"),
        ("1\u20132\n", "1-2", 1, "U+2013 EN DASH where the text has U+002D HYPHEN-MINUS"),
        ("\u0440assword\n", "password", 1, "U+0440 CYRILLIC SMALL LETTER ER where the text"),
        ("x\nFoo = 1\n", "foo = 1", 2, "upper and lower case differ"),
        ("a  +  b\n", "a + b", 1, 'it has 2 spaces after "a", the text has 1 space'),
        ("a\tb\n", "a  b", 1, "it has 1 tab after"),
        ("cafe\u0301 x\ty", "café x  y", 1, "1 tab after"),
        ("last line", "last line\n", 1, "the file ends there, the text goes on with a line end"),
        ("a\rb\rc", "a\nb", 1, "CR alone (U+000D)"),
        ("a\n\nb = 3\n", "a\nb = 3\n", 2, "the file has an empty line there"),
        ("a\nb = 3\n", "a\n\nb = 3\n", 2, "the text has an empty line there"),
        ("if (a &&\n b) {}\n", "if (a && b) {}\n", 1, 'line ends stand elsewhere than in the text'),
        ("one\r\n\ttwo\r\n", "one\n  two\n", 2, "indented with 1 tab, the text with 2 spaces"),
    ],
)  # fmt: skip
def test_the_first_line_that_differs_is_named_with_what_differs(
    text: str, old: str, line: int, said: str
) -> None:
    near = nearest(text, old, "z", never)

    assert near.line == line
    assert said in near.words
    assert f"line {line}, " in near.words


@requirement("S1-058")
@pytest.mark.parametrize(
    ("text", "old", "said"),
    [
        ("a\none\ntwo\n", "     2\tone\n     3\ttwo", "line 2 without the line numbers"),
        ("a\none\n", "2: one", "line 2 without the line numbers"),
        ("a\none\n", "2→one", "line 2 without the line numbers"),
        ("one\ntwo\n", "one\\ntwo", "line 1 without the escapes"),
        ('say "x"\n', 'say \\"x\\"', "line 1 without the escapes"),
        ('s = "one\\ntwo"\n', "one\ntwo", "line 1 with escapes"),
        ("a < b && c\n", "a &lt; b &amp;&amp; c", "send < and &"),
        ("a &lt; b\n", "a < b", "in the file there are &lt; for <"),
    ],
)
def test_what_crept_in_on_the_way_is_named(text: str, old: str, said: str) -> None:
    assert said in words(text, old)


@requirement("S1-058")
@pytest.mark.parametrize(
    ("text", "old", "said"),
    [
        (
            "def foo(a, b):\n    return a\n\ndef bar(a, c):\n    return c\n",
            "def bar(a, c):\n    return d\n",
            'line 5, where the file has "    return c" and the text "    return d"',
        ),
        ("x\nold start\nsame line here\n", "new start\nsame line here\n", "line 2, where the file"),
        ("first\nresult = compute(all)\n", "result = calculate(all, of, it)", "line 2, where"),
        ("one\nreturn the_sum(of, it)\n", "give the_sum(of, this)", "line 2, where the file"),
        ("x = 1\ny = 2\nprint(x)\n", "x = 1\nprint(x)", 'line 2: the file has "y = 2" there, the'),
        ("call(one, two, three)\n", "call(one, three)", 'line 1: the file has "two," there, the t'),
        ("foo()\nbar()\nbaz()\n", "foo()\nbaz()\n", 'line 2: the file has "bar()" there, the'),
        ("ends here", "ends here\nand more", 'The file ends at line 1, "ends here", where the te'),
        ("hello\n", "something else", "Nothing in this file is like it"),
        ("", "abc", "Nothing in this file"),
        ("hello", "   \n", "nothing but blanks"),
        ("hello", "\u200b", "Nothing in this file"),
    ],
)
def test_what_is_alike_in_part_is_set_side_by_side(text: str, old: str, said: str) -> None:
    assert said in words(text, old)


@requirement("S1-058")
def test_an_edit_that_was_made_before_is_recognised() -> None:
    said = words("x\ndef new_name():\n", "def old_name():", "def new_name():")

    assert said == "The new text stands at line 2 already: was this edit made before?"


@requirement("S1-058")
def test_a_miss_says_what_is_wrong_where_and_what_to_do_in_one_short_paragraph() -> None:
    text = "def f():\n\treturn 1\n" + "x" * 100_000 + "\n"

    for old in ("def f():\n    return 1", "x" * 90_000 + "y", "y" + "x" * 200_000, "q" * 10_000):
        with pytest.raises(ToolError) as caught:
            replace(text, old, "z", replace_all=False, shown="a.py")
        said = str(caught.value)
        assert said.startswith("a.py: the text to replace was not found; nothing was written. ")
        assert said.endswith("Read the file and copy the text exactly, without line numbers.")
        assert "\n" not in said
        assert len(said) < 800


def test_the_line_is_in_the_details_too() -> None:
    with pytest.raises(ToolError) as caught:
        replace("a\nFoo\n", "foo", "z", replace_all=False, shown="a.py")

    assert caught.value.details == {"line": 2}


def test_a_line_is_quoted_so_that_it_can_be_sent_back_and_nothing_hides_in_it() -> None:
    assert quoted('\ta\u00a0"b\\"\u202e\ud800\U000e0041é') == (
        '"\\ta\\u00a0\\"b\\\\\\"\\u202e\\ud800\\udb40\\udc41é"'
    )
    long = quoted("x" * 500 + "HERE" + "y" * 500, 500)
    assert len(long) == SHOWN_CHARS + 4
    assert long.startswith('…"xxx')
    assert "HERE" in long
    assert long.endswith('yyy"…')


def test_a_miss_in_random_text_is_explained_whatever_it_holds() -> None:
    chance = random.Random(5)
    pieces = [
        "a",
        "B",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "'",
        '"',
        "\\n",
        "1\t",
        "&lt;",
        "{",
        "}",
    ]
    pieces += ["\u00a0", "é", "e\u0301", "\u200b", "ß", "\U0001f600", "\u2019", "\ufeff", "İ"]
    explained = 0
    for _ in range(3000):
        text = "".join(chance.choices(pieces, k=chance.randrange(0, 30)))
        old = "".join(chance.choices(pieces, k=chance.randrange(1, 12)))
        if chance.random() < 0.5 and text:
            at = chance.randrange(len(text))
            old = text[at : at + 9].swapcase().replace(" ", "\t") or "x"
        near = nearest(text, old, "new", never)
        assert near.words
        assert near.line is None or 1 <= near.line <= text.count("\n") + 1
        explained += near.line is not None
    assert explained > 500


@requirement("REQ-S65")
@pytest.mark.parametrize(
    "text",
    ["a\n" * (4 << 20), "\n" * (8 << 20), "a" * (8 << 20), " " * (8 << 20), "ab " * (2 << 20)],
    ids=["short lines", "empty lines", "one line", "blanks", "words"],
)
@pytest.mark.parametrize("old", ["a" * 100_000 + "b", "ab\tac ad ae", "b\n" * 50_000])
def test_a_miss_in_the_largest_file_is_explained_in_time(text: str, old: str) -> None:
    assert words(text, old)


@requirement("REQ-S65")
def test_a_person_can_stop_the_explanation(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("some words\n" * 400_000, encoding="utf-8")
    place = workspace.inside("a.txt")

    for looks in (20, 400, 1100):
        with pytest.raises(ToolError, match="Aborted"):
            workspace.plan_edit(place, "words that some\n", "x", signal=StopAfter(looks))
