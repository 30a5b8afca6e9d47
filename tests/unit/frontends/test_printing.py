"""What a terminal prints of a turn as it happens."""

from collections.abc import Iterable

from arc_workbench.content import Text, ToolCall, ToolResult
from arc_workbench.events import (
    AssistantMessage,
    Event,
    Notice,
    SettingChanged,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.frontends.printing import Printer
from arc_workbench.views import TurnView, fold
from tests.requirements import requirement

ASKED = (TurnStarted(turn=1, prompt="Go"), StepStarted(turn=1, step=1, model="m"))
SAID = AssistantMessage(step=1, model="m", content=(Text(text="Hello there."),), stop_reason="end")


def printed(events: Iterable[Event]) -> str:
    view, printer, text = TurnView(), Printer(), ""
    for event in events:
        fold(view, event)
        text += printer.after(view, event)
    return text


def test_words_are_printed_as_they_stream_and_not_again_when_the_reply_is_whole() -> None:
    streamed = [TextDelta(step=1, text="Hello "), TextDelta(step=1, text="there.")]

    assert printed([*ASKED, *streamed, SAID]) == "Hello there.\n"


def test_words_that_did_not_stream_are_printed_when_the_reply_is_whole() -> None:
    assert printed([*ASKED, SAID]) == "Hello there.\n"


def test_a_call_is_one_row_when_it_is_over() -> None:
    call = ToolCall(id="a", name="ls", arguments="{}")
    events = [
        *ASKED,
        AssistantMessage(step=1, model="m", content=(call,), stop_reason="tool_use"),
        ToolCallStarted(step=1, call_id="a", name="ls", input={}, subject="src"),
        ToolCallFinished(
            step=1,
            call_id="a",
            name="ls",
            result=ToolResult.of_text("x", note="5 entries"),
            ran=True,
            outcome="done",
        ),
    ]

    assert printed(events) == "\u2713 ls  src  5 entries\n"


def test_a_notice_in_the_middle_of_words_begins_a_line_of_its_own() -> None:
    events = [*ASKED, TextDelta(step=1, text="Hello"), Notice(level="warning", text="Careful.")]

    assert printed(events) == "Hello\n! Careful.\n"


@requirement("REQ-S24")
def test_nothing_that_is_said_can_steer_the_terminal() -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\x9b1A\r"
    said = AssistantMessage(step=1, model="m", content=(Text(text=hostile),), stop_reason="end")
    events = [
        *ASKED,
        TextDelta(step=1, text=hostile),
        said,
        Notice(level="error", text=hostile),
        TurnFinished(turn=1, reason="error", detail=hostile),
    ]

    text = printed(events)

    assert not any(character in text for character in "\x1b\x9b\x07\r")
    assert "title" in text


def test_a_dry_run_is_said_in_the_first_line() -> None:
    dry = SettingChanged(key="dryRun", old="off", new="on")

    assert printed([dry, *ASKED]) == "t1   \u00b7 default mode \u00b7 full access \u00b7 dry run\n"
    assert printed(ASKED) == ""
