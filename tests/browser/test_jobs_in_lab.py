"""Background jobs in JupyterLab and Notebook 7: a card that lives on, stops, and is kept."""

import json
import re
from collections.abc import Mapping

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Open
from tests.browser.page import PATIENCE_MS, UNKNOWN_KERNEL, Notebook, Theme
from tests.notebook.job_scripts import JOBS, LOAD, work
from tests.requirements import requirement

THEMES: Mapping[str, Theme] = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
BUSY = "import time\nended = time.monotonic() + 12\nwhile time.monotonic() < ended:\n    pass"


def begun(open_: Open, script: str, *more: str) -> Notebook:
    """A notebook whose agent has begun a job; `more` are the cells after it."""
    notebook = open_(LOAD, work(script), *more, files=JOBS)
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    live(notebook).first.wait_for()
    return notebook


def live(notebook: Notebook, cell: int = 1) -> Locator:
    """The live cards of a cell."""
    return notebook.output(cell).locator(".aw-job--live")


def kept(notebook: Notebook, cell: int = 1) -> Locator:
    """What stands in the file of the jobs of a cell."""
    return notebook.output(cell).locator(".aw-job--saved")


def press(card: Locator, name: str) -> None:
    button = card.get_by_role("button", name=name, exact=True)
    button.scroll_into_view_if_needed()
    button.click()


