"""Background jobs: begun, looked at, ended, and known after a restart."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from arc_workbench.errors import ToolError
from arc_workbench.shell import JobBegan, JobNews, JobOver, JobSaid, Shell, recorded
from tests.requirements import requirement

LIMIT_SEC = 30


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")
    yield shell
    shell.close()


def until_over(shell: Shell, job_id: str) -> None:
    until = time.monotonic() + LIMIT_SEC
    while shell.job(job_id).running and time.monotonic() < until:
        time.sleep(0.01)
    assert not shell.job(job_id).running


@requirement("S1-075", "S1-077")
def test_a_job_begins_at_once_as_leader_of_a_group_of_its_own(shell: Shell) -> None:
    job = shell.start("ps -o pid=,pgid=,sid= -p $$; sleep 600")
    while not (printed := shell.tail(job.job_id).raw):
        time.sleep(0.01)

    assert job.running
    assert len(set(printed.split())) == 1


@requirement("S1-077", "S2-094")
def test_news_are_told_once_and_the_tail_again(shell: Shell) -> None:
    job = shell.start("echo one; until [ -e go ]; do sleep 0.01; done; echo two")
    while not shell.tail(job.job_id).raw:
        time.sleep(0.01)

    first, nothing = shell.news(job.job_id), shell.news(job.job_id)
    (shell.root / "go").touch()
    until_over(shell, job.job_id)
    tail, second = shell.tail(job.job_id), shell.news(job.job_id)

    assert [piece.raw for piece in (first, nothing, second)] == ["one\n", "", "two\n"]
    assert tail.raw == "one\ntwo\n"


@requirement("S2-093", "S2-104")
def test_a_command_past_its_budget_goes_on_in_the_background(shell: Shell) -> None:
    result = shell.run(
        "echo early; until [ -e go ]; do sleep 0.01; done; echo late",
        timeout_sec=LIMIT_SEC,
        block_budget_sec=0.3,
    )
    (shell.root / "go").touch()
    until_over(shell, "j1")

    assert (result.state.status, result.state.job_id, result.tail.raw) == (
        "running", "j1", "early\n",
    )  # fmt: skip
    assert shell.read(result.state.spool_id, 0, 100).data == b"early\nlate\n"


@requirement("S2-102")
def test_the_time_limit_holds_for_a_job_too(shell: Shell) -> None:
    shell.run("sleep 600", timeout_sec=0.6, block_budget_sec=0.1)
    until_over(shell, "j1")

    assert shell.job("j1").status == "timed_out"


def test_a_budget_as_long_as_the_limit_makes_no_job(shell: Shell) -> None:
    done = shell.run("sleep 600", timeout_sec=0.3, block_budget_sec=0.3)

    assert (done.state.status, done.state.job_id) == ("timed_out", "")


@requirement("S2-094", "REQ-F44")
def test_a_fifth_job_is_refused_and_the_four_are_named(shell: Shell) -> None:
    for _ in range(4):
        shell.start("sleep 600")

    with pytest.raises(ToolError, match=r"Four jobs run \(j1, j2, j3, j4\)"):
        shell.start("touch never")

    shell.kill("j2")
    assert shell.start("true").job_id == "j5"
    assert not (shell.root / "never").exists()


@requirement("S1-084", "S1-078", "REQ-S84")
def test_a_job_that_is_killed_may_clean_up(shell: Shell) -> None:
    job = shell.start("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    while not shell.tail(job.job_id).raw:
        time.sleep(0.01)

    ended = shell.kill(job.job_id)

    assert ended.status == "killed"
    assert shell.tail(job.job_id).raw.endswith("bye\n")


@requirement("S1-084", "REQ-F41")
def test_a_job_that_ignores_TERM_is_killed_all_the_same(shell: Shell) -> None:
    job = shell.start("trap '' TERM; echo $$; sleep 600 & wait; sleep 600")
    while not shell.tail(job.job_id).raw:
        time.sleep(0.01)
    pid = int(shell.tail(job.job_id).raw)

    ended = shell.kill(job.job_id)

    assert ended.status == "killed"
    assert not psutil.pid_exists(pid)


def test_killing_a_job_that_has_ended_changes_nothing(shell: Shell) -> None:
    job = shell.start("exit 3")
    until_over(shell, job.job_id)

    assert shell.kill(job.job_id) == shell.job(job.job_id)
    assert shell.job(job.job_id).exit_code == 3


@pytest.mark.parametrize("verb", ["kill", "news", "tail", "job"])
def test_an_unknown_job_is_an_error_that_names_those_there_are(shell: Shell, verb: str) -> None:
    shell.start("sleep 600")

    with pytest.raises(ToolError, match=r"no job j9. Jobs: j1"):
        getattr(shell, verb)("j9")


@requirement("S1-079")
def test_jobs_are_listed_the_newest_first(shell: Shell) -> None:
    for _ in range(3):
        shell.start("true")

    assert [job.job_id for job in shell.jobs()] == ["j3", "j2", "j1"]


@requirement("S1-080", "S1-081", "S1-082")
def test_a_listener_hears_of_the_beginning_the_output_and_the_end(shell: Shell) -> None:
    heard: list[JobNews] = []
    over = threading.Event()

    def hear(news: JobNews) -> None:
        heard.append(news)
        if isinstance(news, JobOver):
            over.set()

    shell.listen(hear)
    shell.start("echo one; sleep 0.3; echo two; exit 3", call_id="c7")
    assert over.wait(LIMIT_SEC)

    assert isinstance(heard[0], JobBegan)
    assert heard[0].state.call_id == "c7"
    assert "".join(news.text for news in heard if isinstance(news, JobSaid)) == "one\ntwo\n"
    assert isinstance(heard[-1], JobOver)
    assert (heard[-1].state.status, heard[-1].state.exit_code) == ("failed", 3)


@requirement("REQ-S30")
def test_a_flood_is_told_in_few_small_pieces(shell: Shell) -> None:
    heard: list[JobSaid] = []
    shell.listen(lambda news: heard.append(news) if isinstance(news, JobSaid) else None)
    began = time.monotonic()

    shell.start("yes | head -c 100000000")
    until_over(shell, "j1")

    assert sum(len(news.text) for news in heard) < 200_000 * (time.monotonic() - began + 1)
    assert len(heard) <= 11 * (time.monotonic() - began) + 2
    assert shell.job("j1").total_bytes == 100_000_000


PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
from arc_workbench.shell import Shell

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
shell = Shell(Path(sys.argv[1]), os.environ, spools=Path(sys.argv[1]) / "spools")
shell.start("echo whole output; exit 3")
while shell.job("j1").running: pass
shell.start("echo so far; sleep 600")
while not shell.tail("j2").raw: pass
print("up", flush=True)
threading.Event().wait(600)
"""


