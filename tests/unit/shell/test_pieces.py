"""Where a range of output ends."""

import pytest

from arc_workbench.shell.pieces import whole_piece
from arc_workbench.shell.states import Range
from tests.requirements import requirement


def ended(data: bytes, max_bytes: int, *, eof: bool = False) -> bytes:
    return whole_piece(Range(7, data, eof), max_bytes).data


@requirement("REQ-F39")
@pytest.mark.parametrize(
    ("data", "max_bytes", "kept"),
    [
        (b"one\ntwo", 7, b"one\n"),
        (b"one two", 7, b"one "),
        (b"onetwo", 6, b"onetwo"),
        ("aü".encode()[:2], 2, b"a"),
        ("ü".encode()[:1], 1, b"\xc3"),
        ("€€".encode()[:5], 5, "€".encode()),
        ("😀😀".encode()[:7], 7, "😀".encode()),
        (b"a\xff", 2, b"a\xff"),
        (b"\x80\x80\x80\x80\x80", 5, b"\x80\x80\x80\x80\x80"),
    ],
)
def test_a_cut_range_ends_with_a_line_a_word_or_a_character(
    data: bytes, max_bytes: int, kept: bytes
) -> None:
    assert ended(data, max_bytes) == kept


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"done\n12 %", b"done\n"),
        (b"Password: ", b"Password: "),
        ("ü".encode()[:1], b""),
        (b"", b""),
    ],
)
def test_at_the_end_of_a_running_command_an_open_line_waits(data: bytes, kept: bytes) -> None:
    assert ended(data, 100) == kept


def test_the_end_of_an_output_is_whole_as_it_is() -> None:
    assert ended(b"a\nb\xc3", 4, eof=True) == b"a\nb\xc3"
