"""`live.js` alone in a page: the kernel's side of the widget is the test."""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page

from arc_workbench.content import JsonObject

SOURCE = Path(__file__).parents[2] / "arc_workbench" / "frontends" / "notebook" / "live.js"
HTML = """
<!doctype html><style>.aw-sr { position: absolute; clip-path: inset(50%) }</style>
<button id="outside">outside</button><input id="editor"><div id="above"></div><div id="place"></div>
"""
MODEL = """
window.model = {
  handlers: {}, sent: [],
  on(name, heard) { (this.handlers[name] ??= []).push(heard); },
  off(name, heard) { this.handlers[name] = this.handlers[name]?.filter((h) => h !== heard); },
  send(content) { this.sent.push(structuredClone(content)); },
  emit(name, value) { for (const heard of this.handlers[name] ?? []) heard(value); },
};
window.leave = render({ model: window.model, el: document.getElementById("place") });
"""


class Board:
    """The page: `say` what the kernel says, `sent` is what the kernel would hear."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(10_000)
        page.clock.install(time=0)
        page.clock.pause_at(1_000)
        page.set_content(HTML)
        page.add_script_tag(type="module", content=SOURCE.read_text("utf-8") + MODEL)
        page.wait_for_function("() => window.model !== undefined")

    def say(self, *ops: JsonObject, page: str | None = None) -> None:
        """A message of the kernel."""
        message: JsonObject = {"ops": [*ops]}
        if page is not None:
            message["page"] = page
        self.emit("msg:custom", message)

    def draw(self, *children: object) -> None:
        """The whole view, as a fresh tree."""
        self.page.evaluate(
            "tree => model.emit('msg:custom', { ops: [{ op: 'all', tree }] })",
            ["div", {"class": "aw", "key": "run"}, *children],
        )

    def put(self, tree: Sequence[object], *, key: str = "new", into: str = "") -> None:
        """One part, again or anew."""
        self.emit("msg:custom", {"ops": [{"op": "put", "key": key, "into": into, "tree": [*tree]}]})

    def emit(self, name: str, value: object = None) -> None:
        """Any event of the model."""
        self.page.evaluate("([name, value]) => model.emit(name, value)", [name, value])

    @property
    def sent(self) -> list[JsonObject]:
        """What was sent since the view said that it is there."""
        return self.page.evaluate("() => model.sent.filter((m) => m.do !== 'ready')")

    @property
    def html(self) -> str:
        """The whole page as markup."""
        return self.page.content()

    @property
    def focus(self) -> str:
        """The words of the element that has the focus, or its id."""
        return self.page.evaluate(
            "() => document.activeElement.id || document.activeElement.textContent"
        )

    @property
    def announced(self) -> str:
        """What a screen reader was told last."""
        return self.page.locator("[role=status][aria-live=polite]").inner_text()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def tab_to(self, name: str) -> None:
        """Bring the focus to a button as a person does."""
        for _ in range(20):
            if self.focus == name:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never came to {name}")

    def pass_time(self, milliseconds: int) -> None:
        """Let the page's clock go on."""
        self.page.clock.run_for(milliseconds)
