"""Buttons under a card that stands for itself.

The card is HTML and says what to type. The buttons are a second output, a small widget that draws
with `live.js`: it is only there while the kernel is, so nothing is lost with it. When it is over,
only what was done takes its place; where that cannot be (a kernel that was killed), the style of
the card keeps a page from writing an error there. A press may arrive in any thread; what it came
to is drawn in both outputs, and nothing is printed.
"""

# pyright: basic

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from arc_workbench.content import JsonObject
from arc_workbench.errors import ArcError
from arc_workbench.frontends.notebook import clients
from arc_workbench.frontends.notebook.changes import put
from arc_workbench.frontends.notebook.codes import Tickets
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.elements import (
    ROOT_CLASS,
    Element,
    Node,
    el,
    joined,
    text_of,
    to_json,
)
from arc_workbench.frontends.notebook.live import MIME
from arc_workbench.frontends.notebook.look import Look
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.places import Place
from arc_workbench.frontends.notebook.static import page as static_page
from arc_workbench.frontends.notebook.tables import path
from arc_workbench.frontends.notebook.values import mark

Card = Callable[[], Look]
"""Draws the card as things stand."""

MAX_WORDS = 400
BEFORE = (
    "This page was loaded after the card above was drawn; what is pressed is not drawn there. As "
    "things stand now: "
)


@dataclass(frozen=True)
class Action:
    """One button: its verb, its own name, its words, and what it does.

    Beside it stand the file it is `about` and what it `says` of that in words of ours.
    `act` returns the line that takes the button's place; an `ArcError` of it is shown, too, and
    leaves the button. Of a `group` only one can be done; `asks` is the question of the group.
    """

    do: Literal["undo", "keep", "restore"]
    name: str
    label: str
    about: str
    says: str
    act: Callable[[], str]
    group: str
    asks: str = ""


@dataclass(frozen=True)
class Buttons:
    """The buttons under a card; `kind` is also the command that draws it, `more` what is left."""

    kind: Literal["changes", "recovery"]
    actions: Sequence[Action]
    more: str = ""


class PressLook(Look):
    """A look whose card has buttons where somebody can press them."""

    def __init__(self, desk: Desk, card: Card, buttons: Buttons) -> None:
        drawn = card()
        super().__init__(drawn.text, drawn.rows, drawn._repr_html_() or "")
        self._desk = desk
        self._card = card
        self._buttons = buttons

    def _ipython_display_(self) -> None:
        self.show()

    def show(self) -> None:
        """Draw it with its buttons; raises `NotImplementedError` where nobody can press them."""
        shell = self._desk.shell
        self._desk.settle(self._buttons.kind)
        asked = clients.who(shell, self._desk.settings({}).ask)
        if not self._buttons.actions or asked != "buttons":
            raise NotImplementedError  # IPython shows the text and the HTML then
        card, place = Place(shell), Place(shell)
        try:
            bar = Bar(self._buttons, lambda: card.show(_bundle(self._card())), place)
        except ImportError:  # the package of widgets is there and broken
            raise NotImplementedError from None
        card.show(_bundle(self))
        place.show(bar.bundle())
        self._desk.keep(self._buttons.kind, bar)


def _bundle(look: Look) -> dict[str, object]:
    return {"text/plain": look.text, "text/html": look._repr_html_() or ""}


class Bar:
    """The buttons; `after` draws the card again once one of them did something."""

    def __init__(self, buttons: Buttons, after: Callable[[], None], place: Place) -> None:
        from arc_workbench.frontends.notebook.widget import RunWidget

        self._buttons = buttons
        self._actions = {action.name: action for action in buttons.actions}
        self._after = after
        self._place = place
        self._tickets = Tickets()
        self._codes = {name: self._tickets.give(name) for name in self._actions}
        self._said: dict[str, tuple[bool, str]] = {}
        self._settled: set[str] = set()
        self._load = ""
        self._closed = False
        self._lock = threading.Lock()
        self._widget = RunWidget(self._hear, lambda: None)

    def bundle(self) -> dict[str, object]:
        """What to display; a reader without widgets has the card above."""
        view = {"version_major": 2, "version_minor": 1, "model_id": self._widget.model_id}
        return {MIME: view, "text/plain": ""}

    def close(self) -> None:
        """Let it go; what was done stays in its place, and nothing where nothing was."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            done = [self._row(action) for action in self._done()]
            words = "\n".join(text_of(row).strip() for row in done)
            html = static_page(*done) if done else ""
            self._place.show({"text/html": html, "text/plain": words})
        self._widget.close()

    def _done(self) -> Iterator[Action]:
        return (each for each in self._actions.values() if self._said.get(each.name, (False,))[0])

    def _hear(self, content: object) -> None:
        match content:
            case {"do": "ready", "page": str() as page}:
                with self._lock:
                    self._draw_for(page[:64])
            case _:
                name = self._tickets.take(content)
                if name and not self._closed:
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
        load = page.partition("-")[0]
        self._load = self._load or load
        rows: list[Node] = [*self._groups()]
        rows += _foot(self._buttons.more)
        if load != self._load:
            where = el("code", "", f"%agent {self._buttons.kind}")
            rows.append(el("p", "aw-soft", BEFORE, where))
        tree = to_json(el("div", ROOT_CLASS, el("div", "aw-stack", *rows), key="all"))
        self._widget.tell({"page": page, "ops": [{"op": "all", "tree": tree}, *self._announced()]})

    def _groups(self) -> Iterable[Element]:
        """The rows; those that answer one question stand under it."""
        for _, each in groupby(self._actions.values(), key=lambda action: action.group):
            actions = list(each)
            rows = [self._row(action) for action in actions]
            yield _asked(actions[0], rows) if actions[0].asks else el("div", "", *rows)

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
        refused = el("div", "aw-note", mark("failed", "\u2717"), " ", words)
        parts = [_button(action), *_beside(action), *([refused] if said else [])]
        return el("div", "aw-bar", *parts, key=key)


def _button(action: Action) -> Element:
    """The button; where several have the same words, its name holds what it is about."""
    do: JsonObject = {"do": action.do, "prompt": action.name}
    about = (f": {action.group}, ", *path(action.about)) if action.asks and action.about else ()
    hidden = [el("span", "aw-sr", *joined(about))] if about else []
    return el("button", "aw-btn", action.label, *hidden, type="button", do=do)


def _beside(action: Action) -> list[Element]:
    if action.asks:
        return []
    about = el("code", "", *path(action.about)) if action.about else ""
    return [el("span", "aw-soft", about, f" {action.says}")]


def _asked(first: Action, rows: Sequence[Element]) -> Element:
    name = f"aw-asks-{first.group}"
    file = [el("code", "", *path(first.about)), ": "] if first.about else []
    title = el("p", "aw-strong", *file, first.asks, id=name)
    return el("div", "", title, *rows, role="group", aria_labelledby=name)


def _foot(words: str) -> list[Element]:
    return [el("p", "aw-soft", words)] if words else []
