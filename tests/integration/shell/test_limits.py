"""What takes too much is ended and says so; each hog here also stops by itself."""

import os
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from arc_workbench.shell import Limits, Shell
from tests.requirements import requirement

LIMIT_SEC = 30
MIB = 1 << 20

FORK_BOMB = """
import os, time
end = time.monotonic() + 30
made = 0
while made < 500 and time.monotonic() < end:
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
    except OSError:
        time.sleep(0.05)
time.sleep(max(0, end - time.monotonic()))
"""
TREE_BOMB = """
import os, time
for level in range(8):  # 256 processes
    try:
        os.fork()
    except OSError:
        pass
time.sleep(30)
"""
MEMORY_HOG = """
import time
held = []
for _ in range(64):
    held.append(bytearray(b"x") * (16 << 20))
    time.sleep(0.05)
time.sleep(20)
"""


@pytest.fixture(params=["system", "looks"])
def shell(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Shell]:
    """Held down by the system where it can be, and by looks alone."""
    limits = Limits(processes=60, memory=200 * MIB, file_size=8 * MIB)
    shell = Shell(tmp_path, os.environ, limits=limits, portable=request.param == "looks")
    yield shell
    shell.close()


def python(tmp_path: Path, program: str) -> str:
    (tmp_path / "hog.py").write_text(program, encoding="utf-8")
    return f"exec {sys.executable} hog.py"


@requirement("REQ-S82", "REQ-F42")
@pytest.mark.parametrize("program", [FORK_BOMB, TREE_BOMB])
def test_a_fork_bomb_is_ended_and_named(shell: Shell, tmp_path: Path, program: str) -> None:
    done = shell.run(python(tmp_path, program), timeout_sec=LIMIT_SEC)

    assert (done.state.status, done.state.limit) == ("limited", "processes")


@requirement("REQ-S82", "REQ-F43")
def test_what_takes_too_much_memory_is_ended_and_named(shell: Shell, tmp_path: Path) -> None:
    done = shell.run(python(tmp_path, MEMORY_HOG), timeout_sec=LIMIT_SEC)

    assert (done.state.status, done.state.limit) == ("limited", "memory")


@requirement("REQ-S82")
def test_a_file_cannot_grow_without_end(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("head -c 268435456 /dev/zero > big", timeout_sec=LIMIT_SEC)

    assert (done.state.status, done.state.limit) == ("limited", "file size")
    assert (tmp_path / "big").stat().st_size <= 8 * MIB


@requirement("REQ-S82")
def test_what_burns_the_processor_is_timed_out(shell: Shell) -> None:
    done = shell.run(
        "end=$(($(date +%s) + 30)); while [ $(date +%s) -lt $end ]; do :; done", timeout_sec=0.5
    )

    assert done.state.status == "timed_out"


@requirement("REQ-S82")
def test_while_a_hog_runs_other_commands_do(shell: Shell, tmp_path: Path) -> None:
    job = shell.start(python(tmp_path, FORK_BOMB))

    done = shell.run("echo here", timeout_sec=LIMIT_SEC)

    assert done.tail.raw == "here\n"
    while shell.job(job.job_id).running:
        time.sleep(0.05)
    assert shell.job(job.job_id).limit == "processes"


@requirement("REQ-S81")
def test_a_crash_leaves_no_core_file(shell: Shell) -> None:
    assert shell.run("ulimit -c", timeout_sec=LIMIT_SEC).tail.raw == "0\n"


@requirement("REQ-S81")
def test_a_command_has_no_other_open_files_than_the_three(shell: Shell) -> None:
    done = shell.run("ls /proc/self/fd | wc -l", timeout_sec=LIMIT_SEC)

    assert int(done.tail.raw) == 4  # the three, and the folder that ls reads
