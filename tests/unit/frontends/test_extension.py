"""Loading, unloading, and everything that is typed, in a real IPython shell without a kernel."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from arc_workbench.views import TurnView
from arc_workbench.workbench import journal_of
from tests.requirements import requirement


class Shell:
    """An IPython shell, what it printed, and what its cells raised."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.ip: Any = InteractiveShell()
        self._capsys = capsys

    def run(self, cell: str) -> str:
        """Run a cell; returns what it printed and displayed, or the line it failed with."""
        self._capsys.readouterr()
        result = self.ip.run_cell(cell, store_history=True)
        said = self._capsys.readouterr().out
        failed = result.error_in_exec or result.error_before_exec
        return str(failed) if failed else said

    def completes(self, text: str) -> list[str]:
        """What Tab offers at the end of `text`."""
        self.ip.Completer.use_jedi = False
        with provisionalcompleter():
            return [found.text for found in self.ip.Completer.completions(text, len(text))]


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARC_WORKBENCH_PACE", "0")
    shell = Shell(capsys)
    shell.run("%load_ext arc_workbench")
    yield shell
    shell.run("%unload_ext arc_workbench")
    shell.ip.history_manager.end_session()


@requirement("CARD-014", "CARD-020", "REQ-S18")
def test_loading_prints_nothing_writes_nothing_and_twice_is_once(shell: Shell, home: Path) -> None:
    before = list(shell.ip.input_transformer_manager.cleanup_transforms)

    import arc_workbench

    arc_workbench.load_ipython_extension(shell.ip)

    assert shell.ip.input_transformer_manager.cleanup_transforms == before
    assert list(home.iterdir()) == []


def test_unloading_leaves_nothing_behind_and_twice_is_once(shell: Shell) -> None:
    import arc_workbench

    arc_workbench.unload_ipython_extension(shell.ip)
    arc_workbench.unload_ipython_extension(shell.ip)

    assert "not found" in shell.run("%agent")
    assert shell.completes("%%agent --mo") == []
    assert not hasattr(shell.ip, "arc_workbench")


@requirement("BUG-N11")
def test_a_cell_is_awaited_and_its_turn_is_in_underscore_and_in_a_variable(shell: Shell) -> None:
    shell.run("%%agent -o poem\nWrite a poem")

    poem = shell.ip.user_ns["poem"]
    assert isinstance(poem, TurnView)
    assert shell.ip.user_ns["_"] is poem
    assert poem.prompt == "Write a poem"


def test_the_body_is_taken_word_for_word(shell: Shell) -> None:
    body = "# not a comment\n%time {x} $HOME !ls 'quote\n\n  indented"
    shell.run("x = 1")

    shell.run(f"%%agent -o turn\n{body}")

    assert shell.ip.user_ns["turn"].prompt == body


