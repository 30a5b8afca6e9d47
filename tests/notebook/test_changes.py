"""How much is drawn again for what happened."""

from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from arc_workbench.content import JsonObject, Text, ToolCall, ToolResult
from arc_workbench.events import (
    ArgumentsDelta,
    AssistantMessage,
    Event,
    Notice,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolProgress,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.frontends.notebook.changes import TAIL_SEC, Changes
from arc_workbench.frontends.notebook.markdown import MAX_PLAIN
from arc_workbench.views import TurnView, fold
from tests.requirements import requirement

BEGIN: tuple[Event, ...] = (
    TurnStarted(turn=1, prompt="Try.", at=1.0),
    StepStarted(turn=1, step=1, model="m"),
)
CALL = ToolCall(id="c1", name="bash", arguments="{}")
RUNNING: tuple[Event, ...] = (
    AssistantMessage(step=1, model="m", content=(CALL,), stop_reason="tool_use"),
    ToolCallStarted(step=1, call_id="c1", name="bash", input={}, subject="make"),
)


class Drawing:
    """A turn that is drawn: `happen`, then `take` what must be sent."""

    def __init__(self, *events: Event) -> None:
        self.view = TurnView()
        self.changes = Changes(self.view)
        self.now = 0.0
        self.happen(*events)

    def happen(self, *events: Event) -> None:
        for event in events:
            self.changes.note(fold(self.view, event))

    def take(self) -> list[JsonObject]:
        return self.changes.take(self.now)


def names(operations: Sequence[JsonObject]) -> list[tuple[JsonValue, JsonValue]]:
    return [(operation["op"], operation.get("key")) for operation in operations]


@pytest.fixture
def drawing() -> Drawing:
    """A step has begun, and that was drawn."""
    begun = Drawing(*BEGIN)
    begun.take()
    return begun


def test_nothing_is_sent_twice(drawing: Drawing) -> None:
    assert drawing.take() == []


def test_the_first_drawing_has_header_and_step() -> None:
    assert names(Drawing(*BEGIN).take()) == [("put", "s1"), ("put", "head"), ("put", "end")]


def test_many_pieces_of_text_are_one_operation(drawing: Drawing) -> None:
    drawing.happen(TextDelta(step=1, text="one"))
    drawing.take()
    drawing.happen(*(TextDelta(step=1, text=f" {number}") for number in range(3)))
    assert drawing.changes.only_text
    assert drawing.take() == [{"op": "append", "key": "s1p0", "text": " 0 1 2"}]


def test_a_part_that_is_drawn_brings_its_text_along(drawing: Drawing) -> None:
    drawing.happen(TextDelta(step=1, text="one"), TextDelta(step=1, text=" two"))
    (put,) = drawing.take()
    assert put["key"] == "s1p0"
    assert "one two" in str(put["tree"])


def test_a_step_that_is_drawn_brings_its_parts_along(drawing: Drawing) -> None:
    message = AssistantMessage(
        step=1, model="m", content=(Text(text="one two"),), stop_reason="end_turn"
    )
    drawing.happen(TextDelta(step=1, text="one"), TextDelta(step=1, text=" two"), message)
    assert names(drawing.take()) == [("put", "s1")]


def test_a_new_part_says_where_it_belongs(drawing: Drawing) -> None:
    drawing.happen(ArgumentsDelta(step=1, call_id="c1", name="bash", text="{"))
    (put,) = drawing.take()
    assert (put["key"], put["into"]) == ("s1p0", "s1-body")


def test_a_line_before_the_first_step_has_its_own_place() -> None:
    early = Drawing(Notice(level="info", text="A line."))
    assert ("put", "lead0") in names(early.take())


def test_the_tail_of_a_running_call_is_drawn_now_and_then(drawing: Drawing) -> None:
    drawing.happen(*RUNNING, ToolProgress(call_id="c1", text="one\n"))
    drawing.take()
    drawing.happen(ToolProgress(call_id="c1", text="two\n"))
    drawing.take()
    drawing.happen(ToolProgress(call_id="c1", text="three\n"))
    drawing.now += TAIL_SEC / 2
    assert drawing.take() == []
    drawing.now += TAIL_SEC
    (put,) = drawing.take()
    assert "three" in str(put["tree"])


def test_the_end_of_a_call_does_not_wait(drawing: Drawing) -> None:
    drawing.happen(*RUNNING, ToolProgress(call_id="c1", text="one\n"))
    drawing.take()
    drawing.take()
    result = ToolResult(content=(Text(text="ok"),))
    drawing.happen(
        ToolCallFinished(step=1, call_id="c1", name="bash", result=result, ran=True, outcome="done")
    )
    operations = drawing.take()
    assert names(operations) == [("put", "s1p0"), ("say", None)]
    assert operations[-1]["text"] == "bash: done."


def test_the_end_of_the_turn_is_drawn_and_told(drawing: Drawing) -> None:
    drawing.happen(TurnFinished(turn=1, reason="completed", at=2.0))
    operations = drawing.take()
    assert names(operations)[0] == ("put", "head")
    assert operations[-1] == {"op": "say", "text": "Finished."}


def test_what_cannot_be_written_in_a_page_is_replaced(drawing: Drawing) -> None:
    drawing.happen(TextDelta(step=1, text="a"))
    drawing.take()
    drawing.happen(TextDelta(step=1, text="\x00\ud800"))
    assert drawing.take() == [{"op": "append", "key": "s1p0", "text": "\ufffd\ufffd"}]


@requirement("REQ-S30")
def test_words_past_what_is_drawn_are_not_sent_while_they_stream(drawing: Drawing) -> None:
    drawing.happen(TextDelta(step=1, text="x"))
    drawing.take()
    piece = "y" * 1_000
    sent = 0
    for _ in range(1_000):
        drawing.happen(TextDelta(step=1, text=piece))
        sent += sum(len(str(operation["text"])) for operation in drawing.take())

    assert MAX_PLAIN - 1_000 <= sent <= MAX_PLAIN

    words = (Text(text="x" + piece * 1_000),)
    drawing.happen(AssistantMessage(step=1, model="m", content=words, stop_reason="end_turn"))
    drawn = str(drawing.take())
    assert len(drawn) < 2 * MAX_PLAIN
    assert "940,001 more characters are in the transcript." in drawn
