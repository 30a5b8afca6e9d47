"""The notebook people open first, driven as a person would: run, look, allow, see the diff."""

import json
from typing import cast

from tests.browser.conftest import Open
from tests.conftest import ROOT
from tests.requirements import requirement

QUICKSTART = ROOT / "notebooks" / "01_quickstart.ipynb"
SETUP, AGENT, AFTER = range(3)


def quickstart_cells() -> list[str]:
    """The source of its code cells."""
    notebook = json.loads(QUICKSTART.read_text(encoding="utf-8"))
    cells = cast("list[dict[str, object]]", notebook["cells"])
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    return ["".join(cast("list[str]", source)) for source in code]


@requirement("CARD-015", "CARD-016", "CARD-022")
def test_a_person_allows_each_step_and_the_tests_turn_green(in_lab: Open) -> None:
    load, make, tests, agent, *_ = quickstart_cells()
    notebook = in_lab(f"{load}\n{make}\n{tests}", agent, "tests()")
    notebook.run(SETUP)
    notebook.wait_until_done(SETUP)

    notebook.run(AGENT)
    notebook.see("Run this command?", cell=AGENT)
    notebook.press("Allow once")
    notebook.see("Change this file?", cell=AGENT)
    notebook.ready_card()
    notebook.screenshot("quickstart-asks-light")
    notebook.press("Allow once")
    notebook.see("Run this command?", cell=AGENT)
    notebook.press("Allow for this session")
    notebook.wait_until_done(AGENT)
    notebook.see("Green: 2 passed", cell=AGENT)
    notebook.output(AGENT).scroll_into_view_if_needed()
    notebook.screenshot("quickstart-done-light")

    notebook.run(AFTER)
    notebook.see("2 passed", cell=AFTER)
