"""What was changed and the way back: typed, and with buttons that stand under a card."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from tests.browser.scripts import LOAD, agent
from tests.notebook.kernel import WIDGET, Json, Kernel, PagePart, Run
from tests.requirements import requirement

BEFORE = "Hello, Moon.\n"
AFTER = "Goodbye, Moon.\n"
WRITTEN = agent(options="--access full --mode acceptEdits")


def greeting(project: Path) -> str:
    return (project / "hello.txt").read_text("utf-8")


@pytest.fixture
def changed(kernel: Kernel, project: Path) -> Kernel:
    """A kernel whose agent has changed the greeting; nobody was asked."""
    kernel.run(LOAD)
    assert kernel.run(WRITTEN).status == "ok"
    assert greeting(project) == AFTER
    return kernel


def said(run: Run) -> str:
    """The plain text of all that a cell shows."""
    return "\n".join(str(bundle.get("text/plain", "")) for bundle in run.shown)


def failed_with(run: Run) -> str:
    return "\n".join(cast("list[str]", run.reply.get("traceback", [])))


def card(kernel: Kernel, line: str = "%agent changes c1") -> tuple[Run, PagePart]:
    """Run a line in a front end with buttons; its page has drawn them."""
    subshell = kernel.open_subshell()
    run = kernel.run(line, allow_stdin=True)
    page = PagePart(kernel, subshell=subshell)
    page.ready()
    return run, page


def after_a_press(page: PagePart, words: str) -> list[Json]:
    """Wait until the buttons say something."""
    message = page.kernel.hear(
        lambda m: any(o["op"] == "say" and words in str(o["text"]) for o in page.ops_of(m))
    )
    return page.ops_of(message)


def updates(kernel: Kernel) -> list[str]:
    """The plain texts of outputs that were drawn again."""
    shown = [m for m in kernel.drain() if m["msg_type"] == "update_display_data"]
    return [str(cast("Json", m["content"])["data"]["text/plain"]) for m in shown]


def bar_of(run: Run) -> str:
    """The name of the place in which a cell shows its buttons."""
    bars = [o for o in run.outputs if WIDGET in cast("Json", o.get("data") or {})]
    return str(cast("Json", bars[0]["transient"])["display_id"])


def drawn_again(kernel: Kernel, place: str) -> Json:
    """Wait until a place is drawn again; what stands there then."""

    def is_it(message: Json) -> bool:
        transient = cast("Json", cast("Json", message["content"]).get("transient") or {})
        return message["msg_type"] == "update_display_data" and transient.get("display_id") == place

    return cast("Json", cast("Json", kernel.hear(is_it)["content"])["data"])


# ---- typed --------------------------------------------------------------------------------------


def test_changes_are_listed_and_shown_and_taken_back_by_what_is_typed(
    changed: Kernel, project: Path
) -> None:
    assert said(changed.run("%agent changes")) == "c1  edit  hello.txt  +1 -1"
    assert "+Goodbye, Moon." in said(changed.run("%agent changes c1"))
    assert said(changed.run("%agent undo")) == "c1 undone as c2"
    assert greeting(project) == BEFORE
    assert said(changed.run("%agent changes")).split("\n") == [
        "c2  undo of c1  hello.txt  +1 -1",
        "c1  edit  hello.txt  +1 -1  undone",
    ]
    assert said(changed.run("%agent undo c2")) == "c2 undone as c3"
    assert greeting(project) == AFTER


@requirement("REQ-S64")
def test_a_file_that_was_changed_by_hand_is_not_undone(changed: Kernel, project: Path) -> None:
    (project / "hello.txt").write_text("Mine.\n", encoding="utf-8")

    run = changed.run("%agent undo c1")

    assert run.status == "error"
    assert "hello.txt changed after c1; it was not undone. Compare: %agent changes c1" in (
        failed_with(run)
    )
    assert greeting(project) == "Mine.\n"


IN_PROJECT = "in project, without a session"


def test_without_a_session_changes_are_looked_at_and_taken_back_by_their_name(
    changed: Kernel, project: Path
) -> None:
    changed.run("%reload_ext arc_workbench")

    assert said(changed.run("%agent changes")).split("\n") == [
        "c1  edit  hello.txt  +1 -1",
        "In project, without a session.",
    ]
    assert said(changed.run("%agent recovery")) == f"clean \u00b7 {IN_PROJECT}"
    assert "Which change? Without a session there is no last one. See: %agent changes" in (
        failed_with(changed.run("%agent undo"))
    )
    assert greeting(project) == AFTER
    assert said(changed.run("%agent undo c1")) == f"c1 undone as c2 \u00b7 {IN_PROJECT}"
    assert greeting(project) == BEFORE


def test_another_folder_than_the_session_s_is_named_by_an_option(
    changed: Kernel, project: Path
) -> None:
    (project.parent / "other").mkdir()

    listed = said(changed.run("%agent changes --project ../other"))

    assert listed == "No changes.\nIn other, without a session."
    assert said(changed.run(f"%agent undo c1 --project {project}")) == "c1 undone as c2"
    assert greeting(project) == BEFORE
    assert "No folder" in failed_with(changed.run("%agent recovery --project ../gone"))


def test_a_change_is_shown_with_what_became_of_its_file_since(
    changed: Kernel, project: Path
) -> None:
    assert "Since then" not in said(changed.run("%agent changes c1"))
    (project / "hello.txt").write_text("Mine.\n", encoding="utf-8")

    run = changed.run("%agent changes c1")

    before, _, after = said(run).partition("Since then, by hand or by other changes:")
    assert "+Goodbye, Moon." in before
    assert "-Goodbye, Moon." in after
    assert "+Mine." in after
    assert run.shown[0]["text/html"].count('class="aw-file__head"') == 2


def test_a_look_can_be_assigned_and_is_rows_for_programs(changed: Kernel) -> None:
    assert changed.run("found = %agent changes").shown == []
    assert changed.value("found.rows[0]['id']") == "c1"


# ---- dry run ------------------------------------------------------------------------------------


@requirement("REQ-S144")
def test_a_dry_run_changes_nothing_until_it_is_applied(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    cell = agent(options="--access full --mode acceptEdits --dry-run")

    shown = said(kernel.run(cell))

    assert greeting(project) == BEFORE
    assert "1 file would change, +1" in shown
    assert said(kernel.run("%agent dryrun")) == "on · 1 file differs"
    assert "dry run" in said(kernel.run("%agent status"))
    assert "+Goodbye, Moon." in said(kernel.run("%agent dryrun diff"))
    assert said(kernel.run("%agent dryrun apply")).startswith("1 file written: c1")
    assert greeting(project) == AFTER
    assert said(kernel.run("%agent dryrun")) == "off"


def test_a_dry_run_that_is_dropped_leaves_everything_as_it_was(
    kernel: Kernel, project: Path
) -> None:
    kernel.run(LOAD)
    assert said(kernel.run("%agent dryrun")) == "off"
    assert said(kernel.run("%agent dryrun on")) == "off -> on"
    kernel.run(WRITTEN)

    assert said(kernel.run("%agent dryrun discard")) == "1 file dropped"
    assert greeting(project) == BEFORE
    assert said(kernel.run("%agent dryrun")) == "off"


# ---- buttons ------------------------------------------------------------------------------------


def test_the_card_is_html_of_its_own_and_only_the_buttons_need_the_kernel(
    changed: Kernel,
) -> None:
    run, _ = card(changed)

    first, second = run.shown
    assert set(first) == {"text/html", "text/plain"}
    assert "%agent undo c1" in first["text/html"]
    assert "<button" not in first["text/html"]
    assert WIDGET in second
    assert second["text/plain"] == ""


@requirement("BUG-N1")
def test_a_press_takes_the_change_back_draws_both_outputs_and_prints_nothing(
    changed: Kernel, project: Path
) -> None:
    _, page = card(changed)

    page.answer("undo", "c1")

    operations = after_a_press(page, "c1 undone as c2")
    assert greeting(project) == BEFORE
    assert "button" not in str([o for o in operations if o["op"] == "put"])
    changed.run("'after'")
    assert any("undone" in text.split("\n")[0] for text in updates(changed))
    printed = [m for m in changed.heard if m["msg_type"] == "stream"]
    assert not any("undone" in str(cast("Json", m["content"])["text"]) for m in printed)


@requirement("REQ-S64")
def test_a_refusal_is_said_in_the_place_of_the_button_which_stays(
    changed: Kernel, project: Path
) -> None:
    _, page = card(changed)
    code = page.code("c1")
    (project / "hello.txt").write_text("Mine.\n", encoding="utf-8")

    page.send({"do": "undo", "prompt": "c1", "nonce": code})

    operations = after_a_press(page, "it was not undone. Compare: %agent changes c1")
    assert greeting(project) == "Mine.\n"
    assert "Undo c1" in str(operations)
    codes = [o["code"] for o in operations if o["op"] == "code"]
    assert codes
    assert code not in codes


@requirement("REQ-S7", "REQ-S31")
@pytest.mark.parametrize(
    "message",
    [
        {"do": "undo", "prompt": "c1", "nonce": ""},
        {"do": "undo", "prompt": "c1", "nonce": "guessed"},
        {"do": "undo", "prompt": "c9", "nonce": "guessed"},
        {"do": "undo", "prompt": "c1"},
        {"do": "allow", "prompt": "c1", "nonce": "guessed"},
        "undo",
    ],
)
def test_a_message_without_the_code_of_the_button_does_nothing(
    changed: Kernel, project: Path, message: object
) -> None:
    _, page = card(changed)
    page.code("c1")

    page.send(message)
    page.answer("undo", "c1")  # one that counts, to know that the other was heard before

    after_a_press(page, "c1 undone as c2")
    assert greeting(project) == BEFORE
    assert said(changed.run("%agent changes")).startswith("c2")


def test_a_code_counts_once(changed: Kernel, project: Path) -> None:
    _, page = card(changed)
    press = {"do": "undo", "prompt": "c1", "nonce": page.code("c1")}

    page.send(press)
    page.send(press)

    after_a_press(page, "c1 undone as c2")
    assert said(changed.run("%agent changes")).startswith("c2")
    assert greeting(project) == BEFORE


def test_where_nobody_can_press_the_card_comes_without_buttons(changed: Kernel) -> None:
    (bundle,) = changed.run("%agent changes").shown

    assert set(bundle) == {"text/html", "text/plain"}
    assert "%agent undo c1" in bundle["text/html"]


def test_after_unloading_a_press_does_nothing(changed: Kernel, project: Path) -> None:
    _, page = card(changed)
    code = page.code("c1")

    changed.run("%unload_ext arc_workbench")
    page.send({"do": "undo", "prompt": "c1", "nonce": code})

    changed.run("'after'")
    assert greeting(project) == AFTER


def test_buttons_give_way_to_what_they_came_to_when_the_next_are_shown(
    changed: Kernel, project: Path
) -> None:
    run, page = card(changed)
    page.answer("undo", "c1")
    after_a_press(page, "c1 undone as c2")
    assert greeting(project) == BEFORE

    changed.run("%agent changes", allow_stdin=True)

    kept = drawn_again(changed, bar_of(run))
    assert WIDGET not in kept
    assert "c1 undone as c2" in kept["text/html"]
    assert "<button" not in kept["text/html"]


def test_buttons_that_nobody_pressed_leave_nothing_once_a_change_is_taken_back(
    changed: Kernel,
) -> None:
    run, _ = card(changed)

    changed.run("%agent undo", allow_stdin=True)

    assert drawn_again(changed, bar_of(run)) == {"text/html": "", "text/plain": ""}


def test_buttons_give_way_when_the_kernel_ends(changed: Kernel) -> None:
    run, _ = card(changed)

    changed.client.shutdown()

    assert drawn_again(changed, bar_of(run)) == {"text/html": "", "text/plain": ""}


def test_a_page_that_came_later_is_told_that_the_card_is_from_before(changed: Kernel) -> None:
    _, page = card(changed)
    page.code("c1")
    later = PagePart(changed, subshell=page.subshell, name="load2-place1")

    later.ready()

    def is_told(message: Json) -> bool:
        return any(
            "This page was loaded after the card above" in str(o) for o in later.ops_of(message)
        )

    changed.hear(is_told)
    assert not any(is_told(m) for m in changed.drain() if page.ops_of(m))


# ---- recovery -----------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from arc_workbench.__main__ import main
from arc_workbench.workspace import system

def killed(*names):
    os.kill(os.getpid(), signal.SIGKILL)

system.exchange = system.rename_over = killed
main(sys.argv[1:])
"""


