"""What is built from this folder is complete, and works where this folder is not."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath
from typing import cast

import pytest

from tests.conftest import ROOT
from tests.requirements import requirement

NOT_SOURCE = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")


@dataclass(frozen=True)
class Built:
    """The two files that a release consists of."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    source = tmp_path_factory.mktemp("source") / "repository"
    shutil.copytree(ROOT, source, ignore=NOT_SOURCE)
    run(sys.executable, "-m", "build", "--no-isolation", cwd=source)
    (wheel,) = source.glob("dist/*.whl")
    (sdist,) = source.glob("dist/*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it.

    Its dependencies come by a path file from the environment of the tests, because a full
    installation would fetch some sixty packages. Path files of that environment have no effect
    there, so the editable installation in it is not seen.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    run(
        *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"),
        *("--no-index", "--no-deps", str(built.wheel)),
        cwd=folder,
    )
    site_packages = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])").strip())
    outer = sysconfig.get_path("purelib")
    (site_packages / "dependencies.pth").write_text(outer + "\n", encoding="utf-8")
    return folder


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a program prints; fails with its errors if it does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def project() -> dict[str, object]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return cast("dict[str, object]", tomllib.loads(text)["project"])


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf-8"))


@requirement("CARD-012")
def test_the_wheel_holds_the_whole_package_and_nothing_else(built: Built) -> None:
    package = ROOT / "arc_workbench"
    source = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(built.wheel) as archive:
        names = archive.namelist()

    assert {name for name in names if ".dist-info/" not in name} == source
    assert {PurePosixPath(name).suffix for name in source} >= {".py", ".js", ".css", ".yaml"}
    assert "arc_workbench/py.typed" in source
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_source_archive_builds_and_tests_itself(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {"/".join(PurePosixPath(name).parts[1:]) for name in archive.getnames()}

    assert names >= {"pyproject.toml", "constraints.txt", "dev", "LICENSE", "tests/conftest.py"}
    assert {name.split("/")[0] for name in names} & {".git", ".venv", "build", "dist"} == set()


def test_version_and_name_are_those_of_the_project_file(built: Built) -> None:
    wheel = metadata(built.wheel)

    assert wheel["Version"] == project()["version"]
    assert built.wheel.name.startswith(f"arc_workbench-{wheel['Version']}-py3-none-any")
    assert built.sdist.name == f"arc_workbench-{wheel['Version']}.tar.gz"


@requirement("CARD-002", "CARD-003", "CARD-004", "CARD-011")
def test_the_packages_of_the_brief_are_asked_for(built: Built) -> None:
    required = metadata(built.wheel).get_all("Requires-Dist") or []
    base = [line for line in required if "extra ==" not in line]

    assert [name for name in ("ipykernel", "ipywidgets") if not starts_one(name, base)] == []
    extra = [name for name in ("jupyterlab", "pytest", "nbval") if not starts_one(name, required)]
    assert extra == []


def test_every_package_that_is_imported_is_asked_for() -> None:
    owners = packages_distributions()
    third_party = imported_names() - sys.stdlib_module_names - {"arc_workbench"}
    declared = {plain(line) for line in cast("list[str]", project()["dependencies"])}

    undeclared = {
        name: owners[name] for name in third_party if not declared & {*map(plain, owners[name])}
    }

    assert undeclared == {}


def imported_names() -> set[str]:
    """The first part of every name that the package imports."""
    names: set[str] = set()
    for path in (ROOT / "arc_workbench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names


def plain(requirement_line: str) -> str:
    """The name in a requirement, spelt the one way."""
    name = re.split(r"[^\w.-]", requirement_line, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def starts_one(name: str, lines: list[str]) -> bool:
    return any(line.startswith(f"{name}>=") for line in lines)


@requirement("CARD-014", "CARD-020")
def test_the_extension_loads_where_only_the_wheel_is_installed(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    code = "\n".join(
        (
            "%load_ext arc_workbench",
            "import arc_workbench",
            "print(arc_workbench.__file__)",
            "print(get_ipython().find_cell_magic('agent') is not None)",
        )
    )

    printed = run(installed / "bin/python", "-m", "IPython", "-c", code, cwd=tmp_path)

    place, registered = printed.splitlines()
    assert Path(place).is_relative_to(installed)
    assert registered == "True"


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    assert "arc-workbench" in run(installed / "bin/arc-workbench", "--help", cwd=tmp_path)
