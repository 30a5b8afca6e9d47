"""Commands under a sandbox: what both vocabularies say of it, and what they refuse."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from arc_workbench.content import Output, ToolResult
from arc_workbench.errors import SettingsError, ToolError
from arc_workbench.settings import Settings, load
from arc_workbench.shell import SandboxMode, Shell
from arc_workbench.shell.sandbox import Backends, probe
from arc_workbench.tools.tool import Tool, ToolContext
from arc_workbench.toolsets.arc import shell_exec
from arc_workbench.toolsets.arcturn import bash, bash_job
from arc_workbench.toolsets.factory import create_default_tools
from tests.requirements import requirement
from tests.unit.shell.context import make_context

NOTE = "note: sandbox requested but unavailable on this platform"
COMMANDS = pytest.mark.parametrize("tool", [bash.TOOL, shell_exec.TOOL], ids=lambda tool: tool.name)


class FakeBareMachine(Shell):
    """A shell on a machine where nothing can confine a command."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, os.environ, sandbox="workspace-write")
        self._starter.backends = lambda: Backends("", False, 0, "no bubblewrap here")


Opened = Callable[[SandboxMode], ToolContext]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens shells under a sandbox of this machine, which is skipped where there is none."""
    shells: list[Shell] = []

    def open_one(mode: SandboxMode) -> ToolContext:
        if mode != "off" and not probe().bubblewrap:
            pytest.skip("unavailable: no bubblewrap here")
        shells.append(Shell(tmp_path, os.environ, sandbox=mode))
        return make_context(shells[-1], tmp_path)

    yield open_one
    for shell in shells:
        shell.close()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[ToolContext]:
    shell = FakeBareMachine(tmp_path)
    yield make_context(shell, tmp_path)
    shell.close()


def call(tool: Tool, ctx: ToolContext, **arguments: JsonValue) -> ToolResult:
    result = tool.prepare(json.dumps(arguments), ctx).run()
    assert isinstance(result, ToolResult)
    return result


@requirement("S1-141")
def test_it_is_off_until_somebody_sets_it(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"sandbox": "workspace-write"}', encoding="utf-8")
    here = {"ARC_WORKBENCH_HOME": str(tmp_path)}

    assert Settings().sandbox == "off"
    assert load(here).sandbox == "workspace-write"
    assert load({**here, "ARC_WORKBENCH_SANDBOX": "required"}).sandbox == "required"
    with pytest.raises(SettingsError, match="on is no sandbox; nothing ran"):
        load(here, {"sandbox": "on"})


@COMMANDS
def test_programs_are_told_what_confined_a_command(tool: Tool, opened: Opened) -> None:
    result = call(tool, opened("workspace-write"), command="echo ok")

    assert not result.is_error
    assert result.details["sandbox"] == "bubblewrap"
    assert "sandboxUnavailable" not in result.details
    assert NOTE not in result.text


@COMMANDS
@requirement("S1-141")
def test_without_a_sandbox_nothing_is_said_of_one(tool: Tool, opened: Opened) -> None:
    assert "sandbox" not in call(tool, opened("off"), command="echo ok").details


@COMMANDS
@requirement("S1-146")
def test_where_there_is_none_the_first_line_says_so(tool: Tool, bare: ToolContext) -> None:
    result = call(tool, bare, command="echo ok")

    assert not result.is_error
    assert result.details["sandboxUnavailable"] is True
    assert result.details["sandbox"] is None
    (block,) = result.display
    assert isinstance(block, Output)
    assert block.text == f"{NOTE}\nok\n"
    assert result.text.count(NOTE) == 1
    assert tool.name != "bash" or result.text.startswith(f"{NOTE}\nok\n")


@COMMANDS
def test_an_approval_counts_for_the_sandbox_it_was_given_under(tool: Tool, opened: Opened) -> None:
    given = json.dumps({"command": "make"})

    off, on = (tool.prepare(given, opened(mode)).binds for mode in ("off", "required"))

    assert "sandbox" not in off
    assert on["sandbox"] == "required"


@requirement("S1-086", "S1-147", "J-33")
def test_a_background_command_is_refused_before_anybody_is_asked(bare: ToolContext) -> None:
    with pytest.raises(ToolError, match="would run outside it; nothing ran"):
        bash.TOOL.prepare(json.dumps({"command": "true", "background": True}), bare)

    assert bare.shell.jobs() == ()


@requirement("S1-086")
def test_the_manager_of_a_program_refuses_it_too(tmp_path: Path) -> None:
    box = create_default_tools(cwd=tmp_path, sandbox="workspace-write")

    with pytest.raises(ToolError, match="would run outside it"):
        box.background_tasks.start("true")

    box.close()


@requirement("S1-085")
def test_a_background_command_is_confined_only_where_it_is_required(opened: Opened) -> None:
    free = call(bash.TOOL, opened("off"), command="sleep 600", background=True)
    ctx = opened("required")
    confined = call(bash.TOOL, ctx, command="sleep 600", background=True)

    assert "sandbox" not in free.details
    assert confined.details["sandbox"] == "bubblewrap"
    call(bash_job.TOOL, ctx, taskId="j1", kill=True)


def test_a_job_of_shell_exec_stays_confined(opened: Opened) -> None:
    ctx = opened("workspace-write")

    result = call(shell_exec.TOOL, ctx, command="sleep 600", block_budget_sec=0.05)

    assert (result.details["status"], result.details["sandbox"]) == ("running", "bubblewrap")
    assert ctx.shell.job("j1").backend == "bubblewrap"
