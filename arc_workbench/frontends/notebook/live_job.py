"""One background job in the notebook: a card that goes on after its cell has ended.

It stands there twice. One output is HTML that needs no kernel; while the job runs it says so, and
at the end it says how it ended. The other is the live widget with the buttons; where a page draws
it, the style hides the first, and when the job is over, nothing takes its place. So whatever is
saved, and whenever, a page that opens it later shows the state of that moment and no dead button.
"""

# pyright: basic

import contextvars
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from arc_workbench.content import JsonObject
from arc_workbench.errors import ArcError
from arc_workbench.frontends import jobs
from arc_workbench.frontends.notebook import job_card, spool_pages
from arc_workbench.frontends.notebook.clients import Client
from arc_workbench.frontends.notebook.codes import Tickets
from arc_workbench.frontends.notebook.elements import to_json
from arc_workbench.frontends.notebook.job_card import Facts
from arc_workbench.frontends.notebook.places import Place
from arc_workbench.views import JobView

if TYPE_CHECKING:
    from arc_workbench.frontends.notebook.widget import RunWidget

KEPT_SEC = 10.0
"""Between two drawings of what is kept, while a page shows the live card."""
ALONE_SEC = 1.0
"""The same where no page shows the live card."""
MAX_PAGE_NAME = 64
MOST_LOADS = 2
"""So many page loads are told apart: with a second one, the page was loaded anew."""

_MIME = "application/vnd.jupyter.widget-view+json"
_NOTHING: dict[str, object] = {"text/html": "", "text/plain": ""}


