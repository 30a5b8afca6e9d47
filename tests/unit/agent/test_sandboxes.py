"""What confines the commands of a session: set between turns, and said before one runs."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from arc_workbench.errors import SessionBusy, SessionError, SettingsError
from arc_workbench.events import PermissionRequested, SettingChanged
from arc_workbench.models.provider import ModelEvent
from arc_workbench.shell import SandboxMode
from arc_workbench.shell.sandbox_probe import probe
from tests.fakes.provider import calls, says
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench, Bench

needs_sandbox = pytest.mark.skipif(not probe().bubblewrap, reason=f"unavailable: {probe().why_not}")


def command(line: str, call: str = "a", tool: str = "bash") -> list[ModelEvent]:
    return calls((call, tool, {"command": line}))


def asked(bench: Bench) -> list[tuple[str, bool]]:
    """What each question said of the sandbox, and whether it was about a dry run."""
    found = [event for event in bench.events if isinstance(event, PermissionRequested)]
    return [(event.sandbox, event.dry_run) for event in found]


async def until(met: Callable[[], bool]) -> None:
    def wait() -> None:
        give_up = time.monotonic() + 30
        while not met():
            assert time.monotonic() < give_up
            time.sleep(0.02)

    await asyncio.to_thread(wait)


async def test_a_sandbox_is_set_between_turns_and_recorded(bench: AsyncBench) -> None:
    made = await bench()
    assert made.session.sandbox == "off"

    made.session.set_sandbox("workspace-write")
    made.session.set_sandbox("workspace-write")

    assert made.session.sandbox == "workspace-write"
    changed = [event for event in made.events if isinstance(event, SettingChanged)]
    assert [(e.key, e.old, e.new) for e in changed if e.key == "sandbox"] == [
        ("sandbox", "off", "workspace-write")
    ]


async def test_a_word_that_is_no_sandbox_changes_nothing(bench: AsyncBench) -> None:
    made = await bench()

    with pytest.raises(SettingsError, match="require is no sandbox"):
        made.session.set_sandbox(cast("SandboxMode", "require"))

    assert made.session.sandbox == "off"


async def test_a_sandbox_is_not_changed_while_a_turn_runs(bench: AsyncBench) -> None:
    made = await bench(command("sleep 600"), says("Done."), mode="yolo")
    turn = asyncio.create_task(made.session.send("Go"))
    await until(lambda: bool(made.of("ToolCallStarted")))

    with pytest.raises(SessionBusy):
        made.session.set_sandbox("required")

    assert made.session.sandbox == "off"
    made.session.cancel()
    await turn


async def test_a_closed_session_changes_no_sandbox(bench: AsyncBench) -> None:
    made = await bench()
    made.session.close()

    with pytest.raises(SessionError):
        made.session.set_sandbox("required")


async def test_without_a_project_there_is_nothing_to_confine(bench: AsyncBench) -> None:
    made = await bench(project="none")

    made.session.set_sandbox("required")

    assert made.session.sandbox == "off"
    assert not [e for e in made.events if isinstance(e, SettingChanged) and e.key == "sandbox"]


async def test_a_job_goes_on_as_it_began(bench: AsyncBench) -> None:
    job = calls(("a", "bash", {"command": "sleep 600", "background": True}))
    made = await bench(job, says("Done."), mode="yolo")
    await made.session.send("Go")

    made.session.set_sandbox("required")

    assert [state.status for state in made.session.jobs()] == ["running"]


@needs_sandbox
async def test_commands_after_it_are_confined_and_those_before_it_were_not(
    bench: AsyncBench,
) -> None:
    made = await bench(
        command("true"), says("One."), command("true", "b", "shell_exec"), says("Two."), mode="yolo"
    )
    await made.session.send("Go")
    made.session.set_sandbox("required")
    await made.session.send("Go on")

    assert "sandbox" not in made.results["a"].result.details
    assert made.results["b"].result.details["sandbox"] == "bubblewrap"


@requirement("REQ-S1")
@pytest.mark.parametrize("tool", ["bash", "shell_exec"])
async def test_a_question_says_what_will_confine_the_command(bench: AsyncBench, tool: str) -> None:
    made = await bench(command("true", "a", tool), says("."), command("true", "b", tool), says("."))
    made.answer_with(allow=False)
    await made.session.send("Go")
    made.session.set_sandbox("workspace-write")
    await made.session.send("Go on")

    works = probe().bubblewrap or probe().landlock
    assert asked(made) == [
        ("off", False),
        ("workspace-write" if works else "unavailable", False),
    ]


@needs_sandbox
async def test_a_question_in_a_dry_run_says_that_the_command_gets_a_copy(bench: AsyncBench) -> None:
    made = await bench(command("true"), says("."), dry_run=True)
    made.answer_with(allow=False)
    await made.session.send("Go")

    assert asked(made) == [("required", True)]


async def test_a_question_about_a_file_says_nothing_of_a_sandbox(bench: AsyncBench) -> None:
    made = await bench(calls(("a", "write", {"path": "a.txt", "content": "x"})), says("."))
    made.answer_with(allow=False)
    await made.session.send("Go")

    assert asked(made) == [("", False)]


@needs_sandbox
@requirement("REQ-S77")
@pytest.mark.parametrize("sandbox", ["workspace-write", "required"])
@pytest.mark.parametrize("where", ["session_dir", "home"])
async def test_a_command_cannot_write_the_record_of_its_own_session(
    bench: AsyncBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str, sandbox: str
) -> None:
    lesson = tmp_path / "project/lesson"
    session_dir = str(lesson) if where == "session_dir" else ""
    if where == "home":
        monkeypatch.setenv("ARC_WORKBENCH_HOME", str(lesson))
    script = (
        "for f in $(find lesson -type f); do printf '' > $f && echo WROTE; done;"
        "for d in $(find lesson -type d ! -name scratch); do printf '' > $d/new && echo MADE; done;"
        "mv lesson l && echo MOVED; find lesson -name transcript.jsonl | wc -l"
    )
    made = await bench(
        command(script), says("."), mode="yolo", sandbox=sandbox, session_dir=session_dir
    )
    await made.session.send("Go")

    said = made.results["a"].result.text
    assert "Read-only" in said
    assert not {"WROTE", "MADE", "MOVED"} & set(said.split())


@needs_sandbox
@requirement("REQ-S77")
@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_turn_survives_a_protected_name_that_is_no_text(
    bench: AsyncBench, *, dry_run: bool
) -> None:
    odd = command(r"""touch "$(printf 'x\377.pth')" """)
    made = await bench(odd, says("."), mode="yolo", sandbox="workspace-write", dry_run=dry_run)
    await made.session.send("Go")

    assert r"x\xff.pth" in made.results["a"].result.text


@needs_sandbox
@requirement("REQ-S77")
async def test_a_confined_job_tells_a_protected_name_that_is_no_text(bench: AsyncBench) -> None:
    script = r"""touch "$(printf 'x\377.pth')" """
    begin = calls(("a", "bash", {"command": script, "background": True}))
    look = calls(("b", "bash_job", {"taskId": "j1"}))
    made = await bench(begin, says("."), look, says("."), mode="yolo", sandbox="required")
    await made.session.send("Go")
    await until(lambda: not made.session.jobs()[0].running)
    await made.session.send("Look")

    assert not list(made.project.iterdir())
    assert r"x\xff.pth" in made.results["b"].result.text
