"""A prompt to its end: what is said, what is sent, what is recorded."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator

import pytest

from arc_workbench.content import JsonObject, ModelMessage, Text, ToolResult, UserMessage
from arc_workbench.errors import ProviderError, SessionBusy, SessionError, SettingsError
from arc_workbench.events import EVENT, Event, ToolCallFinished
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    TextPiece,
)
from arc_workbench.tools.tool import ToolContext
from arc_workbench.views import SayView
from tests.fakes.provider import calls, says
from tests.fakes.tools import Body, FakeTool, breaks, echo, waits
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench


async def test_a_turn_of_words_completes_with_its_text(bench: AsyncBench) -> None:
    at = await bench(says("Nothing to do."))

    turn = await at.session.send("Look around")

    assert (turn.reason, turn.text) == ("completed", "Nothing to do.")
    assert [event.type for event in at.events if event.durable] == [
        "TurnStarted",
        "StepStarted",
        "AssistantMessage",
        "StepFinished",
        "TurnFinished",
    ]


async def test_results_go_back_in_the_very_next_message_in_order(bench: AsyncBench) -> None:
    at = await bench(
        calls(("a", "echo", {"text": "one"}), ("b", "echo", {"text": "two"}), say="Both."),
        tools=[echo()],
        mode="yolo",
    )

    await at.session.send("Say two things")

    second = at.provider.requests[1].messages
    assert isinstance(second[-2], ModelMessage)
    assert [(id_, a.content[0]) for id_, a in at.answers(1).items()] == [
        ("a", Text(text="one")),
        ("b", Text(text="two")),
    ]


@requirement("REQ-F62")
async def test_every_durable_event_is_on_disk_before_a_listener_sees_it(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "echo", {"text": "x"})), tools=[echo()], mode="yolo")
    missing: list[str] = []

    def sink(event: Event) -> None:
        lines = (at.session.folder / "transcript.jsonl").read_bytes().splitlines()
        if event.durable and json.loads(lines[-1])["seq"] != event.seq:
            missing.append(event.type)

    at.session.listen(sink)
    await at.session.send("Go")

    assert missing == []


async def test_the_record_reads_back_as_the_events_that_were_shown(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "echo", {"text": "x"})), tools=[echo()], mode="yolo")
    await at.session.send("Go")

    lines = (at.session.folder / "transcript.jsonl").read_bytes().splitlines()

    recorded = [EVENT.validate_json(line) for line in lines]
    shown = [event for event in at.events if event.durable]
    assert recorded[-len(shown) :] == shown
    assert [event.seq for event in recorded] == list(range(1, len(recorded) + 1))


async def test_a_second_prompt_is_refused_while_one_runs(bench: AsyncBench) -> None:
    hangs = asyncio.Event()
    at = await bench([TextPiece("Thinking"), hangs])
    first = asyncio.create_task(at.session.send("One"))
    await asyncio.wait_for(hangs.wait(), 5)

    with pytest.raises(SessionBusy, match="t1 still runs"):
        await at.session.send("Two")

    at.session.cancel()
    assert (await first).reason == "aborted"


async def test_an_empty_prompt_is_refused_and_nothing_is_recorded(bench: AsyncBench) -> None:
    at = await bench()

    with pytest.raises(SettingsError, match="no task; nothing ran"):
        await at.session.send("  \n")

    assert at.events == []


async def test_a_provider_that_fails_ends_the_turn_as_an_error_with_its_words(
    bench: AsyncBench,
) -> None:
    at = await bench([TextPiece("Let me"), ProviderError("The service is gone.", kind="network")])

    turn = await at.session.send("Go")

    assert (turn.reason, turn.detail) == ("error", "The service is gone.")


@requirement("REQ-F54")
async def test_a_stream_that_ends_in_a_call_runs_nothing_of_it(bench: AsyncBench) -> None:
    at = await bench(
        [TextPiece("I write"), CallOpened("a", "write"), ArgumentsPiece('{"path": "x", "conte')]
    )

    turn = await at.session.send("Go")

    assert turn.reason == "error"
    assert at.of("ToolCallStarted") == []
    assert list(at.project.iterdir()) == []


@requirement("J-41")
async def test_a_reply_cut_by_the_output_limit_runs_none_of_its_calls_and_answers_each(
    bench: AsyncBench,
) -> None:
    cut = calls(("a", "echo", {"text": "x"}), ("b", "echo", {}), stop_reason="max_tokens")
    at = await bench(cut, tools=[echo()], mode="yolo")

    turn = await at.session.send("Go")

    assert turn.reason == "completed"
    assert {id_: answer.is_error for id_, answer in at.answers(1).items()} == {"a": True, "b": True}
    assert at.of("ToolCallStarted") == []


async def test_the_same_call_id_twice_is_refused_before_anything_runs(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "echo", {}), ("a", "echo", {})), tools=[echo()], mode="yolo")

    turn = await at.session.send("Go")

    assert turn.reason == "error"
    assert at.of("ToolCallFinished") == []


async def test_a_turn_stops_at_the_most_steps_it_may_have(bench: AsyncBench) -> None:
    replies = [calls((f"c{n}", "echo", {"text": str(n)})) for n in range(5)]
    at = await bench(*replies, tools=[echo()], mode="yolo", max_steps=3)

    turn = await at.session.send("Go")

    assert turn.reason == "limit"
    assert len(turn.steps) == 3


async def test_words_put_in_while_a_call_runs_reach_the_model_before_its_next_step(
    bench: AsyncBench,
) -> None:
    at = await bench(calls(("a", "echo", {"text": "x"})), tools=[echo()], mode="yolo")
    at.session.listen(
        lambda event: at.session.steer("use pathlib") if event.type == "ToolCallStarted" else None
    )

    await at.session.send("Go")

    last = at.provider.requests[1].messages[-1]
    assert isinstance(last, UserMessage)
    assert last.content[-1] == Text(text="use pathlib")


@requirement("REQ-F29")
async def test_a_listener_that_breaks_disturbs_neither_the_turn_nor_the_others(
    bench: AsyncBench,
) -> None:
    at = await bench(says("Fine."))

    def broken(event: Event) -> None:
        raise RuntimeError("a front end fell over")

    at.session.listen(broken)
    seen: list[Event] = []
    at.session.listen(seen.append)

    assert (await at.session.send("Go")).reason == "completed"
    assert [event.type for event in seen][-1] == "TurnFinished"


@requirement("S1-171")
async def test_a_bug_in_a_tool_is_a_notice_for_people_and_an_error_result_for_the_model(
    bench: AsyncBench,
) -> None:
    at = await bench(calls(("a", "breaks", {})), tools=[breaks()], mode="yolo")

    turn = await at.session.send("Go")

    assert turn.reason == "completed"
    assert at.answers(1)["a"].is_error
    assert [event.level for event in at.events if event.type == "Notice"] == ["error"]


def _stops(given: JsonObject, ctx: ToolContext) -> ToolResult:
    return next(iter(()))


def _exits(given: JsonObject, ctx: ToolContext) -> ToolResult:
    raise SystemExit(3)


async def _exits_on_the_loop(given: JsonObject, ctx: ToolContext) -> ToolResult:
    await asyncio.sleep(0)
    raise SystemExit(3)


async def _loses_a_task(given: JsonObject, ctx: ToolContext) -> ToolResult:
    inner = asyncio.create_task(asyncio.sleep(60))
    asyncio.get_running_loop().call_soon(inner.cancel)
    await inner
    return ToolResult.of_text("never")


@pytest.mark.parametrize("body", [_stops, _exits, _exits_on_the_loop, _loses_a_task])
async def test_whatever_a_tool_raises_its_call_has_one_result_and_the_turn_goes_on(
    bench: AsyncBench, body: Body
) -> None:
    at = await bench(calls(("a", "odd", {})), tools=[FakeTool("odd", body)], mode="yolo")

    turn = await at.session.send("Go")

    assert turn.reason == "completed"
    assert [e.outcome for e in at.events if isinstance(e, ToolCallFinished)] == ["failed"]


async def test_a_provider_with_a_fault_of_its_own_ends_the_turn_as_an_error(
    bench: AsyncBench,
) -> None:
    at = await bench()
    at.session.set_provider(Broken())

    turn = await at.session.send("Go")

    assert turn.reason == "error"
    assert "fault of its own" in turn.detail
    assert at.events[-1].type == "TurnFinished"


class Broken:
    """A provider with a bug."""

    label = "broken"
    notice = ""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextPiece("I was ")
        raise KeyError("no such thing")


async def test_halves_of_characters_that_a_person_sends_harm_nothing(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "write", {"path": "x", "content": "y"})))
    at.answer_with(allow=False, reason="no \ud83d")
    at.session.steer("steer \ud83d")

    turn = await at.session.send("Go \ud83d")

    assert turn.reason == "completed"
    assert "They said: no ?" in at.results["a"].result.text


async def test_a_closed_session_says_so_and_words_it_does_not_know_are_refused(
    bench: AsyncBench,
) -> None:
    at = await bench()
    with pytest.raises(SettingsError, match="bogus is no mode"):
        at.session.set_mode("bogus")  # pyright: ignore[reportArgumentType]
    with pytest.raises(SettingsError, match="bogus is no scope"):
        at.session.resolve("p1", allow=True, scope="bogus")  # pyright: ignore[reportArgumentType]
    at.session.close()

    with pytest.raises(SessionError, match="is closed; nothing ran"):
        await at.session.send("Go")
    with pytest.raises(SessionError, match="is closed"):
        at.session.set_mode("plan")


@requirement("BUG-A1", "S1-161", "J-97")
async def test_an_interrupt_in_a_call_answers_it_and_those_after_it(bench: AsyncBench) -> None:
    began = threading.Event()
    reply = calls(("a", "echo", {"text": "x"}), ("b", "waits", {}), ("c", "echo", {"text": "y"}))
    at = await bench(reply, tools=[echo(), waits(began)], mode="yolo")
    task = asyncio.create_task(at.session.send("Go"))
    assert await asyncio.to_thread(began.wait, 5)

    at.session.cancel()
    turn = await task

    assert (turn.reason, turn.detail) == (
        "aborted",
        "Interrupted after step 1; every call is answered, nothing runs on.",
    )
    outcomes = [(e.call_id, e.outcome) for e in at.events if isinstance(e, ToolCallFinished)]
    assert outcomes == [("a", "done"), ("b", "stopped"), ("c", "stopped")]
    assert at.results["b"].result.text == "Aborted: half of it was done."
    assert at.results["c"].ran is False


@requirement("BUG-A1")
async def test_after_an_interrupt_the_next_prompt_sends_a_valid_conversation(
    bench: AsyncBench,
) -> None:
    began = threading.Event()
    at = await bench(calls(("a", "waits", {}), say="Waiting."), tools=[waits(began)], mode="yolo")
    task = asyncio.create_task(at.session.send("Go"))
    assert await asyncio.to_thread(began.wait, 5)
    at.session.cancel()
    await task

    await at.session.send("Go on")

    *_, reply, told = at.provider.requests[-1].messages
    assert isinstance(reply, ModelMessage)
    assert isinstance(told, UserMessage)
    assert [block.type for block in told.content] == ["answer", "text"]


async def test_a_caller_that_is_cancelled_leaves_nothing_running(bench: AsyncBench) -> None:
    began = threading.Event()
    at = await bench(calls(("a", "waits", {})), tools=[waits(began)], mode="yolo")
    task = asyncio.create_task(at.session.send("Go"))
    assert await asyncio.to_thread(began.wait, 5)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not at.session.busy
    assert at.results["a"].outcome == "stopped"


async def test_an_interrupt_in_the_middle_of_a_reply_keeps_its_words_and_no_call(
    bench: AsyncBench,
) -> None:
    hangs = asyncio.Event()
    at = await bench([TextPiece("I was about "), CallOpened("a", "echo"), hangs], tools=[echo()])
    task = asyncio.create_task(at.session.send("Go"))
    await asyncio.wait_for(hangs.wait(), 5)

    at.session.cancel()
    turn = await task

    assert turn.text == "I was about "
    assert [call for step in turn.steps for call in step.calls] == []


async def test_async_tools_run_on_the_loop_and_others_in_a_thread(bench: AsyncBench) -> None:
    places: dict[str, bool] = {}
    main = threading.get_ident()

    async def on_loop(given: JsonObject, ctx: ToolContext) -> ToolResult:
        places["async"] = threading.get_ident() == main
        await asyncio.sleep(0)
        return ToolResult.of_text("ok")

    def in_thread(given: JsonObject, ctx: ToolContext) -> ToolResult:
        places["def"] = threading.get_ident() == main
        return ToolResult.of_text("ok")

    tools = [FakeTool("one", on_loop), FakeTool("two", in_thread)]
    at = await bench(calls(("a", "one", {}), ("b", "two", {})), tools=tools, mode="yolo")

    await at.session.send("Go")

    assert places == {"async": True, "def": False}


async def test_closed_calls_stay_whole_in_the_order_they_were_written(bench: AsyncBench) -> None:
    pieces = [
        TextPiece("First "),
        TextPiece("this."),
        CallOpened("a", "echo"),
        ArgumentsPiece('{"te'),
        ArgumentsPiece('xt": "x"}'),
        CallClosed(),
        *calls(("b", "echo", {"text": "y"})),
    ]
    at = await bench(pieces, tools=[echo()], mode="yolo")

    turn = await at.session.send("Go")

    assert [call.result.text for call in turn.steps[0].calls if call.result] == ["x", "y"]
    assert turn.steps[0].parts[0] == SayView("First this.")


async def test_a_session_closed_in_mid_turn_answers_its_calls_before_it_lets_go(
    bench: AsyncBench,
) -> None:
    began = threading.Event()
    at = await bench(calls(("a", "waits", {})), tools=[waits(began)], mode="yolo", session="s")
    task = asyncio.create_task(at.session.send("Go"))
    assert await asyncio.to_thread(began.wait, 5)

    at.session.close()
    turn = await task

    assert turn.reason == "aborted"
    assert at.results["a"].outcome == "stopped"
    again = await bench(says("Back."), session="s")
    assert (await again.session.send("Go on")).reason == "completed"
