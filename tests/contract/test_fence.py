"""The fence around the tests."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from tests import requirements
from tests.conftest import OutsideLoopbackError


def test_a_connection_outside_loopback_is_refused() -> None:
    with socket.socket() as outside, pytest.raises(OutsideLoopbackError, match="loopback"):
        outside.connect(("192.0.2.1", 9))


def test_a_name_outside_is_not_looked_up() -> None:
    with pytest.raises(OutsideLoopbackError):
        socket.getaddrinfo("example.org", 80)


async def test_a_loopback_server_can_be_reached_from_an_async_test() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("localhost", port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


def test_state_goes_to_an_empty_folder_of_the_test(home: Path, tmp_path: Path) -> None:
    assert os.environ["ARC_WORKBENCH_HOME"] == str(home)
    assert list(home.iterdir()) == []
    assert not home.is_relative_to(tmp_path)


def test_keys_of_the_person_are_not_seen() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []


@pytest.mark.parametrize("wrong", ["S3-001", "S1-36", "REQ-X1", "BUG-15", "J17", ""])
def test_an_id_of_no_known_shape_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="S1-036"):
        requirements.requirement("S1-036", wrong)


def test_a_requirement_names_something() -> None:
    with pytest.raises(ValueError, match="No id"):
        requirements.requirement()
