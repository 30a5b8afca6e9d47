"""What a supervised command costs, against the plain ways to start one, in one run."""

import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from arc_workbench.shell import JobSaid, SandboxMode, Shell
from arc_workbench.shell.sandbox_probe import probe
from arc_workbench.shell.sandbox_session import Sandbox
from arc_workbench.workspace.names import is_protected

ROUNDS = 30
GIB = 1 << 30
GOAL_START_MS, GOAL_GIB, GOAL_MEMORY_MB = 15.0, 1.1, 5.0
GOAL_SANDBOX, GOAL_ORPHAN_MS, GOAL_CLICK_MS = 1.3, 100.0, 100.0
_PRINT = "yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c {bytes}"


def measure() -> bool:
    """Each figure of the shell; False where a goal was missed."""
    folder = Path(tempfile.mkdtemp(prefix="arc-bench-"))
    try:
        project = folder / "project"
        project.mkdir()
        shell = Shell(project, os.environ, spools=folder / "spools")
        shell.run("true", timeout_sec=60)
        met = [_start(shell), _orphan(shell), _gib(shell, folder), _sandbox(folder), _click(shell)]
        shell.close()
        return all(met)
    finally:
        shutil.rmtree(folder)


def _start(shell: Shell) -> bool:
    plain, ours = _in_turns(
        lambda: subprocess.run(["/bin/sh", "-c", "true"], check=True),
        lambda: shell.run("true", timeout_sec=60),
    )
    return _report(
        "`true` takes longer than a plain Popen by", (ours - plain) * 1000, GOAL_START_MS, "ms"
    )


def _orphan(shell: Shell) -> bool:
    (seconds,) = _in_turns(lambda: shell.run("sleep 20 & echo bye", timeout_sec=60), rounds=10)
    return _report("`sleep 20 & echo bye` returns after", seconds * 1000, GOAL_ORPHAN_MS, "ms")


def _gib(shell: Shell, folder: Path) -> bool:
    """1 GiB into the spool against the same into a file."""
    command = _PRINT.format(bytes=GIB)
    target = folder / "file"
    grown: list[float] = []

    def redirect() -> None:
        subprocess.run(["/bin/sh", "-c", f"{command} > {target}"], check=True)
        target.unlink()

    def ours() -> None:
        before = psutil.Process().memory_info().rss
        done = shell.run(command, timeout_sec=600, on_output=lambda text: None)
        grown.append((psutil.Process().memory_info().rss - before) / (1 << 20))
        assert done.state.total_bytes == GIB
        shell.output_file(done.state.spool_id).unlink()

    redirected, spooled = _in_turns(redirect, ours, rounds=5)
    fast = _report("1 GiB of output", spooled / redirected, GOAL_GIB, "times a redirection")
    return _report("memory grows meanwhile by", max(grown), GOAL_MEMORY_MB, "MB") and fast


def _sandbox(folder: Path) -> bool:
    """What confines a command, its preparing included, against bubblewrap with the bare flags."""
    met = True
    program = probe().bubblewrap
    if not program:
        print(f"shell: sandbox: unavailable: {probe().why_not}")
        return True
    modes: tuple[tuple[SandboxMode, tuple[str, ...]], ...] = (
        ("workspace-write", ()),
        ("required", ("--unshare-net",)),
    )
    for mode, more in modes:
        places = {name: folder / mode / name for name in ("project", "scratch", "aside")}
        for place in places.values():
            place.mkdir(parents=True)
        sandbox = Sandbox(
            project=places["project"],
            scratch=places["scratch"],
            aside=places["aside"],
            state=[places["aside"]],
            is_protected=is_protected,
        )
        project = places["project"]
        bare = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        bare += ["--ro-bind", "/proc/sys", "/proc/sys", "--bind", "/tmp", "/tmp"]
        bare += ["--bind", str(project), str(project), "--unshare-user", "--disable-userns"]
        bare += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", *more]
        bare += ["--die-with-parent", "--new-session", "--chdir", str(project)]

        def ours(
            mode: SandboxMode = mode, sandbox: Sandbox = sandbox, project: Path = project
        ) -> None:
            cage = sandbox.cage(mode, cwd=project)
            _true(cage.confinement.prefix)
            cage.settled()

        confined, theirs = _in_turns(ours, lambda bare=bare: _true(bare))
        met &= _report(f"sandbox {mode}", confined / theirs, GOAL_SANDBOX, "times bare bubblewrap")
    return met


def _true(prefix: Sequence[str]) -> None:
    subprocess.run([*prefix, "/bin/sh", "-c", "true"], check=True, stdin=subprocess.DEVNULL)


def _click(shell: Shell) -> bool:
    """A job is asked to end while four write as fast as they can."""
    heard = threading.Event()
    shell.listen(lambda news: heard.set() if isinstance(news, JobSaid) else None)
    jobs = [shell.start("yes") for _ in range(4)]
    heard.wait(60)
    worst = 0.0
    for job in jobs:
        began = time.perf_counter()
        shell.kill(job.job_id)
        worst = max(worst, time.perf_counter() - began)
    return _report("a job is ended, while four write, after", worst * 1000, GOAL_CLICK_MS, "ms")


def _in_turns(*actions: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The median seconds of each, taken in turns; the first round only warms up."""
    seconds: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds + 1):
        for action, taken in zip(actions, seconds, strict=True):
            began = time.perf_counter()
            action()
            taken.append(time.perf_counter() - began)
    return [statistics.median(taken[1:]) for taken in seconds]


def _report(what: str, figure: float, goal: float, unit: str) -> bool:
    print(f"shell: {what} {figure:.2f} {unit} (goal {goal})", flush=True)
    return figure <= goal
