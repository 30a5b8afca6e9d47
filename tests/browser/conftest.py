"""Chromium and two Jupyter servers, once for this folder; a fresh window for every test."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.board import Board
from tests.browser.page import Notebook
from tests.browser.servers import Server, serving

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WINDOW: ViewportSize = {"width": 1100, "height": 900}

Open = Callable[..., Notebook]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


# Not for the whole session: while Playwright runs, its loop counts as the running one.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium; nothing is downloaded."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not there")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab."""
    with serving("lab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="package")
def notebook7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Notebook 7."""
    with serving("notebook", tmp_path_factory.mktemp("notebook")) as server:
        yield server


@pytest.fixture
def board(browser: Browser) -> Iterator[Board]:
    """`live.js` in an empty page, its clock in our hands."""
    page = browser.new_page()
    yield Board(page)
    page.close()


@pytest.fixture
def in_lab(lab: Server, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open notebooks in JupyterLab: `in_lab("cell 1", "cell 2", files={"a.txt": "one"})`."""
    yield from _opening(lab, browser, request)


@pytest.fixture
def in_notebook7(
    notebook7: Server, browser: Browser, request: pytest.FixtureRequest
) -> Iterator[Open]:
    """Open notebooks in Notebook 7."""
    yield from _opening(notebook7, browser, request)


def _opening(server: Server, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Open]:
    opened: list[Notebook] = []

    def open_(*cells: str, files: Mapping[str, str] | None = None, kernel: bool = True) -> Notebook:
        folder = server.root / f"{request.node.name}-{len(opened)}"
        folder.mkdir()
        for name, text in (files or {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        context = browser.new_context(viewport=WINDOW)
        notebook = Notebook(server, context, folder / "book.ipynb")
        opened.append(notebook)
        return notebook.open(*cells, kernel=kernel)

    yield open_
    for notebook in opened:
        notebook.close()
    assert [n.complaints for n in opened if n.complaints] == []