@requirement("REQ-S83", "J-34")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_restarted_kernel_knows_the_jobs_how_they_ended_and_what_they_printed(
    tmp_path: Path, name: str
) -> None:
    kernel = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert kernel.stdout is not None
    assert kernel.stdout.readline() == "up\n"
    kernel.send_signal(signal.Signals[name])
    kernel.wait(LIMIT_SEC)
    kernel.stdout.close()

    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")
    until = time.monotonic() + LIMIT_SEC
    while any(job.running for job in recorded(tmp_path / "spools")) and time.monotonic() < until:
        time.sleep(0.01)
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")

    assert [(job.job_id, job.status, job.exit_code) for job in shell.jobs()] == [
        ("j2", "killed", None),
        ("j1", "failed", 3),
    ]
    assert [shell.tail(job).raw for job in ("j1", "j2")] == ["whole output\n", "so far\n"]
    assert shell.start("true").job_id == "j3"
    shell.close()


@requirement("REQ-S83")
def test_a_record_of_a_supervisor_that_was_killed_says_so(tmp_path: Path, shell: Shell) -> None:
    job = shell.start("echo $PPID; sleep 600")
    while not shell.tail(job.job_id).raw:
        time.sleep(0.01)
    os.kill(int(shell.tail(job.job_id).raw), signal.SIGKILL)
    until_over(shell, job.job_id)

    assert shell.job(job.job_id).limit == "supervisor"
    assert [state.limit for state in recorded(tmp_path / "spools")] == ["supervisor"]


def test_damaged_records_are_passed_over(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")
    shell.start("true")
    until_over(shell, "j1")
    shell.close()
    for number, text in enumerate(["", "{", "[]", '{"status": 3}', "null", "\0"], 5):
        (tmp_path / "spools" / f"s{number}").mkdir()
        (tmp_path / "spools" / f"s{number}" / "state.json").write_text(text, encoding="ascii")

    again = Shell(tmp_path, os.environ, spools=tmp_path / "spools")

    assert [job.job_id for job in again.jobs()] == ["j1"]
    assert again.run("echo a", timeout_sec=LIMIT_SEC).state.spool_id == "s2"
    again.close()


@requirement("J-32")
def test_a_command_that_timed_out_twice_is_refused_until_it_ends_by_itself(shell: Shell) -> None:
    for _ in range(2):
        shell.refuse_hanging("sleep  600")
        shell.run("sleep 600", timeout_sec=0.1)

    with pytest.raises(ToolError, match="timed out twice") as refused:
        shell.refuse_hanging(" sleep 600 ")
    assert refused.value.details == {"timeoutCount": 2}
    shell.refuse_hanging("sleep 601")


@requirement("J-32")
def test_a_command_that_ends_by_itself_is_trusted_again(shell: Shell) -> None:
    command = "[ -e go ] || sleep 600"
    shell.run(command, timeout_sec=0.1)
    (shell.root / "go").touch()
    shell.run(command, timeout_sec=LIMIT_SEC)
    (shell.root / "go").unlink()
    shell.run(command, timeout_sec=0.1)

    shell.refuse_hanging(command)


def test_closing_ends_all_jobs_and_tells_of_it(shell: Shell) -> None:
    ended: list[str] = []
    shell.listen(
        lambda news: ended.append(news.state.job_id) if isinstance(news, JobOver) else None
    )
    for _ in range(3):
        shell.start("trap '' TERM; sleep 600")

    shell.close()

    assert sorted(ended) == ["j1", "j2", "j3"]
    assert {job.status for job in shell.jobs()} == {"killed"}
    with pytest.raises(ToolError, match="closed"):
        shell.run("true", timeout_sec=LIMIT_SEC)
