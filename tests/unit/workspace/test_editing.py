"""Replacing text and showing the difference, without files."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace.editing import replace, unified_diff
from tests.requirements import requirement


def replaced(text: str, old: str, new: str, *, replace_all: bool = False) -> str:
    return replace(text, old, new, replace_all=replace_all, shown="a.txt").text


@requirement("BUG-E15", "S1-059", "S1-060", "S2-073")
@pytest.mark.parametrize(
    ("text", "old", "places"),
    [
        ("foo\nfoo\nfoo\n", "foo\nfoo\n", "2 places, lines 1 and 2"),
        ("x\ny\nx\nx\n", "x", "3 places, lines 1, 3 and 4"),
        ("x" * 12, "x", "12 places, lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and more"),
        ("x" * 5000, "x", "over 1000 places"),
    ],
)
def test_several_places_are_refused_with_count_and_lines(text: str, old: str, places: str) -> None:
    with pytest.raises(ToolError, match=places) as caught:
        replaced(text, old, "z")

    assert "replaceAll: true" in str(caught.value)
    assert "context" in str(caught.value)


@requirement("BUG-E19")
def test_every_place_is_replaced_in_one_pass() -> None:
    done = replace("aaa", "a", "aa", replace_all=True, shown="a.txt")

    assert (done.text, done.count) == ("aaaaaa", 3)


@requirement("BUG-E9")
@pytest.mark.parametrize("new", ["[\"'(]", r"\1 \g<0> $1 $& \n", "“curly”", "a\\", "\u00a0"])
def test_new_text_is_taken_literally(new: str) -> None:
    assert replaced("x OLD y", "OLD", new) == f"x {new} y"


@requirement("S1-058")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("", "x", "empty"), ("a", "a", "equal"), ("zebra", "x", "not found")],
)
def test_what_cannot_be_replaced_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        replaced("abc", old, new)


@requirement("BUG-E1", "BUG-E2", "J-19", "REQ-S71")
@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nB", "a\r\nB\r\nc\r\n"),
        ("a\r\nb\nc\r\nd", "a\nb\nc\nd", "A\nB\nC\nD", "A\r\nB\nC\r\nD"),
        ("a\r\nb\nc", "a\nb\nc", "1\n2\n3\n4\n5", "1\r\n2\n3\n4\n5"),
        ("a\r\nb\r\n", "a\nb\n", "one\r\ntwo\n", "one\r\ntwo\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\n", "b", "b\nc", "a\r\nb\nc\n"),
        ("a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"),
        ("a\nb\n", "b", "b\r\nc", "a\nb\r\nc\n"),
        ("a\r\nb", "a\nb", "ab", "ab"),
        ("a\r\nb\r\nc\r\n", "\nb", "", "a\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "\nb", "\nb\nd", "a\r\nb\r\nd\r\nc\r\n"),
        ("a\nb\r\nc\n", "\nc", "\nd\ne", "a\nb\r\nd\r\ne\n"),
        ("a\r\nb", "a\r", "c\r", "c\r\nb"),
        ("a\r\nb", "a\r", "c\n", "c\r\nb"),
        ("a\r\nb", "a\r", "c", "c\nb"),
    ],
)
def test_line_ends_stay_what_they_were(text: str, old: str, new: str, result: str) -> None:
    assert replaced(text, old, new) == result


@requirement("BUG-E1", "BUG-E2", "REQ-S71")
@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a\r\nb\nc\r\n", "\n", "", "abc"),
        ("a\r\nb\nc\r\n", "\n", "\n\n", "a\r\n\r\nb\n\nc\r\n\r\n"),
        ("a\r\nb\r\n", "\r", "", "a\nb\n"),
        ("\r\na\r\na\r\n", "\na\r", "", "\n"),
    ],
)
def test_line_ends_in_every_place_are_taken_whole(
    text: str, old: str, new: str, result: str
) -> None:
    assert replaced(text, old, new, replace_all=True) == result


def _original_place(text: str, folded: int) -> int:
    """Where the character is in `text` that is at `folded` once CR LF is one character."""
    at = 0
    for _ in range(folded):
        at += 2 if text.startswith("\r\n", at) else 1
    return at


@requirement("BUG-E1", "BUG-E2", "REQ-S71")
@pytest.mark.parametrize("ends", [["\n"], ["\r\n"], ["\n", "\r\n"]])
def test_no_edit_splits_a_line_end_or_changes_what_is_beside_it(ends: list[str]) -> None:
    chance = random.Random(11)
    tried = 0
    for _ in range(4000):
        text = "".join(chance.choices(["a", "b", "c", *ends], k=chance.randrange(1, 12)))
        first = chance.randrange(len(text))
        cut = text[first : first + chance.randrange(1, 6)]
        old = chance.choice([cut, cut.replace("\r\n", "\n")])
        new = "".join(chance.choices(["a", "x", "\n", "\r\n"], k=chance.randrange(4)))
        plain, plain_old, plain_new = (each.replace("\r\n", "\n") for each in (text, old, new))
        every = chance.random() < 0.3
        try:
            result = replaced(text, old, new, replace_all=every)
        except ToolError:
            continue
        assert "\r" not in result.replace("\r\n", ""), (text, old, new)
        at = plain.find(plain_old)
        if "\r" in plain_old or at < 0 or plain.find(plain_old, at + 1) >= 0:
            continue
        tried += 1
        head = text[: _original_place(text, at)]
        tail = text[_original_place(text, at + len(plain_old)) :]
        assert result.startswith(head), (text, old, new)
        assert result.endswith(tail), (text, old, new)
        middle = result[len(head) : len(result) - len(tail)]
        assert middle.replace("\r\n", "\n") == plain_new, (text, old, new)
    assert tried > 500


@requirement("BUG-E7")
def test_a_canonical_match_leaves_the_rest_of_the_spelling_alone() -> None:
    done = replace("cafe\u0301 ole\u0301", "café", "tea", replace_all=False, shown="a.txt")

    assert (done.text, done.likeness) == ("tea ole\u0301", "characters")


@pytest.mark.parametrize("name", ["plain.txt", "/abs/x.txt", "two\nlines\x1b[2J"])
def test_the_headers_of_a_diff_name_the_file_on_one_line(name: str) -> None:
    lines = unified_diff("a\n", "b\n", name).splitlines()

    assert lines[0].startswith("--- a/")
    assert lines[1].startswith("+++ b/")
    assert lines[2] == "@@ -1 +1 @@"
    assert "\x1b" not in lines[0]


@requirement("S1-063")
def test_a_diff_has_three_lines_of_context() -> None:
    before = "".join(f"{n}\n" for n in range(1, 31))
    after = before.replace("10\n", "ten\n").replace("25\n", "")

    assert unified_diff(before, after, "n.txt").splitlines()[2:] == [
        "@@ -7,7 +7,7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13",
        "@@ -22,7 +22,6 @@", " 22", " 23", " 24", "-25", " 26", " 27", " 28",
    ]  # fmt: skip


def test_a_new_file_is_compared_with_nothing() -> None:
    assert unified_diff(None, "a\nb", "n.txt") == (
        "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    )
    assert unified_diff("same", "same", "n.txt") == ""


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
def test_the_patch_program_turns_old_into_new_with_our_diff(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(25):
        before = _some_text(chance)
        after = _some_change(before, chance)
        target = tmp_path / "a.txt"
        target.write_bytes(before.encode())
        diff = unified_diff(before, after, "a.txt")
        subprocess.run(
            ["patch", "--binary", "-s", str(target)], input=diff.encode(), check=bool(diff)
        )
        assert target.read_bytes() == after.encode()


def _some_text(chance: random.Random) -> str:
    count = chance.randrange(0, 40)
    return "".join(chance.choice("abc") + chance.choice(["\n", "\n", "\r\n"]) for _ in range(count))


def _some_change(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(0, len(lines) + 1)
        lines[at : at + chance.randrange(0, 3)] = ["new\n"] * chance.randrange(0, 3)
    return "".join(lines) + chance.choice(["", "end"])


def test_a_costly_comparison_gives_a_coarser_diff_of_the_same_change() -> None:
    before = "".join(f"{n % 7}\n" for n in range(4000))
    pairwise = unified_diff(before, before.replace("3\n", "three\n"), "n.txt")
    block = unified_diff(before, "x\n" + "".join(f"{n % 5}\n" for n in range(3000)), "n.txt")

    assert pairwise.count("\n-3\n+three\n") == before.count("3\n")
    assert block.count("\n@@ ") == 1
