"""Background jobs of a session: what is recorded, what the model is told, what a person can do."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arc_workbench.agent.conversation import Conversation
from arc_workbench.agent.jobs import JobWatch
from arc_workbench.agent.log import EventLog
from arc_workbench.content import Answer, Text, ToolResult, UserMessage
from arc_workbench.errors import ToolError
from arc_workbench.events import (
    EVENT,
    AssistantMessage,
    Event,
    JobEnded,
    JobOutput,
    JobStarted,
    StepStarted,
    ToolCallFinished,
    TurnStarted,
    background_task,
)
from arc_workbench.models.provider import ModelEvent
from arc_workbench.settings import Settings
from arc_workbench.shell import Limits, Shell
from arc_workbench.store.redaction import Redactor
from arc_workbench.store.transcript import Transcript
from arc_workbench.views import JobBoard, JobView
from arc_workbench.workbench import earlier_jobs, open_session
from tests.fakes.provider import FakeProvider, calls, says
from tests.requirements import requirement
from tests.unit.agent.conftest import AsyncBench, Bench

_PATIENCE_SEC = 8.0
FOREVER = "echo begun; sleep 600"
HELD = "while ! test -e go; do sleep 0.02; done; "


def in_background(command: str, call: str = "a") -> list[ModelEvent]:
    return calls((call, "bash", {"command": command, "background": True}))


def past_its_budget(command: str, call: str = "a") -> list[ModelEvent]:
    return calls((call, "shell_exec", {"command": command, "block_budget_sec": 0.05}))


async def until(met: Callable[[], bool]) -> None:
    """Returns once something that happens in another thread has happened."""

    def wait() -> None:
        give_up = time.monotonic() + _PATIENCE_SEC
        while not met():
            assert time.monotonic() < give_up
            time.sleep(0.02)

    await asyncio.to_thread(wait)


async def ended(bench: Bench, jobs: int = 1) -> list[JobEnded]:
    """The ends of so many jobs, once they are told; those that are `HELD` are let go."""
    (bench.project / "go").touch()
    await until(lambda: len(bench.of("JobEnded")) >= jobs)
    return [event for event in bench.events if isinstance(event, JobEnded)]


def words(bench: Bench, request: int) -> list[str]:
    """What the last message of a request says beside results."""
    last = bench.provider.requests[request].messages[-1]
    assert isinstance(last, UserMessage)
    return [block.text for block in last.content if isinstance(block, Text)]


def on_disk(bench: Bench) -> list[Event]:
    transcript = bench.session.folder / "transcript.jsonl"
    return [EVENT.validate_json(line) for line in transcript.read_bytes().splitlines()]


# ---- what is recorded -------------------------------------------------------------------------


@requirement("S1-080", "S1-081", "S1-082")
async def test_a_job_begins_prints_and_ends_as_events(bench: AsyncBench) -> None:
    made = await bench(in_background("echo out; exit 3"), mode="yolo")
    await made.session.send("Go")
    (end,) = await ended(made)

    kinds = [event.type for event in made.events if event.type.startswith(("Job", "ToolCallF"))]
    assert kinds.index("JobStarted") < kinds.index("ToolCallFinished")
    assert kinds.index("JobOutput") < kinds.index("JobEnded")
    (begun,) = made.of("JobStarted")
    assert isinstance(begun, JobStarted)
    assert (begun.job, begun.spool, begun.call_id) == ("j1", "s1", "a")
    assert (begun.command, begun.cwd) == ("echo out; exit 3", str(made.project))
    assert (end.job, end.status, end.exit_code, end.signal) == ("j1", "failed", 3, None)
    assert (end.bytes, end.tail, end.note) == (4, "out\n", "")
    shown = [background_task(event) for event in made.events]
    assert [task for task in shown if task] == [
        ("backgroundTaskStart", {"taskId": "j1", "command": "echo out; exit 3"}),
        ("backgroundTaskOutput", {"taskId": "j1", "chunk": "out\n"}),
        ("backgroundTaskEnd", {"taskId": "j1", "exitCode": 3}),
    ]


@requirement("REQ-S129", "REQ-S134")
async def test_a_key_block_that_begins_before_the_handover_is_shown_nowhere(
    bench: AsyncBench,
) -> None:
    lines = [f"Zz{number:02d}" + "QWxhZGRpbjpvcGVuIHNlc2FtZQ" * 2 for number in range(9)]
    marks = [f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END")]
    slow = f"head -5 pem; {HELD} tail -n +6 pem; echo done"
    given = {"command": slow, "block_budget_sec": 0.5}
    made = await bench(calls(("a", "shell_exec", given)), mode="yolo")
    (made.project / "pem").write_text("\n".join([marks[0], *lines, marks[1], ""]))
    await made.session.send("Go")
    (end,) = await ended(made)
    told = "".join(event.text for event in made.events if isinstance(event, JobOutput))

    assert not [event for event in made.events if "QWxh" in event.model_dump_json()]
    assert told.endswith("\ndone\n")
    assert end.tail == "[secret: private key]\ndone\n"


@requirement("S1-082")
async def test_after_a_signal_the_page_gets_no_exit_code(bench: AsyncBench) -> None:
    made = await bench(in_background("kill -TERM $$"), mode="yolo")
    await made.session.send("Go")
    (end,) = await ended(made)

    assert (end.status, end.exit_code, end.signal) == ("failed", None, "SIGTERM")
    assert background_task(end) == ("backgroundTaskEnd", {"taskId": "j1", "exitCode": None})


async def test_begin_and_end_are_on_disk_and_output_is_not(bench: AsyncBench) -> None:
    made = await bench(in_background("echo out"), mode="yolo")
    await made.session.send("Go")
    await ended(made)

    kinds = [event.type for event in on_disk(made)]
    assert kinds.count("JobStarted") == kinds.count("JobEnded") == 1
    assert "JobOutput" not in kinds


@requirement("REQ-S136")
async def test_a_secret_that_comes_in_pieces_is_never_shown(bench: AsyncBench) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    command = f"printf 'key {key[:20]}'; sleep 0.4; printf '{key[20:]} end\\n'"
    made = await bench(in_background(command), mode="yolo")
    await made.session.send("Go")
    (end,) = await ended(made)

    shown = "".join(event.text for event in made.events if isinstance(event, JobOutput))
    assert shown.startswith("key [secret: ")
    assert shown.endswith("] end\n")
    assert shown == end.tail == made.session.job_tail("j1")
    assert key[:20] not in "".join(map(str, made.of("JobOutput")))
    assert key not in str(made.session.board())


async def test_a_job_goes_on_when_its_turn_is_stopped(bench: AsyncBench) -> None:
    never = asyncio.Event()
    made = await bench(in_background(FOREVER), [never], mode="yolo")
    turn = asyncio.create_task(made.session.send("Go"))
    await never.wait()
    made.session.cancel()
    await turn

    assert made.session.job("j1").running
    assert [job.id for job in made.session.board().running] == ["j1"]


@requirement("REQ-F40")
async def test_closing_a_session_ends_its_jobs_and_records_it(bench: AsyncBench) -> None:
    made = await bench(in_background(FOREVER), past_its_budget(FOREVER, "b"), mode="yolo")
    await made.session.send("Go")
    made.session.close()

    ends = [event for event in on_disk(made) if isinstance(event, JobEnded)]
    assert sorted((end.job, end.status, end.tail) for end in ends) == [
        ("j1", "killed", "begun\n"),
        ("j2", "killed", "begun\n"),
    ]
    assert not any(end.tell for end in ends)


# ---- what the model is told -------------------------------------------------------------------


@requirement("S2-124", "S1-083")
async def test_an_ended_job_is_told_once_at_the_next_step(bench: AsyncBench) -> None:
    made = await bench(past_its_budget(HELD + "echo out"), mode="yolo")
    await made.session.send("One")
    await ended(made)
    await made.session.send("Two")
    await made.session.send("Three")

    asked, told = words(made, 2)
    assert asked == "Two"
    assert told.startswith("[shell-job] j1 completed: exit code 0 after 0.")
    assert told.endswith(" s, 4 bytes of output; read it with shell_output spool_id s1")
    assert words(made, 3) == ["Three"]


async def test_for_bash_the_words_name_its_own_tool(bench: AsyncBench) -> None:
    made = await bench(in_background(HELD + "exit 3"), mode="yolo")
    await made.session.send("One")
    await ended(made)
    await made.session.send("Two")

    told = words(made, 2)[-1]
    assert told.startswith("[shell-job] j1 failed: exit code 3 after ")
    assert told.endswith("; read it with bash_job taskId j1")


@pytest.mark.parametrize(
    ("begin", "look"),
    [
        (past_its_budget(HELD + "touch over"), ("b", "shell_job", {"job_id": "j1"})),
        (in_background(HELD + "touch over"), ("b", "bash_job", {"taskId": "j1"})),
        (in_background(HELD + "touch over"), ("b", "bash_job", dict[str, str]())),
    ],
)
async def test_what_the_model_saw_by_itself_is_not_told_again(
    bench: AsyncBench, begin: list[ModelEvent], look: tuple[str, str, object]
) -> None:
    wait = "touch go; while ! test -e over; do sleep 0.02; done; sleep 0.5"
    let_go = ("w", "bash", {"command": wait})
    made = await bench(begin, calls(let_go, look), mode="yolo")
    await made.session.send("Go")
    await ended(made)
    await made.session.send("On")

    said = [text for n in range(len(made.provider.requests)) for text in words(made, n)]
    assert said == ["Go", "On"]


async def test_a_job_that_the_model_ended_is_not_told(bench: AsyncBench) -> None:
    kill = calls(("b", "bash_job", {"taskId": "j1", "kill": True}))
    made = await bench(in_background("exec sleep 600"), kill, mode="yolo")
    await made.session.send("Go")
    await ended(made)
    await made.session.send("On")

    assert words(made, 3) == ["On"]


def job(command: str = "make") -> JobStarted:
    return JobStarted(job="j1", spool="s1", call_id="a", command=command, cwd="/")


def looked_at(job_id: str, status: str) -> ToolCallFinished:
    result = ToolResult.of_json({"job_id": job_id, "status": status})
    return ToolCallFinished(
        step=1, call_id="b", name="shell_job", result=result, ran=True, outcome="done"
    )


def told(events: list[Event]) -> list[str]:
    """Everything beside results that a conversation of these events says."""
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return [
        block.text
        for message in conversation.messages()
        if isinstance(message, UserMessage)
        for block in message.content
        if isinstance(block, Text)
    ]


def test_a_look_before_or_after_the_end_is_told_spares_the_words() -> None:
    end = JobEnded(job="j1", status="completed", exit_code=0)
    look = looked_at("j1", "completed")
    too_early = looked_at("j1", "running")
    step = StepStarted(turn=1, step=2, model="m")

    assert told([job(), end, look, step]) == []
    assert told([job(), look, end, step]) == []
    assert len(told([job(), too_early, end, step])) == 1


def test_a_request_that_is_out_is_not_changed_by_a_job_that_ends() -> None:
    conversation = Conversation()
    for event in (TurnStarted(turn=1, prompt="Go"), job(), StepStarted(turn=1, step=1, model="m")):
        conversation.apply(event)
    sent = conversation.messages()

    conversation.apply(JobEnded(job="j1", status="completed", exit_code=0))
    assert conversation.messages() == sent

    conversation.apply(
        AssistantMessage(step=1, model="m", content=(Text(text="Yes."),), stop_reason="end_turn")
    )
    conversation.apply(StepStarted(turn=2, step=2, model="m"))
    assert conversation.messages()[: len(sent)] == sent
    last = conversation.messages()[-1]
    assert isinstance(last, UserMessage)
    assert [isinstance(block, Answer) for block in last.content] == [False]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (JobEnded(job="j1", status="timed_out", duration_sec=900), "timed_out: no exit code after"),
        (JobEnded(job="j1", status="limited"), "killed: no exit code after 0.0 s"),
        (JobEnded(job="j1", status="failed", signal="SIGSEGV"), "failed: killed by SIGSEGV after"),
        (JobEnded(job="j1", status="completed", exit_code=0, bytes=4812), "4,812 bytes of output"),
    ],
)
def test_the_words_say_how_a_job_ended(end: JobEnded, words: str) -> None:
    (said,) = told([job(), end, StepStarted(turn=1, step=1, model="m")])

    assert words in said


# ---- taking a session up again ----------------------------------------------------------------


async def test_an_end_that_was_not_told_is_told_after_a_restart(bench: AsyncBench) -> None:
    first = await bench(in_background(HELD), mode="yolo", session="s")
    await first.session.send("One")
    await ended(first)
    first.session.close()

    second = await bench(session="s")
    await second.session.send("Two")
    await second.session.send("Three")

    asked, told = words(second, 0)
    assert asked == "Two"
    assert told.startswith("[shell-job] j1 completed")
    assert words(second, 1) == ["Three"]


async def test_a_job_that_ended_with_its_session_is_shown_and_not_told(bench: AsyncBench) -> None:
    first = await bench(in_background(FOREVER), mode="yolo", session="s")
    await first.session.send("One")
    first.session.close()

    second = await bench(in_background("true", "b"), session="s", mode="yolo")
    assert [(state.job_id, state.status) for state in second.session.jobs()] == [("j1", "killed")]
    assert second.session.job_tail("j1") == "begun\n"
    await second.session.send("Two")

    assert words(second, 0) == ["Two"]
    assert [state.job_id for state in second.session.jobs()] == ["j2", "j1"]


CRASH = """
import asyncio, os, signal, sys
from arc_workbench.workbench import open_session
from tests.fakes.provider import FakeProvider, calls
from tests.fakes.tools import FakeTool

