"""A folder in memory where there is one: nothing here waits for a disk, kills and cuts are ours."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder on the fastest file system."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path.resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="arc-faults-", dir=MEMORY)).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def scale() -> float:
    """How much longer or shorter the random runs are to be."""
    return float(os.environ.get("ARC_TEST_SCALE", "1"))
