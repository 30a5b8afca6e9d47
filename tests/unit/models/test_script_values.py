"""Values of a script: fields of results, pieces of text, placeholders."""

import json

import pytest
from pydantic import JsonValue

from arc_workbench.content import Answer, Image, Text
from arc_workbench.models.script_values import (
    Reference,
    Result,
    Template,
    ValueMissingError,
    Values,
    same,
)


def result(text: str, *, is_error: bool = False) -> Result:
    return Result(Answer(call_id="call_1", content=(Text(text=text),), is_error=is_error))


def values(**named: Result | str) -> Values:
    held = Values("What is it?")
    for name, value in named.items():
        held.keep(name, value)
    return held


def look_up(held: Values, name: str) -> JsonValue:
    reference = Reference.parse(name)
    assert reference is not None
    return held.get(reference)


JSON = json.dumps({"output": "one\ntwo", "exit_code": 3, "deep": {"list": [{"a": 1}, None]}})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("it", "one\ntwo"),
        ("it.text", "one\ntwo"),
        ("it.exit_code", 3),
        ("it.failed", False),
        ("it.deep.list.0.a", 1),
        ("it.deep.list.1", None),
        ("it.deep", {"list": [{"a": 1}, None]}),
        ("prompt", "What is it?"),
        ("steering", ""),
    ],
)
def test_a_name_reaches_into_a_json_result(name: str, meant: JsonValue) -> None:
    assert look_up(values(it=result(JSON)), name) == meant


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ("plain words", "it.text", "plain words"),
        ("ok\n\n[Exit code: 0]", "it.exit_code", 0),
        ("says [Exit code: 9]\n\n[Exit code: -2]", "it.exit_code", -2),
        ("{ no json", "it.text", "{ no json"),
        ("[1, 2]", "it.text", "[1, 2]"),
        ('{"content": "", "sha256": "ab"}', "it.text", ""),
        ('{"entries": []}', "it.text", '{"entries": []}'),
        ('{"exit_code": null}', "it.exit_code", None),
        ("[" * 100_000, "it.failed", False),
        ('{"a":' * 100_000, "it.failed", False),
    ],
)
def test_a_result_has_text_and_outcome_whatever_its_form(
    text: str, name: str, meant: JsonValue
) -> None:
    assert look_up(values(it=result(text)), name) == meant


def test_a_denied_or_failed_call_says_so() -> None:
    held = values(it=result("The person denied this call.", is_error=True))

    assert look_up(held, "it.failed") is True
    assert look_up(held, "it.text") == "The person denied this call."


def test_a_picture_has_no_words() -> None:
    picture = Answer(call_id="call_1", content=(Image(data="AA==", mime="image/png"),))

    assert look_up(values(it=Result(picture)), "it.text") == ""


@pytest.mark.parametrize("name", ["it.sha256", "it.deep.list.7", "it.deep.list.x", "it.output.0"])
def test_a_value_that_is_not_there_is_named_with_what_came_back(name: str) -> None:
    with pytest.raises(ValueMissingError) as missing:
        look_up(values(it=result(JSON)), name)

    assert f"{{{name}}} is not in what came back, which was: one\ntwo" in str(missing.value)


def test_a_name_that_was_not_given_yet_has_no_value() -> None:
    with pytest.raises(ValueMissingError, match=r"\{it\.text\} has no value at this point"):
        look_up(values(), "it.text")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{it.exit_code}", 3),
        ("code {it.exit_code}.", "code 3."),
        ("{it.deep.list}", [{"a": 1}, None]),
        ("see {it.deep.list.0}", 'see {"a": 1}'),
        ("{{it.text}}", "{it.text}"),
        ("{{{word}}}", "{{word}}"),
        ("{word}{word}", "abcabc"),
        ('{"word": {}} {word } { word}', '{"word": {}} {word } { word}'),
        ("", ""),
    ],
)
def test_placeholders_are_filled_and_other_braces_left(text: str, filled: JsonValue) -> None:
    assert values(it=result(JSON), word="abc").fill(Template.parse(text)) == filled


def test_what_is_filled_in_is_not_read_again() -> None:
    assert values(word="{it}").fill(Template.parse("<{word}>")) == "<{it}>"


def test_arguments_keep_their_types_at_every_depth() -> None:
    written = {"a": (Template.parse("{it.exit_code}"), True, None), "b": {"c": 1.5}}

    assert values(it=result(JSON)).fill(written) == {"a": [3, True, None], "b": {"c": 1.5}}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (0, 0, True),
        (0, "0", True),
        (1, 1.0, True),
        (1, True, False),
        ("true", True, True),
        (None, "null", True),
        ("a", "A", False),
        ({"a": 1}, {"a": 1}, True),
    ],
)
def test_values_are_equal_when_they_read_the_same(
    one: JsonValue, other: JsonValue, equal: bool
) -> None:
    assert same(one, other) is equal
