"""A shell in an empty folder, with the environment of the tests."""

import os
from pathlib import Path

import pytest

from arc_workbench.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, os.environ)