class LiveJob:
    """The card of one job, in the cell in which `draw` is called.

    `look` gives the job as it stands, `stop` ends it and returns when it is over, `file` holds its
    whole output, from which `clean` takes secrets; `words` are the plain text of what is kept.
    `undo` is asked once it is over for the id by which its changes can be taken back. All but
    `draw` may be called from any thread, and none of it prints.
    """

    def __init__(
        self,
        shell: Any,
        look: Callable[[], JobView],
        stop: Callable[[], None],
        file: Path,
        *,
        kind: Client,
        step: int = 0,
        words: Callable[[JobView], str] = jobs.row,
        clean: Callable[[str], str] = str,
        undo: Callable[[], str] = str,
    ) -> None:
        self._look = look
        self._seen = look()
        self._stop = stop
        self._file = file
        self._kind = kind
        self._words = words
        self._clean = clean
        self._undo = undo
        self._facts = Facts(step=step)
        self._kept, self._live = Place(shell), Place(shell)
        self._kept_at = 0.0
        self._lock = threading.RLock()
        self._context = contextvars.copy_context()
        self._widget: RunWidget | None = None
        self._tickets = Tickets()
        self._codes: dict[str, str] = {}
        self._drawn: dict[str, JsonValue] = {}
        self._loads: set[str] = set()
        self._over = False

    @property
    def gone(self) -> bool:
        """Whether its end is drawn and nothing of it can be pressed any more."""
        return self._over and self._widget is None

    def draw(self, *, opened: bool = False) -> None:
        """Show it in the running cell; `opened` with the end of its whole output."""
        with self._lock:
            job = self._seen
            if not job.running:
                self._facts = replace(self._facts, undo=self._undo())
            self._keep(job)
            if self._kind == "buttons" and (job.running or opened):
                self._make_widget()
            if opened:
                self._turn_to("end")
            self._over = not job.running

    def refresh(self) -> bool:
        """Bring every page up to date; false where something must wait for the next time."""
        with self._lock:
            if self._over or self._kind == "policy":
                return True
            job = self._seen = self._look()
            self._tell(self._changes(job))
            if not job.running:
                self._finish(job)
                return True
            wait = KEPT_SEC if self._loads else ALONE_SEC
            if time.monotonic() - self._kept_at < wait:
                return bool(self._loads)
            self._keep(job)
            return True

    def close(self) -> None:
        """Nobody is to press anything any more: only what is kept stays."""
        with self._lock:
            self._facts = replace(self._facts, page=None)
            if not self._over:
                self._keep(self._seen)
            self._let_go()

    @property
    def _was_reloaded(self) -> bool:
        return len(self._loads) == MOST_LOADS

    # ---- drawing ----------------------------------------------------------------------------

    def _keep(self, job: JobView) -> None:
        self._kept_at = time.monotonic()
        html = job_card.kept(job, self._facts)
        self._context.run(self._kept.show, {"text/html": html, "text/plain": self._words(job)})

    def _make_widget(self) -> None:
        # Here, because loading the extension must not import ipywidgets.
        try:
            from arc_workbench.frontends.notebook.widget import RunWidget
        except ImportError:  # the package of widgets is there and broken
            return
        for name in (job_card.STOP, job_card.WHOLE, job_card.BACK, *job_card.MOVES):
            self._codes[name] = self._tickets.give(name)
        self._widget = RunWidget(self._hear, lambda: None)
        view = {"version_major": 2, "version_minor": 1, "model_id": self._widget.model_id}
        self._live.show({_MIME: view, "text/plain": ""})

    def _changes(self, job: JobView) -> list[JsonObject]:
        """The parts that are not what was sent before."""
        changed: list[JsonObject] = []
        for key, part in job_card.parts(job, self._facts).items():
            tree = to_json(part)
            if self._drawn.get(key) != tree:
                self._drawn[key] = tree
                changed.append({"op": "put", "key": key, "into": "", "tree": tree})
        return changed

    def _draw_for(self, page: str) -> None:
        """The whole card for one page; the others have it."""
        job = self._seen = self._look()
        self._changes(job)
        codes: list[JsonObject] = [_code(name, code) for name, code in self._codes.items()]
        tree = to_json(job_card.live(job, self._facts))
        self._tell([{"op": "all", "tree": tree}, _clock(job), *codes], page)

    def _tell(self, operations: list[JsonObject], page: str = "") -> None:
        if self._widget is None or not self._loads or not operations:
            return
        message: JsonObject = {"ops": [*operations]}
        if page:
            message["page"] = page
        self._context.run(self._widget.tell, message)

    def _finish(self, job: JobView) -> None:
        """The job is over: what is kept says how, and the live card goes unless it is read."""
        self._over = True
        self._facts = replace(self._facts, undo=self._undo())
        self._keep(job)
        self._tell([_clock(job), {"op": "say", "text": f"{jobs.title(job)}."}])
        if self._facts.page is None and not self._was_reloaded:
            self._let_go()

    def _let_go(self) -> None:
        widget, self._widget = self._widget, None
        if widget is not None:
            self._context.run(self._live.show, _NOTHING)
            self._context.run(widget.close)

    # ---- what is heard, in any thread -------------------------------------------------------

    def _hear(self, content: object) -> None:
        match content:
            case {"do": "ready", "page": str() as page}:
                with self._lock:
                    if len(self._loads) < MOST_LOADS:
                        self._loads.add(page[:MAX_PAGE_NAME].partition("-")[0])
                    self._draw_for(page[:MAX_PAGE_NAME])
            case _:
                name = self._tickets.take(content)
                if name:
                    self._press(name)

    def _press(self, name: str) -> None:
        """Answer at once; what takes time goes on in a thread of its own."""
        with self._lock:
            if self._widget is None:
                return
            self._codes[name] = self._tickets.give(name)
            if name == job_card.STOP:
                self._facts = replace(self._facts, stopping=True, fault="")
            elif name == job_card.BACK:
                self._facts = replace(self._facts, page=None)
            else:
                self._turn_to(name)
            news = self._changes(self._seen)  # looking anew would take time under a flood
            self._tell([*news, _code(name, self._codes[name])])
            if name == job_card.BACK and self._over and not self._was_reloaded:
                self._let_go()
        if name == job_card.STOP:
            threading.Thread(target=self._end_it, name="arc-stop-job", daemon=True).start()

    def _turn_to(self, move: str) -> None:
        page, file = self._facts.page, self._file
        try:
            match move:
                case "end":
                    page = spool_pages.last(file)
                case "earlier" if page is not None:
                    page = spool_pages.before(file, page.start)
                case "later" if page is not None:
                    page = spool_pages.after(file, page)
                case _:
                    page = spool_pages.first(file)
        except OSError as fault:
            why = f"Its output cannot be read: {fault.strerror}."
            self._facts = replace(self._facts, page=None, fault=why)
            return
        page = replace(page, text=self._clean(page.text))
        self._facts = replace(self._facts, page=page, fault="")

    def _end_it(self) -> None:
        try:
            self._stop()
        except ArcError as fault:
            with self._lock:
                if not self._over:
                    self._facts = replace(self._facts, stopping=False, fault=str(fault))
        self.refresh()


def _code(name: str, code: str) -> JsonObject:
    return {"op": "code", "prompt": name, "code": code}


def _clock(job: JobView) -> JsonObject:
    elapsed = max(0.0, time.time() - job.started_at) if job.running and job.started_at else None
    return {"op": "clock", "elapsed": elapsed}
