"""Slices of text files: bounds, encodings, hashes; and pictures."""

import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Slice, Workspace
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter

BOM = b"\xef\xbb\xbf"


def read(workspace: Workspace, name: str = "a.txt", **bounds: int) -> Slice:
    return workspace.read(
        workspace.inside(name),
        start_line=bounds.get("start_line", 1),
        max_lines=bounds.get("max_lines", 2000),
        max_bytes=bounds.get("max_bytes", 65_536),
        max_line_chars=bounds.get("max_line_chars"),
    )


@requirement("S2-031")
def test_the_hash_is_of_all_bytes_whatever_is_shown(workspace: Workspace, root: Path) -> None:
    data = BOM + b"one\r\ntwo\r\nthree"
    (root / "a.txt").write_bytes(data)

    found = read(workspace, start_line=2, max_lines=1)

    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.size == len(data)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ("",)),
        (b"a", ("a",)),
        (b"a\n", ("a", "")),
        (b"\n\n", ("", "", "")),
        (b"a\x0bb\x0c\xe2\x80\xa8c\n", ("a\x0bb\x0c\u2028c", "")),
    ],
)
def test_only_a_line_feed_ends_a_line_and_a_final_one_starts_another(
    workspace: Workspace, root: Path, data: bytes, lines: tuple[str, ...]
) -> None:
    (root / "a.txt").write_bytes(data)

    found = read(workspace)

    assert found.lines == lines
    assert (found.start_line, found.end_line, found.total_lines) == (1, len(lines), len(lines))
    assert not found.truncated


@requirement("S2-030", "S2-032", "S2-034")
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(("max_lines", "max_bytes"), [(1, 65_536), (3, 65_536), (99, 7), (99, 40)])
def test_the_slices_of_a_file_add_up_to_the_file(
    workspace: Workspace, root: Path, ending: str, max_lines: int, max_bytes: int
) -> None:
    text = ending.join(["one", "", "drei €", "4", "five five", "", ""])
    (root / "a.txt").write_bytes(text.encode())

    parts: list[str] = []
    line: int | None = 1
    while line is not None:
        found = read(workspace, start_line=line, max_lines=max_lines, max_bytes=max_bytes)
        assert found.start_line == line
        assert not found.cut_lines or max_bytes == 7
        parts.append(found.text)
        line = found.next_line

    if max_bytes != 7:  # one line is longer than seven bytes and is cut
        assert "".join(parts) == text


