"""What the scripted model does at each word of the grammar, heard from outside."""

from tests.unit.models.talk import ARC, ARCTURN, SAFE, Failed, talk


async def test_steps_that_only_speak_are_said_together_with_the_next_call() -> None:
    session = talk("""
        - think: Hm.
        - say: First.
        - say: Then.
          call: ls
    """)

    heard = await session.ask("go")

    assert (heard.thought, heard.text) == ("Hm.", "First.\n\nThen.")
    assert [call.name for call in heard.calls] == ["ls"]
    assert heard.stop_reason == "tool_use"


async def test_a_script_that_ends_ends_the_turn() -> None:
    session = talk("""
        - call: ls
        - say: Done.
    """)
    await session.ask("go")

    heard = await session.answer("a.txt")

    assert (heard.text, heard.calls, heard.stop_reason) == ("Done.", [], "end_turn")


async def test_a_script_that_ends_without_a_word_says_that_it_ends() -> None:
    session = talk("- call: ls")
    await session.ask("go")

    assert (await session.answer("a.txt")).text == "The script ends here."


async def test_an_empty_say_is_a_silent_reply() -> None:
    heard = await talk('- say: ""').ask("go")

    assert (heard.text, heard.calls, heard.stop_reason) == ("", [], "end_turn")


async def test_arguments_are_sent_with_the_types_they_are_written_in() -> None:
    session = talk("""
        - call: any_tool
          with: {a: 1, b: true, c: yes, d: null, e: [x, 1.5], f: {g: "2"}}
    """)

    heard = await session.ask("go")

    expected = {"a": 1, "b": True, "c": "yes", "d": None, "e": ["x", 1.5], "f": {"g": "2"}}
    assert heard.arguments == [expected]


async def test_several_calls_in_one_reply_keep_their_results_apart() -> None:
    session = talk("""
        - together:
            - {call: read, with: {path: a}, as: one}
            - {call: ls}
            - {call: read, with: {path: b}, as: two}
        - say: "{one} and {two}"
    """)

    heard = await session.ask("go")
    assert [call.name for call in heard.calls] == ["read", "ls", "read"]

    assert (await session.answer("eins", "-", "zwei")).text == "eins and zwei"


BRANCH = """
    - call: shell_exec
      with: {command: make}
      as: made
    - when: {made.exit_code: 0}
      then:
        - say: Built.
      else:
        - when: {made.text: {contains: no rule}}
          then:
            - say: Nothing to build.
            - stop
        - say: "Broken: {made.text}"
    - say: The end.
"""


async def test_what_a_tool_really_returned_decides() -> None:
    results = [
        ({"exit_code": 0, "output": ""}, "Built.\n\nThe end."),
        ({"exit_code": 2, "output": "no rule to make x"}, "Nothing to build."),
        ({"exit_code": 2, "output": "oops"}, "Broken: oops\n\nThe end."),
    ]
    for result, said in results:
        session = talk(BRANCH)
        await session.ask("go")

        assert (await session.answer(result)).text == said


async def test_a_test_of_a_missing_value_does_not_hold() -> None:
    session = talk("""
        - call: ls
          as: folder
        - when: {folder.exit_code: {exists: false}, not: {folder.exit_code: 0}}
          then:
            - say: No code.
        - when: {folder.exit_code: {contains: ""}}
          then:
            - say: Never said.
        - when: {folder.exit_code: {matches: ""}}
          then:
            - say: Never said.
        - when: {folder.exit_code: {exists: true}}
          then:
            - say: Never said.
    """)
    await session.ask("go")

    assert (await session.answer("a.txt")).text == "No code."


async def test_conditions_can_be_put_together() -> None:
    session = talk(r"""
        - when: {any: [{prompt: nothing}, {prompt: {matches: '^two$'}}], prompt: {contains: one}}
          then:
            - say: Both lines.
        - when: {not: {prompt: {is: x}, steering: ""}}
          then:
            - say: Not both.
    """)

    assert (await session.ask("one\ntwo")).text == "Both lines.\n\nNot both."


async def test_a_repeat_goes_on_until_its_condition_holds() -> None:
    session = talk("""
        - repeat: 5
          until: {log.text: ready}
          steps:
            - say: Round {round}.
              call: read
              as: log
        - say: "It says {log}."
    """)

    said = [(await session.ask("go")).text]
    said += [(await session.answer(text)).text for text in ("wait", "wait", "ready")]

    assert said == ["Round 1.", "Round 2.", "Round 3.", "It says ready."]


async def test_a_repeat_ends_after_its_last_round() -> None:
    session = talk("""
        - repeat: 2
          steps:
            - repeat: 2
              steps:
                - say: "{round}"
            - say: outer {round}
    """)

    heard = await session.ask("go")
    assert " ".join(heard.text.split()) == "1 2 outer 1 1 2 outer 2"


async def test_a_piece_is_taken_from_a_result() -> None:
    session = talk(r"""
        - call: read
          as: file
        - take: whole
          from: file.text
          matching: 'v\d+'
        - take: number
          from: file.text
          matching: 'v(\d+)'
        - take: letter
          from: file.text
          matching: 'x(y)?'
        - say: "{whole} {number} <{letter}>"
        - take: whole
          from: file.text
          matching: 'w\d+'
        - when: {whole: {exists: false}}
          then:
            - say: No w.
    """)
    await session.ask("go")

    assert (await session.answer({"content": "a v12 b x"})).text == "v12 12 <>\n\nNo w."


