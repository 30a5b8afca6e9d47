"""What tests of tools share."""

from pathlib import Path

import pytest

from tests.unit.toolsets.filetools import FileTools


@pytest.fixture
def files(tmp_path: Path) -> FileTools:
    """A project folder with the file tools at hand."""
    root = tmp_path / "proj"
    root.mkdir()
    return FileTools(root)
