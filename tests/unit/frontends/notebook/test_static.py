"""What is kept of a turn."""

import json
import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from nbconvert import HTMLExporter

from arc_workbench.content import Diff, JsonObject, Text, ToolResult
from arc_workbench.frontends.notebook.static import static_bundle
from arc_workbench.frontends.plain import turn as plain_turn
from tests.requirements import requirement
from tests.unit.frontends.turns import CLOCK, Telling, command, output

LIMIT = 400_000


def html_of(telling: Telling) -> str:
    return static_bundle(telling.view)["text/html"]


@requirement("REQ-S21", "BUG-N4", "BUG-N21")
def test_a_turn_is_kept_as_html_and_plain_text_and_nothing_else() -> None:
    telling = Telling().open().say("Hello").end()
    bundle = static_bundle(telling.view)

    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == plain_turn(telling.view)
    assert bundle["text/html"].startswith("<style>")
    assert '<div class="aw mathjax_ignore tex2jax_ignore">' in bundle["text/html"]


@requirement("BUG-N4", "BUG-N21", "REQ-S28")
def test_an_open_question_is_kept_as_words() -> None:
    html = html_of(Telling().open().call("bash", {}, "ls").ask(command("ls")))

    assert "Waiting for you" in html
    assert "Waiting for an answer." in html
    assert not re.search(r"<(button|form|input|textarea|script|img|a href=\"h)", html)


def test_only_the_styles_that_are_used_come_along() -> None:
    short = html_of(Telling().open().say("Hello").end())
    shown = (Diff(path="a.py", unified=CLOCK),)
    edited = Telling().open().call("edit", {}, "a").finish(ToolResult.of_text("", display=shown))
    long = html_of(edited.end())

    assert ".aw-diff__n" not in short
    assert ".aw-ask" not in short
    assert ".aw-field" not in short
    assert ".aw-diff__n" in long
    assert len(short) < 16_000


def test_equal_turns_give_equal_bytes() -> None:
    first, second = (
        Telling().open().call("ls", {}, ".").finish(ToolResult.of_text("x")).end() for _ in "ab"
    )

    assert static_bundle(first.view) == static_bundle(second.view)


@requirement("REQ-S30", "BUG-N18")
def test_a_turn_of_a_thousand_steps_stays_within_its_size_and_says_what_is_missing() -> None:
    telling = Telling().open()
    for number in range(1_000):
        result = ToolResult(content=(Text(text="x"),), note="exit 0", display=output("line\n" * 40))
        telling.call("bash", {"command": f"echo {number}"}, f"echo {number}").finish(result)
    html = html_of(telling.end())

    assert len(html.encode("utf-8")) < LIMIT
    assert "echo 999" in html
    assert re.search(
        r"[\d,]+ earlier steps not shown here. All of it: <code>%agent transcript t1<", html
    )


@requirement("REQ-S30", "BUG-N18")
@pytest.mark.parametrize("calls", [1, 500])
def test_one_huge_step_is_kept_in_brief(calls: int) -> None:
    telling = Telling().open()
    telling.call("bash", {"command": "x"}, "x")
    for _ in range(calls):
        telling.notice("y" * 4_000)
    html = html_of(telling.finish(ToolResult.of_text("x" * 10_000_000)).say("The end.").end())

    assert len(html.encode("utf-8")) < LIMIT
    assert "The end." in html


@requirement("REQ-S30")
def test_a_hundred_megabytes_of_output_are_kept_within_bounds() -> None:
    telling = Telling().open().call("bash", {"command": "x"}, "x")
    text = ("x" * 99 + "\n") * 1_000_000
    bundle = static_bundle(
        telling.finish(ToolResult.of_text(text, display=output(text))).end().view
    )

    assert len(bundle["text/html"]) < 60_000
    assert len(bundle["text/plain"]) < 1_000


def test_without_its_style_the_page_still_reads_in_order() -> None:
    telling = Telling().open().call("read", {"path": "a.py"}, "a.py")
    telling.finish(ToolResult.of_text("x = 1", note="1 line")).say("It is **one**.").end()
    page = re.sub(r"<style>.*?</style>", "", html_of(telling), flags=re.DOTALL)

    assert " ".join(Words(page).text.split()) == (
        "✓ Finished script:tour · default mode · full access 18.4k tokens · 0:42 "
        "1 ✓ read a.py done, 1 line 0.01 s › patha.py x = 1 2 It is one. "
        "1 call: 1 done · %agent transcript t1"
    )


class Words(HTMLParser):
    """The text of a page, with a space where a block begins."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.text += " " if tag in {"div", "p", "section", "details"} else ""

    def handle_data(self, data: str) -> None:
        self.text += data


@requirement("REQ-S28", "BUG-N4", "BUG-N21")
def test_an_exported_notebook_shows_the_turn_without_a_kernel() -> None:
    telling = Telling().open().call("bash", {}, "ls").ask(command("ls <b>"))
    data: JsonObject = dict(static_bundle(telling.view))
    shown: JsonObject = {"output_type": "display_data", "metadata": {}, "data": data}
    cell: JsonObject = {"cell_type": "code", "execution_count": 1, "metadata": {}, "id": "a"}
    cell |= {"source": "%%agent\nLook", "outputs": [shown]}
    notebook: JsonObject = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}

    page, _ = HTMLExporter().from_file(StringIO(json.dumps(notebook)))

    assert "Waiting for an answer." in page
    assert "<b>ls</b> &lt;b&gt;" in page
    assert 'class="aw-ask"' in page
