"""A command does not outlive the process that runs it, however that process dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from arc_workbench.shell import Shell
from tests.requirements import requirement

LIMIT_SEC = 30

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
from arc_workbench.shell import Shell

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored

up = threading.Event()

def show(text):
    if sys.argv[2] != "fork":
        print(text, end="", flush=True)
    shown.append(text)
    up.set()

def run(command):
    Shell(Path(sys.argv[1]), os.environ).run(command, timeout_sec=600, on_output=show)

shown = []

threads = [threading.Thread(target=run, args=(command,)) for command in sys.argv[3:]]
for thread in threads:
    thread.start()
if sys.argv[2] == "fork":
    up.wait(20)
    if os.fork() == 0:
        threading.Event().wait(600)
    print(*shown, end="", flush=True)
for thread in threads:
    thread.join()
"""


@contextmanager
def running(
    folder: Path, *commands: str, how: str = "plainly"
) -> Generator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A process that runs commands, each of which printed the ids of what it had started."""
    starter = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), how, *commands],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "SOME_API_KEY": "s3cr3t-value-1", "TMPDIR": str(folder)},
    )
    assert starter.stdout
    try:
        lines = [starter.stdout.readline() for _ in commands]
        started = [psutil.Process(int(pid)) for line in lines for pid in line.split()]
        others = [child for child in psutil.Process(starter.pid).children() if child not in started]
        yield starter, [*started, *others]
    finally:
        starter.kill()
        starter.wait(LIMIT_SEC)
        starter.stdout.close()


def left(processes: list[psutil.Process]) -> list[psutil.Process]:
    """What still runs after a while in which all of it should have ended."""
    until = time.monotonic() + LIMIT_SEC
    while processes and time.monotonic() < until:
        _, alive = psutil.wait_procs(processes, timeout=0.02)
        processes = [process for process in alive if runs(process)]
    return processes


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@requirement("BUG-N6", "REQ-S83")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 & echo $$ $!; wait",
        "trap '' TERM HUP INT; setsid sleep 600 >/dev/null 2>&1 & echo $$ $!; wait",
    ],
)
def test_a_signal_that_ends_the_process_ends_its_command(
    tmp_path: Path, name: str, command: str
) -> None:
    with running(tmp_path, command) as (starter, started):
        starter.send_signal(signal.Signals[name])
        starter.wait(LIMIT_SEC)

        assert left(started) == []


@requirement("BUG-N6", "REQ-S83")
def test_each_of_several_commands_ends(tmp_path: Path) -> None:
    with running(tmp_path, *["echo $$; sleep 600"] * 3) as (starter, started):
        starter.kill()
        starter.wait(LIMIT_SEC)

        assert len(started) >= 3
        assert left(started) == []


@requirement("BUG-N6", "REQ-S83")
def test_a_fork_that_holds_our_pipes_open_keeps_no_command_alive(tmp_path: Path) -> None:
    with running(tmp_path, "echo $$; sleep 600", how="fork") as (starter, (command, *rest)):
        forks = [process for process in rest if "supervisor" not in " ".join(process.cmdline())]
        starter.kill()
        starter.wait(LIMIT_SEC)
        still_there = left([command])
        for fork in forks:
            fork.kill()

    assert len(forks) >= 1
    assert still_there == []


@requirement("REQ-S129", "REQ-S136")
def test_the_supervisor_gets_no_secret(tmp_path: Path) -> None:
    with running(tmp_path, "echo $$; sleep 600") as (_, started):
        environments = [process.environ() for process in started]

    assert len(environments) == 2
    assert not [each for each in environments if "SOME_API_KEY" in each]


@requirement("BUG-N6")
def test_nothing_but_what_waits_for_orders_is_left_when_the_command_is_over(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)
    shell.run("true", timeout_sec=LIMIT_SEC)
    before = set(psutil.Process().children(recursive=True))

    done = shell.run("echo one", timeout_sec=LIMIT_SEC)

    assert (done.tail.raw, done.state.lingering, done.state.killed) == ("one\n", (), ())
    ended = {child for child in psutil.Process().children(recursive=True) if runs(child)}
    until = time.monotonic() + LIMIT_SEC
    while ended - before and time.monotonic() < until:
        ended = {child for child in psutil.Process().children(recursive=True) if runs(child)}
    assert ended <= before


@requirement("BUG-N6")
def test_what_waits_for_orders_in_a_command_within_a_command_ends_with_it(tmp_path: Path) -> None:
    inner = (
        "import os; from pathlib import Path; from arc_workbench.shell import Shell; "
        "print(Shell(Path('.'), os.environ).run('echo inner', timeout_sec=20).tail.raw, end='')"
    )

    done = Shell(tmp_path, {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).run(
        f'"{sys.executable}" -c "{inner}"', timeout_sec=LIMIT_SEC
    )

    assert done.tail.raw == "inner\n"
    assert left([psutil.Process(one.pid) for one in done.state.lingering if alive(one.pid)]) == []


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid)


@requirement("REQ-S83")
def test_a_command_that_kills_its_supervisor_ends_with_all_it_started(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)

    done = shell.run(
        "setsid sleep 600 & echo $$ $!; kill -9 $PPID; sleep 600", timeout_sec=LIMIT_SEC
    )

    assert (done.state.status, done.state.limit) == ("limited", "supervisor")
    assert (
        left([psutil.Process(int(pid)) for pid in done.tail.raw.split() if alive(int(pid))]) == []
    )


@requirement("REQ-S83")
def test_when_what_waits_for_orders_is_killed_another_takes_its_place(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)
    done = shell.run("ps -o ppid= -p $PPID", timeout_sec=LIMIT_SEC)
    os.kill(int(done.tail.raw), signal.SIGKILL)

    again = shell.run("echo again", timeout_sec=LIMIT_SEC)

    assert (again.state.status, again.tail.raw) == ("completed", "again\n")


def test_a_fork_of_this_process_has_what_waits_for_orders_to_itself(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)
    shell.run("true", timeout_sec=LIMIT_SEC)

    pid = os.fork()
    if pid == 0:
        done = shell.run("echo fork", timeout_sec=LIMIT_SEC)
        os._exit(0 if done.tail.raw == "fork\n" else 1)

    assert os.waitpid(pid, 0)[1] == 0
    assert shell.run("echo ours", timeout_sec=LIMIT_SEC).tail.raw == "ours\n"
