"""Arguments that are not one JSON object never reach a tool."""

import json
from pathlib import Path

import pytest

from arc_workbench.agent.arguments import parse_arguments
from arc_workbench.errors import ToolError
from tests.fakes.provider import calls
from tests.fakes.tools import echo
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench

BAD = (
    '{"a": 1',
    "[]",
    '"x"',
    "null",
    "7",
    '{"a": 1, "a": 2}',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": "\\ud800"}',
    "{" * 5,
    "[" * 100_000,
    '{"a": ' * 20_000,
)


@requirement("S1-050", "S1-051", "S1-052", "S1-053", "REQ-F61")
@pytest.mark.parametrize("raw", BAD, ids=[f"bad{n}" for n in range(len(BAD))])
def test_it_is_refused_with_the_raw_text_quoted_as_valid_json(raw: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(raw)

    text = str(caught.value)
    quoted = json.loads(text[text.index('{"INVALID_JSON"') :])
    assert quoted == {"INVALID_JSON": raw[:2000]}


@requirement("REQ-F61")
def test_what_the_json_corpus_says_of_objects_is_what_we_do(corpora: Path) -> None:
    wrong: list[str] = []
    for file in sorted((corpora / "json" / "test_parsing").glob("*.json")):
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        try:
            parse_arguments(text)
            accepted = True
        except ToolError:
            accepted = False
        must_refuse = file.name.startswith("n_") and bool(text.strip())
        if (must_refuse and accepted) or (_plain_object(file, text) and not accepted):
            wrong.append(file.name)
    assert wrong == []


def _plain_object(file: Path, text: str) -> bool:
    """A file that must be accepted and is an object without a key that stands twice."""
    return (
        file.name.startswith("y_")
        and text.strip().startswith("{")
        and "duplicated" not in file.name
    )


@requirement("S1-054")
async def test_the_model_is_told_and_the_turn_goes_on(bench: AsyncBench) -> None:
    at = await bench(
        calls(("a", "echo", '{"text": "x'), ("b", "echo", {"text": "y"})),
        tools=[echo()],
        mode="yolo",
    )

    turn = await at.session.send("Go")

    assert turn.reason == "completed"
    assert at.answers(1)["a"].is_error
    assert not at.answers(1)["b"].is_error
    assert at.results["a"].ran is False


async def test_an_unknown_tool_is_answered_with_the_names_there_are(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "multiedit", {})))

    await at.session.send("Go")

    assert "There is no tool multiedit" in at.results["a"].result.text
    assert "workspace_read" in at.results["a"].result.text


async def test_arguments_of_another_shape_are_answered_with_each_fault(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "read", {"path": 7}), ("b", "write", {"path": "x"})))

    await at.session.send("Go")

    assert at.results["a"].result.details["validationErrors"]
    assert "/content" in at.results["b"].result.text


async def test_safe_access_neither_offers_nor_runs_the_shell(bench: AsyncBench) -> None:
    at = await bench(calls(("a", "shell_exec", {"command": "touch x"})), access="safe")

    await at.session.send("Go")

    assert "shell_exec" not in {tool.name for tool in at.provider.requests[0].tools}
    assert at.results["a"].ran is False
    assert list(at.project.iterdir()) == []
