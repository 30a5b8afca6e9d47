"""Real commands from start to end, and what is left of them: nothing."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from arc_workbench.errors import ToolError
from arc_workbench.shell import KEPT_BYTES, Result, Shell, signal_number
from tests.requirements import requirement

LIMIT_SEC = 30


@pytest.fixture(params=["tree", "marks"])
def shell(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Shell]:
    """Processes are found by Linux's tree, and by marks as on other systems."""
    shell = Shell(tmp_path, os.environ, portable=request.param == "marks")
    yield shell
    shell.close()


def run(shell: Shell, command: str, timeout_sec: float = LIMIT_SEC) -> Result:
    return shell.run(command, timeout_sec=timeout_sec)


def assert_gone(pids: list[int]) -> None:
    for pid in pids:
        try:
            assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            continue


@requirement("BUG-B21")
def test_a_silent_command_ends_at_once(shell: Shell) -> None:
    done = run(shell, "true")

    assert (done.state.status, done.state.exit_code, done.tail.raw, done.state.total_bytes) == (
        "completed",
        0,
        "",
        0,
    )


@requirement("S1-068", "J-29")
def test_both_streams_arrive_in_the_order_written(shell: Shell) -> None:
    script = "for n in 1 2 3 4 5 6 7 8 9; do echo out $n; echo err $n >&2; done"

    done = run(shell, script)

    assert done.tail.raw == "".join(f"out {n}\nerr {n}\n" for n in range(1, 10))


@pytest.mark.parametrize("again", ["tee /dev/stderr", "cat > /dev/stdout"])
def test_opening_the_output_again_loses_nothing(shell: Shell, again: str) -> None:
    done = run(shell, f"echo first; echo more | {again}; echo last")

    assert done.tail.raw.startswith("first\nmore\n")
    assert done.tail.raw.endswith("last\n")


@requirement("S1-064", "BUG-B14")
def test_the_exit_code_is_that_of_the_last_command_of_a_pipeline(shell: Shell) -> None:
    assert run(shell, "false | cat").state.exit_code == 0
    assert run(shell, "true | sh -c 'exit 3'").state.exit_code == 3


def test_a_command_may_begin_with_a_dash(shell: Shell) -> None:
    assert run(shell, "-c").state.exit_code == 127


@requirement("BUG-B13")
def test_death_by_a_signal_is_a_failure_that_names_it(shell: Shell) -> None:
    done = run(shell, "kill -KILL $$")

    assert (done.state.status, done.state.exit_code, done.state.signal_name) == (
        "failed",
        None,
        "SIGKILL",
    )


@requirement("BUG-B13")
def test_a_signal_without_a_name_is_told_by_its_number(shell: Shell) -> None:
    done = run(shell, "kill -40 $$")

    assert done.state.signal_name == "signal 40"
    assert signal_number("signal 40") == 40


@requirement("BUG-B1", "J-30", "REQ-F40")
@pytest.mark.parametrize(
    "orphan",
    [
        "sleep 600 &",
        "sleep 600 >/dev/null 2>&1 &",
        "nohup sleep 600 >/dev/null 2>&1 &",
        "setsid sleep 600 &",
        "setsid sleep 600 >/dev/null 2>&1 </dev/null &",
        "(setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &);",
        "yes &",
    ],
)
def test_an_orphan_delays_nothing_is_named_and_ended(shell: Shell, orphan: str) -> None:
    done = run(shell, f"{orphan} echo done")

    assert done.state.status == "completed"
    assert done.state.lingering
    assert_gone([process.pid for process in done.state.lingering])


def test_what_ends_by_itself_just_after_the_shell_is_waited_for(shell: Shell) -> None:
    if not Path("/bin/bash").exists():
        pytest.skip("no bash here")

    done = run(shell, "bash -c 'echo late > >(cat)'")

    assert (done.tail.raw, done.state.lingering) == ("late\n", ())


@requirement("BUG-B3", "BUG-B4", "BUG-B5", "BUG-B12", "J-31", "REQ-S84", "REQ-F41")
@pytest.mark.parametrize(
    "hanging",
    [
        "sleep 600",
        "bash -c 'sleep 600; :'",
        "trap '' TERM INT HUP; sleep 600 & wait",
        "setsid sleep 600 & wait",
        "(setsid sh -c 'sleep 600 & sleep 600' &) ; sleep 600",
        f"{sys.executable} -c 'import os, time; os.setpgid(0, 0); time.sleep(600)'",
    ],
)
def test_a_time_out_kills_all_and_keeps_what_was_printed(shell: Shell, hanging: str) -> None:
    done = run(shell, f"echo P; {hanging}", timeout_sec=0.5)

    assert done.state.status == "timed_out"
    assert done.tail.raw.startswith("P\n")
    assert len(done.state.killed) >= 1
    assert_gone([process.pid for process in done.state.killed])


