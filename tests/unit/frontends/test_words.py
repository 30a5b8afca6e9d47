"""The words of states, questions and answers."""

from pathlib import Path

import pytest

from arc_workbench.content import Command, Diff, ToolResult, Usage
from arc_workbench.frontends import words
from arc_workbench.views import CallView
from tests.requirements import requirement
from tests.unit.frontends.turns import CLOCK, change, command, question, resolved


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (Usage(), "0 tokens"),
        (Usage(input_tokens=900, output_tokens=99), "999 tokens"),
        (Usage(input_tokens=12_000, output_tokens=400), "12.4k tokens"),
        (Usage(input_tokens=12_000, output_tokens=400, estimated=True), "~12.4k tokens"),
    ],
)
def test_tokens_have_a_tilde_where_nobody_counted_them(usage: Usage, shown: str) -> None:
    assert words.tokens(usage) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.012, "0.01 s"), (12.44, "12.4 s"), (125, "2:05"), (3723, "1:02:03")]
)
def test_time_is_short(seconds: float, shown: str) -> None:
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(1, "1 byte"), (999, "999 bytes"), (4_100, "4.1 KB"), (2e8, "200.0 MB")]
)
def test_bytes_are_for_people(count: float, shown: str) -> None:
    assert words.size(int(count)) == shown


def test_the_home_folder_is_a_tilde() -> None:
    home = str(Path.home())

    assert words.folder(f"{home}/tidetable") == "~/tidetable"
    assert words.folder(home) == "~"
    assert words.folder(f"{home}x/y") == f"{home}x/y"


@pytest.mark.parametrize(
    ("state", "note", "shown"),
    [
        ("done", "5 entries", "5 entries"),
        ("failed", "exit 1", "failed · exit 1"),
        ("failed", "failed", "failed"),
        ("stopped", "2 processes ended", "stopped · 2 processes ended"),
        ("denied", "whatever", "denied"),
        ("pending", "", "waiting"),
    ],
)
def test_the_note_of_a_row_says_what_went_wrong(state: str, note: str, shown: str) -> None:
    call = CallView("a", "bash", state, result=ToolResult(content=(), note=note))  # type: ignore[arg-type]

    assert words.note(call) == shown


def test_a_call_that_asks_says_how_much_would_change() -> None:
    call = CallView("a", "edit", "asking", question=change())

    assert words.note(call) == "asks you · +4 −2"


@pytest.mark.parametrize(
    ("display", "title"),
    [
        (Command(command="ls", cwd="/x"), "Run this command?"),
        (Diff(path="x", unified=CLOCK), "Change this file?"),
        (Diff(path="x", unified="", created=True), "Create this file?"),
    ],
)
def test_the_title_is_the_verb_of_the_thing(display: Command | Diff, title: str) -> None:
    assert words.title(question([display])) == title
    assert words.title(question()) == "Use this tool?"


@requirement("REQ-S1")
def test_a_title_is_never_what_a_model_wrote() -> None:
    asked = question(
        [Command(command="rm -rf /", cwd="/")], description="Allow?", given={"description": "Safe"}
    )

    assert words.title(asked) == "Run this command?"
    assert words.model_says(asked) == "Safe"


@requirement("REQ-S1")
def test_arguments_that_the_drawing_does_not_hold_are_told_beside_it() -> None:
    assert words.unshown(command("ls", timeoutMs="5")) == {"timeoutMs": "5"}
    assert words.unshown(change()) == {}


@pytest.mark.parametrize(
    ("text", "grant"),
    [
        ("ls", "Runs exactly this line, one time."),
        ("ls\npwd\n", "Runs exactly these two lines, one time."),
        ("ls\n" * 40, "Runs exactly these 40 lines, one time."),
    ],
)
def test_a_grant_says_how_far_a_yes_goes(text: str, grant: str) -> None:
    assert words.grant(command(text), "once") == grant


@requirement("REQ-S5")
def test_what_is_not_offered_is_said_with_its_reason() -> None:
    assert words.not_offered(command("ls")) == ""
    assert words.not_offered(command("ls\npwd")).endswith("a command of several lines")
    assert "nothing that it could name" in words.not_offered(question(scopes=("once",)))


@requirement("REQ-S2")
@pytest.mark.parametrize("digest", ["9b07e1d4" + "0" * 56, "sha256:9b07e1d4" + "0" * 56])
def test_the_fingerprint_is_the_first_eight_digits(digest: str) -> None:
    assert words.fingerprint(digest) == "9b07 e1d4"


@pytest.mark.parametrize(
    ("verdict", "more", "line"),
    [
        ("allow", {}, ("You allowed this once.", "")),
        ("allow", {"scope": "session"}, ("You allowed this for this session.", "")),
        ("deny", {}, ("Denied by you.", "")),
        ("deny", {"reason": "keep it"}, ("Denied by you:", "“keep it”")),
        ("deny", {"by": "policy"}, ("Policy denied it.", "Nobody can answer here.")),
        ("allow", {"by": "mode", "because": "Mode yolo allows every command."},
         ("Allowed.", "Mode yolo allows every command.")),
    ],
)  # fmt: skip
def test_an_answer_is_one_line(verdict: str, more: dict[str, str], line: tuple[str, str]) -> None:
    assert words.answered(resolved(command("ls"), verdict, **more)) == line


@requirement("REQ-S1")
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("off", "off: this runs with your rights"),
        ("", "off: this runs with your rights"),
        (
            "workspace-write",
            "workspace-write: it writes to the project and to temporary folders only",
        ),
        ("required", "required: it writes to the project only, and has no network and no sockets"),
        ("unavailable", "workspace-write, but none works here: this runs with your rights"),
    ],
)
def test_the_card_says_what_confines_the_command(mode: str, said: str) -> None:
    asked = command("make").model_copy(update={"sandbox": mode})

    assert words.sandbox(asked) == said


def test_the_card_says_that_a_command_of_a_dry_run_gets_a_copy() -> None:
    asked = command("make").model_copy(update={"sandbox": "required", "dry_run": True})

    assert words.sandbox(asked).startswith("required, on a copy: ")
    assert "dryrun apply" in words.dry_run(asked)
    assert words.sandbox(change()) == ""
