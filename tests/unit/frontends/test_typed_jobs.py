"""What is typed about background jobs and about the sandbox, in a shell without a kernel."""

import json
import os
from pathlib import Path

import pytest

from arc_workbench.frontends import doctor
from arc_workbench.shell.sandbox_probe import Backends
from tests.notebook.job_scripts import JOBS, work
from tests.unit.frontends.test_extension import Shell
from tests.unit.frontends.test_extension import shell as shell

PATIENT = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def scripts(tmp_path: Path) -> None:
    for name, text in JOBS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@PATIENT
def test_jobs_are_listed_shown_and_ended(shell: Shell) -> None:
    assert "job j1" in shell.run(work("wait"))

    assert shell.run("%agent jobs").endswith("j1  running  echo begun; sleep 30.0417\n")
    assert shell.run("%agent jobs tail j1").endswith(
        "j1  running  echo begun; sleep 30.0417\nbegun\n"
    )
    killed = shell.run("%agent jobs kill j1")
    assert "j1  stopped  echo begun; sleep 30.0417\n" in killed
    assert [row["state"] for row in shell.ip.run_line_magic("agent", "jobs").rows] == ["stopped"]


@PATIENT
def test_a_new_session_ends_the_jobs_of_the_one_before_and_lists_them_as_earlier(
    shell: Shell,
) -> None:
    shell.run(work("wait"))

    shell.run("%%agent --new\nWrite a poem")

    listed = "j1  stopped  echo begun; sleep 30.0417  of an earlier kernel"
    assert listed in shell.run("%agent jobs")


@PATIENT
def test_tab_offers_verbs_and_the_jobs_that_they_are_for(shell: Shell) -> None:
    shell.run(work("two"))
    shell.run("%agent jobs kill j1")

    assert sorted(shell.completes("%agent jobs ")) == ["kill", "tail"]
    assert sorted(shell.completes("%agent jobs tail ")) == ["j1", "j2"]
    assert shell.completes("%agent jobs kill ") == ["j2"]
    assert shell.completes("%agent jobs kill j2 ") == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("%agent jobs", "No jobs."),
        ("%agent jobs stop j1", "stop is no jobs; nothing ran. Known: tail, kill."),
        ("%agent jobs kill", "Which job? Type: %agent jobs kill j1. Known: none."),
        ("%agent jobs tail j1 j2", "j2 is too much; nothing ran."),
        ("%agent jobs tail j1", "There is no job j1. Known: none."),
    ],
)
def test_a_slip_is_one_line_and_does_nothing(shell: Shell, typed: str, said: str) -> None:
    assert said in shell.run(typed)


# ---- the sandbox --------------------------------------------------------------------------------


def test_tab_offers_what_may_confine_commands(shell: Shell) -> None:
    assert shell.completes("%%agent --sand") == ["--sandbox"]
    offered = sorted(shell.completes("%%agent --sandbox "))
    assert offered == ["off", "required", "workspace-write"]


def settings_of(shell: Shell) -> list[tuple[str, str]]:
    """How the sandbox of the session was changed, in order."""
    events = shell.ip.arc_workbench.desk.current.folder / "transcript.jsonl"
    found = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    return [(e["old"], e["new"]) for e in found if e.get("key") == "sandbox"]


def test_the_sandbox_of_a_cell_lasts_one_turn_of_the_same_session(shell: Shell) -> None:
    shell.run("%%agent -o one\nWrite a poem")
    shell.run("%%agent --sandbox workspace-write -o two\nWrite a poem")
    assert "sandbox" not in shell.run("%agent status")
    shell.run("%%agent -o three\nWrite a poem")

    numbers = [shell.ip.user_ns[name].number for name in ("one", "two", "three")]

    assert numbers == [1, 2, 3]
    assert settings_of(shell) == [("off", "workspace-write"), ("workspace-write", "off")]


def test_the_sandbox_of_the_cell_that_begins_a_session_lasts_one_turn_too(shell: Shell) -> None:
    shell.run("%%agent --sandbox workspace-write\nWrite a poem")

    assert "sandbox" not in shell.run("%agent status")
    assert settings_of(shell) == [("off", "workspace-write"), ("workspace-write", "off")]


@PATIENT
def test_a_turn_with_another_sandbox_lets_running_jobs_go_on(shell: Shell) -> None:
    shell.run(work("wait"))

    shell.run("%%agent --sandbox workspace-write\nWrite a poem")

    assert "j1  running" in shell.run("%agent jobs")
    shell.run("%agent jobs kill j1")


def test_the_sandbox_of_the_config_holds_for_the_session_that_runs(shell: Shell) -> None:
    shell.run("%%agent -o one\nWrite a poem")
    shell.run("%config ArcWorkbench.sandbox = 'workspace-write'")
    assert "\u00b7 sandbox workspace-write" in shell.run("%agent status")
    shell.run("%%agent --sandbox off -o two\nWrite a poem")

    assert "\u00b7 sandbox workspace-write" in shell.run("%agent status")
    assert shell.ip.user_ns["two"].number == 2


def test_the_sandbox_may_be_set_for_the_kernel(shell: Shell) -> None:
    shell.run("%config ArcWorkbench.sandbox = 'required'")
    assert "\u00b7 sandbox required" in shell.run("%agent status")

    shell.run("%config ArcWorkbench.sandbox = 'no'")

    assert "\u00b7 sandbox required" in shell.run("%agent status")


def test_a_word_that_is_no_sandbox_runs_nothing(shell: Shell) -> None:
    said = shell.run("%%agent --sandbox require\nWrite a poem")

    assert said == (
        "require is no sandbox; nothing ran. Nearest: required. "
        "Known: off, workspace-write, required."
    )


# ---- status and doctor --------------------------------------------------------------------------


def test_status_says_what_commands_get_by_name_and_never_a_value(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "the-value-of-it")
    shell.run("%%agent\nWrite a poem")
    monkeypatch.setenv("OTHER_API_KEY", "set too late")

    said = shell.run("%agent status")

    assert "variables; left out as secret: MY_API_KEY." in said
    assert "the-value-of-it" not in said


def test_doctor_says_what_holds_processes_together_and_what_can_confine_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = {row.name: row for row in doctor.examine(os.environ, kernel=False)}
    assert rows["processes"].state == "ok"
    assert rows["sandbox"].state in {"ok", "off", "missing"}

    monkeypatch.setattr(doctor, "probe", lambda: Backends(why_not="bubblewrap is not installed"))
    rows = {row.name: row for row in doctor.examine(os.environ, kernel=False)}
    assert rows["sandbox"].state == "missing"
    assert rows["sandbox"].next
