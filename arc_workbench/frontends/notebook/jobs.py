"""`%agent jobs`: the commands in the background, what one of them printed, and how to end it."""

# pyright: basic

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arc_workbench.errors import SettingsError
from arc_workbench.frontends import jobs as words_of
from arc_workbench.frontends.notebook import clients, spool_pages
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.elements import Element, el
from arc_workbench.frontends.notebook.job_card import Facts, kept
from arc_workbench.frontends.notebook.look import Look
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.notebook.tables import folded, identity, named, number, row, table
from arc_workbench.frontends.words import duration, size
from arc_workbench.settings import project_folder
from arc_workbench.store.redaction import Redactor
from arc_workbench.views import JobView
from arc_workbench.workbench import earlier_jobs

TAIL_BYTES = 8_000
TAIL_LINES = 20
NO_ID = "Which job? Type: %agent jobs {verb} j1. Known: {known}."
NO_SUCH = "There is no job {job}. Known: {known}."
OF_BEFORE = "{job} ended with an earlier kernel; nothing of it runs."

_HEADS = (("Job", ""), ("State", ""), ("Command", ""), ("Output", "aw-num"), ("Took", "aw-num"))


@dataclass(frozen=True)
class _Known:
    """A job of this session, or of an `earlier` one, whose output lies in `output`."""

    view: JobView
    earlier: bool = False
    output: Path | None = None


def jobs(desk: Desk, verb: str = "", job_id: str = "") -> Look:
    """All jobs; `tail` shows the end of what one printed, `kill` ends one."""
    known = _known(desk)
    if not verb:
        return _listed(known)
    job = _named(known, verb, job_id)
    return _tail(desk, job) if verb == "tail" else _kill(desk, job)


def job_ids(desk: Desk, *, running: bool) -> list[str]:
    """The ids that may follow `tail`, or with `running` those that may follow `kill`."""
    return [job.view.id for job in _known(desk) if job.view.running or not running]


def _known(desk: Desk) -> list[_Known]:
    """The newest first, those of this session before all others."""
    session = desk.current
    own = [_Known(words_of.view_of(state)) for state in session.jobs()] if session else []
    project = session.project if session else project_folder(desk.settings({}))
    if project is None:
        return own
    earlier = earlier_jobs(project, os.environ, session.id if session else "")
    return own + [_Known(words_of.view_of(each.state), True, each.output) for each in earlier]


def _named(known: Sequence[_Known], verb: str, job_id: str) -> _Known:
    names = ", ".join(dict.fromkeys(job.view.id for job in known)) or "none"
    if not job_id:
        raise SettingsError(NO_ID.format(verb=verb, known=names))
    found = next((job for job in known if job.view.id == job_id), None)
    if found is None:
        raise SettingsError(NO_SUCH.format(job=job_id, known=names))
    return found


# ---- the list -----------------------------------------------------------------------------------


def _listed(known: Sequence[_Known]) -> Look:
    text = words_of.table((job.view, job.earlier) for job in known)
    drawn = folded(_table, known, "job") if known else [el("p", "aw-soft", words_of.NO_JOBS)]
    return Look(text, [_row(job) for job in known], page(*drawn))


def _row(job: _Known) -> dict[str, Any]:
    view = job.view
    return {
        "job": view.id,
        "state": view.state,
        "command": view.command,
        "bytes": view.bytes,
        "seconds": round(view.duration_sec, 3),
        "earlier": job.earlier,
    }


def _table(known: Sequence[_Known]) -> Element:
    return table("Jobs", [_cells(job) for job in known], *_HEADS)


def _cells(job: _Known) -> Element:
    state = f"{job.view.state}, earlier kernel" if job.earlier else job.view.state
    return row(
        identity(job.view.id),
        el("td", "aw-strong" if job.view.running else "aw-soft", *chips(state)),
        named(words_of.command(job.view.command)),
        number(size(job.view.bytes)),
        number(duration(job.view.duration_sec)),
    )


# ---- one job ------------------------------------------------------------------------------------


class JobLook(Look):
    """The end of what a job printed; where somebody can press, its card with all of it."""

    def __init__(self, desk: Desk, job: _Known, text: str, rows: list[dict[str, Any]]) -> None:
        background = desk.background
        facts = Facts()
        if background is not None and not job.earlier and not job.view.running:
            facts = Facts(undo=background.undo_id(job.view.spool))
        super().__init__(text, rows, kept(job.view, facts))
        self._desk = desk
        self._job = job

    def _ipython_display_(self) -> None:
        background = self._desk.background
        self._desk.settle("jobs")
        asked = clients.who(self._desk.shell, self._desk.settings({}).ask)
        if background is None or self._job.earlier or asked != "buttons":
            raise NotImplementedError  # IPython shows the text and the HTML then
        card = background.card(self._job.view.id, asked, lambda _: self.text)
        card.draw(opened=True)
        self._desk.keep("jobs", card)


def _tail(desk: Desk, job: _Known) -> Look:
    said = _last_words(desk, job)
    lines = said.removesuffix("\n").split("\n")
    left = f"... {len(lines) - TAIL_LINES:,} more lines above" if len(lines) > TAIL_LINES else ""
    shown = [words_of.row(job.view, earlier=job.earlier), left, *lines[-TAIL_LINES:]]
    text = "\n".join(line for line in shown if line)
    view = job.view
    view.tail = said
    return JobLook(desk, job, text, [_row(job)])


def _last_words(desk: Desk, job: _Known) -> str:
    if job.output is None:
        assert desk.current is not None
        return desk.current.job_tail(job.view.id, TAIL_BYTES)
    try:
        return Redactor(os.environ).text(spool_pages.last(job.output).text)[-TAIL_BYTES:]
    except OSError as fault:
        raise SettingsError(f"The output of {job.view.id} is gone: {fault.strerror}.") from None


def _kill(desk: Desk, job: _Known) -> Look:
    if job.earlier:
        raise SettingsError(OF_BEFORE.format(job=job.view.id))
    if not job.view.running or desk.current is None:
        return Look(f"{words_of.row(job.view)}  already over", [_row(job)])
    view = words_of.view_of(desk.current.kill_job(job.view.id))
    return Look(words_of.row(view), [_row(_Known(view))])
