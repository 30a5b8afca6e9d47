"""Arguments and results, bounded."""

import pytest

from arc_workbench.content import Image, ToolResult
from arc_workbench.frontends.notebook.elements import el, text_of, to_html
from arc_workbench.frontends.notebook.values import MAX_LINES, head, pairs, tail, words_of
from tests.requirements import requirement


def test_arguments_are_names_and_values() -> None:
    html = to_html(pairs({"path": "a.py", "limit": 3, "deep": {"a": [True, None]}}))

    assert html == (
        '<dl class="aw-kv"><dt>path</dt><dd>a.py</dd><dt>limit</dt><dd>3</dd>'
        '<dt>deep</dt><dd>{"a": [true, null]}</dd></dl>'
    )


def test_long_arguments_say_what_is_missing_unless_somebody_is_asked() -> None:
    values = {"content": "x" * 5_000}

    assert text_of(pairs(values)).endswith("… 3,000 more characters")
    assert text_of(pairs(values, whole=True)) == "content" + "x" * 5_000


def test_many_arguments_are_counted() -> None:
    assert text_of(pairs({f"k{n}": n for n in range(50)})).endswith("…10 more")


def test_the_tail_of_an_output_says_how_much_stands_above() -> None:
    drawn = tail("\n".join(f"line {n}" for n in range(200)))

    assert text_of(drawn).startswith("176 lines above, not shown here")
    assert "line 199" in text_of(drawn)
    assert "line 175" not in text_of(drawn)


def test_bytes_that_were_cut_before_are_said_too() -> None:
    assert text_of(tail("x", 12_400)).startswith("12.4 KB above, not shown here")


def test_a_short_output_gives_itself_back() -> None:
    assert to_html(tail("a <b>\n  c\n")) == '<div class="aw-out"><pre>a &lt;b&gt;\n  c</pre></div>'
    assert text_of(tail("")) == "no output"


@requirement("REQ-S24")
def test_what_a_terminal_would_obey_is_gone_from_an_output() -> None:
    shown = text_of(tail("\x1b[31mred\x1b[0m\x1b]0;title\x07 10%\r20%\x1b[2J\x9b"))

    assert "\x1b" not in shown
    assert "title" not in shown


def test_the_head_of_a_text_says_how_much_follows() -> None:
    drawn = head("\n".join(f"line {n}" for n in range(424)))

    assert text_of(drawn).endswith(f"{424 - MAX_LINES} more lines not shown here")


@pytest.mark.parametrize(
    "line", ["E   assert 1 == 2", "FAILED a::b", "ValueError: no", "Traceback (x"]
)
def test_lines_that_tell_of_a_failure_stand_out(line: str) -> None:
    assert "aw-out__bad" in to_html(tail(line))
    assert "aw-out__good" in to_html(tail("4 passed in 0.1 s"))
    assert "aw-out__good" not in to_html(tail("3 passed, 1 failed"))


@requirement("REQ-S30")
@pytest.mark.parametrize("text", ["x" * 99 + "\n", "y"])
def test_a_hundred_megabytes_are_drawn_within_bounds(text: str) -> None:
    output = text * (100_000_000 // len(text))

    assert len(to_html(tail(output))) < 50_000
    assert len(to_html(head(output))) < 50_000
    if text.endswith("\n"):
        assert text_of(tail(output)).startswith("999,9")


def test_a_result_in_json_is_drawn_as_its_details() -> None:
    drawn = words_of(ToolResult.of_json({"path": "a", "bytes": 3}))

    assert [text_of(each) for each in drawn] == ["pathabytes3"]


@requirement("REQ-S21", "REQ-S22")
def test_a_picture_is_named_and_not_drawn() -> None:
    result = ToolResult(content=(Image(data="A" * 4_000, mime="image/svg+xml"),))

    html = to_html(el("div", "", *words_of(result)))
    assert html == (
        '<div><p class="aw-soft">Picture, image/svg+xml, 3.0 KB, not drawn here</p></div>'
    )