@requirement("REQ-S65")
@pytest.mark.parametrize("max_bytes", [1, 2, 3, 4, 10])
def test_a_line_longer_than_the_bound_is_cut_between_characters_and_reading_goes_on(
    workspace: Workspace, root: Path, max_bytes: int
) -> None:
    (root / "a.txt").write_text("€€€€\nnext", encoding="utf-8")

    found = read(workspace, max_bytes=max_bytes)

    assert found.lines == ("€" * (max_bytes // 3),)
    assert (found.cut_lines, found.next_line) == ((1,), 2)


def test_a_line_over_the_limit_of_characters_is_cut_and_named(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_text("ab\n" + "é" * 11 + "\n" + "é" * 10, encoding="utf-8")

    found = read(workspace, max_line_chars=10)

    assert found.lines == ("ab", "é" * 10, "é" * 10)
    assert found.cut_lines == (2,)


def test_a_start_past_the_end_is_refused_and_the_total_named(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_text("a\nb\n", encoding="utf-8")

    with pytest.raises(ToolError, match="has 3 lines"):
        read(workspace, start_line=4)


@requirement("BUG-E4")
def test_a_byte_order_mark_is_hidden(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes(BOM + b"hello\n")

    found = read(workspace)

    assert (found.text, found.bom) == ("hello\n", True)


@requirement("J-20")
def test_a_nul_byte_makes_a_file_binary(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes(b"foo\0\nneedle")

    with pytest.raises(ToolError, match="binary") as caught:
        read(workspace)

    assert caught.value.details == {"binary": True}


def test_utf_16_is_binary_but_named(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes("text".encode("utf-16"))

    with pytest.raises(ToolError, match=r"binary.*utf-16"):
        read(workspace)


@requirement("REQ-S72")
def test_another_encoding_is_refused_by_name_or_shown_with_losses(
    workspace: Workspace, root: Path
) -> None:
    (root / "a.txt").write_bytes("Straße\n".encode("latin-1"))
    place = workspace.inside("a.txt")

    with pytest.raises(ToolError, match="not UTF-8, probably windows-1252"):
        workspace.read(place)

    found = workspace.read(place, lossy=True)
    assert (found.lines[0], found.lossy) == ("Stra\ufffde", True)


def test_a_missing_file_is_named_in_full_with_the_working_directory(
    workspace: Workspace, root: Path
) -> None:
    with pytest.raises(ToolError, match="File not found") as caught:
        read(workspace, "gone.txt")

    assert str(root / "gone.txt") in str(caught.value)
    assert f"working directory: {root}" in str(caught.value)


def test_a_dangling_link_counts_as_missing(workspace: Workspace, root: Path) -> None:
    (root / "link").symlink_to("nowhere")

    with pytest.raises(ToolError, match="File not found"):
        read(workspace, "link")


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs another user")
def test_a_file_that_may_not_be_read_is_not_called_missing(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    program = (
        "import os, sys, pathlib\n"
        "from arc_workbench.workspace import Workspace\n"
        "from arc_workbench.errors import ToolError\n"
        "os.chdir('/'); os.setuid(65534)\n"
        "w = Workspace(pathlib.Path('/'), pathlib.Path('/nowhere'))\n"
        "try: w.read(w.anywhere(sys.argv[1]))\n"
        "except ToolError as fault: print(fault)\n"
    )
    locked = Path("/dev/shm") / f"arc-locked-{os.getpid()}"
    locked.write_text("x", encoding="utf-8")
    locked.chmod(0o600)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, str(locked)],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    finally:
        locked.unlink()

    assert "could not be read: permission denied" in done.stdout


@requirement("REQ-S65", "J-21")
def test_a_large_file_is_read_through_a_window(workspace: Workspace, root: Path) -> None:
    line = b"x" * 99 + b"\n"
    with (root / "a.txt").open("wb") as file:
        for _ in range(20):
            file.write(line * 10_000)

    tracemalloc.start()
    try:
        found = read(workspace, start_line=150_001, max_lines=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found.lines == ("x" * 99, "x" * 99)
    assert (found.total_lines, found.next_line, found.size) == (None, 150_003, 20_000_000)
    assert found.sha256 == hashlib.sha256(line * 200_000).hexdigest()
    assert peak < 8 << 20
    with pytest.raises(ToolError, match="has 200001 lines"):
        read(workspace, start_line=200_002)


@requirement("REQ-S65", "REQ-F50")
def test_one_line_of_many_megabytes_and_a_sparse_terabyte_stay_small(
    workspace: Workspace, root: Path
) -> None:
    with (root / "a.txt").open("wb") as file:
        for _ in range(16):
            file.write(b"y" * (1 << 20))
    with (root / "sparse.txt").open("wb") as file:
        file.write(b"z" * 9000 + b"\n")
        file.truncate(1 << 40)

    tracemalloc.start()
    try:
        long_line = read(workspace)
        sparse = read(workspace, "sparse.txt", max_lines=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (long_line.lines, long_line.cut_lines) == (("y" * 65_536,), (1,))
    assert (sparse.lines, sparse.sha256, sparse.next_line) == (("z" * 9000,), None, 2)
    assert peak < 8 << 20


def sparse(root: Path) -> None:
    with (root / "a.txt").open("wb") as file:
        file.write(b"z" * 9000 + b"\n")
        file.truncate(1 << 40)


@requirement("REQ-S65", "REQ-F53")
def test_a_line_far_beyond_the_beginning_is_not_looked_for_without_end(
    workspace: Workspace, root: Path
) -> None:
    sparse(root)

    with pytest.raises(ToolError, match=r"line 5000 ends beyond the first 1 GiB.*command") as far:
        read(workspace, start_line=5000)

    assert far.value.details == {"linesCounted": 2}


@requirement("REQ-S65", "REQ-F53")
@pytest.mark.parametrize("looks", [0, 1, 10])
def test_reading_stops_between_two_pieces_when_the_person_interrupts(
    workspace: Workspace, root: Path, looks: int
) -> None:
    sparse(root)

    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.read(workspace.inside("a.txt"), start_line=5000, signal=StopAfter(looks))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
JPEG = b"\xff\xd8\xff\xe0" + bytes(20)


@requirement("S1-031", "BUG-A7")
@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("a.png", PNG, "image/png"),
        ("A.JPEG", JPEG, "image/jpeg"),
        ("a.jpg", JPEG, "image/jpeg"),
        ("a.gif", b"GIF89a" + bytes(9), "image/gif"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("really-jpeg.png", JPEG, "image/jpeg"),
    ],
)
def test_a_picture_is_what_its_bytes_are(
    workspace: Workspace, root: Path, name: str, data: bytes, mime: str
) -> None:
    (root / name).write_bytes(data)
    place = workspace.inside(name)

    assert workspace.is_picture(place)
    assert (workspace.read_image(place).mime, workspace.read_image(place).data) == (mime, data)


@requirement("BUG-A8", "BUG-A6")
@pytest.mark.parametrize("data", [b"<html></html>", b"", PNG + bytes(4_000_000)])
def test_a_file_that_is_no_picture_or_too_large_a_one_is_refused(
    workspace: Workspace, root: Path, data: bytes
) -> None:
    (root / "x.png").write_bytes(data)

    with pytest.raises(ToolError):
        workspace.read_image(workspace.inside("x.png"))


def test_a_link_with_the_name_of_a_picture_shows_the_picture(
    workspace: Workspace, root: Path
) -> None:
    (root / "blob").write_bytes(PNG)
    (root / "latest.png").symlink_to("blob")

    assert workspace.is_picture(workspace.inside("latest.png"))
    assert not workspace.is_picture(workspace.inside("blob"))
