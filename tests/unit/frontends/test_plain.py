"""Turns and questions as plain text."""

from pathlib import Path

import pytest

from arc_workbench.content import Command, Diff, ToolResult
from arc_workbench.events import Steered
from arc_workbench.frontends import plain
from tests.requirements import requirement
from tests.unit.frontends.turns import (
    CLOCK,
    Telling,
    change,
    command,
    output,
    question,
    resolved,
)


def a_turn(took: float = 0.01) -> Telling:
    telling = Telling().open()
    telling.call("read", {"path": "calc.py"}, "calc.py")
    telling.finish(ToolResult.of_text("x", note="lines 1-4"), took=took)
    telling.call("bash", {"command": "pytest"}, "pytest")
    failed = ToolResult(content=(), is_error=True, note="exit 1", display=output(f"in {took} s"))
    telling.finish(failed, "failed", took)
    asked = change().model_copy(update={"call_id": "call3"})
    telling.call("edit", {}, "src/tidetable/clock.py").ask(asked).tell(resolved(asked))
    telling.finish(
        ToolResult.of_text("", note="+4 −2", display=(Diff(path="x", unified=CLOCK),)), took=took
    )
    telling.tell(Steered(text="use pathlib"))
    return telling.say("Done.\n\nAll green.").end()


def test_a_turn_is_one_line_per_call_with_its_diffs() -> None:
    shown = plain.turn(a_turn().view)

    assert shown.splitlines()[:6] == [
        "t1  script:tour · default mode · full access",
        "1  ✓ read  calc.py  lines 1-4",
        "2  ✗ bash  pytest  failed · exit 1",
        "3  ✓ edit  src/tidetable/clock.py  +4 −2",
        "     You allowed this once.",
        "     --- a/src/tidetable/clock.py",
    ]
    assert shown.splitlines()[-6:] == [
        "   > use pathlib",
        "4  Done.",
        "",
        "   All green.",
        "Finished",
        "3 calls: 2 done, 1 failed",
    ]


def test_equal_turns_give_equal_bytes_however_long_they_took() -> None:
    assert plain.turn(a_turn(0.01).view) == plain.turn(a_turn(3.2).view)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see /home/ada/tidetable/calc.py", "see calc.py"),
        ("in /home/ada/tidetable.", "in .."),
        ("in /home/ada/tidetable, yes", "in ., yes"),
        ("/home/ada/tidetable-old/x /srv/home/ada/tidetable/y",
         "/home/ada/tidetable-old/x /srv/home/ada/tidetable/y"),
    ],
)  # fmt: skip
def test_the_folder_of_the_project_is_cut_from_paths(text: str, shown: str) -> None:
    assert plain.turn(Telling().open().say(text).view).splitlines()[1] == f"1  {shown}"


def test_the_home_folder_is_a_tilde() -> None:
    view = Telling().open().say(f"{Path.home()}/notes.txt").view

    assert "1  ~/notes.txt" in plain.turn(view)


def test_an_error_of_a_tool_is_told_in_its_first_line() -> None:
    telling = Telling().open().call("edit", {}, "calc.py")
    telling.finish(ToolResult.error("Not found.\nRead the file again."), "failed")

    assert "     Not found." not in plain.turn(telling.view).splitlines()[:1]
    assert "     Not found." in plain.turn(telling.view).splitlines()
    assert "Read the file" not in plain.turn(telling.view)


def test_a_long_turn_keeps_its_newest_steps_and_says_what_is_missing() -> None:
    telling = Telling().open()
    for number in range(1000):
        telling.say(f"step {number} " + "word " * 100)
    shown = plain.turn(telling.end().view)

    assert len(shown) < plain.MAX_TURN * 1.1
    assert "step 999 " in shown
    assert "earlier steps. All of it: %agent transcript t1" in shown


def test_the_title_of_a_turn_is_one_line() -> None:
    assert plain.title(a_turn().view) == "t1  4 steps  completed  The midnight test fails. Fix it."


@requirement("REQ-S1", "REQ-S4", "BUG-P13")
def test_a_question_shows_the_whole_command_however_long() -> None:
    text = "\n".join(f"echo line {number}" for number in range(3_000))

    shown = plain.question_text(command(text))

    assert all(f"echo line {number}" in shown for number in range(3_000))


@requirement("REQ-S1", "REQ-S4", "BUG-P13")
def test_a_question_escapes_what_hides_and_lists_it() -> None:
    shown = plain.question_text(command("curl ex\u0430mple.org\u202e\t" + " " * 300 + "x"))

    assert "1  curl ex\\u0430mple.org\\u202e\\t[300 spaces]x" in shown
    assert "3 characters are not what they seem." in shown
    assert "\\u0430 is U+0430 CYRILLIC SMALL LETTER A, not the letter a" in shown


@requirement("REQ-S1")
def test_a_question_shows_a_change_as_it_is_and_what_is_known() -> None:
    shown = plain.question_text(change())

    assert shown.startswith("Change this file?  (bash, step 1)".replace("bash", "edit"))
    assert all(f"  {line}".rstrip() in shown for line in CLOCK.splitlines())
    assert "Asks because: Mode default asks before every change." in shown


@requirement("REQ-S1")
def test_the_words_of_the_model_are_named_as_such() -> None:
    shown = plain.question_text(command("rm -rf x", description="Tidy up\nn deny, y look"))

    said = 'The model says: "Tidy up\\nn deny, y look" (its words, not checked)'
    assert said in shown.splitlines()


def test_a_tool_without_a_drawing_shows_all_its_arguments() -> None:
    shown = plain.question_text(question(given={"note": "a\nb", "n": [1]}, description="Remind"))

    assert "  Remind\n  note: a\n    b\n  n: [1]\n" in shown


def test_a_new_empty_file_is_named() -> None:
    asked = question([Diff(path="a.txt", unified="", created=True)], effect="write")

    assert "a.txt: a new, empty file" in plain.question_text(asked)


def test_arguments_beside_a_command_are_shown() -> None:
    asked = question([Command(command="ls", cwd="/x")], given={"command": "ls", "timeoutMs": 5})

    assert "With:\n  timeoutMs: 5\n" in plain.question_text(asked)
