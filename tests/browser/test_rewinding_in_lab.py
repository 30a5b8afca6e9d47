"""What a command changed, taken back by a button below its turn, in JupyterLab."""

import json

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.page import PATIENCE_MS, UNKNOWN_KERNEL
from tests.browser.scripts import LOAD
from tests.notebook.test_rewinding import BEFORE, CELL, SCRIPT
from tests.requirements import requirement

FILES = {"hello.txt": BEFORE, "change.yaml": SCRIPT}


@requirement("BUG-N1", "CARD-016")
def test_a_press_below_the_turn_takes_back_what_its_command_changed(in_lab: Open) -> None:
    notebook = in_lab(LOAD, CELL, "6 * 7", files=FILES)
    for number in range(3):
        notebook.run(number)
        notebook.wait_until_done(number)
    assert notebook.file("hello.txt") == "Goodbye\n"
    undo = notebook.output(1).get_by_role("button", name="Undo s1", exact=True)
    undo.scroll_into_view_if_needed()
    notebook.screenshot("rewind-button-light")

    undo.click()

    notebook.see("s1 undone as c1 to c2", cell=1)
    expect(undo).to_have_count(0, timeout=PATIENCE_MS)
    assert notebook.file("hello.txt") == BEFORE
    expect(notebook.output(2)).to_have_text("[3]:42")
    assert notebook.complaints == []


@requirement("BUG-N4", "BUG-N21")
def test_a_saved_notebook_says_what_to_type_and_shows_no_error_where_the_button_was(
    in_lab: Open,
) -> None:
    notebook = in_lab(LOAD, CELL, files=FILES)
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    notebook.output(1).get_by_role("button", name="Undo s1", exact=True).wait_for()
    notebook.save()

    saved = notebook.saved()
    saved["metadata"] = {"kernelspec": {"name": UNKNOWN_KERNEL, "display_name": UNKNOWN_KERNEL}}
    again = in_lab(kernel=False, files={"book.ipynb": json.dumps(saved)})
    again.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()

    again.see("Take back what a command changed: %agent undo s1", cell=1)
    expect(again.output(1).locator("button")).to_have_count(0)
    expect(again.output(1)).not_to_contain_text("Error displaying widget")
