"""Arcturn's `bash`: what is asked, what comes back, and how failures are worded."""

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
from arc_workbench.toolsets.arcturn.bash import TOOL, Args
from tests.requirements import requirement
from tests.unit.shell.context import make_context


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
    return result


@requirement("S1-064", "S1-066", "BUG-B14")
def test_the_description_says_which_shell_runs_and_what_the_exit_code_is() -> None:
    said = TOOL.definition.description

    assert "/bin/sh -c" in said
    assert "last command of a pipeline" in said
    assert "no terminal" in said


@requirement("S1-073", "BUG-B21")
def test_the_exit_code_is_always_there(ctx: ToolContext) -> None:
    assert call(ctx, command="echo hi").text == "hi\n\n[Exit code: 0]"
    assert call(ctx, command="true").text == "(no output)\n\n[Exit code: 0]"


@requirement("S1-072", "S1-073", "S1-168", "S1-171")
def test_another_exit_code_than_zero_is_an_error(ctx: ToolContext) -> None:
    result = call(ctx, command="echo no >&2; exit 3")

    assert result.is_error
    assert result.text == "no\n\n[Exit code: 3]"
    assert result.note == "exit 3"
    assert result.details["exitCode"] == 3


@requirement("S1-068", "J-29")
def test_both_streams_are_one_text(ctx: ToolContext) -> None:
    result = call(ctx, command="echo A; echo B >&2; echo C; echo D >&2")

    assert result.text.startswith("A\nB\nC\nD\n")


@requirement("S1-071", "BUG-B10", "BUG-B20")
def test_a_long_output_keeps_its_end_and_says_how_to_read_the_rest(ctx: ToolContext) -> None:
    result = call(ctx, command="seq 1 200000; exit 3")

    assert result.text.endswith("[Exit code: 3]")
    assert "\n200000\n" in result.text
    assert "of 1288895 bytes of output are left out" in result.text
    assert f"bash_job with taskId {result.details['spoolId']} reads all of it" in result.text
    assert result.details["truncated"] is True
    assert result.details["totalBytes"] == 1_288_895
    (block,) = result.display
    assert isinstance(block, Output)
    assert block.cut_bytes + len(block.text) == 1_288_895


@requirement("S1-069", "S1-171")
def test_what_is_asked_about_is_the_command_and_its_folder(
    ctx: ToolContext, tmp_path: Path
) -> None:
    prepared = prepare(ctx, command="git status")

    assert TOOL.effect == "execute"
    assert prepared.subject == "git status"
    assert prepared.display == (Command(command="git status", cwd=str(tmp_path.resolve())),)
    assert prepared.binds == {"cwd": str(tmp_path.resolve())}


@requirement("S1-070")
def test_the_suggested_rule_is_never_wider_than_the_command(ctx: ToolContext) -> None:
    assert prepare(ctx, command="git status").suggested_rule == "git status"


@requirement("BUG-B12", "BUG-B3", "J-30", "REQ-S84")
def test_a_time_out_says_how_long_what_was_killed_and_what_to_do(ctx: ToolContext) -> None:
    result = call(ctx, command="echo P; sleep 600 & wait", timeoutMs=300)

    assert result.is_error
    assert result.text.startswith("Command timed out after 300 ms.")
    assert "--forceExit" in result.text
    assert "\nP\n" in result.text
    assert "Killed: " in result.text
    assert "sleep (pid " in result.text
    assert result.text.endswith("[Exit code: 137]")
    assert result.details["timedOut"] is True
    assert result.note == "timed out"


@requirement("S1-161", "BUG-N6")
def test_an_abort_keeps_what_was_printed(tmp_path: Path) -> None:
    stop = threading.Event()
    shown: list[str] = []

    def on_update(text: str = "", details: object = None) -> None:
        del details
        shown.append(text)
        stop.set()

    shell = Shell(tmp_path, os.environ)
    ctx = make_context(shell, tmp_path, signal=stop, on_update=on_update)
    result = call(ctx, command="echo so far; sleep 600")
    shell.close()

    assert result.is_error
    assert result.text.startswith("Command aborted.\nso far\n")
    assert shown == ["so far\n"]
    assert result.details["aborted"] is True