async def test_a_piece_of_a_missing_value_is_missing() -> None:
    session = talk("""
        - take: it
          from: prompt.text
          matching: '[0-9]+'
        - say: "{it}"
    """)

    heard = await session.ask("no digits")

    assert heard.text == "The script cannot go on: {it} has no value at this point."
    assert heard.stop_reason == "end_turn"


async def test_a_value_that_did_not_come_back_is_said_and_ends_the_turn() -> None:
    session = talk("""
        - call: workspace_read
          as: file
        - say: I change it.
          call: workspace_edit
          with: {expected_sha256: "{file.sha256}"}
    """)
    await session.ask("go")

    heard = await session.answer(Failed("File not found: calc.py"))

    assert heard.text == (
        "I change it.\n\nThe script cannot go on: {file.sha256} is not in what came back, which "
        "was: File not found: calc.py"
    )
    assert (heard.calls, heard.stop_reason) == ([], "end_turn")


TABLE = """\
tools:
  run: [shell_exec, bash]
  change:
    - workspace_edit: {file: path, old: old_string, seen: expected_sha256}
    - edit: {file: path, old: oldText}
"""
CHANGE = """
    - call: change
      with: {file: a.py, old: x, seen: "{prompt}"}
    - call: run
      with: {command: ls}
"""


async def test_a_tool_table_speaks_either_vocabulary() -> None:
    heard = await talk(CHANGE, head=TABLE, tools=ARC).ask("hash")
    assert heard.calls[0].name == "workspace_edit"
    assert heard.arguments == [{"path": "a.py", "old_string": "x", "expected_sha256": "hash"}]

    heard = await talk(CHANGE, head=TABLE, tools=ARCTURN).ask("hash")
    assert heard.calls[0].name == "edit"
    assert heard.arguments == [{"path": "a.py", "oldText": "x"}]


async def test_with_both_vocabularies_the_first_of_the_row_is_called() -> None:
    heard = await talk(CHANGE, head=TABLE, tools=[*ARCTURN, *ARC]).ask("hash")

    assert heard.calls[0].name == "workspace_edit"


async def test_a_value_is_not_needed_for_an_argument_that_is_left_out() -> None:
    session = talk(
        """
        - call: read
          as: file
        - call: change
          with: {file: a.py, old: x, seen: "{file.sha256}"}
        """,
        head=TABLE,
        tools=ARCTURN,
    )
    await session.ask("go")

    assert (await session.answer("     1\tx")).calls[0].name == "edit"


async def test_a_tool_that_is_not_offered_ends_the_turn_in_words() -> None:
    session = talk(CHANGE, head=TABLE, tools=SAFE)
    await session.ask("go")

    heard = await session.answer({"change_id": "c1"})

    assert heard.text == (
        "The script cannot go on: to run it needs a tool that is not offered here "
        "(shell_exec nor bash)."
    )


async def test_a_script_can_ask_what_is_offered() -> None:
    steps = """
        - when: {offered: run}
          then:
            - say: With a shell.
        - when: {offered: [change, workspace_read]}
          then:
            - say: With files.
        - when: {offered: nonsense}
          then:
            - say: Never said.
    """

    assert (await talk(steps, head=TABLE, tools=SAFE).ask("go")).text == "With files."
    with_all = await talk(steps, head=TABLE, tools=ARC).ask("go")
    assert with_all.text == "With a shell.\n\nWith files."


async def test_a_prompt_that_no_turn_knows_is_told_what_the_script_knows() -> None:
    session = talk("- say: Yes.", head="asked: [make the tests  pass, {matches: '^run \\w+$'}]\n")

    assert (await session.ask("MAKE the tests pass, please")).text == "Yes."
    assert (await session.ask("run it")).text == "Yes."
    heard = await session.ask("Write a poem")
    assert heard.text == ("I am a script and know only a test. For other tasks: %agent help model")
    assert heard.stop_reason == "end_turn"


async def test_steering_can_be_read() -> None:
    session = talk("""
        - call: ls
        - say: "You said: {steering}"
    """)
    await session.ask("go")

    assert (await session.answer("a.txt", steer="use pathlib")).text == "You said: use pathlib"


async def test_a_script_that_runs_in_circles_without_a_call_is_ended() -> None:
    session = talk("""
        - repeat: 10000
          steps:
            - repeat: 10000
              steps:
                - when: {prompt: x}
                  then: [stop]
    """)

    heard = await session.ask("go")

    assert heard.text == ("The script cannot go on: it went through 10000 steps without a call.")


async def test_half_a_character_in_a_result_does_not_spread() -> None:
    session = talk("""
        - call: ls
          as: it
        - say: "<{it.a}>"
          call: ls
          with: {path: "{it.a}"}
    """)
    await session.ask("go")

    heard = await session.answer('{"a": "x\\ud800y"}')

    assert heard.text == "<x?y>"
    assert heard.arguments == [{"path": "x?y"}]
