"""What was changed, taken back by a button, and the cards of what was found, in JupyterLab."""

import json
from collections.abc import Mapping

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Open
from tests.browser.page import PATIENCE_MS, UNKNOWN_KERNEL, Notebook, Theme
from tests.browser.scripts import AROUND, FILES, LOAD, agent
from tests.notebook.test_undoing import KILLED
from tests.requirements import requirement

BEFORE = "Hello, Moon.\n"
AFTER = "Goodbye, Moon.\n"
WRITE = agent(options="--access full --mode acceptEdits")
THEMES: Mapping[str, Theme] = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def changed(open_: Open, *more: str) -> Notebook:
    """A notebook whose agent has changed the greeting; `more` are the cells after it, run too."""
    notebook = open_(LOAD, WRITE, *more, files=FILES)
    for number in range(2 + len(more)):
        notebook.run(number)
        notebook.wait_until_done(number)
    assert notebook.file("hello.txt") == AFTER
    return notebook


def button(notebook: Notebook, cell: int, name: str) -> Locator:
    found = notebook.output(cell).get_by_role("button", name=name, exact=True)
    found.wait_for()
    found.scroll_into_view_if_needed()
    return found


def opened(notebook: Notebook, cell: int) -> None:
    """Open every row of a run."""
    rows = notebook.output(cell).locator(".aw-tool:not([open]) > summary")
    while rows.count():
        rows.first.click()


# ---- buttons ------------------------------------------------------------------------------------


