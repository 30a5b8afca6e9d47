"""Commands that turn against what watches over them."""

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

from arc_workbench.shell import JobNews, JobOver, Limits, Shell
from tests.integration.shell.test_orphans import left, trick
from tests.requirements import requirement

LIMIT_SEC = 30
STOP_THE_WAITING = 'kill -STOP $(cut -d" " -f4 /proc/$PPID/stat)'
KILL_THE_WAITING = 'kill -KILL $(cut -d" " -f4 /proc/$PPID/stat)'


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")
    yield shell
    shell.close()


@requirement("REQ-S84")
def test_a_supervisor_that_is_stopped_holds_to_the_time_limit_all_the_same(shell: Shell) -> None:
    done = shell.run("echo a; kill -STOP $PPID; sleep 600", timeout_sec=0.5)

    assert (done.state.status, done.tail.raw) == ("timed_out", "a\n")


@requirement("REQ-S84")
def test_a_supervisor_that_is_stopped_again_and_again_is_given_up(shell: Shell) -> None:
    command, token = trick("setsid")
    stopping = "(while :; do kill -STOP $PPID; sleep 0.01; done) &"

    done = shell.run(f"{command} {stopping} sleep {token}", timeout_sec=0.5)

    assert done.state.status == "timed_out"
    assert left(token) == []


@requirement("BUG-N6")
def test_an_abort_reaches_a_command_whose_supervisor_is_stopped(shell: Shell) -> None:
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()

    done = shell.run("kill -STOP $PPID; sleep 600", timeout_sec=600, signal=stop)

    assert done.state.status == "aborted"


@requirement("REQ-S83")
def test_commands_go_on_when_what_waits_for_orders_was_stopped(shell: Shell) -> None:
    shell.run(STOP_THE_WAITING, timeout_sec=LIMIT_SEC)

    assert shell.run("echo again", timeout_sec=LIMIT_SEC).tail.raw == "again\n"


@requirement("REQ-S83")
def test_a_job_goes_on_when_what_waits_for_orders_is_killed(shell: Shell) -> None:
    job = shell.start("until [ -e go ]; do sleep 0.02; done; echo end")
    shell.run(KILL_THE_WAITING, timeout_sec=LIMIT_SEC)
    assert shell.run("echo again", timeout_sec=LIMIT_SEC).tail.raw == "again\n"

    (shell.root / "go").touch()
    until = time.monotonic() + LIMIT_SEC
    while shell.job(job.job_id).running and time.monotonic() < until:
        time.sleep(0.02)

    assert (shell.job(job.job_id).status, shell.tail(job.job_id).raw) == ("completed", "end\n")


@requirement("REQ-F40", "REQ-S83")
def test_what_hid_before_its_supervisor_was_killed_is_ended(shell: Shell) -> None:
    command, token = trick("empty environment")

    shell.run(f"{command} sleep 0.3; kill -KILL $PPID; sleep {token}", timeout_sec=LIMIT_SEC)

    assert left(token) == []


@requirement("REQ-F40", "REQ-S83")
def test_a_supervisor_that_cannot_look_any_more_lets_nothing_live(shell: Shell) -> None:
    command, token = trick("setsid")

    shell.run(
        f"{command} prlimit --pid $PPID --nofile=3:3; sleep 0.3; sleep {token}", timeout_sec=2
    )

    assert left(token) == []


STOPPED_KERNEL = """
import os, sys, threading
from pathlib import Path
from arc_workbench.shell import Shell

shell = Shell(Path(sys.argv[1]), os.environ, spools=Path(sys.argv[1]) / "spools")
shell.start(sys.argv[2])
while not shell.tail("j1").raw: pass
print("up", flush=True)
threading.Event().wait(600)
"""


