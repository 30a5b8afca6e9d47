"""A real kernel for every test, with the lowest supported ipykernel and with the installed one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.scripts import FILES
from tests.notebook.kernel import Kernel, kernel_in

LOWEST = "7.3.0"
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def lowest_ipykernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds nothing but the lowest supported ipykernel, to be put before the rest."""
    folder = tmp_path_factory.mktemp("ipykernel")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    try:
        subprocess.run([*pip, f"ipykernel=={LOWEST}"], check=True, capture_output=True, timeout=60)
    except (subprocess.SubprocessError, OSError) as fault:
        pytest.skip(f"ipykernel {LOWEST} could not be installed beside the other: {fault}")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The kernel's working directory: a greeting, and the scripts that change it."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(params=[LOWEST, "installed"])
def kernel(
    request: pytest.FixtureRequest,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Kernel]:
    """A kernel that can import the package, started in the project."""
    path = [str(ROOT)]
    if request.param == LOWEST:
        path.insert(0, str(request.getfixturevalue("lowest_ipykernel")))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    with kernel_in(project, os.environ) as started:
        yield started


@pytest.fixture
def is_lowest(request: pytest.FixtureRequest, kernel: Kernel) -> bool:
    """Whether the kernel of this test is the lowest supported one."""
    return LOWEST in request.node.name
