"""The `arc-workbench` command, as a shell runs it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.requirements import requirement

COMMAND = [sys.executable, "-m", "arc_workbench"]
CALC = "def mean(numbers):\n    return sum(numbers) / (len(numbers) - 1)\n"
TEST = "from calc import mean\n\n\ndef test_mean():\n    assert mean([1, 2, 3]) == 2\n"


def run(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "ARC_WORKBENCH_PACE": "0", **environment},
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "calc.py").write_text(CALC, encoding="utf-8")
    (folder / "test_calc.py").write_text(TEST, encoding="utf-8")
    return folder


def test_a_run_fixes_the_package_and_prints_the_last_words(package: Path) -> None:
    done = run(
        *("run", "--prompt", "Make the tests pass", "--project", str(package)),
        *("--policy", "allow", "--access", "full"),
    )

    assert done.returncode == 0
    assert done.stdout.startswith("Green: 1 passed")
    assert "Scripted model" in done.stderr
    assert (package / "calc.py").read_text(encoding="utf-8") == CALC.replace(
        "(len(numbers) - 1)", "len(numbers)"
    )


def test_events_come_one_a_line_with_their_type_first(package: Path) -> None:
    done = run(
        *("run", "--prompt", "-", "--project", str(package), "--policy", "allow"),
        *("--access", "full", "--events", "jsonl"),
        stdin="Make the tests pass",
    )

    lines = done.stdout.splitlines()
    assert all(line.startswith('{"type": ') for line in lines)
    types = [json.loads(line)["type"] for line in lines]
    assert types[-1] == "TurnFinished"
    assert {"PermissionRequested", "PermissionResolved", "FileChanged"} <= set(types)


@requirement("REQ-S12")
def test_with_nobody_there_what_would_ask_is_denied_and_the_exit_code_says_so(
    package: Path,
) -> None:
    done = run("run", "--prompt", "Make the tests pass", "--project", str(package))

    assert done.returncode == 3
    assert "Policy denied workspace_edit calc.py" in done.stderr
    assert (package / "calc.py").read_text(encoding="utf-8") == CALC


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["run", "--prompt", "x", "--modle", "y"], 2, "--modle is no option; nothing ran."),
        (["run", "--prompt", "x", "--model", "y"], 2, "y is no model; nothing ran."),
        (["run", "--prompt", "x", "--project", "/gone"], 2, "No folder /gone; nothing ran."),
        (["run", "--prompt", "x", "--model", "script:gone.yaml"], 1, "No file gone.yaml"),
        (["run", "--prompt", ""], 2, "no task; nothing ran."),
        (["run"], 2, "There is no task; nothing ran."),
        (["fly"], 2, "fly is no command; nothing ran."),
        (["tools", "fly"], 2, "There is no tool fly."),
        (["tool", "read"], 2, "--input JSON"),
        (["run", "--prompt", "x", "--session", "a/b"], 2, "is no session name"),
    ],
)
def test_a_slip_is_one_clear_line_and_no_traceback(words: list[str], code: int, line: str) -> None:
    done = run(*words)

    assert done.returncode == code
    assert line in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tools_are_listed_as_a_model_gets_them(spec: Path) -> None:
    done = run("tools", "--toolset", "arc", "--json")

    names = [tool["name"] for tool in json.loads(done.stdout)]
    assert names[0] == "workspace_list"
    assert set(json.loads(done.stdout)[0]) == {"name", "description", "input_schema"}


def test_one_tool_runs_through_the_whole_dispatch(package: Path) -> None:
    done = run(
        "tool", "workspace_read", "--input", '{"path": "calc.py"}', "--project", str(package)
    )

    shown = json.loads(done.stdout)
    assert done.returncode == 0
    assert shown["details"]["content"] == CALC
    assert json.loads(shown["content"][0]["text"]) == shown["details"]


def test_a_tool_that_would_ask_is_an_error_that_names_the_mode(package: Path) -> None:
    given = '{"path": "x.txt", "content": "x"}'
    asked = run("tool", "write", "--input", given, "--project", str(package))
    allowed = run(
        *("tool", "write", "--input", given, "--project", str(package), "--mode", "acceptEdits")
    )

    assert asked.returncode == 3
    assert "--mode acceptEdits" in json.loads(asked.stdout)["content"][0]["text"]
    assert allowed.returncode == 0
    assert (package / "x.txt").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize("given", ['{"path": ', "[]", '{"path": "a", "path": "b"}', ""])
def test_arguments_that_are_no_object_are_an_error_result(given: str) -> None:
    done = run("tool", "read", "--input", given)

    assert done.returncode == 1
    assert json.loads(done.stdout)["is_error"] is True


def test_a_batch_answers_each_line_in_order_in_one_session(package: Path) -> None:
    lines = [
        json.dumps({"name": "write", "input": {"path": "a.txt", "content": "one\n"}}),
        json.dumps({"name": "read", "input": {"path": "a.txt"}}),
        "no json",
        json.dumps({"input": {}}),
        json.dumps({"name": "fly", "input": {}}),
    ]

    done = run(
        *("tool", "--batch", "--project", str(package), "--mode", "yolo"), stdin="\n".join(lines)
    )

    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [result["is_error"] for result in results] == [False, False, True, True, True]
    assert "one" in results[1]["content"][0]["text"]


@requirement("REQ-S129")
def test_doctor_says_that_a_key_is_there_and_never_what_it_is() -> None:
    done = run("doctor", "--json", ANTHROPIC_API_KEY="sk-ant-api03-AAAAAAAAAAAAAAAAAAAA")

    findings = {found["name"]: found for found in json.loads(done.stdout)}
    assert findings["key"]["state"] == "off"
    assert "AAAA" not in done.stdout
    assert set(findings["kernel"]) == {"name", "state", "detail", "next"}


def test_settings_from_outside_count_before_what_the_command_has_as_default(package: Path) -> None:
    command = '{"command": "touch x"}'

    done = run(
        *("tool", "bash", "--input", command, "--project", str(package), "--mode", "yolo"),
        ARC_WORKBENCH_ACCESS="safe",
    )
    listed = run("tools", ARC_WORKBENCH_TOOLSET="arc")

    assert done.returncode == 1
    assert not (package / "x").exists()
    assert "workspace_list" in listed.stdout
    assert "\nbash  " not in listed.stdout


def test_a_policy_of_deny_is_not_loosened_by_a_mode(package: Path) -> None:
    words = ("run", "--prompt", "Make the tests pass", "--project", str(package), "--mode", "yolo")

    denied = run(*words, "--policy", "deny")

    assert denied.returncode == 3
    assert (package / "calc.py").read_text(encoding="utf-8") == CALC
    assert run(*words, "--policy", "rules").returncode == 0


def test_each_run_is_a_session_of_its_own_unless_it_is_named(package: Path) -> None:
    def turn(*words: str) -> int:
        done = run("run", "--prompt", "hi", "--events", "jsonl", "--project", str(package), *words)
        return int(json.loads(done.stdout.splitlines()[-1])["turn"])

    assert [turn(), turn()] == [1, 1]
    assert [turn("--session", "a"), turn("--session", "a")] == [1, 2]


@requirement("REQ-F67")
@pytest.mark.parametrize(
    ("words", "environment", "line"),
    [
        (["run", "--prompt", "x"], {"ARC_WORKBENCH_HOME": "/dev/null/x"}, "cannot hold sessions"),
        (["run", "--prompt", "x"], {"ARC_WORKBENCH_HOME": "/dev/null"}, "cannot hold sessions"),
        (
            ["run", "--prompt", "x"],
            {"ARC_WORKBENCH_SESSION_DIR": "/proc/x"},
            "cannot hold sessions",
        ),
        (["run", "--prompt", "x", "--project", "~nobody-of-that-name"], {}, "No folder ~nobody"),
        (["run", "--prompt", "x"], {"ARC_WORKBENCH_MAX_STEPS": "0"}, "max_steps cannot be"),
        (["run", "--prompt", "x"], {"ARC_WORKBENCH_PACE": "nan"}, "pace cannot be"),
        (["run", "--prompt", "x"], {"ARC_WORKBENCH_PACE": "-1"}, "pace cannot be"),
        (["tools", "read", "ls"], {}, "ls is too much"),
    ],
)
def test_surroundings_that_cannot_be_used_are_one_clear_line(
    words: list[str], environment: dict[str, str], line: str
) -> None:
    done = run(*words, **environment)

    assert done.returncode in {1, 2}
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [["run", "--prompt", "-"], ["tool", "--batch"]])
def test_standard_input_that_is_closed_is_one_clear_line(words: list[str]) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 2
    assert done.stderr == "Standard input is closed; nothing ran.\n"


def test_a_working_folder_that_is_gone_is_one_clear_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$0" && rmdir "$0" && exec "$@"'

    done = subprocess.run(
        ["sh", "-c", script, str(gone), *COMMAND, "run", "--prompt", "x"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert done.returncode == 2
    assert done.stderr == "No folder .; nothing ran. Check --project, or --project none.\n"


@requirement("REQ-F68")
def test_results_are_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("caf\u00e9 \u20ac", encoding="utf-8")

    done = subprocess.run(
        [*COMMAND, "tool", "read", "--input", '{"path": "a.txt"}', "--project", str(tmp_path)],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )

    assert "caf\u00e9 \u20ac" in json.loads(done.stdout.decode("utf-8"))["content"][0]["text"]


@pytest.mark.parametrize("target", ["/dev/full", "a closed pipe"])
def test_output_that_nobody_can_read_stops_the_run_with_one_line(
    package: Path, target: str
) -> None:
    reader = "> /dev/full" if target == "/dev/full" else "| true"
    words = [*COMMAND, "run", "--prompt", "Make the tests pass", "--events", "jsonl"]

    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$@" {reader}', "sh", *words, "--project", str(package)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "ARC_WORKBENCH_PACE": "5"},
    )

    assert done.returncode == 1
    assert done.stderr.startswith("Standard output cannot be written")
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupt_between_two_calls_of_a_batch_ends_it(package: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "tool", "--batch", "--project", str(package)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write('{"name": "ls", "input": {}}\n')
    process.stdin.flush()
    assert process.stdout.readline().startswith('{"is_error": false')

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)

    assert process.returncode == 3
    assert said == "Interrupted; nothing runs on.\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_ends_the_run_with_every_call_answered_and_nothing_left(
    tmp_path: Path, name: str
) -> None:
    script = tmp_path / "slow.yaml"
    script.write_text(
        "script: 1\ntitle: a slow command\nsteps:\n  - say: I wait.\n    call: bash\n"
        "    with: {command: 'touch began; sleep 300.125'}\n    as: slow\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [
            *COMMAND,
            *("run", "--prompt", "wait", "--model", f"script:{script}", "--toolset", "arcturn"),
            *(
                "--project",
                str(tmp_path),
                "--mode",
                "yolo",
                "--access",
                "full",
                "--events",
                "jsonl",
            ),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ARC_WORKBENCH_PACE": "0"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "ToolCallStarted":
            break
    _until(tmp_path / "began")

    for _ in range(3):  # somebody who is in a hurry
        process.send_signal(getattr(signal, name))
    rest, _ = process.communicate(timeout=30)

    types = [json.loads(line)["type"] for line in rest.splitlines()]
    assert process.returncode == 3
    assert types[-2:] == ["ToolCallFinished", "TurnFinished"]
    left = subprocess.run(["pgrep", "-f", "sleep 300.125"], capture_output=True, check=False)
    assert left.stdout == b""


def _until(file: Path) -> None:
    """Wait, bounded, until a command made its file."""
    waiting = shutil.which("timeout")
    assert waiting
    subprocess.run(
        [waiting, "20", "sh", "-c", 'until [ -e "$0" ]; do sleep 0.05; done', str(file)], check=True
    )


# ---- dry run and purge --------------------------------------------------------------------------


@requirement("REQ-S144")
def test_a_dry_run_says_what_would_change_and_writes_nothing(package: Path) -> None:
    done = run(
        *("run", "--prompt", "Make the tests pass", "--project", str(package)),
        *("--policy", "allow", "--dry-run"),
    )

    assert done.returncode == 0
    assert "+    return sum(numbers) / len(numbers)" in done.stderr
    assert done.stderr.endswith("Dry run: 1 file differs; nothing was written.\n")
    assert (package / "calc.py").read_text(encoding="utf-8") == CALC


def edited(package: Path) -> None:
    """Let the journal of the folder have one change."""
    given = {"path": "calc.py", "oldText": "mean", "newText": "average"}
    done = run(
        *("tool", "edit", "--input", json.dumps(given), "--mode", "acceptEdits"),
        *("--project", str(package)),
    )
    assert done.returncode == 0, done.stdout


@requirement("REQ-S138")
def test_a_purge_says_what_goes_and_forgets_it_when_it_is_told_to(package: Path) -> None:
    edited(package)

    young = run("purge", str(package), "--older-than", "30d")
    unsure = run("purge", str(package), "--older-than", "0d")
    sure = run("purge", str(package), "--older-than", "0d", "--yes")
    again = run("purge", str(package), "--older-than", "0d", "--yes")

    assert (young.returncode, unsure.returncode, sure.returncode) == (0, 2, 0)
    assert "is that old; 1 change can still be undone." in young.stdout
    assert "1 change with " in unsure.stdout
    assert unsure.stderr == "Nobody can answer here; nothing went. Say that you are sure: --yes\n"
    assert "1 change forgotten, " in sure.stdout
    assert "0 changes can still be undone." in again.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("purge",), "--older-than 30d"),
        (("purge", "--older-than", "soon"), "soon is no age; nothing went."),
        (("purge", "gone", "--older-than", "1d"), "No folder gone; nothing went."),
        (("purge", ".", "b", "--older-than", "1d"), "b is too much"),
    ],
)
def test_a_slip_in_a_purge_is_one_line(words: tuple[str, ...], line: str) -> None:
    done = run(*words)

    assert done.returncode == 2
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_doctor_tells_who_searches_what_has_outlines_and_how_the_journal_stands() -> None:
    rows = {row["name"]: row for row in json.loads(run("doctor", "--json").stdout)}

    assert "searches" in rows["ripgrep"]["detail"]
    assert "python" in rows["outlines"]["detail"]
    assert rows["journal"]["detail"].endswith("; clean here")
    absent = json.loads(run("doctor", "--json", ARC_RIPGREP="off").stdout)
    ripgrep = next(row for row in absent if row["name"] == "ripgrep")
    assert ripgrep["state"] == "missing"
    assert "the engine of this package searches" in ripgrep["detail"]
