"""What every test gets: its own state folder, no keys, loopback only, a time limit by folder."""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"

# pyproject.toml gives the other tests ten seconds.
SECONDS = {"faults": 180, "integration": 180, "notebook": 120, "browser": 180}
TORTURE_SECONDS = 3600


def pytest_configure() -> None:
    sys.addaudithook(_fence)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("timeout") is None and (seconds := _seconds(item)):
            item.add_marker(pytest.mark.timeout(seconds))


def _seconds(item: pytest.Item) -> int | None:
    if item.get_closest_marker("torture"):
        return TORTURE_SECONDS
    return SECONDS.get(item.path.relative_to(ROOT / "tests").parts[0])


class OutsideLoopbackError(RuntimeError):
    """A test tried to reach the network."""


def _fence(event: str, args: tuple[object, ...]) -> None:
    """An audit hook: it sees every connection of this process, but not those of its children."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        if not isinstance(args[1], tuple):  # a Unix socket, or one that is connected already
            return
        host = str(cast("tuple[object, ...]", args[1])[0])
        allowed = _is_local(host, otherwise=False)
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = args[0].decode() if isinstance(args[0], bytes) else str(args[0] or "")
        allowed = _is_local(host, otherwise=True)
    else:
        return
    if not allowed:
        raise OutsideLoopbackError(f"{event} to {host}: tests stay on loopback; serve it there.")


def _is_local(host: str, *, otherwise: bool) -> bool:
    """Whether a name is this machine's; for the address of another, what the caller says."""
    if host in {"", "localhost", socket.gethostname()}:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified or otherwise


@pytest.fixture(scope="session", autouse=True)
def fenced_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What servers and kernels that outlive one test start from."""
    with pytest.MonkeyPatch.context() as patch:
        _fence_environment(patch, tmp_path_factory.mktemp("session-home"))
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of this test: empty, its own, outside `tmp_path`."""
    folder = tmp_path_factory.mktemp("home")
    _fence_environment(monkeypatch, folder)
    return folder


def _fence_environment(patch: pytest.MonkeyPatch, home: Path) -> None:
    for name in [*os.environ]:
        if name.startswith("ARC_WORKBENCH_") or name.endswith("_API_KEY"):
            patch.delenv(name)
    patch.setenv("ARC_WORKBENCH_HOME", str(home))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Test data that lies beside the repository, not in it."""
    return _shared("corpora")


@pytest.fixture(scope="session")
def spec() -> Path:
    """The two published pages and what was decided about them."""
    return _shared("spec")


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"shared/{name} does not lie beside the repository")
    return folder
