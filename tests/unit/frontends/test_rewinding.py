"""What a command changed and the way back, typed in a shell without a kernel."""

import json
from pathlib import Path

import pytest

from arc_workbench.content import ChangedFile, ChangeRow, CommandChanges
from arc_workbench.frontends import history, options, rows
from arc_workbench.frontends.notebook.elements import text_of, to_html
from arc_workbench.frontends.notebook.history import command_changes
from tests.unit.frontends.test_extension import Shell
from tests.unit.frontends.test_extension import shell as shell

PATIENT = pytest.mark.timeout(60)
BEFORE = {"a.txt": "one\n", "b.txt": "gone\n"}
AFTER = {"a.txt": "one\ntwo\n", "made.txt": "new\n"}
SCRIPT = """script: 1
title: a command that changes files
tools:
  run: [shell_exec]
steps:
  - call: run
    with: {{command: {command}{more}}}
    as: done
  - say: Done.
"""


def run(shell: Shell, command: str, more: str = "") -> str:
    """Let the agent run one command; nobody is asked."""
    Path("do.yaml").write_text(
        SCRIPT.format(command=json.dumps(command), more=more), encoding="utf-8"
    )
    mode = "--mode yolo --access full"
    return shell.run(f"%%agent --model script:do.yaml {mode}\nDo it.")


def files() -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in Path().glob("*.txt")}


@pytest.fixture
def changed(shell: Shell) -> Shell:
    """A shell whose agent has run a command that changed three files."""
    for name, text in BEFORE.items():
        Path(name).write_text(text, encoding="utf-8")
    run(shell, "echo new > made.txt; echo two >> a.txt; rm b.txt")
    assert files() == AFTER
    return shell


def said(shell: Shell, line: str) -> str:
    return shell.ip.run_line_magic("agent", line).text


@PATIENT
def test_what_a_command_changed_is_taken_back_by_the_id_of_its_output(changed: Shell) -> None:
    assert said(changed, "undo s1") == "s1 undone as c1 to c3"
    assert files() == BEFORE
    assert said(changed, "undo c2") == "c2 undone as c4"


@PATIENT
def test_one_file_is_one_change(shell: Shell) -> None:
    run(shell, "echo new > made.txt")

    undone = shell.ip.run_line_magic("agent", "undo s1")

    assert undone.text == "s1 undone as c1"
    assert [row["path"] for row in undone.rows] == ["made.txt"]
    assert "%agent undo c1" in undone._repr_html_()


@PATIENT
def test_what_a_command_changed_is_shown_with_the_way_back(changed: Shell) -> None:
    look = changed.ip.run_line_magic("agent", "changes s1")

    assert look.text.split("\n") == [
        "changed  a.txt",
        "removed  b.txt",
        "created  made.txt",
        "Take it back: %agent undo s1",
    ]
    assert [row["kind"] for row in look.rows] == ["changed", "removed", "created"]
    assert "Changed by s1" in look._repr_html_()
    assert "%agent undo s1" in look._repr_html_()


@PATIENT
def test_the_card_of_a_job_that_changed_files_says_how_they_are_taken_back(shell: Shell) -> None:
    Path("a.txt").write_text("one\n", encoding="utf-8")
    run(shell, "sleep 0.3; echo two >> a.txt", more=", block_budget_sec: 0.1")
    shell.run(
        "import time\nwhile 'running' in repr(get_ipython().run_line_magic('agent', 'jobs')):"
        " time.sleep(0.05)"
    )

    look = shell.ip.run_line_magic("agent", "jobs tail j1")

    assert "Take back what it changed: " in look._repr_html_()
    assert "%agent undo s1" in look._repr_html_()
    assert shell.completes("%agent undo ") == ["s1"]
    assert said(shell, "undo s1") == "s1 undone as c1"
    assert files() == {"a.txt": "one\n"}


@PATIENT
def test_the_list_of_changes_does_not_hide_that_commands_changed_files(changed: Shell) -> None:
    assert said(changed, "changes").split("\n") == [
        "No changes.",
        "Commands changed files, too: s1. One of them: %agent changes s1",
    ]


@PATIENT
def test_a_file_that_was_altered_since_is_not_lost(changed: Shell) -> None:
    Path("a.txt").write_text("mine\n", encoding="utf-8")

    assert "a.txt is no longer what the command left" in changed.run("%agent undo s1")

    assert files() == {**AFTER, "a.txt": "mine\n"}


@PATIENT
def test_tab_offers_the_commands_that_changed_something(changed: Shell) -> None:
    run(changed, "true")
    assert changed.completes("%agent undo ") == ["s1"]
    assert changed.completes("%agent changes ") == ["s1"]

    changed.run("%agent undo s1")
    assert changed.completes("%agent undo s") == []
    assert changed.completes("%agent changes s") == ["s1"]

    for change in ("c3", "c2", "c1"):
        changed.run(f"%agent undo {change}")
    assert changed.completes("%agent undo s") == ["s1"]


@PATIENT
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%agent undo s9", "What the command s9 changed is not kept"),
        ("%agent changes s9", "What the command s9 changed is not kept. Known: s1."),
        ("%agent undo s1 --project other", "only the session that ran it knows what changed"),
        ("%agent changes s1 --project other", "only the session that ran it knows what changed"),
    ],
)
def test_what_is_not_kept_is_one_line_and_changes_nothing(
    changed: Shell, line: str, words: str
) -> None:
    Path("other").mkdir()

    assert words in changed.run(line)
    assert files() == AFTER


def test_without_a_session_no_command_is_known(shell: Shell) -> None:
    assert "only the session that ran it knows what changed" in shell.run("%agent undo s1")


# ---- words --------------------------------------------------------------------------------------


def change(id_: str) -> ChangeRow:
    return ChangeRow(
        id=id_, op="restore", path="a.txt", added=1, removed=0, status="committed", undoes=""
    )


def test_an_undo_of_a_command_is_named_by_its_first_and_last_change() -> None:
    found = [change(f"c{number}") for number in (4, 5, 6)]

    assert history.command_undone("s3", found) == "s3 undone as c4 to c6"
    assert history.command_undone("s3", found[:1]) == "s3 undone as c4"
    assert history.command_undone("s3", []) == "s3 undone"
    assert history.again([]) == ""
    assert history.by_commands([f"s{n}" for n in range(10)]).startswith(
        "Commands changed files, too: s0, s1, s2, s3, s4, s5, s6, s7 and 2 more. "
    )


def test_the_drawing_of_what_a_command_changed_holds_all_of_it_and_no_markup() -> None:
    block = CommandChanges(
        spool="s3",
        rows=(ChangedFile(path="<b>\u202e.txt", kind="created", size=12),),
        more=4,
        not_covered=2,
        not_covered_names=("<i>", "big.bin"),
        note="Another command ran.",
    )

    html, text = to_html(command_changes(block)), text_of(command_changes(block))

    assert "<b>" not in html
    assert "<i>" not in html
    assert "\u202e" not in html
    for words in ("Changed by s3", "4 more files", "2 names", "Another command", "undo s3"):
        assert words in text
    assert [*rows.of(block)][-1] == "Take it back: %agent undo s3"


def test_what_is_not_known_of_a_command_offers_no_way_back() -> None:
    block = CommandChanges(spool="s3", note="A snapshot took too long.")

    assert "undo" not in text_of(command_changes(block))
    assert [*rows.of(block)] == ["A snapshot took too long."]


def test_help_names_both_kinds_of_ids() -> None:
    assert "s3" in options.help_for("undo")
    assert "s3" in options.help_for("changes")
