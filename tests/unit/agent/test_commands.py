"""What commands do to the project, as a session sees it: shown, taken back, held in a dry run."""

import asyncio
import time
from collections.abc import Callable

import pytest

from arc_workbench.content import CommandChanges, Diff, ToolResult, UserMessage
from arc_workbench.errors import ToolError
from arc_workbench.events import JobEnded
from arc_workbench.models.provider import ModelEvent
from arc_workbench.shell.sandbox_probe import probe
from tests.fakes.provider import calls, says
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench, Bench

CHANGE = "echo new > made.txt; echo two >> a.txt; rm b.txt"


def run(command: str, tool: str = "bash", call: str = "a") -> list[ModelEvent]:
    return calls((call, tool, {"command": command}))


async def changed(bench: AsyncBench, command: str = CHANGE, *, snapshots: bool = True) -> Bench:
    """A session whose model ran one command in a project of two files."""
    made = await bench(
        run(command), says("Done."), says("Again."), mode="yolo", snapshots=snapshots
    )
    (made.project / "a.txt").write_text("one\n", encoding="utf-8")
    (made.project / "b.txt").write_text("gone\n", encoding="utf-8")
    await made.session.send("Go")
    return made


def result(bench: Bench) -> ToolResult:
    return bench.results["a"].result


def blocks(bench: Bench) -> list[CommandChanges]:
    return [block for block in result(bench).display if isinstance(block, CommandChanges)]


def files(bench: Bench) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in bench.project.iterdir()}


async def until(met: Callable[[], bool]) -> None:
    """Returns once something that happens in another thread has happened."""

    def wait() -> None:
        give_up = time.monotonic() + 30
        while not met():
            assert time.monotonic() < give_up
            time.sleep(0.02)

    await asyncio.to_thread(wait)


BEFORE = {"a.txt": "one\n", "b.txt": "gone\n"}
AFTER = {"a.txt": "one\ntwo\n", "made.txt": "new\n"}


async def test_what_a_command_changed_is_shown_to_the_person_alone(bench: AsyncBench) -> None:
    made = await changed(bench)

    (block,) = blocks(made)
    assert [(row.path, row.kind) for row in block.rows] == [
        ("a.txt", "changed"),
        ("b.txt", "removed"),
        ("made.txt", "created"),
    ]
    assert "made.txt" not in result(made).text


async def test_a_command_that_changes_nothing_shows_nothing(bench: AsyncBench) -> None:
    made = await changed(bench, "ls")

    assert blocks(made) == []


async def test_a_person_takes_back_what_a_command_did_and_the_model_is_told(
    bench: AsyncBench,
) -> None:
    made = await changed(bench)
    assert files(made) == AFTER

    rows, _ = made.session.undo_command("s1")

    assert files(made) == BEFORE
    assert sorted(row.path for row in rows) == ["a.txt", "b.txt", "made.txt"]
    await made.session.send("Go on")
    last = made.provider.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    assert "[The person undid s1: b.txt is as it was before that change.]" in str(last)


@requirement("S2-097")
async def test_the_model_finds_no_change_of_a_command_in_the_journal(bench: AsyncBench) -> None:
    made = await changed(bench)

    assert made.session.changes() == ()
    with pytest.raises(ToolError):
        made.session.undo()


async def test_a_file_that_was_altered_since_is_not_lost(bench: AsyncBench) -> None:
    made = await changed(bench)
    (made.project / "a.txt").write_text("mine\n", encoding="utf-8")

    with pytest.raises(ToolError, match=r"a\.txt"):
        made.session.undo_command("s1")

    assert files(made) == {**AFTER, "a.txt": "mine\n"}


@pytest.mark.parametrize("command", [f"{CHANGE}; exit 3", f"{CHANGE}; kill -9 $$"])
async def test_what_a_command_did_that_failed_can_be_taken_back_too(
    bench: AsyncBench, command: str
) -> None:
    made = await changed(bench, command)

    made.session.undo_command("s1")

    assert files(made) == BEFORE


async def test_what_an_interrupted_command_did_can_be_taken_back(bench: AsyncBench) -> None:
    made = await bench(run(f"{CHANGE}; sleep 600"), says("Done."), mode="yolo")
    for name, text in BEFORE.items():
        (made.project / name).write_text(text, encoding="utf-8")
    turn = asyncio.create_task(made.session.send("Go"))
    await until(lambda: not (made.project / "b.txt").exists())

    made.session.cancel()
    await turn

    made.session.undo_command("s1")
    assert files(made) == BEFORE


