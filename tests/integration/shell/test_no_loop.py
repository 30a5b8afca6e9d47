"""Commands need no event loop."""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import arc_workbench
from arc_workbench.shell import Result, Shell
from tests.requirements import requirement

LIMIT_SEC = 30


@requirement("BUG-N15")
def test_a_command_runs_in_a_thread_where_no_event_loop_exists(tmp_path: Path) -> None:
    shell = Shell(tmp_path, os.environ)
    results: list[Result] = []
    thread = threading.Thread(
        target=lambda: results.append(shell.run("echo one", timeout_sec=LIMIT_SEC))
    )
    thread.start()
    thread.join(LIMIT_SEC)

    assert [done.tail.raw.strip() for done in results] == ["one"]


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