def kill_a_writer(kernel: Kernel) -> None:
    edit = '{"path": "hello.txt", "oldText": "Moon", "newText": "Mars"}'
    command = ["tool", "edit", "--input", edit, "--mode", "acceptEdits"]
    kernel.run(
        "import subprocess, sys\n"
        f"done = subprocess.run([sys.executable, '-c', {KILLED!r}, *{command!r}])\n"
    )
    assert kernel.value("done.returncode") == "-9"


@requirement("REQ-F3", "BUG-E18")
def test_a_writer_that_was_killed_leaves_the_file_whole_and_a_report(
    changed: Kernel, project: Path
) -> None:
    kill_a_writer(changed)
    assert greeting(project) == AFTER

    run = changed.run("%agent recovery")

    assert said(run).split("\n")[0] == "repaired"
    assert "c2  hello.txt" in said(run)
    assert "Repaired: one change had been cut off" in run.shown[0]["text/html"]
    assert said(changed.run("%agent changes")).split("\n")[0].endswith("taken back")


@requirement("REQ-F26")
def test_the_next_session_reports_it_at_the_top_of_its_first_turn(
    kernel: Kernel, project: Path
) -> None:
    kernel.run(LOAD)
    kill_a_writer(kernel)

    run = kernel.run(WRITTEN)

    lines = said(run).split("\n")
    assert any("Repaired: one change had been cut off" in line for line in lines[:3])
    assert "aw-card__title" in str(run.shown[0]["text/html"])


