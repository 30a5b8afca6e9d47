"""76 recordings of a terminal and the screen they leave: as plain text and in colours.

Fourteen of them address no place on the screen and must look the same. The rest do, and a plain
text follows only what stays within a line: 13 of those 62 look the same too. Two more differ by
intent alone: nothing in the last column is lost to an erasure (t0055) or pushed out (t0050).
"""

import re
from pathlib import Path

import pytest

from arc_workbench.content import Output
from arc_workbench.frontends.notebook.elements import text_of, to_html
from arc_workbench.frontends.notebook.values import display
from arc_workbench.frontends.tinted import terminal
from arc_workbench.shell.colours import styled
from arc_workbench.shell.plain import COLUMNS, Plain, plain
from tests.requirements import requirement

ROWS = 25
PAIRS = 76
ALL = 10**6
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SGR = re.compile(r"\x1b\[[0-9;]+m")
COLOURED = {"t0502-bash_ls_color", "t0503-zsh_ls_color", "t0504-vim"}
DEMANDED = (
    *("t0001-", "t0002-", "t0002j-", "t0003-", "t0003j-", "t0004-", "t0004j-", "t0005-", "t0007-"),
    *("t0008-", "t0012-", "t0013-", "t0501-", "t0502-"),
)
ALIKE = {
    *("t0006-IND", "t0009-NEL", "t0014-CAN", "t0015-SUB", "t0020-CUF", "t0021-CUB", "t0030-HPR"),
    *("t0032-VPB", "t0033-VPB_scroll", "t0053-DCH", "t0054-ECH", "t0057-ED3", "t0503-zsh_ls_color"),
}


@pytest.fixture
def files(corpora: Path) -> list[Path]:
    """What was sent to the terminal; beside each lies the screen."""
    found = sorted((corpora / "terminal" / "escape_sequence_files").glob("*.in"))
    assert len(found) == PAIRS
    return found


def read(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def output(raw: str) -> Output:
    text, styles = styled(raw, ALL)
    return Output(text=text, styles=styles, styled_chars=len(text))


@requirement("REQ-S24", "REQ-F46")
def test_every_recording_becomes_text_that_no_screen_obeys(files: list[Path]) -> None:
    for file in files:
        raw = read(file)
        text, styles = styled(raw, ALL)
        pieces = Plain()
        in_pieces = "".join(map(pieces.feed, raw)) + pieces.end()

        assert text == plain(raw) == plain(text), file.name
        assert not CONTROL.search(text), file.name
        assert not CONTROL.search(in_pieces), file.name
        assert all(0 <= each.start < each.end <= len(text) for each in styles), file.name


@requirement("REQ-S24")
def test_every_recording_is_drawn_and_printed_with_nothing_but_its_colours(
    files: list[Path],
) -> None:
    coloured = set[str]()
    for file in files:
        block = output(read(file))
        (drawn,) = display([block], "")
        (bare,) = display([block.model_copy(update={"styles": ()})], "")
        lines = [*terminal(block, colour=True)]

        assert text_of(drawn) == text_of(bare), file.name
        assert [SGR.sub("", line) for line in lines] == [*terminal(block, colour=False)], file.name
        assert not any(CONTROL.search(SGR.sub("", line)) for line in lines), file.name
        if block.styles:
            coloured.add(file.stem)
            assert "aw-tint" in to_html(drawn)
            assert SGR.search("".join(lines))

    assert coloured == COLOURED


def test_the_folders_of_a_coloured_listing_are_bold_and_blue(files: list[Path]) -> None:
    (file,) = (file for file in files if file.stem == "t0502-bash_ls_color")
    text, styles = styled(read(file), ALL)

    looks = {(each.look, text[each.start : each.end]) for each in styles}

    assert {("blue", "bin"), ("bold", "bin"), ("blue", "dev"), ("cyan", "initrd.img")} <= looks


@requirement("REQ-F46")
def test_what_addresses_no_place_looks_as_on_a_terminal(files: list[Path]) -> None:
    demanded = [file for file in files if file.stem.startswith(DEMANDED)]

    assert [file.stem for file in demanded if not same(file)] == []


def test_of_the_rest_those_look_the_same_that_stay_within_a_line(files: list[Path]) -> None:
    rest = [file for file in files if not file.stem.startswith(DEMANDED)]

    assert {file.stem for file in rest if same(file)} == ALIKE


def same(file: Path) -> bool:
    """Whether the text, wrapped as a terminal wraps it, is the screen."""
    expected = screen(read(file.with_suffix(".text")).removesuffix("\n"))
    raw = read(file)
    return expected in (screen(plain(wrapped(raw))), screen(folded(plain(raw))))


def wrapped(raw: str) -> str:
    """With the line ends that a terminal adds while it prints; only where nothing moves it."""
    if "\x1b" in raw:
        return raw
    printed: list[str] = []
    column = 0
    for char in raw:
        if char.isprintable() and column == COLUMNS:
            printed.append("\n")
            column = 0
        printed.append(char)
        stays = min(column, COLUMNS - 1)
        after = {"\b": max(0, stays - 1), "\v": stays, "\f": stays}.get(char, 0)
        column = column + 1 if char.isprintable() else after
    return "".join(printed)


def folded(text: str) -> str:
    """Lines cut where the terminal has no more columns."""
    rows: list[str] = []
    for line in text.expandtabs().split("\n"):
        rows += [line[at : at + COLUMNS] for at in range(0, max(1, len(line.rstrip())), COLUMNS)]
    return "\n".join(rows)


def screen(text: str) -> list[str]:
    """The last rows, without blank ends."""
    rows = [row.expandtabs().rstrip() for row in text.split("\n")]
    return "\n".join(rows[-ROWS:]).rstrip("\n").split("\n")