@requirement("CARD-018", "BUG-N5")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_lives_on_after_its_cell_and_stop_works_while_another_cell_runs(
    in_lab: Open, theme: str
) -> None:
    notebook = in_lab(LOAD, work("two"), BUSY, files=JOBS)
    notebook.use_theme(THEMES[theme])
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    waits, counts = live(notebook).nth(0), live(notebook).nth(1)
    expect(waits).to_contain_text("Job 1, running")
    expect(waits.locator(".aw-elapsed")).to_have_text(re.compile(r"\d:\d\d"))
    expect(kept(notebook).first).to_be_hidden()
    notebook.run(2)
    expect(notebook.cell(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    expect(counts).to_contain_text("line 3")
    waits.scroll_into_view_if_needed()
    notebook.screenshot(f"jobs-running-{theme}")

    press(waits, "Stop job")

    expect(kept(notebook).first).to_contain_text("Job 1, stopped", timeout=PATIENCE_MS)
    expect(kept(notebook).nth(1)).to_contain_text("Job 2, ended: exit 0", timeout=PATIENCE_MS)
    assert notebook.prompt_of(2) == "[*]:"
    expect(kept(notebook).nth(1)).to_be_visible()
    expect(live(notebook)).to_have_count(0)
    kept(notebook).first.scroll_into_view_if_needed()
    notebook.screenshot(f"jobs-over-{theme}")
    notebook.wait_until_done(2)
    assert notebook.output(2).inner_text().strip() == ""
    notebook.use_theme("JupyterLab Light")


@requirement("CARD-018")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_whole_output_is_read_a_page_at_a_time(in_lab: Open, theme: str) -> None:
    notebook = in_lab(LOAD, work("long"), "%agent jobs tail j1", files=JOBS)
    notebook.use_theme(THEMES[theme])
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    card = live(notebook).first
    expect(card.locator(".aw-job__tail")).to_contain_text("20000")

    press(card, "Whole output")
    page = card.locator(".aw-job__page")
    expect(page).to_contain_text("1\n2\n3\n")
    expect(card.get_by_role("button", name="Earlier", exact=True)).to_have_count(0)
    press(card, "Later")
    expect(card).not_to_contain_text("Bytes 0 to")
    card.scroll_into_view_if_needed()
    notebook.screenshot(f"jobs-whole-{theme}")
    press(card, "End")
    expect(page).to_contain_text("19999\n20000")
    press(card, "Stop job")
    expect(card).to_contain_text("Job 1, stopped")
    press(card, "Start")
    expect(page).to_contain_text("1\n2\n3\n")
    press(card, "Back")

    expect(kept(notebook).first).to_be_visible()
    expect(kept(notebook).first).to_contain_text("Job 1, stopped")
    notebook.run(2)
    expect(live(notebook, 2).locator(".aw-job__page")).to_contain_text("19999\n20000")
    live(notebook, 2).scroll_into_view_if_needed()
    notebook.screenshot(f"jobs-tail-{theme}")
    notebook.use_theme("JupyterLab Light")


@requirement("BUG-N4", "BUG-N21")
def test_a_reloaded_page_shows_the_job_as_it_goes_on_and_can_stop_it(in_lab: Open) -> None:
    notebook = begun(in_lab, "wait")
    notebook.save()
    notebook.reload()
    card = live(notebook).first
    expect(card).to_contain_text("Job 1, running", timeout=PATIENCE_MS)
    notebook.screenshot("jobs-reloaded-light")

    press(card, "Stop job")

    expect(card).to_contain_text("Job 1, stopped", timeout=PATIENCE_MS)
    expect(card.get_by_role("button", name="Stop job", exact=True)).to_have_count(0)


@requirement("BUG-N4", "BUG-N21")
@pytest.mark.parametrize("kernel", [False, True])
def test_a_notebook_that_was_saved_while_a_job_ran_says_so_later(
    in_lab: Open, kernel: bool
) -> None:
    notebook = begun(in_lab, "wait")
    notebook.save()
    saved = notebook.saved()
    if not kernel:
        saved["metadata"] = {"kernelspec": {"name": UNKNOWN_KERNEL, "display_name": UNKNOWN_KERNEL}}
    press(live(notebook).first, "Stop job")
    expect(kept(notebook).first).to_contain_text("Job 1, stopped", timeout=PATIENCE_MS)

    again = in_lab(kernel=kernel, files={"book.ipynb": json.dumps(saved)})
    if not kernel:
        again.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()

    again.see("Job 1, running when this was kept", cell=1)
    again.see("As things stand: %agent jobs", cell=1)
    again.page.wait_for_timeout(3_000)
    assert "Error displaying widget" not in again.output(1).inner_text()
    expect(again.output(1).locator("button")).to_have_count(0)
    again.screenshot(f"jobs-saved-{'kernel' if kernel else 'none'}-light")


def test_a_notebook_that_is_saved_when_its_jobs_are_over_holds_no_widget(in_lab: Open) -> None:
    notebook = in_lab(LOAD, work("count"), files=JOBS)
    for number in range(2):
        notebook.run(number)
        notebook.wait_until_done(number)
    expect(kept(notebook).first).to_contain_text("Job 1, ended: exit 0", timeout=PATIENCE_MS)
    expect(live(notebook)).to_have_count(0)
    notebook.save()

    saved = json.dumps(notebook.saved())

    assert "widget-view" not in saved
    assert "j1  exit 0  for i in 1 2 3 4 5 6" in saved


@requirement("REQ-S83")
def test_a_restarted_kernel_ends_the_job_and_no_card_says_that_it_runs(in_lab: Open) -> None:
    notebook = begun(in_lab, "wait", "%agent jobs")
    notebook.restart()
    notebook.wait_until_idle()
    expect(live(notebook)).to_contain_text("Job 1, ended with its kernel", timeout=PATIENCE_MS)
    expect(kept(notebook)).to_be_hidden()
    notebook.screenshot("jobs-restarted-light")

    notebook.run(0)
    notebook.run(2)

    notebook.see("earlier kernel", cell=2)
    notebook.screenshot("jobs-listed-light")


@requirement("CARD-018")
def test_notebook_7_has_the_card_and_its_button(in_notebook7: Open) -> None:
    notebook = begun(in_notebook7, "wait")

    press(live(notebook).first, "Stop job")

    expect(kept(notebook).first).to_contain_text("Job 1, stopped", timeout=PATIENCE_MS)


def test_a_click_is_answered_while_four_jobs_write_at_full_speed(in_lab: Open) -> None:
    notebook = begun(in_lab, "flood")
    expect(live(notebook)).to_have_count(4)
    card = live(notebook).nth(3)

    press(card, "Stop job")

    expect(kept(notebook).nth(3)).to_contain_text("Job 4, stopped", timeout=PATIENCE_MS)
    for number in range(3):
        press(live(notebook).first, "Stop job")
        expect(live(notebook)).to_have_count(2 - number, timeout=PATIENCE_MS)
