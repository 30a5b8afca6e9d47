"""What is kept and shown of a command's output while it arrives."""

from pathlib import Path

import pytest

from arc_workbench.shell import Tail
from arc_workbench.shell.output import Live
from arc_workbench.shell.spool import Output
from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement


def tail(tmp_path: Path, printed: bytes, keep: int, start: int = 0) -> Tail:
    (tmp_path / "output").write_bytes(printed)
    return Output(tmp_path / "output").tail(keep, start=start)


def test_a_short_output_is_kept_whole(tmp_path: Path) -> None:
    assert tail(tmp_path, "grün\n".encode(), 100) == Tail("grün\n", 0, 6)


@requirement("S1-071")
def test_of_a_long_output_the_last_whole_lines_are_kept(tmp_path: Path) -> None:
    printed = b"".join(b"%03d\n" % number for number in range(100))

    assert tail(tmp_path, printed, 10) == Tail("098\n099\n", 392, 400)


@pytest.mark.parametrize(
    ("printed", "kept"),
    [("one long line without end", "line without end"), ("€" * 10, "€" * 5)],
)
def test_a_cut_inside_a_line_falls_between_words_or_characters(
    tmp_path: Path, printed: str, kept: str
) -> None:
    assert tail(tmp_path, printed.encode(), 17).raw == kept


def test_what_was_told_before_is_not_told_again(tmp_path: Path) -> None:
    assert tail(tmp_path, b"one\ntwo\n", 100, start=4) == Tail("two\n", 0, 4)


@requirement("REQ-F39", "REQ-F46")
def test_only_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    assert tail(tmp_path, b"\xe2\x82\xac \xff", 100).raw == "€ �"


@requirement("BUG-B15")
def test_a_character_in_two_pieces_is_shown_when_it_is_whole() -> None:
    shown: list[str] = []
    live = Live(shown.append)
    live.add(b"\xe2")
    live.tick()
    live.add(b"\x82\xac")
    live.finish()

    assert shown == ["€"]


@requirement("REQ-S30")
def test_of_a_flood_only_the_newest_is_shown_and_the_gap_is_named() -> None:
    shown: list[str] = []
    live = Live(shown.append)
    live.add(b"x\n" * 500_000)
    live.finish()

    (text,) = shown
    assert len(text) < 9000
    assert "bytes not shown" in text
    assert text.endswith("x\n")


@requirement("REQ-S129", "REQ-S134")
def test_neither_side_of_the_gap_in_a_flood_shows_a_part_of_a_secret() -> None:
    value = "Zq8" + "vT3xKp91LmWb" * 5 + "Rc4"
    key = "ghp" + "_" + "a1B2" * 9
    stream = Redactor({"MY_API_KEY": value}).stream()
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(stream.feed(text))

    for begun in (value[:40], key[:20]):
        live = Live(show)
        live.add(f"key={begun}".encode())
        live.tick()
        live.add(b"x" * 100_000)
        live.add((value[-30:] + " " + "y " * (4096 - 16)).encode() + b"y")
        live.finish()
    text = "".join([*shown, stream.end()])

    assert text.count("bytes not shown") == 2
    for secret in (value, key):
        assert not [at for at in range(len(secret) - 8) if secret[at : at + 8] in text]


@requirement("REQ-S129")
def test_behind_the_gap_in_a_flood_the_rest_of_a_key_block_is_not_shown() -> None:
    lines = ["QWxhZGRpbjpvcGVuIHNlc2FtZQ" * 2 + "abcdefgh"] * 20
    rest = "\n".join([*lines, "AbCdEf==", "-----END RSA PRIVATE " + "KEY-----\n"])
    shown: list[str] = []
    live = Live(shown.append)
    live.add(("x" * 100 + "\n" + rest + "done\n").encode(), skipped=5000)
    live.finish()
    (text,) = shown

    assert "QWxh" not in text
    assert "AbCd" not in text
    assert text.endswith("KEY-----\ndone\n")


@requirement("REQ-S24")
def test_what_is_shown_is_plain() -> None:
    shown: list[str] = []
    live = Live(shown.append)
    live.add(b"\x1b[31mred\x1b[0m \x1b]0;t")
    live.finish()

    assert shown == ["red "]
