"""A notebook as a person has it before them: cells, menus, keys, and what can be seen."""

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from playwright.sync_api import BrowserContext, Error, Locator, Page, Response, WebSocket, expect

from arc_workbench.content import JsonObject
from tests.browser.servers import Server

ROOT = Path(__file__).parent.parent.parent
Theme = Literal["JupyterLab Light", "JupyterLab Dark"]

# Every wait for something to be seen ends after this long.
PATIENCE_MS = 30_000

UNKNOWN_KERNEL = "none-of-this-name"


class Notebook:
    """One open notebook. Cells count from 0."""

    def __init__(self, server: Server, context: BrowserContext, path: Path) -> None:
        self.server = server
        self.path = path
        self.context = context
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.received: list[bytes] = []
        self.page.on("pageerror", self._complain)
        self.page.on("websocket", self._listen)

    def _complain(self, error: Error) -> None:
        # The modules of widgets are loaded from blobs; what the application does wrong is its own.
        if "blob:" in (error.stack or ""):
            self.complaints.append(str(error))

    def _listen(self, socket: WebSocket) -> None:
        if "/channels" in socket.url:
            socket.on("framereceived", lambda frame: self.received.append(_bytes_of(frame)))

    # ---- open and close ---------------------------------------------------------------------

    def open(self, *cells: str, kernel: bool = True) -> "Notebook":
        """Write `cells` as a new notebook and show it; without cells, show the file as it is."""
        if cells:
            self.path.write_text(json.dumps(file_of(cells, kernel=kernel)), encoding="utf-8")
        self.page.goto(self.server.address_of(self.path))
        self._wait_for_cells()
        if kernel:
            self._wait_for_kernel()
        return self

    def reload(self) -> None:
        """Press the browser's reload button; a question about unsaved work is answered with yes."""
        self.page.once("dialog", lambda dialog: dialog.accept())
        self.page.reload()
        self._wait_for_cells()

    def another_page(self) -> "Notebook":
        """The same notebook in a second tab of the same browser."""
        other = Notebook(self.server, self.context, self.path)
        other.page.goto(self.server.address_of(self.path))
        other._wait_for_cells()
        return other

    def close(self) -> None:
        """Close the window, and shut down every kernel of the server."""
        self.context.close()
        self.server.shut_down_kernels()

    def _wait_for_cells(self) -> None:
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()

    def _wait_for_kernel(self) -> None:
        """Until the page has the kernel's first answer: before, a cell that is run is forgotten."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not any(b"kernel_info_reply" in frame for frame in self.received):
            assert time.monotonic() < deadline, "the kernel did not answer"
            self.page.wait_for_timeout(50)
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Until the front end knows that its kernel does nothing."""
        marker = self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        marker.first.wait_for(state="attached")

    # ---- cells ------------------------------------------------------------------------------

    def cell(self, number: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number: int) -> Locator:
        """The output area of a cell."""
        return self.cell(number).locator(".jp-Cell-outputArea")

    def run(self, number: int, *, key: str = "Control+Enter") -> None:
        """Run one cell by the keyboard."""
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press(key)

    def run_all(self) -> None:
        """Run → Run All Cells."""
        self.menu("Run", "Run All Cells")

    def interrupt(self) -> None:
        """Kernel → Interrupt Kernel."""
        self.menu("Kernel", "Interrupt Kernel")

    def restart(self) -> None:
        """Kernel → Restart Kernel…, and yes to the question."""
        self.menu("Kernel", "Restart Kernel…")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()

    def menu(self, title: str, item: str) -> None:
        """Choose an item of the menu bar."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{title}$")).click()
        label = self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{re.escape(item)}$"))
        label.first.click()

    def prompt_of(self, number: int) -> str:
        """`[ ]:`, `[*]:` or `[3]:`."""
        return self.cell(number).locator(".jp-InputPrompt").inner_text()

    def see(self, text: str | re.Pattern[str], *, cell: int | None = None) -> None:
        """Wait until `text` can be seen, in the output of `cell` if it is given."""
        where = self.page.locator("body") if cell is None else self.output(cell)
        expect(where).to_contain_text(text, timeout=PATIENCE_MS)

    def wait_until_done(self, number: int) -> None:
        """Until the cell has an execution count and no star."""
        prompt = self.cell(number).locator(".jp-InputPrompt")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE_MS)

    # ---- the card ---------------------------------------------------------------------------

    def card(self, number: int = 0) -> Locator:
        """The open permission card, the first or a later one."""
        return self.page.locator(".aw-ask:not(.aw-ask--answered)").nth(number)

    def ready_card(self, number: int = 0) -> Locator:
        """The card once it takes presses: it must have stood still for half a second."""
        card = self.card(number)
        card.wait_for()
        card.scroll_into_view_if_needed()
        expect(card).not_to_have_class(re.compile("aw-ask--moving"), timeout=PATIENCE_MS)
        return card

    def button(self, name: str, *, card: int = 0) -> Locator:
        return self.card(card).get_by_role("button", name=name, exact=True)

    def press(self, name: str, *, card: int = 0) -> None:
        """Click a button of a card with the mouse, once it takes clicks."""
        button = self.ready_card(card).get_by_role("button", name=name, exact=True)
        button.scroll_into_view_if_needed()
        self.ready_card(card)
        button.click()

    # ---- the file and the screen ------------------------------------------------------------

    def save(self) -> None:
        """File → Save Notebook, until the server has the file."""
        with self.page.expect_response(_is_save):
            self.menu("File", "Save Notebook")

    def file(self, name: str) -> str:
        """A file beside the notebook."""
        return (self.path.parent / name).read_text("utf-8")

    def saved(self) -> dict[str, object]:
        """The file as it lies on disk."""
        return cast("dict[str, object]", json.loads(self.path.read_text("utf-8")))

    def use_theme(self, theme: Theme) -> None:
        """Settings → Theme."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Settings$")).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{theme}$")).click()
        name = f'body[data-jp-theme-name="{theme}"]'
        self.page.locator(name).wait_for(state="attached")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def screenshot(self, name: str) -> Path:
        """Keep a picture in $ARC_TEST_SCREENSHOTS, else in build/screenshots."""
        file = _kept() / f"{name}.png"
        self.page.screenshot(path=file)
        return file

    def keep(self, name: str, text: str) -> None:
        """Keep what was measured beside the pictures."""
        (_kept() / name).write_text(text, encoding="utf-8")


def _kept() -> Path:
    folder = Path(os.environ.get("ARC_TEST_SCREENSHOTS") or ROOT / "build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bytes_of(frame: str | bytes) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame


def _is_save(response: Response) -> bool:
    return response.request.method == "PUT" and "/api/contents/" in response.url


def file_of(cells: Sequence[str], *, kernel: bool = True) -> JsonObject:
    """A notebook file of code cells; without a kernel, one whose kernel no server has."""
    name = "python3" if kernel else UNKNOWN_KERNEL
    spec: JsonObject = {"name": name, "display_name": name, "language": "python"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": spec},
        "cells": [_cell(number, source) for number, source in enumerate(cells)],
    }


def _cell(number: int, source: str) -> JsonObject:
    return {
        "cell_type": "code",
        "id": f"cell-{number}",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
