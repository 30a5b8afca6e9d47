"""What a person does to files between turns: undo, the dry run, decisions; and what follows."""

import asyncio
import os
from pathlib import Path

import pytest

from arc_workbench.content import Text, UserMessage
from arc_workbench.errors import SessionBusy, ToolError
from arc_workbench.events import FileChanged, RecoveryReported, SettingChanged
from arc_workbench.models.provider import ModelEvent
from arc_workbench.views import CardView
from arc_workbench.workbench import journal_of, open_session, purge, purge_plan
from tests.fakes.provider import calls, says
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench, Bench


def told(bench: Bench, request: int) -> str:
    """The person's words in the last message of a request."""
    last = bench.provider.requests[request].messages[-1]
    assert isinstance(last, UserMessage)
    return "\n".join(block.text for block in last.content if isinstance(block, Text))


def write(name: str, content: str) -> list[ModelEvent]:
    return calls(("w1", "write", {"path": name, "content": content}))


async def changed(bench: AsyncBench) -> Bench:
    """A session whose first turn wrote two files."""
    both = calls(
        ("w1", "write", {"path": "a.txt", "content": "one\n"}),
        ("w2", "write", {"path": "b.txt", "content": "two\n"}),
    )
    made = await bench(both, says("Done."), mode="acceptEdits")
    await made.session.send("Write.")
    return made


@requirement("J-62")
async def test_undo_takes_back_the_last_change_of_the_session_and_tells_the_model(
    bench: AsyncBench,
) -> None:
    made = await changed(bench)

    row, diff = made.session.undo()

    assert (row.id, row.op, row.path, row.undoes) == ("c3", "undo", "b.txt", "c2")
    assert diff.removed
    assert not (made.project / "b.txt").exists()
    told_event = made.of("FileChanged")[-1]
    assert isinstance(told_event, FileChanged)
    assert (told_event.call_id, told_event.undoes, told_event.removed) == ("", "c2", True)
    await made.session.send("Go on.")
    assert told(made, 2).startswith("[The person undid c2: b.txt is as it was before that change.]")
    assert [change.change_id for change in made.session.turns[0].changes] == ["c1", "c2"]


async def test_undo_again_and_again_walks_back_and_then_says_that_there_is_nothing(
    bench: AsyncBench,
) -> None:
    made = await changed(bench)

    made.session.undo()
    made.session.undo()

    assert sorted(path.name for path in made.project.iterdir()) == []
    with pytest.raises(ToolError, match="Nothing of this session is left to undo"):
        made.session.undo()
    made.session.undo("c4")
    assert (made.project / "a.txt").read_text(encoding="utf-8") == "one\n"


@requirement("J-62")
async def test_nothing_is_undone_while_a_turn_runs(bench: AsyncBench) -> None:
    arrived = asyncio.Event()
    made = await bench([arrived])
    turn = asyncio.create_task(made.session.send("Hang."))
    await arrived.wait()

    for act in (
        made.session.undo,
        made.session.dry_run_apply,
        lambda: made.session.set_dry_run(True),
        lambda: made.session.recover("c1", "keep"),
    ):
        with pytest.raises(SessionBusy):
            act()

    made.session.cancel()
    await turn


@requirement("REQ-S144", "J-76")
async def test_a_dry_run_asks_with_the_real_path_and_holds_every_change(bench: AsyncBench) -> None:
    made = await bench(
        write("a.txt", "one\n"), calls(("b1", "bash", {"command": "touch x"})), says("Done.")
    )
    made.session.set_dry_run(True)
    made.answer_with(allow=True)

    await made.session.send("Write.")

    question = made.of("PermissionRequested")[0].model_dump()
    assert question["subject"] == str(made.project / "a.txt")
    assert question["description"] == "Create file a.txt (dry run)"
    assert "Dry run: the project is unchanged" in made.results["w1"].result.text
    assert "dry run" in made.results["b1"].result.text.lower()
    assert list(made.project.iterdir()) == []
    (change,) = made.session.turns[0].changes
    assert (change.change_id, change.dry_run) == ("d1", True)


async def test_a_dry_run_is_applied_by_the_person_and_the_model_hears_of_it(
    bench: AsyncBench,
) -> None:
    made = await bench(write("a.txt", "one\n"), says("Done."), mode="acceptEdits", dry_run=True)
    await made.session.send("Write.")

    with pytest.raises(ToolError, match="holds changes of 1 file; it stays on"):
        made.session.set_dry_run(False)
    (diff,) = made.session.dry_run_diffs()
    (row,) = made.session.dry_run_apply()

    assert (diff.path, row.id, row.op) == ("a.txt", "c1", "apply")
    assert (made.project / "a.txt").read_text(encoding="utf-8") == "one\n"
    assert not made.session.dry_run
    last = made.of("SettingChanged")[-1]
    assert isinstance(last, SettingChanged)
    assert (last.key, last.old, last.new) == ("dryRun", "on", "applied")
    await made.session.send("Go on.")
    assert "[The person applied the dry run: its changes are in the project now.]" in told(made, 2)