def damage(kernel: Kernel) -> None:
    """Change one byte in the middle of the journal."""
    kernel.run(
        "import os\n"
        "from pathlib import Path\n"
        "(file,) = Path(os.environ['ARC_WORKBENCH_HOME']).rglob('journal.jsonl')\n"
        "data = bytearray(file.read_bytes())\n"
        "data[len(data) // 3] ^= 1\n"
        "file.write_bytes(bytes(data))\n"
    )


@requirement("S2-083", "S2-084")
def test_a_damaged_journal_stops_writing_until_it_is_put_aside(
    changed: Kernel, project: Path
) -> None:
    damage(changed)
    (project / "hello.txt").write_text(BEFORE, encoding="utf-8")
    changed.run("%reload_ext arc_workbench")
    again = agent(task="Again.", options="--access full --mode acceptEdits")

    shown = said(changed.run(again))

    assert "Tampered: the journal does not add up" in shown
    assert "writing is off, reading works" in shown
    assert "Journal tampered: writing blocked, reading works. See %agent recovery" in shown
    assert greeting(project) == BEFORE
    assert said(changed.run("%agent recovery")).startswith("tampered · writing is off")
    assert said(changed.run("%agent recovery keep journal")).startswith(
        "the damaged journal is put aside and a new one begins"
    )
    assert said(changed.run("%agent recovery")) == "clean"