def die(given, ctx):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    session = await open_session(
        project=sys.argv[1], session="crash", mode="yolo", toolset="both",
        tools=[FakeTool("die", die)],
    )
    command = "echo begun; touch begun; echo $$ > pid; sleep 600"
    wait = "while ! test -s pid; do sleep 0.02; done"
    session.set_provider(FakeProvider(
        calls(("a", "bash", {"command": command, "background": True})),
        calls(("b", "bash", {"command": wait})),
        calls(("c", "die", {})),
    ))
    await session.send("Go")

asyncio.run(main())
"""


def crash(project: Path) -> None:
    """A kernel that dies while its job runs."""
    killed = subprocess.run(
        [sys.executable, "-c", CRASH, str(project)],
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.timeout(60)
@requirement("REQ-F40", "REQ-S83")
async def test_jobs_of_a_kernel_that_died_are_shown_with_their_end(tmp_path: Path) -> None:
    crash(tmp_path)
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    await until(lambda: not alive(pid))

    chosen = Settings.of({"project": str(tmp_path), "session": "crash", "toolset": "both"})
    async with await open_session(chosen) as session:
        provider = FakeProvider(says("Going on."))
        session.set_provider(provider)
        (state,) = session.jobs()
        (shown,) = session.board().jobs.values()
        await session.send("What happened?")
        record = (session.folder / "transcript.jsonl").read_bytes().splitlines()
        whole = session.job_output("j1").read_text(encoding="utf-8")

    ends = [event for line in record if isinstance(event := EVENT.validate_json(line), JobEnded)]
    assert state.status == shown.status == "killed"
    assert not shown.running
    assert whole == shown.tail == "begun\n"
    assert [(end.job, end.status) for end in ends] == [("j1", "killed")]
    said = provider.requests[0].messages[-1]
    assert "[shell-job]" not in said.model_dump_json()


@pytest.mark.timeout(60)
async def test_another_session_over_the_folder_finds_the_jobs_of_earlier_ones(
    tmp_path: Path,
) -> None:
    crash(tmp_path)
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    await until(lambda: not alive(pid))

    (found,) = earlier_jobs(tmp_path, os.environ)

    assert (found.name, found.state.job_id) == ("crash", "j1")
    assert found.output.read_text(encoding="utf-8") == "begun\n"
    assert earlier_jobs(tmp_path, os.environ, but=found.session) == ()
    assert earlier_jobs(tmp_path.parent, os.environ) == ()


# ---- what a person can do ---------------------------------------------------------------------


@requirement("S1-084")
async def test_a_person_ends_a_job_from_any_thread(bench: AsyncBench) -> None:
    made = await bench(in_background("echo begun; exec sleep 600"), mode="yolo")
    await made.session.send("Go")

    state = await asyncio.to_thread(made.session.kill_job, "j1")

    (end,) = await ended(made)
    assert (state.status, end.status, end.tell) == ("killed", "killed", True)
    assert made.session.job_output("j1").read_text(encoding="utf-8") == "begun\n"


async def test_a_job_that_is_not_there_is_an_error(bench: AsyncBench) -> None:
    made = await bench()

    assert made.session.jobs() == ()
    for verb in (
        made.session.job,
        made.session.job_tail,
        made.session.job_output,
        made.session.kill_job,
    ):
        with pytest.raises(ToolError, match="no job j1"):
            verb("j1")


async def test_without_a_project_there_are_no_jobs(bench: AsyncBench) -> None:
    made = await bench(project="none")

    assert made.session.jobs() == ()
    with pytest.raises(ToolError, match="no project folder"):
        made.session.kill_job("j1")


async def test_safe_access_hides_what_looks_after_the_shell(bench: AsyncBench) -> None:
    made = await bench(access="safe")

    offered = {tool.name for tool in made.session.offered}
    assert not offered & {"bash", "bash_job", "shell_exec", "shell_output", "shell_job"}


@requirement("S1-086", "J-33")
async def test_what_a_sandbox_forbids_is_refused_without_a_question(bench: AsyncBench) -> None:
    made = await bench(in_background("true"), sandbox="workspace-write")
    await made.session.send("Go")

    assert made.of("PermissionRequested") == made.of("JobStarted") == []
    assert made.results["a"].outcome == "failed"
    assert not made.results["a"].ran


@requirement("REQ-F44", "S2-094")
async def test_a_fifth_job_is_refused_without_a_question(bench: AsyncBench) -> None:
    four = [in_background("sleep 600", f"a{n}") for n in range(4)]
    made = await bench(
        *four, past_its_budget("true", "b"), in_background("true", "c"), mode="default"
    )
    made.answer_with(allow=True)
    await made.session.send("Go")

    assert len(made.of("PermissionRequested")) == len(made.of("JobStarted")) == 4
    for call in ("b", "c"):
        assert not made.results[call].ran
        assert made.results[call].result.details == {"jobs": ["j1", "j2", "j3", "j4"]}


@requirement("J-32")
async def test_the_third_try_of_what_hangs_is_refused_without_a_question(bench: AsyncBench) -> None:
    hang = {"command": "sleep 600", "timeoutMs": 100}
    made = await bench(*[calls((f"a{n}", "bash", hang)) for n in range(3)])
    made.answer_with(allow=True)
    await made.session.send("Go")

    assert len(made.of("PermissionRequested")) == 2
    assert not made.results["a2"].ran
    assert made.results["a2"].result.details == {"timeoutCount": 2}


# ---- limits and losses --------------------------------------------------------------------------


async def test_how_long_a_job_may_take_is_recorded_with_its_beginning(bench: AsyncBench) -> None:
    bounded = calls(
        ("a", "shell_exec", {"command": FOREVER, "block_budget_sec": 0.05, "timeout_sec": 90})
    )
    made = await bench(bounded, in_background(FOREVER, "b"), says("Done."), mode="yolo")
    await made.session.send("Go")

    began = [event for event in made.events if isinstance(event, JobStarted)]
    assert [event.timeout_sec for event in began] == [90, None]


def watched(tmp_path: Path, shell: Shell, command: str) -> tuple[JobView, JobEnded]:
    """A job as its watch records it: its card, and the event of its end."""
    events: list[Event] = []
    board = JobBoard()
    transcript = Transcript(tmp_path / "transcript.jsonl")
    log = EventLog(transcript, Redactor({}), lambda event: None, 0)
    log.listen(events.append)
    watch = JobWatch(shell, log)
    state = shell.start(command, timeout_sec=60)
    give_up = time.monotonic() + 30
    while not any(isinstance(event, JobEnded) for event in events):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    watch.close()
    transcript.close()
    for event in events:
        board.fold(event)
    return board.jobs[state.job_id], next(e for e in events if isinstance(e, JobEnded))


@requirement("REQ-F37")
def test_that_output_was_lost_is_recorded(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ, max_output_bytes=100_000)

    view, end = watched(tmp_path, shell, "seq 1 200000")

    assert (end.status, end.lost, end.limit) == ("completed", True, "")
    assert (view.lost, view.state, view.timeout_sec) == (True, "exit 0", 60)


@requirement("REQ-S82")
def test_the_limit_that_ended_a_job_is_recorded(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ, limits=Limits(60, 1 << 30, 1 << 20))

    view, end = watched(tmp_path, shell, "exec head -c 8388608 /dev/zero > big")

    assert (end.status, end.limit, end.lost) == ("limited", "file size", False)
    assert (view.limit, view.state) == ("file size", "file size limit")
