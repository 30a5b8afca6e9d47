"""Arc's `shell_output` and `shell_job`: what a command prints, and how a job stands."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from arc_workbench.content import ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.shell import Shell
from arc_workbench.store.redaction import Redactor
from arc_workbench.tools.tool import Tool, ToolContext
from arc_workbench.toolsets.arc import shell_exec, shell_job, shell_output
from tests.requirements import requirement
from tests.unit.shell.context import make_context
from tests.unit.toolsets.jobs import ended, printed


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ToolContext]:
    shell = Shell(tmp_path, os.environ)
    yield make_context(shell, tmp_path)
    shell.close()


def call(tool: Tool, ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    result = tool.prepare(json.dumps(arguments), ctx).run()
    assert isinstance(result, ToolResult)
    assert json.loads(result.text) == result.details
    return result


def execute(ctx: ToolContext, command: str, **more: JsonValue) -> ToolResult:
    return call(shell_exec.TOOL, ctx, command=command, **more)


def start(ctx: ToolContext, command: str, **more: JsonValue) -> ToolResult:
    result = execute(ctx, command, block_budget_sec=0.05, **more)
    assert result.details["status"] == "running"
    return result


def output(ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    return call(shell_output.TOOL, ctx, **arguments)


def job(ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    return call(shell_job.TOOL, ctx, **arguments)


def whole(ctx: ToolContext, spool_id: str, max_bytes: int) -> str:
    """All of an output, range by range, as the description says."""
    text, offset = "", 0
    while True:
        piece = output(ctx, spool_id=spool_id, offset=offset, max_bytes=max_bytes).details
        assert piece["offset"] == offset
        size = piece["bytes"]
        assert isinstance(size, int)
        assert 0 < size <= max_bytes or piece["eof"]
        text, offset = text + str(piece["text"]), offset + size
        if piece["eof"]:
            return text


# ---- shell_output -----------------------------------------------------------------------------


@requirement("S2-107", "S2-108", "S2-114", "S2-115", "S2-116")
def test_a_range_is_read_from_the_start_by_default(ctx: ToolContext) -> None:
    spool = execute(ctx, "echo out; echo err >&2; echo more").details["spool_id"]

    result = output(ctx, spool_id=spool)

    assert result.details == {
        "spool_id": "s1",
        "offset": 0,
        "bytes": 13,
        "text": "out\nerr\nmore\n",
        "eof": True,
    }


@requirement("S2-110", "S2-112", "BUG-B10")
def test_all_of_a_long_output_can_be_read(ctx: ToolContext) -> None:
    execute(ctx, "seq 1 30000")

    assert whole(ctx, "s1", 65_536) == "".join(f"{n}\n" for n in range(1, 30_001))


@requirement("S2-110", "S2-111", "S2-112", "REQ-F39")
@pytest.mark.parametrize("seed", range(10))
def test_ranges_put_together_are_the_whole_text(ctx: ToolContext, seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choices("ab \nü€😀", k=80))
    spool = execute(ctx, "cat", stdin_text=text).details["spool_id"]

    assert whole(ctx, str(spool), dice.randint(4, 40)) == text


@requirement("S2-111", "REQ-F39")
def test_bytes_that_are_no_text_are_replaced_and_reading_goes_on(ctx: ToolContext) -> None:
    execute(ctx, r"printf 'a\377\376b\303'")

    assert whole(ctx, "s1", 1) == "a\ufffd\ufffdb\ufffd"


@requirement("S2-107")
def test_a_range_ends_with_a_line_where_it_can(ctx: ToolContext) -> None:
    execute(ctx, "echo first; echo second")

    result = output(ctx, spool_id="s1", max_bytes=10)

    assert (result.details["text"], result.details["bytes"]) == ("first\n", 6)
    assert result.details["eof"] is False


@requirement("S2-110", "REQ-F39")
def test_at_the_end_of_a_running_command_there_is_nothing_yet(ctx: ToolContext) -> None:
    start(ctx, "echo one; sleep 600")
    printed(ctx, "j1", "one\n")

    result = output(ctx, spool_id="s1", offset=4)

    assert (result.details["bytes"], result.details["eof"]) == (0, False)


@requirement("S2-110")
def test_a_command_that_printed_nothing_is_at_its_end(ctx: ToolContext) -> None:
    execute(ctx, "true")

    assert output(ctx, spool_id="s1").details["eof"] is True


@requirement("S2-114", "S2-115", "S2-116", "S2-117", "REQ-F39")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"spool_id": "s9"}, "no output s9"),
        ({"spool_id": "../s1"}, "no output"),
        ({"spool_id": "s1", "offset": 4}, "offset 4 is not in it"),
        ({"spool_id": "s1", "offset": -1}, "/offset"),
        ({"spool_id": "s1", "max_bytes": 0}, "/max_bytes"),
        ({"spool_id": "s1", "max_bytes": 65_537}, "/max_bytes"),
        ({"spool_id": "s1", "more": 1}, "/more"),
        ({}, "/spool_id"),
    ],
)
def test_what_is_not_there_is_an_error(
    ctx: ToolContext, wrong: dict[str, JsonValue], words: str
) -> None:
    execute(ctx, "echo ok")

    with pytest.raises(ToolError, match=words):
        output(ctx, **wrong)


@requirement("S2-113", "S2-125")
def test_both_are_found_on_demand_and_hidden_with_the_shell() -> None:
    for tool in (shell_output.TOOL, shell_job.TOOL):
        assert not tool.direct
        assert tool.offered_as == "execute"
    assert shell_output.TOOL.effect == "read"
    assert shell_job.TOOL.effect == "session"


# ---- shell_job --------------------------------------------------------------------------------


@requirement("S2-118", "S2-120", "S2-109", "S2-126")
def test_a_job_is_looked_at(ctx: ToolContext) -> None:
    start(ctx, "sleep 0.2; echo end; exit 3")
    ended(ctx, "j1")

    result = job(ctx, job_id="j1")

    assert list(result.details) == [
        "status",
        "exit_code",
        "duration_sec",
        "spool_id",
        "job_id",
        "output",
    ]
    assert (result.details["status"], result.details["exit_code"]) == ("failed", 3)
    assert (result.details["spool_id"], result.details["job_id"]) == ("s1", "j1")
    assert output(ctx, spool_id=result.details["spool_id"]).details["text"] == "end\n"


@requirement("S2-121")
def test_each_look_shows_what_is_new(ctx: ToolContext, tmp_path: Path) -> None:
    begun = start(ctx, "echo one; while ! test -e go; do sleep 0.02; done; echo two")
    seen = str(begun.details["output"]) + str(job(ctx, job_id="j1").details["output"])
    (tmp_path / "go").touch()
    ended(ctx, "j1")

    assert seen == "one\n"
    assert job(ctx, job_id="j1").details["output"] == "two\n"
    assert job(ctx, job_id="j1").details["output"] == ""


@requirement("S2-122", "S2-127")
def test_the_tail_is_read_again_and_moves_nothing(ctx: ToolContext) -> None:
    start(ctx, "sleep 0.2; seq 1 2000")
    ended(ctx, "j1")

    first = job(ctx, job_id="j1", tail=True).details["output"]
    again = job(ctx, job_id="j1", tail=True).details["output"]
    news = job(ctx, job_id="j1").details["output"]

    assert first == again
    assert str(first).endswith("\n2000\n")
    assert 1_900 < len(str(first)) <= 2_048
    assert news == "".join(f"{n}\n" for n in range(1, 2_001))


@requirement("S2-119")
@pytest.mark.parametrize(
    ("command", "limit", "status", "exit_code"),
    [
        ("sleep 0.2", 60, "completed", 0),
        ("sleep 0.2; exit 2", 60, "failed", 2),
        ("sleep 0.2; kill -TERM $$", 60, "failed", None),
        ("sleep 600", 0.3, "timed_out", None),
    ],
)
def test_the_status_says_how_a_job_ended(
    ctx: ToolContext, command: str, limit: float, status: str, exit_code: int | None
) -> None:
    start(ctx, command, timeout_sec=limit)
    ended(ctx, "j1")

    details = job(ctx, job_id="j1").details

    assert (details["status"], details["exit_code"]) == (status, exit_code)


@requirement("S2-119")
def test_a_job_that_was_ended_is_killed(ctx: ToolContext) -> None:
    start(ctx, "sleep 600")
    assert job(ctx, job_id="j1").details["status"] == "running"

    ctx.shell.kill("j1")

    assert job(ctx, job_id="j1").details["status"] == "killed"


@requirement("S2-123")
def test_the_description_says_to_do_other_work_meanwhile() -> None:
    said = shell_job.TOOL.definition.description

    assert "Do other work between looks" in said
    assert "[shell-job]" in said


@requirement("S2-126", "S2-128")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"job_id": "j9"}, "no job j9"), ({}, "/job_id"), ({"job_id": "j1", "kill": True}, "/kill")],
)
def test_another_job_is_an_error(ctx: ToolContext, wrong: dict[str, JsonValue], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        job(ctx, **wrong)


@requirement("S2-107", "REQ-S129")
def test_a_range_shows_no_part_of_a_key_wherever_it_begins(tmp_path: Path) -> None:
    key = "sk-ant" + "-api03-" + "AbCdEfGh12345678" * 3
    (tmp_path / "key").write_text(key + "\n")
    shell = Shell(tmp_path, os.environ, secrets=Redactor({}))
    ctx = make_context(shell, tmp_path)
    execute(ctx, "cat key")
    pieces = [output(ctx, spool_id="s1", offset=3)]
    pieces += [output(ctx, spool_id="s1", offset=at, max_bytes=8) for at in range(0, 56, 8)]
    shell.close()

    assert pieces[0].details["text"] == "[secret: anthropic key]\n"
    assert pieces[0].details["bytes"] == len(key) - 2
    assert {str(piece.details["text"]) for piece in pieces[1:]} == {"[secret: anthropic key]"}


@requirement("REQ-S129")
def test_the_last_2_kib_of_a_job_may_begin_inside_a_key_block(tmp_path: Path) -> None:
    lines = ["QWxhZGRpbjpvcGVuIHNlc2FtZQ" * 2] * 20
    marks = [f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END")]
    (tmp_path / "pem").write_text("\n".join([marks[0], *lines, marks[1], "filler\n" * 200]))
    shell = Shell(tmp_path, os.environ, secrets=Redactor({}))
    ctx = make_context(shell, tmp_path)
    start(ctx, "cat pem; sleep 0.2")
    ended(ctx, "j1")
    shown = job(ctx, job_id="j1", tail=True)
    shell.close()

    assert str(shown.details["output"]).startswith("[secret: private key]\nfiller\n")
