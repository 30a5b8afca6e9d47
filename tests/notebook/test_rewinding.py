"""Taking back what a command changed, with buttons: below its turn, and below its card."""

import json
from pathlib import Path

import pytest

from tests.browser.scripts import LOAD
from tests.notebook.kernel import WIDGET, Kernel, PagePart, Run
from tests.notebook.test_undoing import after_a_press, said
from tests.requirements import requirement

BEFORE = "Hello, Moon.\n"
COMMAND = "echo Goodbye > hello.txt; echo new > made.txt"
SCRIPT = f"""script: 1
title: a command that changes files
tools:
  run: [shell_exec]
steps:
  - call: run
    with: {{command: {json.dumps(COMMAND)}}}
    as: done
  - say: Done.
"""
CELL = "%%agent --model script:change.yaml --access full --mode yolo\nChange it."


@pytest.fixture
def ready(kernel: Kernel, project: Path) -> Kernel:
    """A kernel whose agent is about to run a command that changes two files."""
    (project / "change.yaml").write_text(SCRIPT, encoding="utf-8")
    kernel.run(LOAD)
    return kernel


@pytest.fixture
def changed(ready: Kernel, project: Path) -> Kernel:
    """A kernel whose agent has run it, where nobody could press."""
    assert ready.run(CELL).status == "ok"
    assert (project / "made.txt").exists()
    return ready


def is_as_before(project: Path) -> bool:
    return (project / "hello.txt").read_text("utf-8") == BEFORE and not (
        project / "made.txt"
    ).exists()


def card(kernel: Kernel, line: str) -> tuple[Run, PagePart]:
    """Run a line in a front end with buttons; its page has drawn them."""
    subshell = kernel.open_subshell()
    run = kernel.run(line, allow_stdin=True)
    page = PagePart(kernel, subshell=subshell)
    page.ready()
    return run, page


@requirement("BUG-N1")
@pytest.mark.parametrize("line", ["%agent changes s1", "%agent changes"])
def test_a_press_takes_back_all_that_the_command_changed(
    changed: Kernel, project: Path, line: str
) -> None:
    _, page = card(changed, line)

    page.answer("undo", "s1")

    operations = after_a_press(page, "s1 undone as c1 to c2")
    assert is_as_before(project)
    assert "button" not in str([o for o in operations if o["op"] == "put"])


def test_a_refusal_is_said_in_the_place_of_the_button_which_stays(
    changed: Kernel, project: Path
) -> None:
    _, page = card(changed, "%agent changes s1")
    page.code("s1")
    (project / "hello.txt").write_text("Mine.\n", encoding="utf-8")

    page.answer("undo", "s1")

    operations = after_a_press(page, "hello.txt is no longer what the command left")
    assert "Undo s1" in str(operations)
    assert (project / "hello.txt").read_text("utf-8") == "Mine.\n"
    assert (project / "made.txt").exists()


@requirement("REQ-S7", "REQ-S31")
@pytest.mark.parametrize(
    "message",
    [
        {"do": "undo", "prompt": "s1", "nonce": ""},
        {"do": "undo", "prompt": "s1", "nonce": "guessed"},
        {"do": "undo", "prompt": "s2", "nonce": "guessed"},
        {"do": "undo", "prompt": "s1"},
        {"do": "job", "prompt": "s1", "nonce": "guessed"},
    ],
)
def test_a_message_without_the_code_of_the_button_does_nothing(
    changed: Kernel, project: Path, message: object
) -> None:
    _, page = card(changed, "%agent changes s1")
    page.code("s1")

    page.send(message)
    assert not is_as_before(project)
    page.answer("undo", "s1")  # one that counts, to know that the other was heard before

    after_a_press(page, "s1 undone as c1 to c2")
    assert said(changed.run("%agent changes")).startswith("c2")


def test_a_code_counts_once(changed: Kernel, project: Path) -> None:
    _, page = card(changed, "%agent changes s1")
    press = {"do": "undo", "prompt": "s1", "nonce": page.code("s1")}

    page.send(press)
    page.send(press)

    after_a_press(page, "s1 undone as c1 to c2")
    assert is_as_before(project)
    assert said(changed.run("%agent changes")).startswith("c2")


def below_the_turn(kernel: Kernel) -> tuple[Run, PagePart]:
    """Run the cell in a front end with buttons; the page has drawn those below its turn."""
    subshell = kernel.open_subshell()
    request = kernel.start(CELL, allow_stdin=True)
    turn = PagePart(kernel, subshell=subshell)
    turn.ready()
    run = kernel.finish(request)
    page = PagePart(kernel, subshell=subshell)
    page.comm = next(
        bundle[WIDGET]["model_id"] for bundle in reversed(run.shown) if WIDGET in bundle
    )
    page.ready()
    return run, page


def test_below_a_turn_whose_command_changed_files_stands_the_way_back(
    ready: Kernel, project: Path
) -> None:
    run, page = below_the_turn(ready)

    turn, way, bar = run.shown
    assert "Changed by s1" in turn["text/html"]
    assert way["text/plain"] == "Take back what a command changed: %agent undo s1"
    assert "<button" not in way["text/html"]
    assert bar["text/plain"] == ""

    page.answer("undo", "s1")

    after_a_press(page, "s1 undone as c1 to c2")
    assert is_as_before(project)


def test_where_nobody_can_press_nothing_stands_below_the_turn(ready: Kernel) -> None:
    (bundle,) = ready.run(CELL).shown

    assert "%agent undo s1" in bundle["text/html"]
