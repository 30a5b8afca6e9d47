"""How a command ended, in sentences."""

from functools import partial

import pytest

from arc_workbench.shell.notes import (
    NO_SANDBOX,
    asked,
    how_it_ended,
    notes,
    question,
    shell_exit_code,
)
from arc_workbench.shell.states import JobState, Limit, Result, Status, Survivor, Tail
from tests.requirements import requirement

state = partial(JobState, "s1", "make", "/p")


def result(text: str, status: Status = "failed") -> Result:
    return Result(state(status, exit_code=1), Tail(text, 0, len(text)))


def test_an_ordinary_end_needs_no_words() -> None:
    assert notes(state("completed", exit_code=0)) == ()
    assert notes(state("failed", exit_code=1)) == ()


@requirement("BUG-B13")
def test_a_signal_is_named_also_behind_an_exit_code() -> None:
    assert notes(state("failed", signal_name="SIGSEGV")) == ("The command was killed by SIGSEGV.",)
    assert notes(state("failed", exit_code=137)) == (
        "Exit code 137 usually means killed by SIGKILL.",
    )
    assert notes(state("failed", exit_code=200)) == ()


@requirement("REQ-F42", "REQ-F43")
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("memory", "more memory"),
        ("processes", "more processes"),
        ("file size", "larger file"),
        ("supervisor", "watched over"),
    ],
)
def test_a_limit_is_named(limit: Limit, words: str) -> None:
    (said,) = notes(state("limited", limit=limit))

    assert words in said


@requirement("REQ-F37", "REQ-F38")
def test_lost_output_is_said_with_its_place_and_reason() -> None:
    assert notes(state("completed", exit_code=0, lost_from=4096, lost_why="the disk is full")) == (
        "Output from byte 4096 on is not all there: the disk is full.",
    )


def test_what_was_left_over_is_named_up_to_a_number() -> None:
    many = tuple(Survivor(number, "sleep") for number in range(12))

    (one,) = notes(state("completed", exit_code=0, lingering=many[:1]))
    (twelve,) = notes(state("completed", exit_code=0, lingering=many))

    assert one.startswith("1 process was still running when the command ended")
    assert twelve.startswith("12 processes were still running")
    assert twelve.endswith("sleep (pid 9), 2 more.")


def test_a_remark_is_passed_on_but_for_the_line_that_stands_first() -> None:
    assert notes(state("completed", exit_code=0, note="Put aside: .envrc")) == (
        "Put aside: .envrc",
    )
    assert notes(state("completed", exit_code=0, note=NO_SANDBOX)) == ()


@requirement("REQ-S85")
@pytest.mark.parametrize(
    "text",
    [
        "Overwrite? [y/N] ",
        "Continue (yes/no)?",
        "Password: ",
        "Enter passphrase for key '/k'",
        "log\nUsername: ",
        "12%\rName? ",
    ],
)
def test_an_open_last_line_can_be_a_question(text: str) -> None:
    words = question(result(text), had_input=False)

    assert words
    assert words in text
    assert asked(words) == f'It asked "{words}" and nobody can type. Use a flag that answers.'


@pytest.mark.parametrize(
    "text", ["", "</html>", "Error: no such file\n", "Really?\n", "half a line", "\n"]
)
def test_another_end_is_none(text: str) -> None:
    assert question(result(text), had_input=False) == ""


def test_only_a_failure_without_input_can_come_from_a_question() -> None:
    assert question(result("Sure? ", "completed"), had_input=False) == ""
    assert question(result("Sure? "), had_input=True) == ""
    assert question(result("Sure? ", "timed_out"), had_input=False) == "Sure?"


@requirement("REQ-S24")
@pytest.mark.parametrize(
    "text", ["\x1b[1mPassword:\x1b[0m ", "working\x1b[2K\rPassword: ", "a\vPass\x07word: "]
)
def test_a_question_is_plain_and_of_one_line(text: str) -> None:
    assert question(result(text), had_input=False) == "Password:"


@requirement("REQ-S24")
def test_the_name_of_a_process_is_plain_and_of_one_line() -> None:
    names = ("a]\n[Exit 0\x1b[2J", "\udcff", "a\u202eb", "\x1b[m")
    (said,) = notes(
        state("completed", exit_code=0, lingering=tuple(Survivor(7, name) for name in names))
    )

    assert said.endswith(": a] [Exit 0 (pid 7), \\xff (pid 7), a\ufffdb (pid 7), ? (pid 7).")


def test_a_question_that_is_very_long_is_cut() -> None:
    assert len(question(result("x" * 10_000 + "?"), had_input=False)) == 200


@pytest.mark.parametrize(
    ("ended", "words", "code"),
    [
        (state("running"), "running", None),
        (state("completed", exit_code=0), "exit 0", 0),
        (state("failed", exit_code=3), "exit 3", 3),
        (state("failed", signal_name="SIGTERM"), "SIGTERM", 143),
        (state("failed", signal_name="signal 40"), "signal 40", 168),
        (state("timed_out"), "timed out", 137),
        (state("killed"), "killed", 137),
        (state("aborted"), "aborted", 137),
        (state("limited", limit="memory"), "memory limit", 137),
        (state("limited", limit="supervisor"), "killed", 137),
    ],
)
def test_the_end_in_a_few_words_and_as_a_shell_counts_it(
    ended: JobState, words: str, code: int | None
) -> None:
    assert how_it_ended(ended) == words
    assert shell_exit_code(ended) == code
