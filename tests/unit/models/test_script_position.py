"""Where a script stands: worked out from the request alone, and in linear time."""

from collections.abc import Sequence
from textwrap import dedent
from typing import overload

from arc_workbench.content import Answer, Message, ModelMessage, Text, ToolCall, UserMessage
from arc_workbench.models.provider import ModelRequest
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.scripted import Scripted
from tests.unit.models.talk import ARC, SAFE, Failed, Talk, hear, model, talk

COUNT = """
    - repeat: 10000
      until: {last.text: enough}
      steps:
        - say: Number {round}.
          call: shell_exec
          with: {command: "echo {round}"}
          as: last
    - say: Counted {last}.
"""


async def test_the_same_request_gives_the_same_reply() -> None:
    session = talk(COUNT)
    await session.ask("go")
    await session.answer("1")
    request = session.request()

    pieces = [(await hear(session.provider, request)).pieces for _ in range(3)]

    assert pieces[0] == pieces[1] == pieces[2]


async def test_another_provider_goes_on_where_the_conversation_stands() -> None:
    session = talk(COUNT)
    await session.ask("go")
    await session.answer("1")
    await session.answer("2")

    resumed = model(COUNT)
    for length in (5, 3, 1, 5):
        request = ModelRequest("You are a model.", tuple(session.messages[:length]), session.tools)
        heard = await hear(resumed, request)
        assert heard.message() == session.messages[length]


async def test_two_conversations_through_one_provider_do_not_mix() -> None:
    provider = model(COUNT)
    one, other = Talk(provider), Talk(provider)
    await one.ask("go")
    await other.ask("go too")
    assert (await one.answer("1")).text == "Number 2."
    assert (await other.answer("enough")).text == "Counted enough."
    assert (await one.answer("enough")).text == "Counted enough."


async def test_an_edited_result_changes_what_follows() -> None:
    session = talk(COUNT)
    await session.ask("go")
    await session.answer("1")
    call = session.messages[1].content[1]
    assert isinstance(call, ToolCall)
    edited = Answer(call_id=call.id, content=(Text(text="enough"),))
    session.messages = [*session.messages[:2], UserMessage(content=(edited,))]

    assert (await session.reply()).text == "Counted enough."


async def test_a_call_with_edited_arguments_is_still_the_script_s_call() -> None:
    session = talk(COUNT)
    heard = await session.ask("go")
    edited = heard.calls[0].model_copy(update={"arguments": '{"command": "ls"}'})
    session.messages[-1] = ModelMessage(content=(edited,))

    assert (await session.answer("enough")).text == "Counted enough."


async def test_each_prompt_begins_the_turn_that_knows_it() -> None:
    text = """\
        script: 1
        title: two turns
        turns:
          - asked: list
            steps:
              - {call: ls, as: folder}
              - say: "{folder}"
          - steps:
              - say: "Anything: {prompt}"
    """
    session = Talk(Scripted(read_script("test.yaml", dedent(text)), "script:test.yaml", 0))

    await session.ask("list it")
    assert (await session.answer("a.txt")).text == "a.txt"
    assert (await session.ask("and now?")).text == "Anything: and now?"
    assert [call.name for call in (await session.ask("List it again")).calls] == ["ls"]


async def test_call_ids_are_unique_over_the_whole_session() -> None:
    session = talk("""
        - together: [{call: ls}, {call: ls}]
        - call: ls
    """)
    ids: list[str] = []
    for prompt in ("one", "two"):
        ids += [call.id for call in (await session.ask(prompt)).calls]
        ids += [call.id for call in (await session.answer("", "")).calls]
        await session.answer("")

    assert ids == [f"call_{number}" for number in range(1, 7)]


async def test_call_ids_stay_above_those_of_a_history_with_gaps() -> None:
    session = talk("- call: ls")
    foreign = ToolCall(id="toolu_1", name="ls", arguments="{}")
    own = ToolCall(id="call_41", name="ls", arguments="{}")
    for call in (foreign, own):
        session.messages += [
            UserMessage(content=(Text(text="earlier"),)),
            ModelMessage(content=(call,)),
            UserMessage(content=(Answer(call_id=call.id, content=(Text(text="-"),)),)),
            ModelMessage(content=(Text(text="Done."),)),
        ]

    assert (await session.ask("go")).calls[0].id == "call_42"