@requirement("J-31")
def test_what_multiplies_is_ended_too(shell: Shell) -> None:
    multiply = "f() { sleep 600 & [ $1 -gt 0 ] && f $(($1 - 1)) & wait; }; f 20"

    done = run(shell, multiply, timeout_sec=0.5)

    assert done.state.status == "timed_out"
    assert_gone([process.pid for process in done.state.killed])


@requirement("BUG-N6")
@pytest.mark.parametrize("command", ["sleep 600", "setsid sleep 600", "setsid sleep 600 & wait"])
def test_an_abort_ends_a_child_in_its_own_session(shell: Shell, command: str) -> None:
    stop = threading.Event()

    done = shell.run(
        f"echo up; {command}",
        timeout_sec=LIMIT_SEC,
        signal=stop,
        on_output=lambda _: stop.set(),
    )

    assert done.state.status == "aborted"
    assert done.tail.raw == "up\n"
    assert_gone([process.pid for process in done.state.killed])


def test_closing_the_shell_aborts_what_runs(shell: Shell) -> None:
    done = shell.run("echo up; sleep 600", timeout_sec=LIMIT_SEC, on_output=lambda _: shell.close())

    assert done.state.status == "aborted"


def test_a_listener_that_fails_leaves_nothing_running(shell: Shell, tmp_path: Path) -> None:
    def fail(text: str) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError):
        shell.run("echo $$ > pid; echo up; sleep 600", timeout_sec=LIMIT_SEC, on_output=fail)

    assert_gone([int((tmp_path / "pid").read_text(encoding="utf-8"))])


@requirement("BUG-N6")
@pytest.mark.parametrize("thread", ["threading.Thread", "Daemon", "Pool"])
def test_the_end_of_the_interpreter_ends_its_commands(tmp_path: Path, thread: str) -> None:
    program = f"""
import os, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from arc_workbench.shell import Shell

class Pool:
    def __init__(self, target): self.target = target
    def start(self): ThreadPoolExecutor().submit(self.target)

class Daemon(threading.Thread):
    daemon = True

up = threading.Event()
shell = Shell(Path({str(tmp_path)!r}), os.environ)
def work():
    shell.run("echo $$ > pid; echo up; sleep 600", timeout_sec=600, on_output=lambda _: up.set())
{thread}(target=work).start()
assert up.wait(20)
"""
    subprocess.run([sys.executable, "-c", program], timeout=LIMIT_SEC, check=True)

    assert_gone([int((tmp_path / "pid").read_text(encoding="utf-8"))])


@requirement("REQ-F46", "REQ-S30")
def test_a_hundred_megabytes_cost_no_memory_and_no_flood(shell: Shell) -> None:
    shown: list[int] = []
    before = psutil.Process().memory_info().rss

    done = shell.run(
        "yes 0123456789 | head -c 100000000",
        timeout_sec=120,
        on_output=lambda text: shown.append(len(text)),
    )

    assert done.state.total_bytes == 100_000_000
    assert done.tail.cut_bytes + len(done.tail.raw) == done.state.total_bytes
    assert KEPT_BYTES - 100 < len(done.tail.raw) <= KEPT_BYTES
    assert psutil.Process().memory_info().rss - before < 30_000_000
    assert max(shown) < 10_000
    assert len(shown) <= 21 * done.state.duration_sec + 2


@requirement("BUG-B10", "S1-071")
def test_a_long_output_keeps_its_end_and_the_exit_code(shell: Shell) -> None:
    done = run(shell, "seq 1 200000; exit 3")

    assert (done.state.status, done.state.exit_code) == ("failed", 3)
    assert done.tail.raw.endswith("199999\n200000\n")
    assert done.state.total_bytes == 1_288_895


def test_output_comes_while_the_command_runs(shell: Shell, tmp_path: Path) -> None:
    go_on = tmp_path / "go"
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        go_on.touch()

    done = shell.run(
        "echo one; until [ -e go ]; do sleep 0.01; done; echo two",
        timeout_sec=LIMIT_SEC,
        on_output=show,
    )

    assert done.state.status == "completed"
    assert "".join(shown) == "one\ntwo\n"


