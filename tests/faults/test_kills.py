"""A process is killed at any step of any change, and of the recovery from it; nothing is lost."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arc_workbench.workspace import Workspace
from tests.conftest import ROOT
from tests.faults.model import tree_of
from tests.requirements import requirement

POINTS = 500
PAIR_POINTS = 200
TORTURE_POINTS = 10_000


def campaigns(
    folder: Path, points: int, *settings: tuple[str, ...], program: str = "kills"
) -> list[dict[str, object]]:
    """Run campaigns side by side, each with its seed and more; what they told."""
    running: list[subprocess.Popen[bytes]] = []
    for number, more in enumerate(settings):
        (folder / str(number)).mkdir()
        command = [sys.executable, "-m", f"tests.faults.{program}", str(folder / str(number))]
        seed, *rest = more
        running.append(
            subprocess.Popen([*command, seed, str(points), *rest], cwd=ROOT, stdout=subprocess.PIPE)
        )
    return [json.loads(process.communicate()[0]) for process in running]


@requirement(
    "REQ-F1",
    "REQ-F2",
    "REQ-F3",
    "REQ-F4",
    "REQ-F5",
    "REQ-F6",
    "REQ-F7",
    "REQ-F10",
    "REQ-F23",
    "REQ-F69",
    "REQ-F70",
    "REQ-S70",
    "BUG-E18",
)
def test_what_was_acknowledged_survives_a_kill_at_any_step(
    quick_folder: Path, scale: float
) -> None:
    points = max(20, int(POINTS * scale))

    told = campaigns(quick_folder, points, ("1",), ("2", "older"))

    assert [each["fault"] for each in told] == ["", ""]
    assert all(int(str(each["points"])) >= points for each in told)


@pytest.mark.torture
@requirement(
    "REQ-F1",
    "REQ-F2",
    "REQ-F3",
    "REQ-F4",
    "REQ-F5",
    "REQ-F6",
    "REQ-F7",
    "REQ-F10",
    "REQ-F23",
    "REQ-F69",
    "REQ-F70",
    "REQ-S70",
    "BUG-E18",
)
def test_what_was_acknowledged_survives_ten_thousand_kills(quick_folder: Path) -> None:
    told = campaigns(quick_folder, TORTURE_POINTS // 2, ("11",), ("12", "older"))

    assert [each["fault"] for each in told] == ["", ""]


@requirement("REQ-F70", "REQ-F30", "REQ-F32", "REQ-F6")
def test_two_processes_that_are_both_killed_lose_nothing_that_was_acknowledged(
    quick_folder: Path, scale: float
) -> None:
    points = max(20, int(PAIR_POINTS * scale))

    told = campaigns(quick_folder, points, ("1",), program="pairs")

    assert [each["fault"] for each in told] == [""]


@pytest.mark.torture
@requirement("REQ-F70", "REQ-F30", "REQ-F32", "REQ-F6")
def test_two_processes_that_are_both_killed_lose_nothing_in_ten_thousand(
    quick_folder: Path,
) -> None:
    told = campaigns(quick_folder, TORTURE_POINTS // 2, ("3",), ("4",), program="pairs")

    assert [each["fault"] for each in told] == ["", ""]


# ---- by the system itself -----------------------------------------------------------------------

CALLS = (
    *("pwrite64", "write", "fdatasync", "fsync", "ftruncate", "renameat2", "rename", "unlinkat"),
    *("unlink", "mkdir", "mkdirat", "rmdir", "flock", "fchmod"),
)
ONE_CHANGE = """
import os, pathlib, sys
from arc_workbench.workspace import Workspace
workspace = Workspace(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
plans = [workspace.plan_write(workspace.inside(name), sys.argv[3]) for name in sys.argv[4:]]
os.write(1, b"begun ")
workspace.apply_all(plans)
os.write(1, b"done")
"""


@pytest.mark.torture
@requirement("REQ-F1", "REQ-F2", "REQ-F3", "REQ-F4", "REQ-F5", "REQ-F70")
@pytest.mark.parametrize("names", [["a.txt"], ["new/b.txt"], ["a.txt", "c.txt", "new/d.txt"]])
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_by_the_system_at_any_of_its_calls_loses_nothing(
    quick_folder: Path, call: str, names: list[str]
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here; kills by the system cannot be injected")
    root, state = quick_folder / "project", quick_folder / "state"
    root.mkdir()
    for name in ("a.txt", "c.txt"):
        (root / name).write_text("old", encoding="utf-8")
    for at in range(1, 60):
        before = tree_of(root)
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
        done = subprocess.run(
            [
                *(*command, "-e", f"inject={call}:signal=KILL:when={at}"),
                *(sys.executable, "-c", ONE_CHANGE, str(root), str(state), f"new {at}", *names),
            ],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        workspace = Workspace(root, state)
        report = workspace.recovery()
        now = tree_of(root)
        workspace.close()
        assert report.verdict in {"clean", "repaired"}
        new = {name: now.get(name, (b"", 0))[0] for name in names}
        is_in = set(new.values()) == {f"new {at}".encode()}
        assert is_in or now == before, (at, new)
        assert is_in or "done" not in done.stdout
        if done.returncode == 0:
            break
    else:
        pytest.fail("it never came through")
