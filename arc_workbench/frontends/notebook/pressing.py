"""Buttons under a card that stands for itself.

The card is HTML and says what to type. The buttons are a second output, a small widget that draws
with `live.js`: it is only there while the kernel is, so nothing is lost with it. A press may arrive
in any thread; what it came to is drawn in both outputs, and nothing is printed.
"""

# pyright: basic

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from arc_workbench.content import JsonObject
from arc_workbench.errors import ArcError
from arc_workbench.frontends.notebook import clients
from arc_workbench.frontends.notebook.changes import put
from arc_workbench.frontends.notebook.codes import Tickets
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.elements import ROOT_CLASS, Element, el, to_json
from arc_workbench.frontends.notebook.live import MIME
from arc_workbench.frontends.notebook.look import Look
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.tables import path
from arc_workbench.frontends.notebook.values import mark

Card = Callable[[], Look]
"""Draws the card as things stand."""

MAX_WORDS = 400


@dataclass(frozen=True)
class Action:
    """One button: its verb, its own name, its words, and what it does.

    Beside it stand the file it is `about` and what it `says` of that in words of ours.
    `act` returns the line that takes the button's place; an `ArcError` of it is shown, too, and
    leaves the button. Of a `group` only one can be done.
    """

    do: Literal["undo", "keep", "restore"]
    name: str
    label: str
    about: str
    says: str
    act: Callable[[], str]
    group: str


class PressLook(Look):
    """A look whose card has buttons where somebody can press them."""

    def __init__(self, desk: Desk, card: Card, actions: Sequence[Action]) -> None:
        drawn = card()
        super().__init__(drawn.text, drawn.rows, drawn._repr_html_() or "")
        self._desk = desk
        self._card = card
        self._actions = actions

    def _ipython_display_(self) -> None:
        shell = self._desk.shell
        if not self._actions or clients.who(shell, self._desk.settings({}).ask) != "buttons":
            raise NotImplementedError  # IPython shows the text and the HTML then
        place = _Place(shell)
        try:
            bar = Bar(self._actions, lambda: place.show(self._card()))
        except ImportError:  # the package of widgets is there and broken
            raise NotImplementedError from None
        place.show(self)
        shell.display_pub.publish(data=bar.bundle())
        self._desk.keep(bar)


class _Place:
    """A place in the notebook that can be drawn again."""

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._where = {"display_id": uuid4().hex}
        self._drawn = False

    def show(self, look: Look) -> None:
        data = {"text/plain": look.text, "text/html": look._repr_html_() or ""}
        self._publisher.publish(data=data, transient=self._where, update=self._drawn)
        self._drawn = True


class Bar:
    """The buttons; `after` draws the card again once one of them did something."""

    def __init__(self, actions: Sequence[Action], after: Callable[[], None]) -> None:
        from arc_workbench.frontends.notebook.widget import RunWidget

        self._actions = {action.name: action for action in actions}
        self._after = after
        self._tickets = Tickets()
        self._codes = {name: self._tickets.give(name) for name in self._actions}
        self._said: dict[str, tuple[bool, str]] = {}
        self._settled: set[str] = set()
        self._lock = threading.Lock()
        self._widget = RunWidget(self._hear, lambda: None)

    def bundle(self) -> dict[str, object]:
        """What to display; a reader without widgets has the card above."""
        view = {"version_major": 2, "version_minor": 1, "model_id": self._widget.model_id}
        return {MIME: view, "text/plain": ""}

    def close(self) -> None:
        """Let it go; pages say that it is over."""
        self._widget.close()

    def _hear(self, content: object) -> None:
        match content:
            case {"do": "ready", "page": str() as page}:
                with self._lock:
                    self._draw_for(page[:64])
            case _:
                name = self._tickets.take(content)
                if name:
                    self._press(self._actions[name])

    def _press(self, action: Action) -> None:
        try:
            said, worked = action.act(), True
        except ArcError as fault:
            said, worked = str(fault), False
        with self._lock:
            self._said[action.name] = (worked, said)
            if worked:
                self._settled.add(action.group)
            else:
                self._codes[action.name] = self._tickets.give(action.name)
            rows = [put(self._row(each)) for each in self._actions.values()]
            news: JsonObject = {"op": "say", "text": said[:MAX_WORDS]}
            self._widget.tell({"ops": [*rows, news, *self._announced()]})
        if worked:
            self._after()

    def _draw_for(self, page: str) -> None:
        rows = [self._row(action) for action in self._actions.values()]
        tree = to_json(el("div", ROOT_CLASS, *rows, key="all"))
        self._widget.tell({"page": page, "ops": [{"op": "all", "tree": tree}, *self._announced()]})

    def _announced(self) -> list[JsonObject]:
        return [{"op": "code", "prompt": n, "code": code} for n, code in self._codes.items()]

    def _row(self, action: Action) -> Element:
        worked, said = self._said.get(action.name, (False, ""))
        key = f"press-{action.name}"
        if action.group in self._settled and not worked:
            return el("div", "", key=key)
        words = el("span", "", *chips(said[:MAX_WORDS]))
        if worked:
            return el("div", "aw-note", mark("done", "\u2713"), " ", words, key=key)
        do: JsonObject = {"do": action.do, "prompt": action.name}
        button = el("button", "aw-btn", action.label, type="button", do=do)
        about = el("code", "", *path(action.about)) if action.about else ""
        beside = el("span", "aw-soft", about, f" {action.says}")
        refused = el("div", "aw-note", mark("failed", "\u2717"), " ", words)
        return el("div", "aw-bar", button, beside, *([refused] if said else []), key=key)
