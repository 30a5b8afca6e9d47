"""A notebook that is executed by a program: nobody is there, and nothing waits."""

from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from tests.browser.scripts import LOAD, agent
from tests.notebook.conftest import ROOT
from tests.requirements import requirement

Json = dict[str, Any]


def execute(project: Path, *cells: str) -> Json:
    """Run cells with nbclient; returns the notebook."""
    new = cast("Any", nbformat.v4)
    book = new.new_notebook(cells=[new.new_code_cell(cell) for cell in cells])
    client = NotebookClient(book, timeout=60, resources={"metadata": {"path": str(project)}})
    client.execute()
    return cast("Json", book)


@requirement("BUG-N8", "BUG-N21", "BUG-N4")
def test_an_executed_notebook_is_decided_by_policy_and_converts_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = execute(project, LOAD, agent(options="--access full"))
    (output,) = book["cells"][1]["outputs"]
    assert sorted(output["data"]) == ["text/html", "text/plain"]
    assert "Nobody can answer; policy rules decides." in output["data"]["text/plain"]
    assert (project / "hello.txt").read_text("utf-8") == "Hello, Moon.\n"

    html, _ = cast("Any", HTMLExporter)().from_notebook_node(book)
    assert "Nobody can answer" in html
    assert "I was told:" in html


@requirement("BUG-N8")
def test_a_policy_from_outside_lets_an_executed_notebook_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("ARC_WORKBENCH_POLICY", "allow")
    execute(project, LOAD, agent(options="--access full"))
    assert (project / "hello.txt").read_text("utf-8") == "Goodbye, Moon.\n"
