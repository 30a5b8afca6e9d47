"""The notebook people open first, executed with nobody there."""

import importlib
import os
import re
from pathlib import Path
from typing import Any

import nbclient
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT
from tests.requirements import requirement

NBFORMAT: Any = importlib.import_module("nbformat")  # it has no types
QUICKSTART = ROOT / "notebooks" / "01_quickstart.ipynb"


def stored() -> NotebookNode:
    """The notebook as it is in the repository."""
    notebook: NotebookNode = NBFORMAT.read(QUICKSTART, as_version=4)
    return notebook


def executed(folder: Path, policy: str) -> NotebookNode:
    """The notebook with its outputs, run in `folder` under a policy that was set outside."""
    notebook = stored()
    environment = {
        **os.environ,
        "ARC_WORKBENCH_POLICY": policy,
        "ARC_WORKBENCH_PACE": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "TMPDIR": str(folder),
    }
    client = nbclient.NotebookClient(notebook, timeout=90, kernel_name="python3")
    client.execute(cwd=str(folder), env=environment)
    return notebook


def texts(notebook: NotebookNode) -> list[str]:
    """What each code cell shows, as plain text."""
    return [
        "".join(map(_text, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"
    ]


def _text(output: NotebookNode) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    return executed(tmp_path_factory.mktemp("one"), "allow")


@requirement("CARD-020", "BUG-N8", "BUG-N9")
def test_it_goes_from_red_to_green_without_waiting_for_anybody(allowed: NotebookNode) -> None:
    shown = texts(allowed)

    assert shown[0] == ""
    assert "1 failed, 1 passed" in shown[2]
    assert "Nobody can answer; policy allow decides" in shown[3]
    assert "+    return sum(numbers) / len(numbers)" in shown[3]
    assert "2 passed" in shown[5]
    assert "I am a script and know only the tour" in shown[7]


def test_its_plain_text_is_the_same_in_another_folder_at_another_time(
    allowed: NotebookNode, tmp_path: Path
) -> None:
    assert texts(executed(tmp_path, "allow")) == texts(allowed)


def test_under_the_policy_that_denies_nothing_changes_and_the_notebook_says_so(
    tmp_path: Path,
) -> None:
    shown = texts(executed(tmp_path, "deny"))

    assert "Policy denied workspace_edit calc.py" in shown[3]
    assert "(len(numbers) - 1)" in shown[4]
    assert "1 failed, 1 passed" in shown[5]


@requirement("BUG-N4", "BUG-N21", "CARD-016")
def test_what_is_kept_is_html_and_text_that_need_no_kernel(allowed: NotebookNode) -> None:
    (output,) = allowed.cells[7].outputs

    assert set(output.data) == {"text/html", "text/plain"}
    html = output.data["text/html"]
    assert "<button" not in html
    assert "<script" not in html
    assert re.search(r"<del>.*</del>", html)


def test_it_is_stored_without_outputs_and_its_cells_have_ids() -> None:
    notebook = stored()

    assert [cell for cell in notebook.cells if cell.get("outputs")] == []
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
