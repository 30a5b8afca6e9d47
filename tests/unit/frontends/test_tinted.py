"""Output on a terminal: in its colours where there are colours, and never more than that."""

import io
import os
import re
from collections.abc import Iterator
from typing import TextIO

import pytest

from arc_workbench.content import Output, Style, ToolCall, ToolResult
from arc_workbench.events import (
    AssistantMessage,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from arc_workbench.frontends.printing import Printer
from arc_workbench.frontends.tinted import MAX_LINE, MAX_LINES, has_colour, pieces, terminal
from arc_workbench.shell.colours import styled
from arc_workbench.shell.plain import plain
from arc_workbench.views import TurnView, fold
from tests.requirements import requirement

SGR = re.compile(r"\x1b\[[0-9;]+m")


@pytest.fixture
def screen() -> Iterator[TextIO]:
    """The program's end of a pseudo-terminal."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield stream
    os.close(ours)


def output(raw: str) -> Output:
    text, styles = styled(raw, 50_000)
    return Output(text=text, styles=styles, styled_chars=len(text))


def printed(block: Output, *, colour: bool) -> str:
    """What is printed of a call whose result shows `block`."""
    call = ToolCall(id="a", name="bash", arguments="{}")
    result = ToolResult.of_text("x", display=(block,), note="exit 0")
    view, printer, text = TurnView(), Printer(colour=colour), ""
    for event in (
        TurnStarted(turn=1, prompt="Go"),
        StepStarted(turn=1, step=1, model="m"),
        AssistantMessage(step=1, model="m", content=(call,), stop_reason="tool_use"),
        ToolCallStarted(step=1, call_id="a", name="bash", input={}, subject="make"),
        ToolCallFinished(step=1, call_id="a", name="bash", result=result, ran=True, outcome="done"),
    ):
        fold(view, event)
        text += printer.after(view, event)
    return text


def test_the_output_of_a_command_follows_its_row() -> None:
    assert printed(output("one\n\x1b[31mtwo\x1b[0m\n"), colour=False) == (
        "\u2713 bash  make  exit 0\n  one\n  two\n"
    )
    assert printed(output("one\n\x1b[1;31mtwo\x1b[0m\n"), colour=True) == (
        "\u2713 bash  make  exit 0\n  one\n  \x1b[1;31mtwo\x1b[0m\n"
    )
    assert printed(output(""), colour=True) == "\u2713 bash  make  exit 0\n"


def test_a_look_ends_with_its_line_and_begins_anew_on_the_next() -> None:
    lines = [*terminal(output("\x1b[32ma\nb"), colour=True)]

    assert lines == ["\x1b[32ma\x1b[0m", "\x1b[32mb\x1b[0m"]


def test_what_is_not_shown_is_said() -> None:
    block = output("\n".join(f"line {n}" for n in range(100)) + "x" * 2 * MAX_LINE)

    first, *lines = terminal(block.model_copy(update={"cut_bytes": 12_400}), colour=True)

    assert first == "... 76 lines and 12.4 KB above, not shown here"
    assert len(lines) == MAX_LINES
    assert lines[0] == "line 76"
    assert lines[-1].endswith("... 1,007 more characters")


@requirement("REQ-S24")
def test_nothing_but_colours_and_weights_reaches_the_terminal() -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\x9b1A\x1b]8;;http://x\x1b\\link\x1b[31m\r\x1b[?1049hred"
    unplain = Output(
        text=hostile, styles=(Style(start=0, end=40, look="red"),), styled_chars=len(hostile)
    )

    for block in (output(hostile), unplain):
        text = SGR.sub("", printed(block, colour=True))
        assert plain(text) == text
        assert "\x1b" not in printed(block, colour=False)


@requirement("REQ-S24", "REQ-S134")
def test_a_text_that_was_shortened_is_printed_without_colours() -> None:
    block = output("key \x1b[31mabc\x1b[0mdef").model_copy(update={"text": "key [secret]"})

    assert [*terminal(block, colour=True)] == ["key [secret]"]


@pytest.mark.parametrize(
    ("environ", "there"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_colours_need_a_terminal_that_has_them_and_nobody_who_refuses(
    screen: TextIO, environ: dict[str, str], there: bool
) -> None:
    assert has_colour(environ, screen) is there
    assert not has_colour(environ, io.StringIO())


def test_stretches_put_together_are_the_text() -> None:
    styles = [Style(start=start, end=start + 3, look="bold") for start in (0, 2, 9, -1, 20)]

    assert "".join(text for text, _ in pieces("0123456789", styles, 1, 10)) == "123456789"
    assert [*pieces("0123456789", styles, 4, 10)] == [
        ("4", ("bold",)),
        ("5678", ()),
        ("9", ("bold",)),
    ]
