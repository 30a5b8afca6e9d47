"""The scripts of the package, played with the real tools over real folders."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from os import environ, pathsep
from pathlib import Path

import pytest

from arc_workbench.errors import ScriptError
from arc_workbench.events import Event, PermissionRequested
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.scripted import BUNDLED
from arc_workbench.settings import Settings
from arc_workbench.views import CallView, SayView, TurnView
from arc_workbench.workbench import open_session
from tests.unit.models.talk import script

pytestmark = pytest.mark.timeout(60)  # the tour runs pytest

DOCS = Path(__file__).parents[3] / "docs" / "scripts.md"
PROMPT = "Make the tests pass; change little."
CALC = '''\
def mean(numbers):
    """The sum, divided by how many there are."""
    return sum(numbers) / (len(numbers) - 1)
'''
TEST = """\
from calc import mean


def test_mean():
    assert mean([2, 4, 6]) == 4
"""

Answer = Callable[[PermissionRequested], bool]


@dataclass(frozen=True)
class Played:
    """A turn, and the tools that a person was asked about."""

    turn: TurnView
    asked: list[str]

    @property
    def said(self) -> str:
        parts = [part for step in self.turn.steps for part in step.parts]
        return "\n".join(part.text for part in parts if isinstance(part, SayView))

    @property
    def calls(self) -> list[CallView]:
        return [call for step in self.turn.steps for call in step.calls]

    @property
    def tools(self) -> list[str]:
        return [call.name for call in self.calls]


async def play(
    model: str, project: Path | str, prompt: str, answer: Answer = lambda _: True, **changes: object
) -> Played:
    asked: list[str] = []
    settings = Settings.of({"project": str(project), "model": model, "pace": 0, **changes})
    async with await open_session(settings) as session:

        def sink(event: Event) -> None:
            if isinstance(event, PermissionRequested):
                asked.append(event.tool)
                session.resolve(event.prompt, allow=answer(event), reason="not now")

        session.listen(sink)
        return Played(await session.send(prompt), asked)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the tour; its `python3` is the one that runs these tests."""
    project = tmp_path / "calc"
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{pathsep}{environ['PATH']}")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # ours are of no use there
    project.mkdir()
    (project / "calc.py").write_text(CALC, encoding="utf-8")
    (project / "test_calc.py").write_text(TEST, encoding="utf-8")
    return project


def code(folder: Path) -> str:
    return (folder / "calc.py").read_text(encoding="utf-8")


# ---- the tour -----------------------------------------------------------------------------------


async def test_the_tour_makes_the_test_pass(folder: Path) -> None:
    played = await play("script:tour", folder, PROMPT)

    assert played.turn.reason == "completed"
    assert played.tools == [
        "workspace_list",
        "shell_exec",
        "workspace_read",
        "workspace_read",
        "workspace_edit",
        "shell_exec",
    ]
    assert played.asked == ["shell_exec", "workspace_edit", "shell_exec"]
    assert "Red: 1 failed." in played.said
    assert played.said.endswith(
        "Green: 1 passed. I changed one expression of calc.py and nothing else."
    )
    assert code(folder) == CALC.replace("(len(numbers) - 1)", "len(numbers)")


@pytest.mark.parametrize("toolset", ["arcturn", "both"])
async def test_the_tour_speaks_every_vocabulary(folder: Path, toolset: str) -> None:
    played = await play("script:tour", folder, PROMPT, toolset=toolset)

    names = ["ls", "bash", "read", "read", "edit", "bash"]
    assert (played.tools == names) is (toolset == "arcturn")
    assert "Red: 1 failed." in played.said
    assert "Green: 1 passed." in played.said


async def test_a_changed_workspace_changes_the_run(folder: Path) -> None:
    changed = CALC.replace("numbers", "values")
    (folder / "calc.py").write_text(changed, encoding="utf-8")

    played = await play("script:tour", folder, PROMPT)

    edit = next(call for call in played.calls if call.name == "workspace_edit")
    assert edit.input is not None
    assert edit.input["old_string"] == "/ (len(values) - 1)"
    assert edit.input["new_string"] == "/ len(values)"
    assert code(folder) == changed.replace("(len(values) - 1)", "len(values)")


async def test_the_tour_leaves_a_green_folder_alone(folder: Path) -> None:
    (folder / "calc.py").write_text(CALC.replace("(len(numbers) - 1)", "len(numbers)"), "utf-8")

    played = await play("script:tour", folder, PROMPT)

    assert played.said.endswith("Green already: 1 passed. There is nothing to change.")
    assert played.tools == ["workspace_list", "shell_exec"]