async def test_a_dry_run_that_holds_nothing_is_simply_over(bench: AsyncBench) -> None:
    made = await bench(says("Hello."), dry_run=True)

    made.session.set_dry_run(False)
    await made.session.send("Hi.")

    assert not made.session.dry_run
    assert "[The dry run is over; it held no changes.]" in told(made, 0)


async def test_a_dry_run_survives_the_end_of_the_session(bench: AsyncBench) -> None:
    made = await bench(
        write("a.txt", "one\n"), says("Done."), mode="acceptEdits", session="s", dry_run=True
    )
    await made.session.send("Write.")
    made.session.close()

    again = await bench(session="s")

    assert again.session.dry_run
    assert again.session.dry_run_discard() == 1
    assert not again.session.dry_run
    with pytest.raises(ToolError, match="No dry run is on"):
        again.session.dry_run_discard()


@requirement("REQ-F26", "S2-083")
async def test_what_was_left_half_done_is_reported_when_the_session_opens(
    bench: AsyncBench,
) -> None:
    made = await changed(bench)
    made.session.close()
    (journal,) = Path(os.environ["ARC_WORKBENCH_HOME"]).glob("workspaces/*/journal.jsonl")
    with journal.open("ab") as file:
        file.write(b'{"change":"c3","seq":')

    again = await open_session(project=str(made.project), model="script:tour")
    try:
        view = again.blank_view()
    finally:
        again.close()

    (card,) = view.lead
    assert isinstance(card, CardView)
    text = (again.folder / "transcript.jsonl").read_text(encoding="utf-8")
    assert RecoveryReported.__name__ in text
    assert card.block.type == "recovery"
    assert card.block.verdict == "repaired"
    assert not card.block.mutation_blocked


async def test_a_journal_is_read_without_a_session_and_purged(bench: AsyncBench) -> None:
    made = await changed(bench)
    made.session.undo()

    plan = purge_plan(made.project, -1, os.environ)
    assert (plan.changes, plan.kept) == (3, 0)
    assert purge_plan(made.project, 1, os.environ).changes == 0
    assert purge(plan).changes == 3

    assert journal_of(made.project, os.environ).history() == ()
    with pytest.raises(ToolError, match="There is no change c1"):
        made.session.undo("c1")
    assert (made.project / "a.txt").read_text(encoding="utf-8") == "one\n"


@requirement("J-28")
async def test_a_call_that_was_denied_is_not_in_the_journal(bench: AsyncBench) -> None:
    made = await bench(write("a.txt", "one\n"), says("Done."))
    made.answer_with(allow=False)

    await made.session.send("Write.")

    assert made.session.changes() == ()
    assert list(Path(os.environ["ARC_WORKBENCH_HOME"]).glob("workspaces/*")) == []


async def test_chat_without_a_folder_has_no_changes(bench: AsyncBench) -> None:
    made = await bench(project="none")

    for act in (made.session.changes, made.session.recovery, made.session.undo):
        with pytest.raises(ToolError, match="no project folder"):
            act()


@requirement("REQ-F28", "REQ-F25")
@pytest.mark.parametrize("moment", range(12))
async def test_an_interrupt_at_any_moment_leaves_files_and_journal_whole(
    bench: AsyncBench, moment: int
) -> None:
    many = [
        (f"w{number}", "write", {"path": f"{number}.txt", "content": "x" * 2000})
        for number in range(6)
    ]
    made = await bench(calls(*many), says("Done."), mode="acceptEdits")
    turn = asyncio.create_task(made.session.send("Write."))
    for _ in range(moment * 4):
        await asyncio.sleep(0)
    made.session.cancel()
    await turn

    assert made.session.recovery().verdict == "clean"
    on_disk = {path.name for path in made.project.iterdir()}
    assert on_disk == {row.path for row in made.session.changes()}
    assert {len(path.read_bytes()) for path in made.project.iterdir()} <= {2000}
    assert len(made.of("ToolCallFinished")) in {0, 6}


@requirement("REQ-S139", "REQ-S140")
async def test_nothing_that_a_folder_brings_along_has_a_say(
    bench: AsyncBench, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".arc_workbench").mkdir()
    for name in (".arc_workbench/config.json", ".arc_workbench/settings.json", "settings.json"):
        (project / name).write_text('{"mode": "yolo", "policy": "allow"}', encoding="utf-8")
    (project / ".env").write_text(
        f"ARC_WORKBENCH_HOME={tmp_path}/theirs\nARC_WORKBENCH_MODE=yolo\n", encoding="utf-8"
    )

    made = await bench(write("a.txt", "one\n"), says("Done."))
    made.answer_with(allow=True)
    await made.session.send("Write.")

    assert made.session.mode == "default"
    assert len(made.of("PermissionRequested")) == 1
    assert not (tmp_path / "theirs").exists()