@requirement("REQ-S83", "BUG-N6")
def test_the_end_of_a_kernel_reaches_a_command_whose_supervisor_is_stopped(tmp_path: Path) -> None:
    command, token = trick("setsid")
    kernel = subprocess.Popen(
        [
            sys.executable,
            "-c",
            STOPPED_KERNEL,
            str(tmp_path),
            f"{command} echo a; sleep 0.5; kill -STOP $PPID; sleep {token}",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert kernel.stdout is not None
    assert kernel.stdout.readline() == "up\n"

    kernel.send_signal(signal.SIGKILL)
    kernel.wait(LIMIT_SEC)
    kernel.stdout.close()

    assert left(token) == []


@requirement("REQ-S82", "REQ-F43")
def test_shared_memory_counts_too(tmp_path: Path) -> None:
    (tmp_path / "hog.py").write_text(
        "import mmap, time\nheld = mmap.mmap(-1, 400 << 20)\n"
        "for at in range(0, len(held), 4096): held[at] = 1\ntime.sleep(20)\n",
        encoding="utf-8",
    )
    limits = Limits(processes=60, memory=150 << 20, file_size=1 << 30)
    shell = Shell(tmp_path, os.environ, limits=limits)

    done = shell.run(f"{sys.executable} hog.py", timeout_sec=LIMIT_SEC)

    assert (done.state.status, done.state.limit) == ("limited", "memory")
    shell.close()


def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "import mmap, os, time\nheld = mmap.mmap(-1, 60 << 20)\n"
        "for at in range(0, len(held), 4096): held[at] = 1\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        sum(held[at] for at in range(0, len(held), 4096)); time.sleep(0.5); os._exit(0)\n"
        "time.sleep(1)\n",
        encoding="utf-8",
    )
    limits = Limits(processes=60, memory=200 << 20, file_size=1 << 30)
    shell = Shell(tmp_path, os.environ, limits=limits)

    assert shell.run(f"{sys.executable} many.py", timeout_sec=LIMIT_SEC).state.exit_code == 0
    shell.close()


@pytest.mark.parametrize("timeout_sec", [0.0, 1e-322])
def test_no_time_at_all_is_a_limit_too(shell: Shell, timeout_sec: float) -> None:
    assert shell.run("sleep 600", timeout_sec=timeout_sec).state.status == "timed_out"


def test_a_listener_that_fails_costs_no_job(shell: Shell) -> None:
    over = threading.Event()

    def fail(news: JobNews) -> None:
        if isinstance(news, JobOver):
            over.set()
        raise LookupError

    shell.listen(fail)
    job = shell.start("echo a; sleep 0.3; echo b")

    assert over.wait(LIMIT_SEC)
    assert shell.job(job.job_id).exit_code == 0


def test_a_project_whose_name_is_no_text_runs_commands(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/pr\xff"))
    folder.mkdir()
    shell = Shell(folder, os.environ)

    state = shell.start("pwd; sleep 600")

    state.cwd.encode()
    shell.close()
    assert {job.status for job in shell.jobs()} == {"killed"}


@requirement("REQ-F38")
def test_a_full_disk_does_not_change_how_a_command_is_said_to_have_ended(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can only be made by root")
    try:
        shell = Shell(tmp_path, os.environ, spools=disk / "spools")
        done = shell.run(f"head -c 4000000 /dev/zero > {disk}/fill; exit 4", timeout_sec=LIMIT_SEC)
        shell.close()
        again = Shell(tmp_path, os.environ, spools=disk / "spools")
        state = again.state_of(done.state.spool_id)
        again.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)

    assert (state.status, state.exit_code) == ("failed", 4)


@requirement("REQ-S85")
def test_commands_run_where_the_kernel_has_no_standard_files(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom arc_workbench.shell import Shell\n"
        "done = Shell(Path(sys.argv[1]), os.environ).run('echo a', timeout_sec=20)\n"
        "(Path(sys.argv[1]) / 'said').write_text(done.tail.raw)\n"
    )
    line = f'"{sys.executable}" -c "$1" "$2" <&- >&- 2>&-'

    subprocess.run(["sh", "-c", line, "sh", program, str(tmp_path)], check=False, timeout=LIMIT_SEC)

    assert (tmp_path / "said").read_text(encoding="utf-8") == "a\n"


def test_signals_that_the_kernel_holds_back_reach_commands(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom arc_workbench.shell import Shell\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2})\n"
        "signal.signal(signal.SIGQUIT, signal.SIG_IGN)\n"
        "shell = Shell(Path(sys.argv[1]), os.environ)\n"
        "print(shell.run('grep -E \"Sig(Blk|Ign)\" /proc/self/status', timeout_sec=20).tail.raw)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=LIMIT_SEC,
    )  # fmt: skip

    assert {line.split()[1] for line in done.stdout.splitlines() if line} == {"0" * 16}


@requirement("REQ-S82")
def test_no_group_of_the_system_is_left_behind(shell: Shell) -> None:
    before = {path.name for path in Path("/sys/fs/cgroup").glob("**/arc-*")}
    shell.run("true", timeout_sec=LIMIT_SEC)
    shell.run("kill -KILL $PPID; sleep 600", timeout_sec=LIMIT_SEC)

    after = {path.name for path in Path("/sys/fs/cgroup").glob("**/arc-*")}
    mine = {name for name in after - before if not psutil.pid_exists(int(name.split("-")[1]))}
    assert mine == set()
