"""Who is taken to be there, and what a typed line means."""

import builtins
from collections.abc import Iterator

import pytest

from arc_workbench.events import Scope
from arc_workbench.frontends.notebook.clients import (
    Client,
    Facts,
    TypedAnswer,
    decide,
    parse_answer,
    typed_answer,
)
from arc_workbench.settings import Ask
from tests.requirements import requirement

LAB = Facts(kernel=True, allow_stdin=True, tty=False, awaited=True, buttons_possible=True)
NBCLIENT = Facts(kernel=True, allow_stdin=False, tty=False, awaited=True, buttons_possible=True)
NO_WIDGETS = Facts(kernel=True, allow_stdin=True, tty=False, awaited=True, buttons_possible=False)
BLOCKING = Facts(kernel=True, allow_stdin=True, tty=False, awaited=False, buttons_possible=True)
TERMINAL = Facts(kernel=False, allow_stdin=False, tty=True, awaited=True, buttons_possible=False)
SCRIPT = Facts(kernel=False, allow_stdin=False, tty=False, awaited=True, buttons_possible=False)
BOTH: tuple[Scope, ...] = ("once", "session")


@requirement("BUG-N1", "BUG-N8")
@pytest.mark.parametrize(
    ("facts", "ask", "client"),
    [
        (LAB, "auto", "buttons"),
        (LAB, "buttons", "buttons"),
        (LAB, "input", "input"),
        (LAB, "policy", "policy"),
        (NBCLIENT, "auto", "policy"),
        (NBCLIENT, "buttons", "policy"),
        (NBCLIENT, "input", "policy"),
        (NO_WIDGETS, "auto", "input"),
        (NO_WIDGETS, "buttons", "input"),
        (BLOCKING, "auto", "input"),
        (BLOCKING, "buttons", "input"),
        (TERMINAL, "auto", "input"),
        (TERMINAL, "buttons", "input"),
        (TERMINAL, "policy", "policy"),
        (SCRIPT, "auto", "policy"),
        (SCRIPT, "buttons", "policy"),
        (SCRIPT, "input", "policy"),
    ],
)
def test_nobody_is_asked_who_cannot_answer(facts: Facts, ask: Ask, client: Client) -> None:
    assert decide(facts, ask) == client


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", TypedAnswer("allow")),
        (" Yes ", TypedAnswer("allow")),
        ("s", TypedAnswer("allow", scope="session")),
        ("n", TypedAnswer("deny")),
        ("no", TypedAnswer("deny")),
        ("n keep the log", TypedAnswer("deny", reason="keep the log")),
        ("N: keep  the log ", TypedAnswer("deny", reason="keep  the log")),
    ],
)
def test_a_letter_is_an_answer(line: str, answer: TypedAnswer) -> None:
    assert parse_answer(line, BOTH) == answer


@requirement("REQ-S11")
@pytest.mark.parametrize(
    "line", ["", " ", "yy", "y please", "y\ty", "ok", "sure", "1", "session please", "yn", "true"]
)
def test_what_is_not_clearly_a_yes_is_none(line: str) -> None:
    assert parse_answer(line, BOTH) is None


def test_a_grant_that_was_not_offered_cannot_be_typed() -> None:
    assert parse_answer("s", ("once",)) is None


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str | BaseException]]:
    """What will be typed, line by line; an exception is raised in its place."""
    lines: list[str | BaseException] = []

    def read(prompt: object = "") -> str:
        line = lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line

    monkeypatch.setattr(builtins, "input", read)
    yield lines
    assert lines == []


def test_a_slip_is_asked_again(typing: list[str | BaseException]) -> None:
    typing += ["what?", "y"]
    assert typed_answer("Run this command?") == TypedAnswer("allow")


def test_three_slips_are_a_denial(typing: list[str | BaseException]) -> None:
    typing += ["what?", "", "maybe"]
    answer = typed_answer("Run this command?")
    assert answer is not None
    assert answer.verdict == "deny"


@requirement("REQ-S12")
def test_the_end_of_input_is_a_denial(typing: list[str | BaseException]) -> None:
    typing.append(EOFError())
    answer = typed_answer("Run this command?")
    assert answer is not None
    assert answer.verdict == "deny"


class StdinNotImplementedError(RuntimeError):
    """Named as IPython names it."""


@requirement("REQ-S12", "BUG-N8")
def test_a_front_end_without_input_is_nobody(typing: list[str | BaseException]) -> None:
    typing.append(StdinNotImplementedError())
    assert typed_answer("Run this command?") is None


def test_another_fault_is_not_swallowed(typing: list[str | BaseException]) -> None:
    typing.append(RuntimeError("lost sys.stdin"))
    with pytest.raises(RuntimeError, match="lost"):
        typed_answer("Run this command?")
