"""Long runs that look for what happens rarely; `./dev torture` runs them."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from arc_workbench.content import Answer, Message, ModelMessage, ToolCall, UserMessage
from arc_workbench.models.provider import ModelRequest
from arc_workbench.workbench import open_session
from tests.conftest import ROOT
from tests.fakes.provider import FakeProvider, says
from tests.requirements import requirement

pytestmark = pytest.mark.torture

ROUNDS = 60
WORKER = """
import asyncio, sys
from arc_workbench.content import Usage
from arc_workbench.models.provider import *
from arc_workbench.workbench import open_session

class Busy:
    label, notice, count = "busy", "", 0

    async def stream(self, request):
        yield TextPiece("Again.")
        for _ in range(3):
            Busy.count += 1
            yield CallOpened(f"{sys.argv[3]}_{Busy.count}", "write")
            text = '{"path": "f%d.txt", "content": "%s"}' % (Busy.count % 5, "x" * 5000)
            yield ArgumentsPiece(text)
            yield CallClosed()
        yield ReplyEnded("tool_use", Usage())

async def main():
    session = await open_session(project=sys.argv[1], session="t", mode="yolo", toolset="arcturn")
    session.set_provider(Busy())
    print("began", flush=True)
    await session.send("Go")

asyncio.run(main())
"""


@requirement("REQ-F26", "REQ-F62", "REQ-F63", "J-97")
async def test_a_session_killed_anywhere_resumes_valid_with_whole_files(tmp_path: Path) -> None:
    dice = random.Random(11)
    project = tmp_path / "project"
    project.mkdir()
    for number in range(ROUNDS):
        _run_and_kill(project, number, dice.random() * 0.15)

        async with await open_session(project=str(project), session="t") as session:
            provider = FakeProvider(says("Looked."))
            session.set_provider(provider)
            await session.send("Look")
            _assert_valid(provider.requests[0])
            lines = (session.folder / "transcript.jsonl").read_bytes().splitlines()
        assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
        for file in project.glob("*.txt"):
            assert file.read_bytes() == b"x" * 5000


def _run_and_kill(project: Path, number: int, after_sec: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(project), "t", f"c{number}"],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        try:
            process.wait(after_sec)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    process.wait(10)


def _assert_valid(request: ModelRequest) -> None:
    """Each call is answered, exactly once, in the very next message."""
    messages: Sequence[Message] = request.messages
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        if not isinstance(message, ModelMessage):
            continue
        calls = [block.id for block in message.content if isinstance(block, ToolCall)]
        answers: list[str] = []
        if isinstance(following, UserMessage):
            answers = [block.call_id for block in following.content if isinstance(block, Answer)]
        assert answers == calls


@requirement("REQ-F40", "REQ-S83")
def test_nothing_that_a_command_starts_is_alive_when_it_is_over(tmp_path: Path) -> None:
    ways = [
        "sleep 77.{n} &",
        "nohup sleep 77.{n} >/dev/null 2>&1 &",
        "setsid sleep 77.{n} &",
        "(setsid sh -c 'sleep 77.{n} & wait' &) ; true",
        "trap '' TERM; (trap '' TERM; sleep 77.{n}) &",
    ]
    calls = [
        json.dumps({"name": "bash", "input": {"command": way.format(n=f"{n:04}")}})
        for n, way in enumerate(ways * 20)
    ]

    done = subprocess.run(
        [sys.executable, "-m", "arc_workbench", "tool", "--batch", "--mode", "yolo"],
        input="\n".join(calls),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=600,
    )

    left = subprocess.run(["pgrep", "-f", r"^sleep 77\.0"], capture_output=True, check=False)
    assert len(done.stdout.splitlines()) == len(calls)
    assert left.stdout == b""