@requirement("BUG-B13")
def test_death_by_a_signal_is_an_error_that_names_it(ctx: ToolContext) -> None:
    result = call(ctx, command="kill -KILL $$")

    assert result.is_error
    assert "[The command was killed by SIGKILL.]" in result.text
    assert result.text.endswith("[Exit code: 137]")
    assert result.details["signal"] == "SIGKILL"


@requirement("BUG-B13")
def test_an_exit_code_that_stands_for_a_signal_is_explained(ctx: ToolContext) -> None:
    result = call(ctx, command="sh -c 'kill -SEGV $$'; exit $?")

    assert "usually means killed by SIGSEGV" in result.text


@requirement("BUG-B1")
def test_an_orphan_is_named(ctx: ToolContext) -> None:
    result = call(ctx, command="sleep 600 & echo done")

    assert not result.is_error
    assert result.text.startswith("done\n")
    assert "1 process was still running when the command ended" in result.text
    assert "sleep (pid " in result.text


@requirement("REQ-S24")
def test_the_text_is_plain(ctx: ToolContext) -> None:
    result = call(ctx, command=r"printf '\033[31mred\033[0m\r\033[Kgreen\n'")

    assert result.text == "green\n\n[Exit code: 0]"


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ("1500", 1500),
        ("0.5", 0.5),
        ("0", 120_000),
        ("-5", 120_000),
        ("1e999", 120_000),
        ("NaN", 120_000),
        ("600001", 600_000),
    ],
)
def test_a_limit_that_is_none_falls_back(given: str, limit: float) -> None:
    args = Args.model_validate_json(f'{{"command": "x", "timeoutMs": {given}}}')

    assert args.limit_ms == limit


def test_without_a_limit_it_is_two_minutes() -> None:
    assert Args.model_validate_json('{"command": "x"}').limit_ms == 120_000


@requirement("J-32", "BUG-B12")
def test_what_timed_out_twice_is_refused_before_anybody_is_asked(ctx: ToolContext) -> None:
    for command in ("sleep 600 # test", "sleep  600  # test"):
        assert call(ctx, command=command, timeoutMs=100).details["timedOut"] is True

    with pytest.raises(ToolError, match="timed out twice; not run again") as refused:
        prepare(ctx, command="sleep 600 # test")

    assert refused.value.details == {"timeoutCount": 2}
    assert prepare(ctx, command="sleep 600 # test", background=True)


@requirement("J-32")
def test_a_command_that_ends_by_itself_is_forgiven(ctx: ToolContext, tmp_path: Path) -> None:
    command = "test -e quick || sleep 600"
    call(ctx, command=command, timeoutMs=100)
    (tmp_path / "quick").touch()
    call(ctx, command=command)
    (tmp_path / "quick").unlink()
    call(ctx, command=command, timeoutMs=100)

    assert prepare(ctx, command=command)


@requirement("REQ-S85")
def test_a_question_that_nobody_could_answer_is_named(ctx: ToolContext) -> None:
    result = call(ctx, command="printf 'Overwrite a.txt? [y/N] '; read answer || exit 1")

    assert '[It asked "Overwrite a.txt? [y/N]" and nobody can type.' in result.text
    assert result.text.endswith("[Exit code: 1]")


def test_an_output_that_ends_in_a_question_mark_is_no_question_when_all_went_well(
    ctx: ToolContext,
) -> None:
    assert "It asked" not in call(ctx, command="printf 'who?'").text


@pytest.mark.parametrize("command", ["", "  ", "a\0b"])
def test_no_command_is_refused_before_anybody_is_asked(ctx: ToolContext, command: str) -> None:
    with pytest.raises(ToolError, match="nothing ran"):
        prepare(ctx, command=command)


def test_without_a_project_there_is_no_shell(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no project folder"):
        prepare(make_context(None, tmp_path), command="true")


@requirement("BUG-B23")
def test_three_megabytes_of_command_run(ctx: ToolContext) -> None:
    result = call(ctx, command=f": '{'x' * 3_000_000}'; echo ok")

    assert result.text == "ok\n\n[Exit code: 0]"
