"""Terminal IPython through a pseudo-terminal: questions are typed, Ctrl-C stops the turn."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.requirements import requirement

PROMPT = r"In \[\d+\]: "
QUESTION = "for this session: "
SLOW = """script: 1
title: a slow command
steps:
  - say: I wait.
    call: bash
    with: {command: "touch began; setsid sleep 300.0625"}
    as: slow
"""
SOURCE = "def mean(numbers):\n    return sum(numbers) / (len(numbers) - 1)\n"


class Terminal:
    """IPython in a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        settings = ["TERM=dumb", "NO_COLOR=1", "ARC_WORKBENCH_PACE=0", f"IPYTHONDIR={folder}/.ip"]
        ipython = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner"]
        self.child: pexpect.spawn[str] = pexpect.spawn(
            "/usr/bin/env",
            [*settings, *ipython, "--colors=NoColor"],
            cwd=str(folder),
            encoding="utf-8",
            timeout=30,
            dimensions=(60, 200),
        )
        self.child.expect(PROMPT)
        self.run("%load_ext arc_workbench")

    def send(self, cell: str) -> None:
        """Type a cell; one of several lines ends with empty ones."""
        for line in cell.split("\n"):
            self.child.sendline(line)
        if "\n" in cell:
            self.child.sendline("")
            self.child.sendline("")

    def run(self, cell: str) -> str:
        """Type a cell and wait for the next prompt; returns what was printed."""
        self.send(cell)
        return self.until_prompt()

    def interrupted(self) -> str:
        """Press Ctrl-C until the next prompt, since readline misses one that comes too early."""
        said = ""
        for _ in range(30):
            self.child.sendintr()
            found = self.child.expect([PROMPT, pexpect.TIMEOUT], timeout=1)
            said += str(self.child.before)
            if found == 0:
                return said
        raise AssertionError(f"no prompt after thirty times Ctrl-C: {said}")

    def until_prompt(self) -> str:
        """Everything up to the next prompt."""
        self.child.expect(PROMPT)
        return str(self.child.before)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "calc.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.child.close(force=True)


def test_the_whole_command_is_shown_and_a_typed_yes_runs_it(terminal: Terminal) -> None:
    terminal.send("%%agent\nMake the tests pass")

    terminal.child.expect("Run this command")
    terminal.child.expect(QUESTION)
    assert "python3 -m pytest" in str(terminal.child.before)
    terminal.child.sendline("n")
    terminal.child.expect("Change this file")
    terminal.child.expect(QUESTION)
    terminal.child.sendline("y")

    assert "+    return sum(numbers) / len(numbers)" in terminal.until_prompt()


def test_a_typed_no_takes_words_that_reach_the_model(terminal: Terminal) -> None:
    terminal.send("%%agent\nMake the tests pass")
    terminal.child.expect(QUESTION)

    terminal.child.sendline("n not on this machine")

    terminal.child.expect("They said: not on this machine")


@requirement("BUG-N7", "BUG-N6")
def test_ctrl_c_in_a_command_is_one_line_and_nothing_is_left(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.send("%%agent --model script:slow.yaml --toolset arcturn --mode yolo\nwait")
    _until(tmp_path / "began")

    terminal.child.sendintr()

    said = terminal.until_prompt()
    assert "Interrupted after step 1; every call is answered, nothing runs on." in said
    assert "Traceback" not in said
    left = subprocess.run(["pgrep", "-f", "sleep 300.0625"], capture_output=True, check=False)
    assert left.stdout == b""


def test_ctrl_c_at_a_question_is_one_line_and_the_next_cell_runs(terminal: Terminal) -> None:
    terminal.send("%%agent\nMake the tests pass")
    terminal.child.expect(QUESTION)

    said = terminal.interrupted()
    assert "Interrupted after step 2; every call is answered, nothing runs on." in said
    assert "Traceback" not in said
    assert "I am a script" in terminal.run("%%agent\nWrite a poem")


@requirement("BUG-N6", "BUG-N7")
def test_ctrl_c_under_time_waits_for_the_answers_and_leaves_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    cell = "%%time\n%%agent --model script:slow.yaml --toolset arcturn --mode yolo\nwait"
    terminal.send(cell)
    _until(tmp_path / "began")

    terminal.child.sendintr()

    said = terminal.until_prompt()
    assert "Interrupted after step 1; every call is answered, nothing runs on." in said
    left = subprocess.run(["pgrep", "-f", "sleep 300.0625"], capture_output=True, check=False)
    assert left.stdout == b""


def test_under_time_the_question_is_typed_too(terminal: Terminal) -> None:
    terminal.send("%%time\n%%agent\nMake the tests pass")
    terminal.child.expect(QUESTION)
    terminal.child.sendline("n")
    terminal.child.expect(QUESTION)
    terminal.child.sendline("n")

    assert "Wall time" in terminal.until_prompt()


def _until(file: Path) -> None:
    """Wait, bounded, until a command made its file."""
    waiting = 'until [ -e "$0" ]; do sleep 0.05; done'
    subprocess.run(["timeout", "20", "sh", "-c", waiting, str(file)], check=True)


DRY = """script: 1
title: a change
steps:
  - say: I write.
    call: write
    with: {path: new.txt, content: "new\\n"}
    as: new
"""


@requirement("REQ-S144")
def test_a_dry_run_is_said_at_the_top_in_the_question_and_at_the_end(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "dry.yaml").write_text(DRY, encoding="utf-8")

    terminal.send("%%agent --model script:dry.yaml --toolset arcturn --dry-run\nWrite")

    terminal.child.expect(r"t1  script:dry\.yaml [^\n]* dry run\r?\n")
    terminal.child.expect(r"Create this file in the dry run\?")
    terminal.child.expect("Dry run: Nothing changes yet: it waits in the dry run")
    terminal.child.expect(QUESTION)
    terminal.child.sendline("y")
    assert "1 file would change" in terminal.until_prompt()
    assert not (tmp_path / "new.txt").exists()
