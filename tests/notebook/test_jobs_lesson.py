"""The notebook on background jobs, executed with nobody there."""

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import nbclient
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT
from tests.requirements import requirement

NBFORMAT: Any = importlib.import_module("nbformat")  # it has no types
LESSON = ROOT / "notebooks" / "04_background_jobs.ipynb"
SCRIPT = LESSON.with_suffix(".yaml")


def stored() -> NotebookNode:
    """The notebook as it is in the repository."""
    notebook: NotebookNode = NBFORMAT.read(LESSON, as_version=4)
    return notebook


def executed(folder: Path) -> NotebookNode:
    """The notebook with its outputs, run beside its script."""
    notebook = stored()
    shutil.copy(SCRIPT, folder)
    environment = {
        **os.environ,
        "ARC_WORKBENCH_PACE": "0",
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder),
    }
    client = nbclient.NotebookClient(notebook, timeout=90, kernel_name="python3")
    client.execute(cwd=str(folder), env=environment)
    return notebook


def texts(notebook: NotebookNode) -> dict[str, list[str]]:
    """What each output of a code cell shows, as plain text, by the id of the cell."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: [*map(_text, cell.outputs)] for cell in code}


def _text(output: NotebookNode) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    return executed(tmp_path_factory.mktemp("one"))


@requirement("CARD-020", "BUG-N8", "REQ-S83", "REQ-S84")
def test_it_shows_what_it_says(done: NotebookNode) -> None:
    shown = texts(done)

    assert shown["press"][1] == "j1  running  python3 press.py"
    assert shown["work"] == ["338350"]
    assert shown["tail"][0].split("\n") == [
        "j1  running  python3 press.py",
        "printing chapter 1",
        "printing chapter 2",
        "printing chapter 3",
        "waiting for the last chapter",
    ]
    assert shown["last"] == ["j1  exit 0  python3 press.py"]
    assert "The first page has 38 bytes" in shown["log"][0]
    assert "The rest ends the log (true)" in shown["log"][0]
    assert "Four jobs run (j2, j3, j4, j5); this one did not start." in shown["five"][0]
    assert shown["five"][4].startswith("j5  running  nohup setsid sh beat.sh")
    assert shown["beat"] == ["True"]
    assert shown["kill"][0].startswith("j5  stopped")
    assert shown["silence"] == ["True"]
    assert [line.split("  ")[:2] for line in shown["end"][0].split("\n")] == [
        ["j5", "stopped"],
        ["j4", "stopped"],
        ["j3", "stopped"],
        ["j2", "stopped"],
        ["j1", "exit 0"],
    ]


def test_its_plain_text_is_the_same_in_another_folder_at_another_time(
    done: NotebookNode, tmp_path: Path
) -> None:
    assert texts(executed(tmp_path)) == texts(done)


def test_it_is_stored_without_outputs_and_no_cell_may_fail() -> None:
    notebook = stored()

    assert [cell for cell in notebook.cells if cell.get("outputs")] == []
    assert [cell.id for cell in notebook.cells if cell.metadata.get("tags")] == []
