"""A turn and each of its parts, drawn."""

import json
import re
from collections.abc import Iterator

import pytest

from arc_workbench.content import Diff, Text, Thinking, ToolCall, ToolResult, Usage
from arc_workbench.events import (
    ArgumentsDelta,
    EndReason,
    Notice,
    Steered,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolProgress,
)
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import Element, text_of, to_html, to_json
from arc_workbench.views import TurnView, fold
from tests.requirements import requirement
from tests.unit.frontends.turns import CLOCK, Telling, change, command, output, resolved


def keys(node: Element) -> Iterator[str]:
    if node.key:
        yield node.key
    for child in node.children:
        if isinstance(child, Element):
            yield from keys(child)


def by_key(node: Element, key: str) -> Element:
    found = [each for each in walk(node) if each.key == key]
    assert len(found) == 1
    return found[0]


def walk(node: Element) -> Iterator[Element]:
    yield node
    for child in node.children:
        if isinstance(child, Element):
            yield from walk(child)


# ---- the header ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("completed", "✓ Finished"),
        ("aborted", "■ Stopped"),
        ("error", "✗ Ended with an error"),
        ("limit", "✗ Ended with an error"),
    ],
)
def test_the_header_says_how_a_turn_ended(reason: EndReason, word: str) -> None:
    telling = Telling().open().say("x").end(reason)

    head = text_of(render.head(telling.view))
    assert head == f"{word} script:tour · default mode · full access 18.4k tokens · 0:42"


def test_the_header_says_what_a_turn_does_and_has_a_way_to_stop_it() -> None:
    telling = Telling().open().call("bash", {}, "ls")

    assert text_of(render.head(telling.view)).startswith("… Running ")
    telling.ask(command("ls"))
    assert text_of(render.head(telling.view)).startswith("? Waiting for you ")
    assert '"do": {"do": "stop"}' in json.dumps(to_json(render.head(telling.view)))
    assert "Stop" not in to_html(render.head(telling.view))


def test_estimated_tokens_have_a_tilde_and_the_clock_is_the_callers() -> None:
    telling = Telling().open().say("x")
    telling.tell(StepFinished(step=1, usage=Usage(input_tokens=500, estimated=True)))

    assert "~500 tokens · 0:17" in text_of(render.head(telling.view, now=1_017.0))
    assert to_html(render.head(telling.view)).endswith("~500 tokens</span></header>")


# ---- words --------------------------------------------------------------------------------------


def test_words_that_are_still_written_are_one_text_that_can_grow() -> None:
    view = Telling().open().tell(StepStarted(turn=1, step=1, model="m")).view
    fold(view, ThinkingDelta(step=1, text="Hm "))
    fold(view, TextDelta(step=1, text="**a"))
    touched = fold(view, TextDelta(step=1, text="b**"))

    thought, said = (render.part(view, view.steps[0], index) for index in (0, 1))
    assert to_json(thought) == [
        "div", {"class": "aw-text aw-stream aw-stream--thought", "key": "s1p0"}, "Hm ",
    ]  # fmt: skip
    assert to_json(said) == ["div", {"class": "aw-text aw-stream", "key": "s1p1"}, "**ab**"]
    assert render.part_key(view.steps[0], touched.index) == "s1p1"


def test_words_that_are_written_are_markdown_and_thoughts_are_folded() -> None:
    view = Telling().open().reply(Thinking(text="Hm"), Text(text="**b**")).view

    assert "<strong>b</strong>" in to_html(render.step(view, view.steps[0]))
    assert '<details class="aw-think"><summary>' in to_html(render.part(view, view.steps[0], 0))
    hidden = Telling().open().reply(Thinking(text="")).view
    assert "the words are not given" in to_html(render.step(hidden, hidden.steps[0]))


def test_lines_for_the_person_have_a_mark_and_a_bold_lead() -> None:
    telling = Telling().open().notice("No key, so a script answers. Others: %agent help model")
    telling.say("x").tell(Notice(level="error", text="a fault"), Steered(text="use pathlib"))
    html = to_html(render.turn(telling.view))

    assert "<b>No key, so a script answers. </b>Others: %agent help model" in html
    assert "aw-note aw-note--bad" in html
    assert "<b>Steered:</b> “use pathlib”" in html


