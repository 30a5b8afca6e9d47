"""An edit changes the bytes of one span and nothing else: not a byte, not a fact about the file."""

import os
import random
import stat
from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import VOCABULARIES, Vocabulary

BOM = b"\xef\xbb\xbf"
ROUNDS = 200
ENDS = ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\r"]
PIECES = [
    *("word", "x", "Ünïcode", "e\u0301", "q\u0323\u0307", "한글", "\u1112\u1161\u11ab", "日本"),
    *(
        " ",
        "   ",
        "\t",
        "\t\t",
        "\u00a0",
        "\u2003",
        "\u200b",
        "\u202e",
        "\ufffd",
        "\x0c",
        "\x1b[2J",
    ),
    *("\U0001f600", "👩\u200d💻", "\U0010ffff", "‘’“”", "'\"`", "\\n", "\\1", "$&", "<b>", "]]>"),
    *("\u2028", "\u0085", "\x01", "\x7f", "#!/bin/sh", "{", "}"),
]


@pytest.fixture(params=VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def tools(request: pytest.FixtureRequest) -> Vocabulary:
    """Each vocabulary in turn."""
    return request.param


def some_text(chance: random.Random) -> str:
    """Lines of odd pieces, with ends of one kind or of several, and perhaps none at the end."""
    ends = [chance.choice(ENDS)] if chance.random() < 0.5 else ENDS
    pieces = [
        chance.choice(ends if chance.random() < 0.25 else PIECES)
        for _ in range(chance.randrange(1, 60))
    ]
    return "".join(pieces)


def some_span(text: str, chance: random.Random) -> tuple[int, int] | None:
    """A stretch of whole line ends that stands in the text only once, overlaps counted."""
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.randrange(1, 40))
    old = text[start:end]
    if text.startswith("\r\n", start - 1) or text.startswith("\r\n", end - 1):
        return None
    only = text.find(old) == start and text.find(old, start + 1) < 0
    return (start, end) if only else None


def expected(text: str, span: tuple[int, int], new: str) -> str:
    """Where all lines end with CR LF, new ones do too, unless the caller shows line ends itself."""
    start, end = span
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    if crlf and "\n" not in text[start:end] and "\r" not in new:
        new = new.replace("\n", "\r\n")
    return text[:start] + new + text[end:]


@requirement("REQ-S71", "S1-056", "S2-070")
@pytest.mark.parametrize("seed", range(4))
def test_an_edit_of_a_random_file_changes_exactly_its_span(
    files: FileTools, tools: Vocabulary, seed: int
) -> None:
    chance = random.Random(seed)
    path = files.root / "a.txt"
    edits = 0
    while edits < ROUNDS // 4:
        text = some_text(chance)
        new = "".join(chance.choices([*PIECES, "\n"], k=chance.randrange(4)))
        span = some_span(text, chance)
        if span is None or (wanted := expected(text, span, new)) == text:
            continue
        mark = chance.choice([b"", BOM])
        path.write_bytes(mark + text.encode())

        result = tools.edit(files, "a.txt", text[slice(*span)], new)

        assert not result.is_error, (text, span, new, result.text)
        assert path.read_bytes() == mark + wanted.encode(), (text, span, new)
        edits += 1


@requirement("REQ-S71")
def test_a_random_file_that_is_written_holds_exactly_what_was_sent(
    files: FileTools, tools: Vocabulary
) -> None:
    chance = random.Random(9)
    for _ in range(ROUNDS // 4):
        text = some_text(chance)
        assert not tools.write(files, "a.txt", text).is_error
        assert (files.root / "a.txt").read_bytes() == text.encode()


@requirement("REQ-S72", "J-27")
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4711, 0o640, 0o444])
def test_mode_owner_and_attributes_are_kept(files: FileTools, tools: Vocabulary, mode: int) -> None:
    path = files.root / "run.sh"
    path.write_bytes(b"#!/bin/sh\necho one\n")
    noted = _note(path)
    if os.getuid() == 0:
        os.chown(path, 1234, 4321)
    path.chmod(mode)
    before = path.stat()
    if not os.access(path, os.W_OK):
        pytest.skip("only root may change a read-only file")

    assert not tools.edit(files, "run.sh", "one", "two").is_error
    assert not tools.write(files, "run.sh", "#!/bin/sh\necho three\n").is_error

    after = path.stat()
    assert path.read_bytes() == b"#!/bin/sh\necho three\n"
    assert stat.S_IMODE(after.st_mode) == mode & 0o1777
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert not noted or os.getxattr(path, "user.note") == b"mine"


def _note(path: Path) -> bool:
    """Put an attribute on a file, where files can have some."""
    try:
        os.setxattr(path, "user.note", b"mine")
    except (AttributeError, OSError):
        return False
    return True


@requirement("REQ-S72", "J-17")
@pytest.mark.parametrize(
    "data",
    [b"Stra\xdfe one\n", b"\xff\xfeo\0n\0e\0", b"one\xc3", b"one \xed\xa0\x80", b"one\xc0\x80"],
)
def test_what_is_not_utf_8_is_not_edited_and_keeps_every_byte(
    files: FileTools, tools: Vocabulary, data: bytes
) -> None:
    path = files.root / "a.txt"
    path.write_bytes(data)

    result = tools.edit(files, "a.txt", "one", "two")

    assert result.is_error
    assert "not UTF-8, probably" in result.text
    assert path.read_bytes() == data


@requirement("REQ-S71")
@pytest.mark.parametrize("half", ["\ud83d", "x\udc00y"])
def test_half_a_surrogate_pair_is_refused_and_the_file_stays(
    files: FileTools, tools: Vocabulary, half: str
) -> None:
    path = files.root / "a.txt"
    path.write_bytes(b"one\n")

    assert tools.edit(files, "a.txt", "one", half).is_error
    assert tools.edit(files, "a.txt", half, "two").is_error
    assert tools.write(files, "a.txt", half).is_error

    assert path.read_bytes() == b"one\n"


@requirement("BUG-E4", "REQ-S71")
def test_a_mark_that_an_edit_lays_bare_stays_where_it_was(
    files: FileTools, tools: Vocabulary
) -> None:
    (files.root / "a.txt").write_bytes("\ufeffx\ufeffy".encode())

    assert not tools.edit(files, "a.txt", "x", "").is_error

    assert (files.root / "a.txt").read_bytes() == "\ufeff\ufeffy".encode()