@requirement("BUG-B15")
def test_a_character_split_over_two_writes_is_whole(shell: Shell) -> None:
    shown: list[str] = []

    done = shell.run(
        r"printf '\342'; sleep 0.2; printf '\202\254\n'",
        timeout_sec=LIMIT_SEC,
        on_output=shown.append,
    )

    assert done.tail.raw == "€\n"
    assert "".join(shown) == "€\n"


def test_a_command_that_closes_its_output_is_waited_for(shell: Shell, tmp_path: Path) -> None:
    done = run(shell, "echo a; exec >&- 2>&-; sleep 0.2; touch end")

    assert (done.state.status, done.tail.raw) == ("completed", "a\n")
    assert (tmp_path / "end").exists()


@requirement("S2-098", "S2-105", "REQ-S85")
def test_input_is_given_once_and_ends(shell: Shell) -> None:
    done = shell.run("cat; cat", timeout_sec=LIMIT_SEC, stdin_text="grün\n")

    assert done.tail.raw == "grün\n"


@requirement("S2-105", "REQ-S85", "BUG-B9")
def test_without_input_there_is_none(shell: Shell) -> None:
    assert run(shell, "read line || echo nothing").tail.raw == "nothing\n"


@requirement("REQ-F47")
def test_input_that_nobody_reads_stops_nobody(shell: Shell) -> None:
    done = shell.run("true", timeout_sec=LIMIT_SEC, stdin_text="x" * 65_536)

    assert done.state.status == "completed"


@requirement("BUG-B6", "REQ-S85")
def test_there_is_no_terminal_to_open(shell: Shell) -> None:
    done = run(shell, "tty; cat /dev/tty; exit 0")

    assert done.tail.raw.startswith("not a tty\n")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@requirement("BUG-B6", "BUG-B8")
def test_git_opens_neither_editor_nor_pager(shell: Shell) -> None:
    who = "-c user.name=a -c user.email=a@b"
    run(shell, f"git init -q . && git {who} commit -q --allow-empty -m one")

    commit = run(shell, f"git {who} commit --allow-empty")
    log = run(shell, "git log --format=%s")

    assert commit.state.exit_code == 1
    assert "give the text as an argument" in commit.tail.raw
    assert log.tail.raw == "one\n"


@requirement("BUG-B23")
def test_a_command_of_three_megabytes_runs(shell: Shell) -> None:
    done = run(shell, f": '{'x' * 3_000_000}'; echo \"$((40 + 2))\"")

    assert (done.state.status, done.tail.raw) == ("completed", "42\n")


@requirement("REQ-S136", "REQ-S129")
def test_secrets_of_the_environment_stay_out(tmp_path: Path) -> None:
    secret = "s3cr3t-value"
    shell = Shell(tmp_path, {**os.environ, "SOME_API_KEY": secret})

    done = run(shell, "env; cat /proc/self/environ 2>/dev/null")

    assert secret not in done.tail.raw
    assert shell.left_out.count("SOME_API_KEY") == 1


def test_commands_do_not_disturb_each_other(shell: Shell) -> None:
    results: list[Result] = []
    work = [
        threading.Thread(target=lambda: results.append(run(shell, "sleep 600", 0.3))),
        threading.Thread(target=lambda: results.append(run(shell, "sleep 0.8; echo kept"))),
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(LIMIT_SEC)

    assert sorted(done.state.status for done in results) == ["completed", "timed_out"]


def test_a_command_runs_where_it_is_told(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "sub folder").mkdir()

    done = shell.run("pwd -P", cwd=shell.directory("sub folder"), timeout_sec=LIMIT_SEC)

    assert done.tail.raw == f"{(tmp_path / 'sub folder').resolve()}\n"


@pytest.mark.parametrize("cwd", ["missing", "file.txt", "/no/such/place", "x" * 5000, "a\0b"])
def test_a_folder_that_is_none_is_an_error_that_says_so(
    shell: Shell, tmp_path: Path, cwd: str
) -> None:
    (tmp_path / "file.txt").touch()

    with pytest.raises(ToolError, match="name an existing folder"):
        shell.directory(cwd)


@pytest.mark.parametrize("command", ["", "  \n", "echo a\0b", "echo \ud800"])
def test_what_no_shell_can_be_given_is_an_error(shell: Shell, command: str) -> None:
    with pytest.raises(ToolError):
        run(shell, command)
