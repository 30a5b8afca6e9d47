"""A session that is taken up again: its record is valid, and nothing of it runs on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arc_workbench.content import ModelMessage, UserMessage
from arc_workbench.errors import SessionHeld, TranscriptError
from arc_workbench.events import EVENT
from arc_workbench.settings import home
from arc_workbench.workbench import open_session
from tests.fakes.provider import FakeProvider, calls, says
from tests.fakes.tools import echo
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench

CRASH = """
import asyncio, os, signal, sys
from arc_workbench.workbench import open_session
from tests.fakes.provider import FakeProvider, calls
from tests.fakes.tools import FakeTool

def die(given, ctx):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    session = await open_session(
        project=sys.argv[1], session="crash", mode="yolo", tools=[FakeTool("die", die)]
    )
    reply = calls(("a", "die", {}), ("b", "die", {}))
    session.set_provider(FakeProvider(reply))
    await session.send("Go")

asyncio.run(main())
"""


@requirement("REQ-F26", "REQ-S8", "J-97", "BUG-A1")
async def test_a_session_killed_in_a_call_resumes_with_every_call_answered(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", CRASH, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL

    async with await open_session(project=str(tmp_path), session="crash") as session:
        provider = FakeProvider(says("Going on."))
        session.set_provider(provider)
        await session.send("What happened?")

    told = provider.requests[0].messages[-1]
    assert isinstance(provider.requests[0].messages[-2], ModelMessage)
    assert isinstance(told, UserMessage)
    answers = [block.model_dump_json() for block in told.content if block.type == "answer"]
    assert ["may have run in part" in answer for answer in answers] == [True, False]
    assert [block.type for block in told.content] == ["answer", "answer", "text"]


async def test_the_conversation_and_the_counters_go_on(bench: AsyncBench) -> None:
    first = await bench(
        calls(("a", "echo", {"text": "x"})), tools=[echo()], mode="yolo", session="s"
    )
    await first.session.send("One")
    first.session.close()

    second = await bench(says("Still here."), session="s")
    turn = await second.session.send("Two")

    assert (turn.number, turn.steps[0].number) == (2, 3)
    assert len(second.provider.requests[0].messages) == 5
    assert [old.number for old in second.session.turns] == [1, 2]


@requirement("REQ-S8")
async def test_what_was_allowed_for_the_session_is_asked_again_after_a_restart(
    bench: AsyncBench,
) -> None:
    write = {"path": "a.txt", "content": "x"}
    first = await bench(calls(("a", "write", write)), session="s")
    first.answer_with(allow=True, scope="session")
    await first.session.send("One")
    first.session.close()

    second = await bench(calls(("b", "write", write)), session="s")
    second.answer_with(allow=False)
    await second.session.send("Two")

    assert len(second.of("PermissionRequested")) == 1
    assert second.results["b"].outcome == "denied"


@requirement("REQ-F63", "J-55")
async def test_a_torn_last_line_is_put_aside_and_said(bench: AsyncBench) -> None:
    first = await bench(says("One."), session="s")
    await first.session.send("One")
    transcript = first.session.folder / "transcript.jsonl"
    first.session.close()
    with transcript.open("ab") as file:
        file.write(b'{"type": "Notice", "lev')

    second = await bench(says("Two."), session="s")
    await second.session.send("Two")

    events = [EVENT.validate_json(line) for line in transcript.read_bytes().splitlines()]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert transcript.with_suffix(".torn").read_bytes() == b'{"type": "Notice", "lev'
    assert any("cut off" in event.text for event in events if event.type == "Notice")


@requirement("REQ-F63")
async def test_damage_in_the_middle_is_refused_with_its_line_and_nothing_changes(
    bench: AsyncBench,
) -> None:
    first = await bench(says("One."), session="s")
    await first.session.send("One")
    transcript = first.session.folder / "transcript.jsonl"
    first.session.close()
    lines = transcript.read_bytes().splitlines(keepends=True)
    lines[2] = b"\0" * 20 + b"\n"
    damaged = b"".join(lines)
    transcript.write_bytes(damaged)

    with pytest.raises(TranscriptError, match="Line 3"):
        await bench(session="s")

    assert transcript.read_bytes() == damaged


@pytest.mark.parametrize("damage", ["removed", "doubled", "swapped"])
async def test_a_line_that_is_missing_or_stands_twice_is_damage(
    bench: AsyncBench, damage: str
) -> None:
    first = await bench(calls(("a", "workspace_list", {})), session="s")
    await first.session.send("One")
    transcript = first.session.folder / "transcript.jsonl"
    first.session.close()
    lines = transcript.read_bytes().splitlines(keepends=True)
    kept = {
        "removed": [*lines[:3], *lines[4:]],
        "doubled": [*lines[:4], *lines[3:]],
        "swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
    }
    transcript.write_bytes(b"".join(kept[damage]))

    with pytest.raises(TranscriptError, match=r"Line \d+ of the transcript is damaged.*--new"):
        await bench(session="s")


async def test_over_another_folder_or_toolset_a_name_begins_anew_and_says_so(
    bench: AsyncBench,
) -> None:
    first = await bench(says("One."), session="s", toolset="arc")
    await first.session.send("One")
    first.session.close()

    second = await bench(says("Two."), session="s", toolset="arcturn")
    turn = await second.session.send("Two")

    kept = (second.session.folder / "transcript.jsonl").read_text(encoding="utf-8")
    assert turn.number == 1
    assert len(second.provider.requests[0].messages) == 1
    assert "Session s is over another folder or toolset" in kept


@requirement("REQ-F68")
async def test_a_folder_whose_name_is_no_utf_8_works(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfedir")
    Path(folder).mkdir()

    async with await open_session(project=folder, session="s", pace=0) as session:
        turn = await session.send("Hello")

    assert turn.reason == "completed"
    assert turn.project.endswith("\\xff\\xfedir")


@requirement("REQ-F62", "REQ-F9")
def test_a_line_is_synced_before_append_returns(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "log = []; real_write, real_sync = os.write, os.fsync\n"
        "os.write = lambda fd, data: (log.append('write'), real_write(fd, data))[1]\n"
        "os.fsync = lambda fd: (log.append('sync'), real_sync(fd))[1]\n"
        "from arc_workbench.store.transcript import Transcript\n"
        "from arc_workbench.events import Notice\n"
        "record = Transcript(Path(sys.argv[1]))\n"
        "record.append(Notice(seq=1, level='info', text='x')); log.append('returned')\n"
        "print(*log)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t")],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )

    assert done.stdout.split() == ["write", "sync", "returned"]


async def test_a_session_that_another_holds_is_refused(bench: AsyncBench) -> None:
    await bench(session="s")
    with_events = await bench(says("x"), session="t")
    await with_events.session.send("One")

    with pytest.raises(SessionHeld, match="Another notebook holds this session"):
        await bench(session="t")


@requirement("REQ-S137")
async def test_what_is_kept_is_for_its_owner_alone(bench: AsyncBench, home: Path) -> None:
    at = await bench(says("x"))
    await at.session.send("One")

    assert at.session.folder.stat().st_mode & 0o077 == 0
    assert (at.session.folder / "transcript.jsonl").stat().st_mode & 0o077 == 0
    assert home in at.session.folder.parents


@requirement("REQ-S135")
async def test_a_secret_that_is_a_word_of_ours_breaks_no_event(
    bench: AsyncBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "DB_PASSWORD": "completed",
        "A_TOKEN": "workspace_list",
        "B_KEY": "tool_call",
    }.items():
        monkeypatch.setenv(name, value)
    at = await bench(calls(("a", "workspace_list", {})))

    turn = await at.session.send("Go")

    assert turn.reason == "completed"
    assert at.results["a"].name == "workspace_list"


@requirement("REQ-S129")
async def test_a_secret_reaches_neither_the_record_nor_a_listener_nor_the_model(
    bench: AsyncBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "Zq7-very-secret-value-93"
    monkeypatch.setenv("DEPLOY_TOKEN", secret)
    at = await bench(
        calls(("a", "echo", {"text": f"it is {secret}"}), say=f"I know {secret} now"),
        tools=[echo()],
        mode="yolo",
    )

    await at.session.send(f"My token is {secret}")

    seen = "".join(event.model_dump_json() for event in at.events)
    kept = (at.session.folder / "transcript.jsonl").read_text(encoding="utf-8")
    asked = "".join(str(request) for request in at.provider.requests)
    assert secret not in seen + kept + asked
    assert "DEPLOY_TOKEN" in kept


def test_the_state_folder_can_be_moved() -> None:
    assert home({"ARC_WORKBENCH_HOME": "/somewhere"}) == Path("/somewhere")