@requirement("BUG-N11")
@pytest.mark.parametrize("above", ["%%time", "%%capture"])
def test_below_another_magic_the_cell_still_runs(shell: Shell, above: str) -> None:
    shell.run(f"{above}\n%%agent -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].reason == "completed"


@requirement("BUG-N14")
def test_with_autoawait_off_the_cell_still_runs(shell: Shell) -> None:
    shell.run("%autoawait off")

    shell.run("%%agent -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].reason == "completed"


@pytest.mark.parametrize("above", ["\n\n", "  \n"])
def test_empty_lines_above_it_do_not_matter(shell: Shell, above: str) -> None:
    shell.run(f"{above}%%agent -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].prompt == "Write a poem"


def test_a_text_that_holds_a_cell_of_ours_stays_python(shell: Shell) -> None:
    shell.run("x = '''\n%%agent\nhi\n'''")

    assert shell.ip.user_ns["x"] == "\n%%agent\nhi\n"


def test_without_a_key_it_says_once_why_a_script_answers(shell: Shell) -> None:
    said = "No key, so a script answers; its tools are real. Others: %agent help model"

    assert said in shell.run("%%agent\nWrite a poem")
    assert said not in shell.run("%%agent\nWrite another")
    assert said not in shell.run("%%agent --new --model script:tour\nWrite a third")


def test_with_a_key_it_says_that_this_version_does_not_use_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA")

    said = shell.run("%%agent\nWrite a poem")

    assert "This version has no use for the key that is set" in said
    assert "AAAA" not in said


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("x = 1\n%%agent\nhi", "%%agent must open the cell; nothing ran. Move what stands"),
        ("%%agent --modle x\nhi", "--modle is no option; nothing ran. Nearest: --model."),
        ("%%agent hello\nhi", "hello is no option; nothing ran."),
        ("%%agent", "The cell has no task; nothing ran. Write it below the first line."),
        ("%%agent --new\n \n", "The cell has no task; nothing ran."),
        ("%%agent --model gpt\nhi", "gpt is no model; nothing ran. Forms: %agent help model"),
        ("%%agent --project /gone\nhi", "No folder /gone; nothing ran."),
        ("%%agent --project {gone}\nhi", "There is no variable gone; nothing ran."),
        ('%%agent --project "a\nhi', "A quote is not closed; nothing ran."),
        ("%%agent --model script:gone.yaml\nhi", "No file gone.yaml"),
        ("%%agent --toolset arq\nhi", "arq is no toolset; nothing ran."),
        ("%agent docter", "docter is no subcommand; nothing ran. Nearest: doctor."),
        ("%agent mode paln", "paln is no mode; nothing ran."),
        ("%agent model gpt", "gpt is no model; nothing ran."),
        ("%agent tools fly", "There is no tool fly here."),
        ("%agent transcript", "There is no turn to show yet."),
        ("%agent status now", "now is too much; nothing ran."),
        ("%agent help fly", "There is no help on fly."),
        ("%agent undo", "Which change? Without a session there is no last one."),
        ("%agent undo c1 c2", "c2 is too much; nothing ran. See: %agent help undo"),
        ("%agent dryrun apply", "There is no session yet; nothing ran."),
        ("%agent recovery keep", "Which change? Type: %agent recovery keep c3"),
        ("%agent recovery keep c1", "c1 needs no decision."),
        ("%agent undo --project /gone", "No folder /gone; nothing ran."),
        ("%agent undo --projekt .", "--projekt is no option; nothing ran. Nearest: --project."),
        ("%agent recovery keep c1 now", "now is too much; nothing ran."),
    ],
)
def test_a_slip_is_one_line_and_changes_nothing(shell: Shell, cell: str, line: str) -> None:
    before = shell.ip.user_ns.get("_")

    said = shell.run(cell)

    assert said.startswith(line)
    assert "\n" not in said
    assert shell.ip.user_ns.get("_") is before


def test_setters_say_what_was_and_what_is_and_hold_until_changed(shell: Shell) -> None:
    assert "default -> plan" in shell.run("%agent mode plan")

    shell.run("%%agent -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].mode == "plan"
    assert "main · script:tour · plan · safe · step 1" in shell.run("%agent status")
    assert "plan -> yolo" in shell.run("%agent mode yolo")


def test_a_final_semicolon_prints_nothing(shell: Shell) -> None:
    assert shell.run("%agent status;") == ""
    assert shell.run("%agent mode plan;") == ""
    assert "· plan ·" in shell.run("%agent status")


def test_an_option_of_a_cell_lasts_one_turn(shell: Shell) -> None:
    shell.run("%%agent\nWrite a poem")
    shell.run("%%agent --mode plan -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].mode == "plan"
    assert "· default ·" in shell.run("%agent status")


def test_config_changes_the_session_that_runs(shell: Shell) -> None:
    shell.run("%%agent\nWrite a poem")

    shell.run("%config ArcWorkbench.mode = 'acceptEdits'")

    assert "· acceptEdits ·" in shell.run("%agent")


def test_a_dry_run_can_be_chosen_before_there_is_a_session_and_in_the_config(shell: Shell) -> None:
    assert "off -> on" in shell.run("%agent dryrun on")
    assert "dry run" in shell.run("%%agent\nWrite a poem")
    assert "on \u00b7 nothing differs" in shell.run("%agent dryrun")

    shell.run("%config ArcWorkbench.dry_run = True")

    assert shell.ip.arc_workbench.config.given() == {"dry_run": True}


def test_a_dry_run_of_one_turn_is_over_with_it_where_nothing_differs(shell: Shell) -> None:
    assert "dry run" in shell.run("%%agent --dry-run\nWrite a poem")

    assert "off" in shell.run("%agent dryrun")
    assert "dry run" not in shell.run("%agent status")


def test_the_journal_of_a_folder_can_be_looked_at_without_a_session(shell: Shell) -> None:
    assert "No changes." in shell.run("%agent changes")
    assert shell.run("%agent recovery").strip().endswith(", without a session")


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("mode = 'bogus'", "bogus is no mode; nothing ran."),
        ("access = 'bogus'", "bogus is no access; nothing ran."),
        ("ask = 'maybe'", "maybe is no ask; nothing ran."),
        ("toolset = 'arq'", "arq is no toolset; nothing ran."),
        ("model = 'gpt'", "gpt is no model; nothing ran."),
        ("pace = -5", "pace cannot be -5"),
        ("pace = float('nan')", "pace cannot be nan"),
    ],
)
def test_a_wrong_config_value_is_one_line_and_is_not_kept(
    shell: Shell, setting: str, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    shell.run(f"%config ArcWorkbench.{setting}")

    (record,) = caplog.records  # IPython says it through the root logger
    assert record.getMessage().startswith(line)
    assert shell.ip.arc_workbench.config.given() == {}
    shell.run("%%agent -o turn\nWrite a poem")
    assert shell.ip.user_ns["turn"].reason == "completed"


def test_options_of_the_cell_that_begins_a_session_last_one_turn_too(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text("script: 1\ntitle: s\nsteps:\n  - say: s\n", encoding="utf-8")

    shell.run("%%agent --mode yolo --access full --model script:s.yaml -o first\nhi")
    shell.run("%%agent -o second\nhi")

    first, second = shell.ip.user_ns["first"], shell.ip.user_ns["second"]
    assert (first.mode, first.access, first.model) == ("yolo", "full", "script:s.yaml")
    assert (second.mode, second.access, second.model) == ("default", "safe", "script:tour")


def test_the_header_names_what_the_turn_ran_with(shell: Shell) -> None:
    shell.run("%%agent --mode acceptEdits\nhi")

    said = shell.run("%%agent --mode plan\nhi")

    assert "script:tour · plan mode · safe access" in said


def test_a_header_that_ends_in_a_question_mark_shows_the_help(shell: Shell) -> None:
    assert "--toolset NAME" in shell.run("%%agent --mode?")
    assert "--toolset NAME" in shell.run("%%agent ?")


def test_each_cell_continues_the_session_and_new_begins_another(shell: Shell) -> None:
    shell.run("%%agent -o one\nWrite a poem")
    shell.run("%%agent -o two\nWrite a poem")
    shell.run("%%agent --new -o three\nWrite a poem")

    numbers = [shell.ip.user_ns[name].number for name in ("one", "two", "three")]
    assert numbers == [1, 2, 1]


def test_another_project_begins_a_new_session_and_says_so(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shell.run("%%agent\nWrite a poem")

    said = shell.run("%%agent --project other -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].number == 1
    assert "Session main: script:tour, arc, mode default, access safe, other." in said


def test_a_named_session_can_be_gone_back_to(shell: Shell) -> None:
    shell.run("%%agent --session a\nWrite a poem")
    shell.run("%%agent --session b\nWrite a poem")
    shell.run("%%agent --session a -o turn\nWrite a poem")

    assert shell.ip.user_ns["turn"].number == 2


def test_a_session_taken_up_again_says_where_it_stands(shell: Shell) -> None:
    shell.run("%%agent --session a\nWrite a poem")
    shell.run("%%agent --session b\nWrite a poem")

    said = shell.run("%%agent --session a\nWrite a poem")

    assert "Session a stands at step 1; open prompts are void." in said


@requirement("REQ-S12", "BUG-N8")
def test_with_nobody_there_the_policy_decides_and_says_so(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(
        "def mean(numbers):\n    return sum(numbers) / (len(numbers) - 1)\n", encoding="utf-8"
    )

    said = shell.run("%%agent\nMake the tests pass")

    assert "Nobody can answer; policy rules decides. Set outside: ARC_WORKBENCH_POLICY" in said
    assert "Policy denied workspace_edit calc.py" in said
    assert "(len(numbers) - 1)" in (tmp_path / "calc.py").read_text(encoding="utf-8")


def test_a_cell_cannot_set_the_policy(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARC_WORKBENCH_POLICY", "allow")
    source = "def mean(numbers):\n    return sum(numbers) / (len(numbers) - 1)\n"
    (tmp_path / "calc.py").write_text(source, encoding="utf-8")

    said = shell.run("%%agent --ask policy\nMake the tests pass")

    assert "policy rules decides" in said
    assert (tmp_path / "calc.py").read_text(encoding="utf-8") == source


def test_help_is_the_table_of_options_and_is_shown_by_a_question_mark(shell: Shell) -> None:
    assert "--toolset NAME" in shell.run("%agent help")
    assert "script:FILE.yaml" in shell.run("%agent help model")
    assert "--toolset NAME" in shell.run("%%agent?")


def test_nouns_give_something_that_can_be_assigned(shell: Shell) -> None:
    assert shell.run("found = %agent tools") == ""

    assert shell.ip.user_ns["found"].rows[0] == {"name": "workspace_list", "verdict": "allowed"}
    assert "workspace_edit asks" in repr(shell.ip.user_ns["found"])


@pytest.mark.parametrize(
    ("place", "turn"), [("", "t2"), ("t1", "t1"), ("1", "t1"), ("2", "t2"), ("-1", "t1")]
)
def test_a_place_names_a_turn_or_a_step(shell: Shell, place: str, turn: str) -> None:
    shell.run("%%agent\nWrite a poem")
    shell.run("%%agent\nWrite another")

    said = shell.run(f"%agent transcript {place}")

    assert f"{turn}  1 step  completed  Write" in said
    assert f"{turn}  script:tour" in said


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("%%agent --mo", ["--model", "--mode"]),
        ("%%agent --mode pl", ["plan"]),
        ("%%agent --mode=", ["default", "acceptEdits", "plan", "yolo"]),
        ("%%agent --model scr", ["script:tour", "script:mine.yaml"]),
        ("%%agent --session ma", ["main"]),
        ("%%agent --project fo", ["folder/"]),
        ("%%agent\nLook at @fo", ["folder/"]),
        ("%%agent\nLook at @folder/", ["folder/a b.txt", "folder/inner.txt"]),
        ("%agent st", ["status"]),
        ("%agent mode ac", ["acceptEdits"]),
        ("%agent dryrun d", ["diff", "discard"]),
        ("%agent recovery ", ["keep", "restore"]),
        ("%agent recovery keep ", []),
        ("%agent undo ", []),
        ("%agent changes ", []),
        ("%agent changes --", ["--project"]),
        ("%agent undo --project fo", ["folder/"]),
        ("%agent help rec", ["recovery"]),
        ("%agent help --dr", ["--dry-run"]),
        ("%agent status ", []),
        ("%%agent --dr", ["--dry-run"]),
    ],
)
def test_tab_offers_what_can_stand_there(
    shell: Shell, tmp_path: Path, typed: str, offered: list[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.txt").touch()
    (tmp_path / "folder" / "a b.txt").touch()
    (tmp_path / "mine.yaml").touch()
    shell.run("%%agent\nWrite a poem")

    assert sorted(shell.completes(typed)) == sorted(offered)


def test_tab_offers_no_options_in_a_task(shell: Shell) -> None:
    assert shell.completes("%%agent\n--mo") == []


def write(*texts: str) -> None:
    """Let changes of one file be made through the journal."""
    files = journal_of(Path.cwd(), os.environ)
    for text in texts:
        files.apply(files.plan_write(files.inside("note.txt"), text))
    files.close()


def test_tab_offers_the_changes_of_the_journal_the_newest_first(shell: Shell) -> None:
    write("one\n", "two\n", "three\n")
    shell.run("%agent undo c3")

    assert shell.completes("%agent changes ") == ["c4", "c3", "c2", "c1"]
    assert shell.completes("%agent undo c") == ["c4", "c2", "c1"]


def test_many_changes_are_counted_and_the_older_ones_named(shell: Shell) -> None:
    write(*(f"{number}\n" for number in range(303)))

    found = shell.ip.run_line_magic("agent", "changes")

    lines = found.text.split("\n")
    assert len(found.rows) == 300
    assert lines[299].startswith("c4  ")
    assert lines[300] == "... 3 older changes. One of them: %agent changes c4"
    assert "Show 260 more changes" in found._repr_html_()
    assert "3 older changes. One of them: %agent changes c4" in found._repr_html_()


def test_a_pace_of_zero_is_a_setting_and_none_is_not(shell: Shell) -> None:
    assert shell.ip.arc_workbench.config.given() == {}

    shell.run("%config ArcWorkbench.pace = 0")

    assert shell.ip.arc_workbench.config.given() == {"pace": 0.0}
    assert shell.ip.arc_workbench.desk.settings({}).pace == 0.0


def test_a_frame_without_pandas_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    shell.run("found = %agent tools")

    assert shell.run("found.to_frame()").startswith(
        "pandas is not installed, so there is no frame."
    )


def test_the_columns_of_the_help_do_not_run_into_each_other(shell: Shell) -> None:
    lines = [line for line in shell.run("%agent help").split("\n") if line.startswith("  ")]

    assert any("[keep|restore CHANGE]  what start-up found" in line for line in lines)
    assert any("[on|diff|apply|discard]" in line for line in lines)
    commands = lines[next(n for n, line in enumerate(lines) if "status" in line) :]
    assert len({line.index(line[2:].split("  ")[-1].strip()) for line in commands}) == 1


def test_doctor_looks_at_the_journal_of_the_session_s_folder(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shell.run("%%agent --project elsewhere\nWrite a poem")

    rows = shell.ip.run_line_magic("agent", "doctor").rows

    (journal,) = [row for row in rows if row["name"] == "journal"]
    assert journal["detail"].endswith("; elsewhere is clean")