@requirement("BUG-N1", "CARD-016")
def test_a_press_takes_the_change_back_and_both_outputs_say_so(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1", "6 * 7")
    undo = button(notebook, 2, "Undo c1")
    notebook.screenshot("undo-button-light")

    undo.click()

    notebook.see("c1 undone as c2", cell=2)
    expect(notebook.output(2).locator("button")).to_have_count(0, timeout=PATIENCE_MS)
    expect(notebook.output(2).locator("td", has_text="undone")).to_be_visible(timeout=PATIENCE_MS)
    assert notebook.file("hello.txt") == BEFORE
    notebook.screenshot("undo-done-light")
    expect(notebook.output(3)).to_have_text("[4]:42")


def test_notebook_7_has_the_buttons_too(in_notebook7: Open) -> None:
    notebook = changed(in_notebook7, "%agent changes c1")

    button(notebook, 2, "Undo c1").click()

    notebook.see("c1 undone as c2", cell=2)
    expect(notebook.output(2).locator("td", has_text="undone")).to_be_visible(timeout=PATIENCE_MS)
    assert notebook.file("hello.txt") == BEFORE


@requirement("REQ-S7")
def test_a_scripted_click_and_a_key_on_a_moved_focus_are_refused(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1")
    undo = button(notebook, 2, "Undo c1")
    undo.evaluate("button => button.click()")
    undo.evaluate("button => button.focus()")
    notebook.page.keyboard.press("Enter")
    expect(undo).to_be_enabled()
    assert notebook.file("hello.txt") == AFTER

    undo.click()
    notebook.see("c1 undone as c2", cell=2)
    assert notebook.file("hello.txt") == BEFORE


@requirement("REQ-S64")
def test_a_file_that_was_changed_by_hand_stays_and_the_refusal_says_what_to_do(
    in_lab: Open,
) -> None:
    notebook = changed(in_lab, "%agent changes")
    undo = button(notebook, 2, "Undo c1")
    (notebook.path.parent / "hello.txt").write_text("Mine.\n", encoding="utf-8")

    undo.click()

    notebook.see("hello.txt changed after c1; it was not undone.", cell=2)
    notebook.screenshot("undo-refused-light")
    expect(button(notebook, 2, "Undo c1")).to_be_enabled()
    assert notebook.file("hello.txt") == "Mine.\n"


def test_a_list_has_a_button_for_each_change_that_stands(in_lab: Open) -> None:
    script = agent("two", options="--access full --mode acceptEdits")
    notebook = in_lab(LOAD, script, "%agent changes", files=FILES)
    for number in range(3):
        notebook.run(number)
        notebook.wait_until_done(number)
    button(notebook, 2, "Undo c1")

    button(notebook, 2, "Undo c2").click()

    notebook.see("c2 undone as c3", cell=2)
    notebook.see("undo of c2", cell=2)
    assert notebook.file("hello.txt") == AFTER
    expect(button(notebook, 2, "Undo c1")).to_be_enabled()


def test_the_buttons_die_with_their_kernel_and_the_card_stays(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1")
    button(notebook, 2, "Undo c1")
    notebook.restart()
    notebook.wait_until_idle()
    expect(notebook.output(2).locator("button:enabled")).to_have_count(0, timeout=PATIENCE_MS)
    notebook.see("%agent undo c1", cell=2)
    assert notebook.file("hello.txt") == AFTER


@requirement("BUG-N4", "BUG-N21")
def test_a_notebook_that_is_opened_without_a_kernel_says_what_to_type(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1")
    button(notebook, 2, "Undo c1")
    notebook.save()

    saved = notebook.saved()
    saved["metadata"] = {"kernelspec": {"name": UNKNOWN_KERNEL, "display_name": UNKNOWN_KERNEL}}
    again = in_lab(kernel=False, files={"book.ipynb": json.dumps(saved)})
    again.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()

    again.see("Goodbye, Moon.", cell=2)
    again.see("Undo it: %agent undo c1", cell=2)
    expect(again.output(2).locator("button")).to_have_count(0)
    again.screenshot("undo-reopened-light")


@requirement("BUG-N4", "BUG-N21")
def test_a_saved_notebook_shows_no_error_where_its_buttons_were(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1")
    button(notebook, 2, "Undo c1")
    notebook.restart()
    notebook.wait_until_idle()
    notebook.save()

    again = in_lab(files={"book.ipynb": json.dumps(notebook.saved())})

    again.see("Undo it: %agent undo c1", cell=2)
    again.page.wait_for_timeout(3_000)
    shown = again.output(2).inner_text()
    assert "Error displaying widget" not in shown
    assert "Loading widget" not in shown
    again.screenshot("undo-reopened-with-kernel-light")


def test_a_saved_notebook_holds_what_buttons_came_to_instead_of_the_buttons(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1", "%agent undo c2")
    button(notebook, 2, "Undo c1").click()
    notebook.see("c1 undone as c2", cell=2)
    notebook.run(3)
    notebook.see("c2 undone as c3", cell=3)
    expect(notebook.output(2)).to_contain_text("To take that back: %agent undo c2")
    notebook.save()

    saved = json.dumps(notebook.saved())

    assert "widget-view" not in saved
    assert "To take that back: %agent undo c2" in saved


def test_after_a_press_the_focus_is_on_the_line_that_says_what_it_came_to(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes c1")
    button(notebook, 2, "Undo c1").click()
    notebook.see("c1 undone as c2", cell=2)

    focused = notebook.page.evaluate("document.activeElement.textContent")

    assert "c1 undone as c2" in focused


def test_short_words_of_a_table_do_not_break(in_lab: Open) -> None:
    notebook = changed(in_lab, "%agent changes")
    notebook.page.set_viewport_size({"width": 700, "height": 800})
    cells = notebook.output(2).locator("th, td > code")
    cells.first.wait_for()

    heights = cells.evaluate_all("all => all.map(each => each.getClientRects().length)")
    lines = cells.evaluate_all(
        "all => all.map(each => { const r = document.createRange();"
        " r.selectNodeContents(each); return new Set([...r.getClientRects()]"
        ".map(b => Math.round(b.top))).size; })"
    )

    assert set(heights) == {1}
    assert set(lines) == {1}


# ---- what was found -----------------------------------------------------------------------------


@requirement("CARD-016", "REQ-S19")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_a_look_around_found_stands_in_tables(in_lab: Open, theme: str) -> None:
    cell = agent("around", options="--access full --mode acceptEdits")
    notebook = in_lab(LOAD, cell, files={**FILES, **AROUND})
    notebook.use_theme(THEMES[theme])
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    notebook.see("That is what is here.", cell=1)
    opened(notebook, 1)

    output = notebook.output(1)
    expect(output.locator("mark", has_text="def now").first).to_be_visible()
    expect(output.get_by_role("table", name="Names")).to_contain_text("<img src=x onerror")
    expect(output.get_by_role("table", name="Outline").first).to_contain_text("Sum0")
    assert output.locator("img").count() == 0
    for name in ("Matches", "Names", "Outline"):
        output.get_by_role("table", name=name).first.scroll_into_view_if_needed()
        notebook.screenshot(f"found-{name.lower()}-{theme}")
    notebook.use_theme("JupyterLab Light")


# ---- the journal --------------------------------------------------------------------------------


@requirement("CARD-016", "REQ-F26")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_journal_is_shown_as_cards(in_lab: Open, theme: str) -> None:
    edit = '{"path": "hello.txt", "oldText": "Moon", "newText": "Mars"}'
    command = ["tool", "edit", "--input", edit, "--mode", "acceptEdits"]
    kill = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {KILLED!r}, *{command!r}]).returncode"
    )
    notebook = in_lab(
        LOAD, kill, WRITE, "%agent changes", "%agent recovery", "%agent undo", files=FILES
    )
    notebook.use_theme(THEMES[theme])
    for number in range(6):
        notebook.run(number)
        notebook.wait_until_done(number)

    notebook.see("Repaired: one change had been cut off", cell=2)
    notebook.see("taken back", cell=3)
    notebook.see("Repaired: one change had been cut off", cell=4)
    notebook.see("c2 undone as c3", cell=5)
    assert notebook.file("hello.txt") == BEFORE
    for number, name in ((2, "report"), (4, "recovery"), (5, "undo")):
        notebook.output(number).scroll_into_view_if_needed()
        notebook.screenshot(f"journal-{name}-{theme}")
    notebook.use_theme("JupyterLab Light")


def test_a_dry_run_is_shown_and_written_when_the_person_says_so(in_lab: Open) -> None:
    write = agent(options="--access full --mode acceptEdits --dry-run")
    notebook = in_lab(LOAD, write, "%agent dryrun diff", "%agent dryrun apply", files=FILES)
    for number in range(3):
        notebook.run(number)
        notebook.wait_until_done(number)
    notebook.see("dry run", cell=1)
    notebook.see("1 file would change", cell=1)
    notebook.see("Goodbye", cell=2)
    notebook.output(2).scroll_into_view_if_needed()
    notebook.screenshot("dryrun-diff-light")
    assert notebook.file("hello.txt") == BEFORE

    notebook.run(3)
    notebook.see("1 file written: c1", cell=3)
    assert notebook.file("hello.txt") == AFTER