def test_a_turn_that_ended_says_why_and_what_it_came_to() -> None:
    telling = Telling().open().call("bash", {}, "ls").finish(ToolResult.of_text("x"))
    html = to_html(render.end(telling.end("error", "The service is busy. Try again.").view))

    assert "<b>The service is busy. </b>Try again." in html
    assert "1 call: 1 done · <code>%agent transcript t1</code>" in html


def test_the_prompt_is_drawn_where_no_cell_shows_it() -> None:
    view = Telling().open().view

    assert "The midnight test fails." in to_html(render.turn(view, prompt=True))
    assert "The midnight test fails." not in to_html(render.turn(view))


# ---- tool calls ---------------------------------------------------------------------------------


def row_of(telling: Telling) -> str:
    view = telling.view
    html = to_html(render.part(view, view.steps[-1], 0))
    return re.sub(r"<[^>]+>", "", html.partition("</summary>")[0])


def test_a_row_is_mark_name_subject_note_and_time() -> None:
    telling = Telling().open().call("read", {"path": "a.py"}, "a.py")
    telling.finish(ToolResult.of_text("x", note="lines 1–40"), took=0.012)

    assert row_of(telling) == "✓ read a.py done, lines 1–40 0.01 s ›"


def test_a_subject_that_is_cut_says_how_much_is_missing() -> None:
    telling = Telling().open().call("bash", {"command": "x" * 5_000}, "x" * 5_000)

    assert f"{'x' * 300}\u2026 4,700 more characters" in row_of(telling)


def test_done_is_said_to_those_who_listen_only() -> None:
    telling = Telling().open().call("read", {"path": "a.py"}, "a.py")
    telling.finish(ToolResult.of_text("x", note="lines 1–40"))

    assert '<span class="aw-sr">done, </span>' in to_html(render.turn(telling.view))


@pytest.mark.parametrize(
    ("outcome", "note", "row"),
    [
        ("failed", "exit 1", "✗ bash make failed · exit 1 1.2 s ›"),
        ("denied", "denied", "⊘ bash make denied 1.2 s ›"),
        ("stopped", "2 processes ended", "■ bash make stopped · 2 processes ended 1.2 s ›"),
    ],
)
def test_what_went_wrong_has_a_word(outcome: str, note: str, row: str) -> None:
    telling = Telling().open().call("bash", {"command": "make"}, "make")
    telling.finish(ToolResult.error("no", note=note), outcome, 1.2)

    assert row_of(telling) == row


def test_a_call_that_is_being_written_waits() -> None:
    view = Telling().open().tell(StepStarted(turn=1, step=1, model="m")).view
    fold(view, ArgumentsDelta(step=1, call_id="a", name="bash", text='{"comm'))

    assert text_of(render.part(view, view.steps[0], 0)) == "○ bash  waiting "


def test_a_running_call_shows_its_newest_output() -> None:
    telling = Telling().open().call("bash", {"command": "make"}, "make")
    telling.tell(ToolProgress(call_id="call1", text="half\n"))
    html = to_html(render.part(telling.view, telling.view.steps[0], 0))

    assert '<details class="aw-tool" open="">' in html
    assert '<pre role="log">half</pre>' in html


def test_a_failure_stands_open_with_the_tail_of_its_output() -> None:
    telling = Telling().open().call("bash", {"command": "make"}, "make")
    result = ToolResult(content=(), is_error=True, note="exit 2", display=output("x\n" * 300))
    html = to_html(render.turn(telling.finish(result, "failed").view))

    assert '<details class="aw-tool" open="">' in html
    assert "276 lines above" in html


