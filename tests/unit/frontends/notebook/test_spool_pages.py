"""The whole output of a job, a page at a time."""

from pathlib import Path

import pytest

from arc_workbench.frontends.notebook import spool_pages
from arc_workbench.frontends.notebook.spool_pages import Page


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "output"


def all_pages(file: Path) -> list[Page]:
    """From the beginning to the end."""
    pages = [spool_pages.first(file)]
    while pages[-1].stop < pages[-1].total:
        pages.append(spool_pages.after(file, pages[-1]))
    return pages


def all_pages_backwards(file: Path) -> list[Page]:
    pages = [spool_pages.last(file)]
    while pages[-1].start > 0:
        pages.append(spool_pages.before(file, pages[-1].start))
    return pages[::-1]


def test_pages_follow_each_other_without_a_gap_and_end_with_lines(spool: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    spool.write_text(text, encoding="utf-8")

    for pages in (all_pages(spool), all_pages_backwards(spool)):
        assert "".join(page.text for page in pages) == text
        assert all(page.text.endswith("\n") for page in pages)
        assert all(page.stop - page.start <= spool_pages.PAGE_BYTES for page in pages)


@pytest.mark.parametrize("character", ["x", "\u00e9", "\u20ac", "\U0001f600"])
def test_a_line_without_an_end_is_cut_between_characters(spool: Path, character: str) -> None:
    text = character * 30_001
    spool.write_text(text, encoding="utf-8")

    for pages in (all_pages(spool), all_pages_backwards(spool)):
        assert "".join(page.text for page in pages) == text


def test_bytes_that_are_no_text_still_make_progress(spool: Path) -> None:
    spool.write_bytes(b"\x80" * 40_000 + b"\xff" * 40_000)

    assert sum(page.stop - page.start for page in all_pages(spool)) == 80_000
    assert sum(page.stop - page.start for page in all_pages_backwards(spool)) == 80_000


def test_an_empty_output_has_one_empty_page(spool: Path) -> None:
    spool.touch()

    assert spool_pages.last(spool) == spool_pages.first(spool) == Page(str(spool), "", 0, 0, 0)


def test_what_a_screen_would_obey_is_resolved(spool: Path) -> None:
    spool.write_bytes(b"10%\r20%\r\x1b[32mdone\x1b[0m\n")

    assert spool_pages.first(spool).text == "done\n"