async def test_the_tour_says_when_its_change_was_not_enough(folder: Path) -> None:
    more = TEST + "\n\ndef test_of_nothing():\n    assert mean([]) == 1\n"
    (folder / "test_calc.py").write_text(more, encoding="utf-8")

    played = await play("script:tour", folder, PROMPT)

    assert "Red: 2 failed." in played.said
    assert "Still red: 1 failed, 1 passed." in played.said


async def test_the_tour_does_not_guess_at_another_mistake(folder: Path) -> None:
    (folder / "calc.py").write_text("def mean(numbers):\n    return 3\n", encoding="utf-8")

    played = await play("script:tour", folder, PROMPT)

    assert "calc.py does not hold the mistake that I know" in played.said
    assert "workspace_edit" not in played.tools


async def test_the_tour_knows_no_other_folder(folder: Path) -> None:
    (folder / "calc.py").unlink()

    played = await play("script:tour", folder, PROMPT)

    assert "There is no calc.py here, so I change nothing." in played.said
    assert played.tools == ["workspace_list"]


async def test_a_denied_change_is_taken_as_an_answer(folder: Path) -> None:
    played = await play("script:tour", folder, PROMPT, lambda ask: ask.tool != "workspace_edit")

    assert played.turn.reason == "completed"
    assert "The change was not made, so calc.py is as it was." in played.said
    assert "They said: not now" in played.said
    assert code(folder) == CALC


async def test_a_denied_test_run_is_not_asked_for_again(folder: Path) -> None:
    played = await play("script:tour", folder, PROMPT, lambda ask: ask.tool != "shell_exec")

    assert played.asked == ["shell_exec", "workspace_edit"]
    assert "I have no result of the tests, so I go on by reading." in played.said
    assert played.said.endswith("whether it is green I cannot say.")
    assert code(folder) != CALC


async def test_in_safe_access_the_tour_goes_on_without_a_shell(folder: Path) -> None:
    played = await play("script:tour", folder, PROMPT, access="safe")

    assert "No shell is offered here" in played.said
    assert played.asked == ["workspace_edit"]
    assert played.said.endswith("whether it is green I cannot say.")
    assert code(folder) != CALC


async def test_without_a_project_the_tour_says_what_it_needs() -> None:
    played = await play("script:tour", "none", PROMPT)

    assert "needs a project folder" in played.said
    assert played.tools == []


# ---- the two examples ---------------------------------------------------------------------------


@pytest.mark.parametrize("toolset", ["arc", "arcturn"])
async def test_hello_says_what_is_really_there(tmp_path: Path, toolset: str) -> None:
    (tmp_path / "unlikely-name.txt").write_text("x", encoding="utf-8")

    played = await play("script:hello", tmp_path, "hi", toolset=toolset)

    assert len(played.calls) == 1
    assert "unlikely-name.txt" in played.said


@pytest.mark.parametrize("toolset", ["arc", "arcturn"])
@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        (None, "Now there is one, and it greets the world.", "Hello, world.\n"),
        ("Hello, Ada.\n", "Done. It greeted Ada, and greets the world now.", "Hello, world.\n"),
        ("Hello, world.\n", "there is nothing to do.", "Hello, world.\n"),
        ("Good day.\n", "so I leave it as it is.", "Good day.\n"),
    ],
)
async def test_the_greeting_depends_on_what_is_there(
    tmp_path: Path, toolset: str, before: str | None, said: str, after: str
) -> None:
    file = tmp_path / "hello.txt"
    if before is not None:
        file.write_text(before, encoding="utf-8")

    played = await play("script:greeting", tmp_path, "Greet the world.", toolset=toolset)

    assert played.said.endswith(said)
    assert file.read_text(encoding="utf-8") == after


async def test_a_greeting_that_is_denied_is_not_written(tmp_path: Path) -> None:
    played = await play("script:greeting", tmp_path, "Greet the world.", lambda _: False)

    assert "Nothing was written." in played.said
    assert list(tmp_path.iterdir()) == []


# ---- the documentation --------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    text = DOCS.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for named, block in found if named == language]


def test_the_three_examples_of_the_documentation_are_the_scripts_of_the_package() -> None:
    whole = [block for block in blocks("yaml") if "script: 1" in block]

    assert whole == [
        (BUNDLED / f"{name}.yaml").read_text(encoding="utf-8")
        for name in ("hello", "greeting", "tour")
    ]


def test_every_snippet_of_the_documentation_is_right() -> None:
    snippets = [block for block in blocks("yaml") if "script: 1" not in block]

    assert len(snippets) == 2
    for snippet in snippets:
        read_script("docs.yaml", script(snippet))


def test_the_message_in_the_documentation_is_the_real_one() -> None:
    [message] = [block for block in blocks("") if block.startswith("lesson.yaml")]
    text = script("- say: a\n- say: b\n- say: c\n- sya: d")

    with pytest.raises(ScriptError) as refused:
        read_script("lesson.yaml", text)

    assert str(refused.value) == message.strip()
