"""The notebook on undo and recovery, executed with nobody there."""

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
LESSON = ROOT / "notebooks" / "03_undo_and_recovery.ipynb"
SCRIPT = LESSON.with_suffix(".yaml")


def stored() -> NotebookNode:
    """The notebook as it is in the repository."""
    notebook: NotebookNode = NBFORMAT.read(LESSON, as_version=4)
    return notebook


def executed(folder: Path, policy: str) -> NotebookNode:
    """The notebook with its outputs, run beside its script under a policy that was set outside."""
    notebook = stored()
    shutil.copy(SCRIPT, folder)
    environment = {
        **os.environ,
        "ARC_WORKBENCH_POLICY": policy,
        "ARC_WORKBENCH_PACE": "0",
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder),
    }
    client = nbclient.NotebookClient(notebook, timeout=90, kernel_name="python3")
    client.execute(cwd=str(folder), env=environment)
    return notebook


def texts(notebook: NotebookNode) -> dict[str, str]:
    """What each code cell shows, as plain text, by the id of the cell."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: "".join(map(_text, cell.outputs)) for cell in code}


def _text(output: NotebookNode) -> str:
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    return executed(tmp_path_factory.mktemp("one"), "rules")


@requirement("CARD-020", "BUG-N8", "BUG-E18", "REQ-F3", "REQ-S64", "REQ-S144")
def test_it_shows_what_it_says(done: NotebookNode) -> None:
    shown = texts(done)

    assert shown["load"] == ""
    assert "+flour 500 g" in shown["edits"]
    assert shown["changes"].split("\n") == [
        "c2  edit  shopping.txt  +1 -1",
        "c1  edit  recipe.txt  +3 -3",
    ]
    assert shown["undo"] == "c2 undone as c3"
    assert "eggs 6" in shown["undone"]
    refused = "recipe.txt changed after c1; it was not undone. Compare: %agent changes c1"
    assert refused in shown["refused"]
    assert "+flour 500 g" in shown["compare"]
    assert "the writer ended with -9" in shown["crash"]
    assert "the file is whole: True" in shown["crash"]
    assert shown["recovery"].startswith("repaired\nc4  recipe.txt")
    assert "2 files would change" in shown["dry"]
    assert "milk 1000 ml" in shown["untouched"]
    assert "+oat milk 1000 ml" in shown["diff"]
    assert shown["apply"].startswith("2 files written: c5, c6")
    assert "oat milk 1000 ml" in shown["applied"]
    assert "a pinch of salt" in shown["applied"]


def test_its_plain_text_is_the_same_in_another_folder_at_another_time(
    done: NotebookNode, tmp_path: Path
) -> None:
    assert texts(executed(tmp_path, "rules")) == texts(done)


def test_it_is_stored_without_outputs_and_only_the_refusal_may_fail() -> None:
    notebook = stored()

    assert [cell for cell in notebook.cells if cell.get("outputs")] == []
    tagged = [cell.id for cell in notebook.cells if cell.metadata.get("tags")]
    assert tagged == ["refused"]
