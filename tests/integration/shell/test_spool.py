"""The whole output, by bytes: what was printed, in order, also when there is far too much."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.shell import Result, Shell
from arc_workbench.supervisor.spooling import KEPT_BEHIND
from tests.requirements import requirement

LIMIT_SEC = 60


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")
    yield shell
    shell.close()


def whole(shell: Shell, spool_id: str, step: int) -> bytes:
    found, offset = b"", 0
    while True:
        piece = shell.read(spool_id, offset, step)
        assert piece.offset == offset
        found += piece.data
        offset += len(piece.data)
        if piece.eof:
            return found
        assert piece.data


@requirement("REQ-F39", "REQ-F46")
@pytest.mark.parametrize("step", [1, 7, 4096, 65_536])
def test_the_ranges_together_are_the_whole_output(shell: Shell, tmp_path: Path, step: int) -> None:
    chance = random.Random(step)
    data = bytes(chance.randrange(256) for _ in range(40 if step == 1 else 20_000))
    (tmp_path / "data").write_bytes(data)

    done = shell.run("cat data", timeout_sec=LIMIT_SEC)

    assert whole(shell, done.state.spool_id, step) == data


@requirement("REQ-F39")
def test_a_range_at_the_end_of_a_running_command_is_empty_and_not_the_end(shell: Shell) -> None:
    job = shell.start("echo one; until [ -e go ]; do sleep 0.01; done; echo two")
    while len(shell.read(job.spool_id, 0, 100).data) < 4:
        time.sleep(0.01)

    waiting = shell.read(job.spool_id, 4, 100)
    (shell.root / "go").touch()
    while shell.job(job.job_id).running:
        time.sleep(0.01)
    rest = shell.read(job.spool_id, 4, 100)

    assert (waiting.data, waiting.eof) == (b"", False)
    assert (rest.data, rest.eof) == (b"two\n", True)


@requirement("REQ-F39")
@pytest.mark.parametrize("offset", [-1, 5, 10**12])
def test_an_offset_that_is_not_there_is_an_error(shell: Shell, offset: int) -> None:
    done = shell.run("echo abc", timeout_sec=LIMIT_SEC)

    with pytest.raises(ToolError, match="4 bytes"):
        shell.read(done.state.spool_id, offset, 10)


def test_an_output_that_is_unknown_is_an_error(shell: Shell) -> None:
    with pytest.raises(ToolError, match="no output s9"):
        shell.read("s9", 0, 10)


@requirement("REQ-F37", "BUG-B10")
def test_too_much_output_keeps_its_beginning_its_end_and_the_exit_code(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ, max_output_bytes=100_000)

    done = shell.run("seq 1 200000; exit 3", timeout_sec=LIMIT_SEC)

    kept = whole(shell, done.state.spool_id, 65_536).decode()
    assert (done.state.status, done.state.exit_code) == ("failed", 3)
    assert (done.state.total_bytes, done.state.lost_from) == (1_288_895, 100_000)
    assert kept.startswith("1\n2\n3\n")
    assert kept.endswith("199999\n200000\n")
    missing = 1_288_895 - 100_000 - KEPT_BEHIND
    assert f"\n[… {missing} bytes of output were not kept: more than 100000 …]\n" in kept
    assert done.tail.raw.endswith("200000\n")
    shell.close()


@requirement("REQ-F37")
def test_an_output_without_end_costs_a_bounded_file(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ, max_output_bytes=1_000_000)

    done = shell.run("yes", timeout_sec=1)

    assert done.state.status == "timed_out"
    assert done.state.total_bytes > 1_000_000
    assert len(whole(shell, done.state.spool_id, 1 << 20)) < 1_200_000
    shell.close()


@requirement("REQ-F38")
def test_a_full_disk_is_said_and_does_not_stop_the_command(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("a small disk can only be made by root")
    shell = Shell(tmp_path, os.environ, spools=disk / "spools")
    try:
        done = shell.run("seq 1 400000; touch end; exit 4", timeout_sec=LIMIT_SEC)
    finally:
        shell.close()
        subprocess.run(["umount", "-l", str(disk)], check=True)

    assert (done.state.status, done.state.exit_code) == ("failed", 4)
    assert (tmp_path / "end").exists()
    assert done.state.lost_from is not None
    assert 0 < done.state.lost_from <= 1 << 20
    assert done.state.lost_why == "No space left on device"
    assert done.state.total_bytes == 2_688_895


@requirement("REQ-F37")
def test_the_oldest_outputs_are_forgotten_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arc_workbench.shell.table._KEPT_SPOOLS", 3)
    shell = Shell(tmp_path, os.environ, spools=tmp_path / "spools")

    ran: list[Result] = [shell.run("echo a", timeout_sec=LIMIT_SEC) for _ in range(6)]

    assert shell.read(ran[-1].state.spool_id, 0, 9).data == b"a\n"
    with pytest.raises(ToolError, match="the oldest outputs are forgotten"):
        shell.read(ran[0].state.spool_id, 0, 9)
    assert not (tmp_path / "spools" / "s1").exists()
    shell.close()


def test_outputs_are_for_their_owner_only(shell: Shell, tmp_path: Path) -> None:
    shell.run("echo a", timeout_sec=LIMIT_SEC)

    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "spools").rglob("*")}

    assert modes == {0}


def test_an_output_that_somebody_replaced_by_a_link_is_not_read(
    shell: Shell, tmp_path: Path
) -> None:
    done = shell.run("echo a", timeout_sec=LIMIT_SEC)
    file = shell.output_file(done.state.spool_id)
    shutil.copy(file, tmp_path / "copy")
    file.unlink()
    file.symlink_to(tmp_path / "copy")

    with pytest.raises(ToolError, match="cannot be read"):
        shell.read(done.state.spool_id, 0, 2)
