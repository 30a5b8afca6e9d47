"""Arc's `shell_exec`: schema, what is asked, and the shape of results."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from arc_workbench.content import Command, Output, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import Shell
from arc_workbench.tools.tool import Prepared, ToolContext
from arc_workbench.toolsets.arc.shell_exec import TOOL
from tests.requirements import requirement
from tests.unit.shell.context import make_context
from tests.unit.toolsets.jobs import ended

KEYS = ["status", "exit_code", "duration_sec", "spool_id", "job_id", "output"]


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ToolContext]:
    shell = Shell(tmp_path, os.environ)
    yield make_context(shell, tmp_path)
    shell.close()


def prepare(ctx: ToolContext, **arguments: JsonValue) -> Prepared:
    return TOOL.prepare(json.dumps(arguments), ctx)


def call(ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    result = prepare(ctx, **arguments).run()
    assert isinstance(result, ToolResult)
    assert json.loads(result.text) == result.details
    return result


@requirement("S2-099", "S2-100", "S2-101", "S2-103", "S2-105", "S2-106")
def test_the_schema_is_the_published_one(spec: Path) -> None:
    page = (spec / "arc-managed-runtime-tools.txt").read_text(encoding="utf-8")
    published = page[page.index("\nshell_exec\n") :]
    schema, _ = json.JSONDecoder().raw_decode(published, published.index("{"))

    assert TOOL.definition.input_schema == schema


@requirement("S2-092", "S2-096", "S2-097", "S2-098", "S2-021")
def test_the_description_states_the_facts_of_the_page() -> None:
    said = TOOL.definition.description

    assert "/bin/sh -c" in said
    assert "non-interactive" in said
    assert "shell_job (find both by search" in said
    assert "neither journaled nor undoable" in said
    assert "not an interactive terminal" in said


@requirement("S2-092")
def test_a_result_has_the_agreed_shape(ctx: ToolContext) -> None:
    result = call(ctx, command="echo out; echo err >&2")

    assert list(result.details) == KEYS
    assert result.details["status"] == "completed"
    assert result.details["exit_code"] == 0
    assert result.details["output"] == "out\nerr\n"
    assert result.details["spool_id"] == "s1"
    assert result.details["job_id"] is None
    assert result.display == (Output(text="out\nerr\n"),)


def test_an_exit_code_is_an_answer_and_no_error(ctx: ToolContext) -> None:
    result = call(ctx, command="exit 3")

    assert not result.is_error
    assert (result.details["status"], result.details["exit_code"]) == ("failed", 3)
    assert result.note == "exit 3"


@requirement("S2-101", "REQ-S84", "BUG-B12")
def test_a_time_out_is_an_error_and_keeps_the_output(ctx: ToolContext) -> None:
    result = call(ctx, command="echo P; sleep 600", timeout_sec=0.3)

    assert result.is_error
    assert (result.details["status"], result.details["exit_code"]) == ("timed_out", None)
    assert result.details["output"] == "P\n"
    assert "Killed: " in str(result.details["note"])


@requirement("BUG-B13")
def test_death_by_a_signal_is_an_error(ctx: ToolContext) -> None:
    result = call(ctx, command="kill -TERM $$")

    assert result.is_error
    assert (result.details["status"], result.details["exit_code"]) == ("failed", None)
    assert result.details["note"] == "The command was killed by SIGTERM."


@requirement("BUG-N6")
def test_an_abort_is_reported_as_killed(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    shell = Shell(tmp_path, os.environ)
    ctx = make_context(shell, tmp_path, signal=stop)

    result = call(ctx, command="sleep 600")
    shell.close()

    assert result.is_error
    assert result.details["status"] == "killed"


@requirement("S2-093", "S2-095", "S2-104")
def test_a_command_past_its_budget_becomes_a_job(ctx: ToolContext) -> None:
    result = call(ctx, command="echo first; sleep 600", block_budget_sec=0.3)

    assert not result.is_error
    assert list(result.details) == [*KEYS, "note"]
    assert result.details["status"] == "running"
    assert result.details["exit_code"] is None
    assert (result.details["spool_id"], result.details["job_id"]) == ("s1", "j1")
    assert result.details["output"] == "first\n"
    assert "goes on as job j1" in str(result.details["note"])
    assert result.note == "job j1"


@requirement("S2-103")
def test_a_budget_that_is_not_below_the_limit_never_makes_a_job(ctx: ToolContext) -> None:
    result = call(ctx, command="sleep 600", timeout_sec=0.3, block_budget_sec=0.3)

    assert result.details["status"] == "timed_out"
    assert result.details["job_id"] is None


@requirement("S2-102")
def test_the_limit_ends_a_job_too(ctx: ToolContext) -> None:
    call(ctx, command="sleep 600", timeout_sec=0.6, block_budget_sec=0.1)

    assert ended(ctx, "j1").status == "timed_out"


@requirement("S2-094", "REQ-F44")
def test_a_fifth_job_is_refused_before_anybody_is_asked(ctx: ToolContext) -> None:
    for _ in range(4):
        call(ctx, command="sleep 600", block_budget_sec=0.05)

    with pytest.raises(ToolError, match=r"Four jobs run \(j1, j2, j3, j4\)") as refused:
        prepare(ctx, command="true")

    assert "block_budget_sec not below timeout_sec" in str(refused.value)
    assert (
        call(ctx, command="echo ok", timeout_sec=30, block_budget_sec=30).details["output"]
        == "ok\n"
    )


@requirement("S2-095", "BUG-B10")
def test_a_long_output_says_how_to_read_the_rest(ctx: ToolContext) -> None:
    result = call(ctx, command="seq 1 200000")

    assert "of 1288895 bytes of output are left out" in str(result.details["note"])
    assert "shell_output with spool_id s1 reads all of it" in str(result.details["note"])


@requirement("J-32")
def test_what_timed_out_twice_is_refused_before_anybody_is_asked(ctx: ToolContext) -> None:
    for _ in range(2):
        call(ctx, command="sleep 600", timeout_sec=0.1)

    with pytest.raises(ToolError, match="timed out twice"):
        prepare(ctx, command="sleep 600")


@requirement("REQ-S85")
def test_a_question_that_nobody_could_answer_is_named(ctx: ToolContext) -> None:
    asked = call(ctx, command="printf 'Password: '; read answer || exit 1")
    fed = call(ctx, command="printf 'Password: '; exit 1", stdin_text="no")

    assert 'It asked "Password:" and nobody can type.' in str(asked.details["note"])
    assert "note" not in fed.details


@requirement("S2-100")
def test_the_folder_is_relative_to_the_project_or_absolute(
    ctx: ToolContext, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "sub").mkdir()
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    assert call(ctx, command="pwd -P").details["output"] == f"{tmp_path.resolve()}\n"
    assert call(ctx, command="pwd -P", cwd="sub").details["output"] == f"{tmp_path.resolve()}/sub\n"
    there = call(ctx, command="pwd -P", cwd=str(elsewhere))
    assert there.details["output"] == f"{elsewhere.resolve()}\n"


@requirement("S2-100")
def test_a_missing_folder_is_refused_before_anybody_is_asked(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        prepare(ctx, command="true", cwd="missing")


@requirement("S2-098", "S2-105")
def test_input_is_written_once_and_ends(ctx: ToolContext) -> None:
    assert call(ctx, command="cat; cat", stdin_text="grün").details["output"] == "grün"
    assert call(ctx, command="cat").details["output"] == ""


@requirement("S2-105")
def test_input_is_counted_in_bytes_as_well(ctx: ToolContext) -> None:
    assert prepare(ctx, command="cat", stdin_text="x" * 65_536)
    with pytest.raises(ToolError, match="131072 bytes"):
        prepare(ctx, command="cat", stdin_text="ü" * 65_536)
    with pytest.raises(ToolError, match="/stdin_text"):
        prepare(ctx, command="cat", stdin_text="x" * 65_537)


@requirement("S2-101", "S2-103", "S2-106")
@pytest.mark.parametrize(
    "extra",
    [
        {"timeout_sec": 0},
        {"timeout_sec": 900.5},
        {"timeout_sec": None},
        {"block_budget_sec": 0},
        {"block_budget_sec": 61},
        {"shell": "bash"},
    ],
)
def test_what_the_schema_forbids_is_refused(ctx: ToolContext, extra: dict[str, JsonValue]) -> None:
    with pytest.raises(ToolError, match="nothing ran"):
        prepare(ctx, command="true", **extra)


@requirement("REQ-S54")
def test_what_is_asked_about_names_all_that_decides(ctx: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    alone = prepare(ctx, command="python3 -")
    elsewhere = prepare(ctx, command="python3 -", cwd="sub")
    fed = prepare(ctx, command="python3 -", stdin_text="print(1)")

    assert TOOL.effect == "execute"
    assert alone.subject == "python3 -"
    assert alone.display == (Command(command="python3 -", cwd=str(tmp_path.resolve())),)
    assert len({alone.subject, elsewhere.subject, fed.subject}) == 3
    assert "8 bytes on its standard input" in fed.description