async def test_what_a_job_did_is_noted_when_it_ends_and_can_be_taken_back(
    bench: AsyncBench,
) -> None:
    made = await bench(
        calls(("a", "bash", {"command": CHANGE, "background": True})), says("Done."), mode="yolo"
    )
    for name, text in BEFORE.items():
        (made.project / name).write_text(text, encoding="utf-8")
    await made.session.send("Go")
    await until(lambda: bool(made.of("JobEnded")))

    (end,) = made.of("JobEnded")
    assert isinstance(end, JobEnded)
    assert end.note == "It changed 3 files of the project: a.txt, b.txt, made.txt."
    made.session.undo_command("s1")
    assert files(made) == BEFORE


async def test_a_job_that_runs_still_is_not_taken_back_and_that_is_said(bench: AsyncBench) -> None:
    command = f"{CHANGE}; while test ! -e go; do sleep 0.05; done"
    made = await bench(
        calls(("a", "bash", {"command": command, "background": True})), says("Done."), mode="yolo"
    )
    for name, text in BEFORE.items():
        (made.project / name).write_text(text, encoding="utf-8")
    await made.session.send("Go")

    with pytest.raises(ToolError, match="s1 still runs"):
        made.session.undo_command("s1")

    (made.project / "go").touch()
    await until(lambda: bool(made.of("JobEnded")))
    made.session.undo_command("s1")
    assert {**files(made), "go": ""} == {**BEFORE, "go": ""}


async def test_a_project_that_a_command_removed_comes_back(bench: AsyncBench) -> None:
    made = await changed(bench, 'rm -rf "$PWD"')
    assert not made.project.exists()

    made.session.undo_command("s1")

    assert files(made) == BEFORE


async def test_without_snapshots_nothing_is_kept(bench: AsyncBench) -> None:
    made = await changed(bench, snapshots=False)

    assert blocks(made) == []
    with pytest.raises(ToolError, match="not kept"):
        made.session.undo_command("s1")


# ---- dry runs ---------------------------------------------------------------------------------

needs_sandbox = pytest.mark.skipif(not probe().bubblewrap, reason=f"unavailable: {probe().why_not}")


@needs_sandbox
@pytest.mark.parametrize("tool", ["bash", "shell_exec"])
async def test_a_command_in_a_dry_run_works_and_changes_nothing(
    bench: AsyncBench, tool: str
) -> None:
    made = await bench(run(f"{CHANGE}; cat a.txt", tool), says("Done."), mode="yolo")
    for name, text in BEFORE.items():
        (made.project / name).write_text(text, encoding="utf-8")
    made.session.set_dry_run(True)

    await made.session.send("Go")

    assert files(made) == BEFORE
    assert "two" in result(made).text
    assert "3 files of the project would change" in result(made).text
    shown = [block.path for block in result(made).display if isinstance(block, Diff)]
    assert shown == ["a.txt", "b.txt", "made.txt"]
    made.session.dry_run_apply()
    assert files(made) == AFTER


@needs_sandbox
async def test_commands_and_file_tools_of_a_dry_run_see_each_other(bench: AsyncBench) -> None:
    made = await bench(
        calls(("w", "write", {"path": "a.txt", "content": "planned\n"})),
        run("cat a.txt; echo more >> a.txt"),
        calls(("r", "read", {"path": "a.txt"})),
        says("Done."),
        mode="yolo",
    )
    made.session.set_dry_run(True)

    await made.session.send("Go")

    assert "planned" in result(made).text
    assert "more" in made.results["r"].result.text
    assert list(made.project.iterdir()) == []


@needs_sandbox
async def test_a_command_of_a_dry_run_reaches_nothing_outside(bench: AsyncBench) -> None:
    made = await bench(run("echo out > ../outside.txt; true"), says("Done."), mode="yolo")
    made.session.set_dry_run(True)

    await made.session.send("Go")

    assert not (made.project.parent / "outside.txt").exists()


async def test_a_background_job_is_refused_in_a_dry_run(bench: AsyncBench) -> None:
    made = await bench(
        calls(("a", "bash", {"command": "touch x", "background": True})), says("."), mode="yolo"
    )
    made.session.set_dry_run(True)

    await made.session.send("Go")

    assert result(made).is_error
    assert "A dry run is on" in result(made).text
    assert not (made.project / "x").exists()
