"""Finding and ending what is below a process, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

import arc_workbench
from tests.requirements import requirement

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks Linux")
LIMIT_SEC = 30
ROOT = Path(arc_workbench.__file__).parent.parent


def in_a_process(program: str, *arguments: str) -> str:
    """What a process of its own prints, in which `tree` is a fresh look at what is below it."""
    start = f"import os, sys, signal, subprocess\nsys.path.insert(0, {str(ROOT)!r})\n"
    start += "from arc_workbench.supervisor import calls\nassert calls.become_subreaper()\n"
    start += "from arc_workbench.supervisor.tree import Below\ntree = Below()\n"
    done = subprocess.run(
        [sys.executable, "-c", start + program, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_SEC,
        check=True,
    )
    return done.stdout


@requirement("REQ-F45")
def test_a_process_that_is_not_below_is_not_signalled_whatever_its_number() -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        in_a_process(
            "tree.send([int(sys.argv[1]), 1, os.getppid()], signal.SIGKILL)", str(other.pid)
        )

        assert other.poll() is None
    finally:
        other.kill()
        other.wait(LIMIT_SEC)


@requirement("REQ-F45")
def test_a_number_that_is_nobodys_any_more_is_passed_over() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait(LIMIT_SEC)

    in_a_process(f"tree.send([{ended.pid}, 2 ** 22], signal.SIGKILL)")


@requirement("REQ-S83", "J-31")
def test_everything_below_is_found_and_ended_however_it_left() -> None:
    program = (
        "line = '(setsid sleep 62 &) ; env -i setsid sleep 60 & sleep 61'\n"
        "subprocess.Popen(['sh', '-c', line])\n"
        "import time\n"
        "while len(tree.descendants()) < 4: time.sleep(0.01)\n"
        "killed = tree.end_all()\n"
        "print(sorted(name for _, name in killed), tree.descendants())\n"
    )

    assert in_a_process(program) == "['sh', 'sleep', 'sleep', 'sleep'] []\n"


def test_how_a_child_ended_is_not_lost_when_it_is_let_go() -> None:
    program = (
        "child = subprocess.Popen(['sh', '-c', 'exit 7']).pid\n"
        "while child not in tree.ended: tree.reap()\n"
        "print(os.waitstatus_to_exitcode(tree.ended[child]))\n"
    )

    assert in_a_process(program) == "7\n"


def test_memory_is_counted_without_what_is_shared() -> None:
    program = (
        "child = subprocess.Popen([sys.executable, '-c', 'x = bytearray(b\"1\") * 50_000_000; "
        "print(1, flush=True); input()'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(50_000_000 < tree.memory_of([child.pid]) < 90_000_000)\n"
        "tree.end_all()\n"
    )

    assert in_a_process(program) == "True\n"


def test_this_process_itself_is_left_alone() -> None:
    assert in_a_process("tree.end_all(); print('here')") == "here\n"