def make_unclear(kernel: Kernel, project: Path) -> None:
    """A writer is killed, and then the file and what lies beside it are changed by hand."""
    kill_a_writer(kernel)
    for left in project.glob(".arc-workbench-*"):
        left.unlink()
    (project / "hello.txt").write_text("Mine.\n", encoding="utf-8")


@requirement("S2-083")
@pytest.mark.parametrize("session", [True, False], ids=["in a session", "without one"])
@pytest.mark.parametrize(
    ("verb", "holds", "words"),
    [
        ("keep", "Mine.\n", "c2 kept as it is; writing works"),
        (
            "restore",
            AFTER,
            "c2: hello.txt is what it was before; what stood there is kept: undo with "
            "%agent undo c3; writing works",
        ),
    ],
)
def test_a_person_decides_what_only_a_person_can_know(
    changed: Kernel, project: Path, verb: str, holds: str, words: str, session: bool
) -> None:
    make_unclear(changed, project)
    if not session:
        changed.run("%reload_ext arc_workbench")

    report = changed.run("%agent recovery")

    assert said(report).startswith("ambiguous · writing is off, reading works")
    assert said(report).split("\n")[1].startswith("c2  hello.txt")
    assert f"%agent recovery {verb} c2" in said(report)
    assert "Ambiguous: one file needs you" in report.shown[0]["text/html"]
    decided = said(changed.run(f"%agent recovery {verb} c2"))
    assert decided.split("\n")[0] == (words if session else f"{words} · {IN_PROJECT}")
    assert "ambiguous" not in said(changed.run("%agent recovery"))
    assert greeting(project) == holds


def test_the_card_of_a_report_has_a_button_for_each_way_out(changed: Kernel, project: Path) -> None:
    make_unclear(changed, project)
    _, page = card(changed, "%agent recovery")
    page.code("restore-c2")
    (tree,) = [o["tree"] for m in changed.drain() for o in page.ops_of(m) if o["op"] == "all"]
    assert "'role': 'group', 'aria-labelledby': 'aw-asks-c2'" in str(tree).replace('"', "'")
    assert "['span', {'class': 'aw-sr'}, ': c2, hello.txt']" in str(tree)

    page.answer("keep", "keep-c2")

    operations = after_a_press(page, "c2 kept as it is; writing works")
    assert "button" not in str([o for o in operations if o["op"] == "put"])
    assert greeting(project) == "Mine.\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%agent undo c99", "c99"),
        ("%agent changes c99", "c99"),
        ("%agent recovery keep", "Which change? Type: %agent recovery keep c3"),
        ("%agent recovery keep c1", "c1 needs no decision."),
        ("%agent recovery drop c1", "drop is no recovery; nothing ran. Known: keep, restore."),
        ("%agent dryrun off", "off is no dryrun; nothing ran. Known: on, diff, apply, discard."),
        ("%agent dryrun apply", ""),
    ],
)
def test_a_slip_is_one_line_and_changes_nothing(
    changed: Kernel, project: Path, line: str, words: str
) -> None:
    run = changed.run(line)

    assert run.status == "error"
    assert words in failed_with(run)
    assert len(cast("Mapping[str, Any]", run.reply)["traceback"]) == 1
    assert greeting(project) == AFTER
