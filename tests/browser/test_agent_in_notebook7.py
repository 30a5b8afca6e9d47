"""An agent cell in Notebook 7: the main path, and a page that is reloaded meanwhile."""

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.scripts import FILES, LOAD, agent
from tests.requirements import requirement


@requirement("BUG-N1")
def test_a_call_that_is_allowed_runs(in_notebook7: Open) -> None:
    notebook = in_notebook7(LOAD, agent(), files=FILES)
    notebook.run(0)
    notebook.run(1)
    notebook.ready_card()
    expect(notebook.button("Deny")).to_be_focused()
    notebook.screenshot("notebook7-asks-light")
    notebook.press("Allow once")
    notebook.wait_until_done(1)
    notebook.see("Finished", cell=1)
    notebook.screenshot("notebook7-done-light")
    assert notebook.file("hello.txt") == "Goodbye, Moon.\n"


def test_a_reloaded_page_takes_the_question_up_again(in_notebook7: Open) -> None:
    notebook = in_notebook7(LOAD, agent(), files=FILES)
    notebook.run(0)
    notebook.run(1)
    notebook.ready_card()
    notebook.save()
    notebook.reload()
    notebook.press("Deny")
    notebook.see("I was told:", cell=1)
    assert notebook.file("hello.txt") == "Hello, Moon.\n"
