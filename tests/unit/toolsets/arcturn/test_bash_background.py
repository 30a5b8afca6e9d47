"""Background commands of Arcturn's `bash`, and `bash_job`, which looks after them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import Shell
from arc_workbench.store.redaction import Redactor
from arc_workbench.tools.tool import Tool, ToolContext
from arc_workbench.toolsets.arcturn import bash, bash_job
from tests.requirements import requirement
from tests.unit.shell.context import make_context
from tests.unit.toolsets.jobs import ended, printed

IGNORES_TERM = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ToolContext]:
    shell = Shell(tmp_path, os.environ)
    yield make_context(shell, tmp_path)
    shell.close()


def call(tool: Tool, ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    result = tool.prepare(json.dumps(arguments), ctx).run()
    assert isinstance(result, ToolResult)
    return result


def start(ctx: ToolContext, command: str) -> str:
    return str(call(bash.TOOL, ctx, command=command, background=True).details["taskId"])


def look(ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    return call(bash_job.TOOL, ctx, **arguments)


def tasks(ctx: ToolContext) -> list[JsonObject]:
    listed = look(ctx).details["tasks"]
    assert isinstance(listed, list)
    return [task for task in listed if isinstance(task, dict)]


@requirement("S1-074")
def test_a_background_command_gives_its_id_at_once(ctx: ToolContext) -> None:
    result = call(bash.TOOL, ctx, command="sleep 600", background=True)

    assert not result.is_error
    assert "background task j1" in result.text
    assert result.details == {
        "command": "sleep 600",
        "taskId": "j1",
        "spoolId": "s1",
        "running": True,
    }


@requirement("S1-075")
def test_it_leads_a_process_group_of_its_own(ctx: ToolContext) -> None:
    start(ctx, "ps -o pid=,pgid= -p $$; sleep 600")
    printed(ctx, "j1", "\n")

    pid, group = ctx.shell.tail("j1").raw.split()
    assert pid == group
    assert int(group) != os.getpgrp()


def test_a_limit_does_not_count_for_it(ctx: ToolContext) -> None:
    call(bash.TOOL, ctx, command="sleep 0.3; echo end", background=True, timeoutMs=1)

    assert ended(ctx, "j1").status == "completed"


def test_it_is_asked_about_as_what_it_is(ctx: ToolContext) -> None:
    given = json.dumps({"command": "make", "background": True})

    prepared = bash.TOOL.prepare(given, ctx)

    assert prepared.subject == "make"
    assert "in the background" in prepared.description


@requirement("REQ-F44")
def test_a_fifth_is_refused_before_anybody_is_asked(ctx: ToolContext) -> None:
    for _ in range(4):
        start(ctx, "sleep 600")

    with pytest.raises(ToolError, match=r"Four jobs run \(j1, j2, j3, j4\)"):
        bash.TOOL.prepare(json.dumps({"command": "true", "background": True}), ctx)

    look(ctx, taskId="j2", kill=True)
    assert start(ctx, "true") == "j5"


@requirement("S1-077", "S1-083")
def test_a_look_shows_how_it_stands_without_waiting(ctx: ToolContext) -> None:
    start(ctx, "echo one; sleep 600")
    printed(ctx, "j1", "one\n")

    result = look(ctx, taskId="j1")

    assert "j1 (echo one; sleep 600): running" in result.text
    assert result.details["running"] is True
    assert result.details["exitCode"] is None
    assert result.details["output"] == "one\n"
    assert result.details["outputTruncated"] is False
    assert isinstance(result.details["startedAt"], int)
    assert "endedAt" not in result.details


@requirement("S1-077")
def test_each_look_shows_only_what_is_new(ctx: ToolContext, tmp_path: Path) -> None:
    start(ctx, "echo one; while ! test -e go; do sleep 0.02; done; echo two; exit 3")
    printed(ctx, "j1", "one\n")
    look(ctx, taskId="j1")
    (tmp_path / "go").touch()
    ended(ctx, "j1")

    result = look(ctx, taskId="j1")

    assert not result.is_error
    assert result.details["output"] == "two\n"
    assert result.details["exitCode"] == 3
    assert isinstance(result.details["endedAt"], int)
    assert result.text.endswith("[Exit code: 3]")
    assert "(no new output)" in look(ctx, taskId="j1").text


@requirement("S1-076")
def test_of_a_long_output_the_last_50_kib_are_shown(ctx: ToolContext) -> None:
    start(ctx, "seq 1 20000; echo end >&2")
    ended(ctx, "j1")

    result = look(ctx, taskId="j1")

    assert result.details["outputTruncated"] is True
    assert str(result.details["output"]).endswith("\n20000\nend\n")
    assert len(str(result.details["output"])) <= 50 * 1024
    assert "bash_job with taskId s1 reads all of it" in result.text


@requirement("S1-076", "REQ-F39")
def test_what_was_left_out_is_read_piece_by_piece(ctx: ToolContext) -> None:
    foreground = call(bash.TOOL, ctx, command="seq 1 30000")
    whole, task = "", "s1"

    while True:
        piece = look(ctx, taskId=task)
        whole += str(piece.details["output"])
        if piece.details["eof"]:
            break
        task = piece.text.rpartition("go on with taskId ")[2].removesuffix(".]")

    assert foreground.details["truncated"] is True
    assert whole == "".join(f"{n}\n" for n in range(1, 30_001))


@requirement("S1-079")
def test_without_an_id_all_are_listed_the_newest_first(ctx: ToolContext) -> None:
    assert look(ctx).text == "No background task has been started."
    start(ctx, "echo a; exit 3")
    ended(ctx, "j1")
    start(ctx, "sleep 600")

    result = look(ctx)

    newest, oldest = result.text.split("\n")
    assert newest.startswith("j2  running  ")
    assert newest.endswith("  sleep 600")
    assert oldest.startswith("j1  exit 3  ")
    assert [task["taskId"] for task in tasks(ctx)] == ["j2", "j1"]


@requirement("S1-078", "S1-084")
def test_a_kill_asks_first(ctx: ToolContext) -> None:
    start(ctx, "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    printed(ctx, "j1", "ready\n")

    result = look(ctx, taskId="j1", kill=True)

    assert result.details["running"] is False
    assert str(result.details["output"]).endswith("bye\n")
    assert ctx.shell.job("j1").status == "killed"


@requirement("S1-084", "REQ-F41")
def test_what_ignores_that_is_killed_after_two_seconds(ctx: ToolContext) -> None:
    start(ctx, IGNORES_TERM)
    printed(ctx, "j1", "ready\n")

    result = look(ctx, taskId="j1", kill=True)

    assert result.details["running"] is False
    assert "killed" in result.text


@requirement("S1-078")
@pytest.mark.parametrize("kill", [True, False])
def test_an_unknown_id_is_an_error_that_names_the_known_ones(ctx: ToolContext, kill: bool) -> None:
    start(ctx, "sleep 600")

    with pytest.raises(ToolError, match=r"no job j9\. Jobs: j1\."):
        look(ctx, taskId="j9", kill=kill)


def test_ending_everything_at_once_is_not_possible(ctx: ToolContext) -> None:
    with pytest.raises(ToolError, match="Say in taskId which task"):
        look(ctx, kill=True)
    with pytest.raises(ToolError, match="an output, not a task"):
        look(ctx, taskId="s1", kill=True)


def test_looking_after_own_tasks_asks_nobody_and_is_hidden_with_the_shell() -> None:
    assert bash_job.TOOL.effect == "session"
    assert bash_job.TOOL.offered_as == "execute"
    assert set(bash_job.Args.model_json_schema()["properties"]) == {"taskId", "kill"}


@requirement("REQ-S129")
def test_going_on_inside_a_key_shows_no_part_of_it(tmp_path: Path) -> None:
    key = "sk-ant" + "-api03-" + "AbCdEfGh12345678" * 3
    (tmp_path / "key").write_text(key)
    shell = Shell(tmp_path, os.environ, secrets=Redactor({}))
    ctx = make_context(shell, tmp_path)
    call(bash.TOOL, ctx, command="cat key")
    shown = look(ctx, taskId="s1@3")
    shell.close()

    assert shown.text == f"[secret: anthropic key]\n\n[Bytes 3 to {len(key)} of s1; the end.]"