async def test_words_beside_results_steer_unless_the_script_knows_them() -> None:
    head = "asked: count\n"
    session = talk(COUNT, head=head)
    await session.ask("count")
    assert (await session.answer("1", steer="a bit quicker")).text == "Number 2."
    assert (await session.answer("2", steer="count anew")).text == "Number 1."


async def test_words_after_an_interrupt_are_the_next_prompt() -> None:
    aborted = "Aborted: the person interrupted this call."
    for text in (aborted, "Command aborted.", "Interrupted: the session ended before this call."):
        session = talk(COUNT, head="asked: count\n")
        await session.ask("count")

        heard = await session.answer(Failed(text), steer="Write a poem")

        assert heard.text.startswith("I am a script and know only a test.")


async def test_the_last_of_several_unanswered_prompts_counts() -> None:
    session = talk("- say: '{prompt}'")
    session.messages = [UserMessage(content=(Text(text="one"), Text(text="two")))]

    assert (await session.reply()).text == "two"


async def test_a_conversation_that_another_model_led_is_not_guessed_at() -> None:
    session = talk(COUNT)
    await session.ask("go")
    strange = ToolCall(id="toolu_1", name="bash", arguments="{}")
    session.messages[-1] = ModelMessage(content=(strange,))
    answer = Answer(call_id="toolu_1", content=(Text(text="-"),))
    session.messages.append(UserMessage(content=(answer,)))

    heard = await session.reply()

    assert heard.text == (
        "This conversation did not go the way of test.yaml: it holds a call of bash that the "
        "script does not make there. The script ends here."
    )
    assert heard.stop_reason == "end_turn"


async def test_a_tool_that_is_no_longer_offered_does_not_change_the_past() -> None:
    session = talk(
        """
        - when: {offered: run}
          then:
            - call: run
              as: ran
        - when: {offered: run}
          then:
            - say: Still there.
          else:
            - say: "Gone, but it said {ran}."
        """,
        head="tools: {run: [shell_exec, bash]}\n",
    )
    await session.ask("go")
    session.offer(SAFE)

    assert (await session.answer("ok")).text == "Gone, but it said ok."


class CountedMessages(Sequence[Message]):
    """Messages that count how often one of them is looked at."""

    def __init__(self) -> None:
        self.kept: list[Message] = []
        self.looks = 0

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        found = self.kept[index]
        self.looks += len(found) if isinstance(found, list) else 1
        return found

    def __len__(self) -> int:
        return len(self.kept)


async def test_a_thousand_steps_look_at_each_message_a_few_times() -> None:
    steps = 1_000
    session, messages = Talk(model(COUNT), ARC), CountedMessages()
    messages.kept.append(UserMessage(content=(Text(text="go"),)))
    for _ in range(steps):
        heard = await hear(session.provider, ModelRequest("", messages, session.tools))
        answer = Answer(call_id=heard.calls[0].id, content=(Text(text="-"),))
        messages.kept += [heard.message(), UserMessage(content=(answer,))]

    assert messages.looks <= 4 * steps
    resumed = await hear(model(COUNT), ModelRequest("", messages, session.tools))
    assert resumed.text == f"Number {steps + 1}."
    assert messages.looks <= 9 * steps


async def test_usage_is_estimated_from_everything_that_was_sent() -> None:
    session = talk(COUNT)
    first = (await session.ask("x" * 400)).usage
    second = (await session.answer("y" * 4_000)).usage

    assert first.estimated
    assert first.input_tokens >= 100
    assert second.input_tokens - first.input_tokens >= 1_000
    assert first.output_tokens > 0

    resumed = await hear(
        model(COUNT), ModelRequest("You are a model.", session.messages[:3], session.tools)
    )
    assert resumed.usage == second
