"""A project folder with something beside it that must stay out of reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "proj_evil"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret\n", encoding="utf-8")
    return folder


@pytest.fixture
def workspace(root: Path, home: Path) -> Iterator[Workspace]:
    opened = Workspace(root, home)
    yield opened
    opened.close()
