"""How the processes of a command are ended, and how they are not started."""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import arc_workbench
from arc_workbench.shell import Finished, Shell
from arc_workbench.shell.environment import MARK
from arc_workbench.shell.processes import Family
from tests.requirements import requirement

LIMIT_SEC = 30


class Leader(subprocess.Popen[bytes]):
    """A command that leaves an heir: it is born while the first kill is waited for."""

    mark = ""
    heir: subprocess.Popen[bytes] | None = None

    def wait(self, timeout: float | None = None) -> int:
        code = super().wait(timeout)
        if self.heir is None:
            self.heir = subprocess.Popen(
                ["sleep", "600"], start_new_session=True, env={**os.environ, MARK: self.mark}
            )
        return code


@pytest.mark.skipif(os.name == "nt", reason="sessions of POSIX")
@requirement("J-31", "REQ-F41")
def test_what_is_born_while_the_first_are_dying_is_killed_too() -> None:
    family = Family("heir-mark")
    leader = Leader(["sleep", "600"], start_new_session=True)
    leader.mark = "heir-mark"

    survivors = family.end(leader)

    heir = leader.heir
    assert heir is not None
    try:
        assert heir.wait(LIMIT_SEC) == -9
    finally:
        heir.kill()
    assert {survivor.pid for survivor in survivors} == {leader.pid, heir.pid}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks Linux")
@requirement("REQ-S83")
def test_a_daemon_with_an_emptied_environment_that_was_seen_once_is_ended(tmp_path: Path) -> None:
    start = "(env -i setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 & sleep 0.5)"

    done = Shell(tmp_path, os.environ).run(f"{start}; echo done", timeout_sec=LIMIT_SEC)

    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    assert done.output == "done\n"
    assert [survivor.pid for survivor in done.lingering] == [pid]


@requirement("BUG-N15")
def test_a_command_runs_in_a_thread_where_no_event_loop_exists(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)
    results: list[Finished] = []
    thread = threading.Thread(
        target=lambda: results.append(shell.run("echo one", timeout_sec=LIMIT_SEC))
    )
    thread.start()
    thread.join(LIMIT_SEC)

    assert [done.output.strip() for done in results] == ["one"]


@requirement("BUG-N15")
def test_running_a_command_does_not_even_import_asyncio(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from arc_workbench.shell import Shell; "
        "Shell(Path(sys.argv[1]), os.environ).run('echo one', timeout_sec=20); "
        "sys.exit('asyncio' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], timeout=LIMIT_SEC, check=False
    )

    assert done.returncode == 0


@requirement("BUG-N15")
def test_nothing_starts_a_process_through_an_event_loop() -> None:
    loops = {"create_subprocess_exec", "create_subprocess_shell"}
    loops |= {"subprocess_exec", "subprocess_shell"}
    sources = sorted(Path(arc_workbench.__file__).parent.rglob("*.py"))
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in loops)
        or (isinstance(node, ast.Name) and node.id in loops)
        or (isinstance(node, ast.ImportFrom) and loops & {name.name for name in node.names})
    ]

    assert len(sources) > 50
    assert found == []