def test_arguments_that_are_no_json_are_shown_as_they_came() -> None:
    telling = Telling().open().reply(ToolCall(id="a", name="bash", arguments='{"comm'))
    telling.start("a", "bash", None)
    html = to_html(render.turn(telling.finish(ToolResult.error("no"), "failed", call_id="a").view))

    assert '<dt>arguments</dt><dd>{"comm</dd>' in html


def test_texts_that_a_diff_shows_are_not_said_twice() -> None:
    given = {"path": "a.py", "oldText": "OLD", "newText": "NEW", "replaceAll": True}
    telling = Telling().open().call("edit", dict(given), "a.py")
    shown = (Diff(path="a.py", unified=CLOCK),)
    html = to_html(render.turn(telling.finish(ToolResult.of_text("", display=shown)).view))

    assert "OLD" not in html
    assert "<dt>replaceAll</dt><dd>true</dd>" in html


@requirement("REQ-S1")
def test_a_question_stands_under_its_row_and_becomes_one_line() -> None:
    telling = Telling().open().call("edit", {"path": "a.py"}, "a.py").ask(change())
    part = render.part(telling.view, telling.view.steps[0], 0)
    assert [*keys(part)] == ["s1p0", "s1p0-row", "ask-p2"]
    assert "asks you · +4 −2" in text_of(part)

    telling.tell(resolved(change()))
    part = render.part(telling.view, telling.view.steps[0], 0)
    assert "aw-ask" not in to_html(part)
    assert text_of(part).endswith("✓ You allowed this once.")


def test_a_yes_that_nobody_was_asked_for_is_inside_the_row() -> None:
    telling = Telling().open().call("bash", {"command": "ls"}, "ls")
    by_mode = {"prompt": "", "by": "mode", "because": "Mode yolo allows every command."}
    telling.tell(resolved(command("ls"), "allow", **by_mode))

    assert "Allowed. Mode yolo allows every command." in text_of(render.turn(telling.view))
    by_mode["because"] = "Mode default allows looking."
    telling.tell(resolved(command("ls"), "allow", **by_mode))
    assert "Allowed" not in text_of(render.turn(telling.view))


# ---- live and kept are the same drawing ---------------------------------------------------------


def a_turn() -> TurnView:
    telling = Telling().open().notice("Hello. More")
    telling.reply(
        Thinking(text="Hm"), Text(text="Look."), ToolCall(id="a", name="ls", arguments="")
    )
    telling.start("a", "ls", {"path": "."}, ".").finish(ToolResult.of_text("x"), call_id="a")
    telling.call("bash", {"command": "ls"}, "ls").ask(command("ls"))
    return telling.view


def test_each_part_that_is_drawn_alone_is_the_part_of_the_whole() -> None:
    view = a_turn()
    whole = render.turn(view)

    assert by_key(whole, "head") == render.head(view)
    assert by_key(whole, "lead0") == render.part(view, None, 0)
    for step in view.steps:
        assert by_key(whole, f"s{step.number}") == render.step(view, step)
        for index in range(len(step.parts)):
            assert by_key(whole, render.part_key(step, index)) == render.part(view, step, index)


def test_keys_are_stable_and_each_is_there_once() -> None:
    found = [*keys(render.turn(a_turn()))]

    assert len(found) == len(set(found))
    assert found == [
        "head", "lead", "lead0", "steps", "s1", "s1-body", "s1p0", "s1p1", "s1p2", "s1p2-row",
        "s2", "s2-body", "s2p0", "s2p0-row", "ask-p2", "end",
    ]  # fmt: skip


def test_what_a_live_view_has_and_a_kept_one_has_not_is_only_what_can_be_pressed() -> None:
    whole = render.turn(a_turn())
    live = [each.tag for each in walk(whole) if each.only != "saved"]
    kept = re.findall(r"<([a-z0-9]+)", to_html(whole))

    assert set(live) - set(kept) == {"button", "form", "label", "textarea"}


@requirement("REQ-S26")
def test_the_root_keeps_formulas_from_being_set() -> None:
    assert to_html(render.turn(a_turn())).startswith(
        '<div class="aw mathjax_ignore tex2jax_ignore">'
    )
