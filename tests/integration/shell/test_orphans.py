"""The battery: whatever a command leaves behind, nothing of it is alive when its job has ended."""

import itertools
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

from arc_workbench.shell import Shell
from tests.requirements import requirement

LIMIT_SEC = 30
RUNS = 10

TRICKS = {
    "ampersand": "{sleep} &",
    "silent": "{sleep} >/dev/null 2>&1 </dev/null &",
    "disown": "bash -c '{sleep} & disown'",
    "nohup": "nohup {sleep} >/dev/null 2>&1 &",
    "setsid": "setsid {sleep} &",
    "setsid waits": "setsid -f {sleep}",
    "double fork": "( ( {sleep} & ) & )",
    "double fork in a session": "(setsid sh -c '{sleep} & {sleep} &' &)",
    "ignores TERM": "sh -c 'trap \"\" TERM HUP INT QUIT; {sleep} & {sleep}' &",
    "ignores TERM in a session": "setsid sh -c 'trap \"\" TERM HUP INT; {sleep}' &",
    "empty environment": "env -i setsid sh -c '{sleep} & {sleep}' >/dev/null 2>&1 &",
    "daemon": "{python} -c '{daemon}' {token}",
    "daemon without environment": "env -i {python} -c '{daemon}' {token}",
    "own group": "{python} -c 'import os, time; os.setpgid(0, 0); time.sleep(600)' {token} &",
    "stopped": "{sleep} & kill -STOP $!",
    "pipeline": "yes | {sleep} > /dev/null &",
    "substitution": "bash -c 'echo x > >({sleep})'",
    "coprocess": "bash -c 'coproc {sleep}; true'",
    "many": "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {sleep} & done",
    "nested": 'sh -c "sh -c \'setsid sh -c \\"{sleep} & {sleep}\\" &\' &" &',
    "respawns": "sh -c 'while :; do {sleep} & {sleep}; done' &",
    "respawns when killed": "setsid sh -c 'trap \"{sleep} &\" EXIT; {sleep}' &",
    "shell is killed": "{sleep} & kill -KILL $$",
    "supervisor is killed": "setsid {sleep} & kill -KILL $PPID; {sleep}",
}
DAEMON = (
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "[os.close(n) for n in range(3)]\n"
    "time.sleep(600)"
)
NUMBERS = itertools.count(1)


def trick(name: str) -> tuple[str, str]:
    """The command line, and a word that stands in the command line of each of its processes."""
    token = f"6{os.getpid():07}{next(NUMBERS):06}"
    command = TRICKS[name].format(
        sleep=f"sleep {token}", token=token, python=sys.executable, daemon=DAEMON
    )
    return command, token


def alive(token: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if any(token in word for word in words) and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


def left(token: str) -> list[psutil.Process]:
    """What is alive after a moment; each is killed, so that a failure leaves nothing behind."""
    until = time.monotonic() + LIMIT_SEC
    while alive(token) and time.monotonic() < until:
        time.sleep(0.02)
    found = alive(token)
    for process in found:
        process.kill()
    return found


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    shell = Shell(tmp_path, os.environ)
    yield shell
    shell.close()


@requirement("REQ-F40", "REQ-F41", "REQ-S83", "BUG-B1", "BUG-B4", "BUG-B5")
@pytest.mark.parametrize("name", TRICKS)
def test_nothing_outlives_a_command_that_ends(shell: Shell, name: str) -> None:
    for _ in range(RUNS):
        command, token = trick(name)

        shell.run(f"{command} echo end" if command.endswith("&") else command, timeout_sec=30)

        assert alive(token) == []


@requirement("REQ-F40", "REQ-S84", "BUG-B3")
@pytest.mark.parametrize("name", TRICKS)
def test_nothing_outlives_a_command_that_is_timed_out(shell: Shell, name: str) -> None:
    command, token = trick(name)
    wait = "" if command.endswith("&") else ";"

    shell.run(f"{command}{wait} sleep {token}", timeout_sec=0.3)

    assert alive(token) == []


@requirement("REQ-F40", "REQ-S84", "BUG-B4")
@pytest.mark.parametrize("name", TRICKS)
def test_nothing_outlives_a_job_that_is_killed(shell: Shell, name: str) -> None:
    command, token = trick(name)
    wait = "" if command.endswith("&") else ";"
    job = shell.start(f"{command}{wait} sleep {token}")
    while not alive(token) and shell.job(job.job_id).running:
        time.sleep(0.01)

    ended = shell.kill(job.job_id)

    assert not ended.running
    assert alive(token) == []


@requirement("REQ-F40", "BUG-N6")
@pytest.mark.parametrize("name", TRICKS)
def test_nothing_outlives_a_command_that_is_aborted(shell: Shell, name: str) -> None:
    command, token = trick(name)
    wait = "" if command.endswith("&") else ";"
    stop = threading.Event()
    timer = threading.Timer(0.2, stop.set)
    timer.start()

    shell.run(f"{command}{wait} sleep {token}", timeout_sec=30, signal=stop)

    timer.join()
    assert alive(token) == []


PROGRAM = """
import os, sys, threading
from pathlib import Path
from arc_workbench.shell import Shell

shell = Shell(Path(sys.argv[1]), os.environ, spools=Path(sys.argv[1]) / "spools")
for command in sys.argv[2:]:
    shell.start(command)
print("up", flush=True)
threading.Event().wait(600)
"""


@requirement("REQ-F40", "REQ-S83", "BUG-N6")
@pytest.mark.parametrize(
    "names", [tuple(list(TRICKS)[start : start + 4]) for start in range(0, len(TRICKS), 4)]
)
def test_nothing_outlives_a_kernel_that_is_killed(tmp_path: Path, names: tuple[str, ...]) -> None:
    tricks = [trick(name) for name in names]
    commands = [
        f"{command}{'' if command.endswith('&') else ';'} sleep {token}"
        for command, token in tricks
    ]
    kernel = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), *commands], stdout=subprocess.PIPE, text=True
    )
    assert kernel.stdout is not None
    assert kernel.stdout.readline() == "up\n"
    time.sleep(0.3)

    kernel.send_signal(signal.SIGKILL)
    kernel.wait(LIMIT_SEC)
    kernel.stdout.close()

    assert [process for _, token in tricks for process in left(token)] == []
