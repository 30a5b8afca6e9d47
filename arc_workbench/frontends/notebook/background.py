"""The background jobs of a session, shown from their beginning to their end, also between cells."""

# pyright: basic

import os
import threading
from collections import deque
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

from arc_workbench.agent.session import Session
from arc_workbench.errors import ArcError
from arc_workbench.events import Event, JobEnded, JobOutput, JobStarted
from arc_workbench.frontends import jobs
from arc_workbench.frontends.notebook.clients import Client
from arc_workbench.frontends.notebook.live_job import LiveJob
from arc_workbench.frontends.notebook.places import print_between
from arc_workbench.store.redaction import Redactor
from arc_workbench.views import JobView

if TYPE_CHECKING:
    from arc_workbench.frontends.notebook.showing import Show

Words = Callable[[JobView], str]

TAIL_BYTES = 8_000
LONGEST_CHARACTER = 4
REFRESH_SEC = 0.2
"""Between two drawings of a card: output is read, not watched."""


class Background:
    """Hears of the jobs of one session, from any thread, and keeps their cards up to date.

    A job is drawn by the cell that began it, in `place`; from then on a thread of this draws what
    changes, at most five times a second, however much the jobs print. In a terminal a line is
    printed when a job begins and when it ends.
    """

    def __init__(self, session: Session, shell: Any) -> None:
        self._session = session
        self._shell = shell
        self._in_kernel = getattr(shell, "kernel", None) is not None
        self._lock = threading.RLock()
        self._board = session.board()
        self._new: deque[str] = deque()
        self._lines: deque[str] = deque()
        self._in_cell = self._tells = False
        self._cards: list[LiveJob] = []
        self._woken, self._closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._stop_listening = session.listen(self._hear)

    # ---- what the cell calls ----------------------------------------------------------------

    def place(self, show: "Show") -> None:
        """Draw the jobs that began since, in the running cell.

        Where nobody watches that waits until the cell is over: a job is then drawn once, below the
        turn that began it.
        """
        with self._lock:
            self._in_cell = True
            self._tells = not self._in_kernel and show.client != "policy"
        if show.client != "policy":
            self._place(show)

    def cell_is_over(self, show: "Show") -> None:
        """The last `place` of a cell; from now on a terminal is told at once."""
        self._place(show)
        with self._lock:
            self._in_cell = False
        self._woken.set()

    def card(self, job_id: str, client: Client, words: Words = jobs.row) -> LiveJob:
        """A card of a job of this session, still to be drawn; it is kept up to date from now on.

        Raises `ToolError` where there is no such job.
        """
        job = self.look(job_id)
        step = _step_of(self._session, job.call_id)
        card = LiveJob(
            self._shell,
            lambda: self.look(job_id),
            lambda: self._end(job_id),
            self._session.job_output(job_id),
            kind=client,
            step=step,
            words=words,
            clean=Redactor(os.environ).text,
            undo=lambda: self.undo_id(job.spool),
        )
        with self._lock:
            self._cards = [each for each in self._cards if not each.gone] + [card]
        return card

    def look(self, job_id: str) -> JobView:
        """The job as it stands now, to be drawn at leisure; `ToolError` for an unknown id.

        What a running one has printed is read from its file: of what it prints only so much is
        told as a person can follow.
        """
        with self._lock:
            known = self._board.jobs.get(job_id)
            job = copy(known) if known is not None else None
        if job is None or job.running:
            state = self._session.job(job_id)
            job = job or jobs.view_of(state)
            job.bytes = max(job.bytes, state.total_bytes)
            job.tail = self._last_words(job_id)
        return job

    def undo_id(self, spool_id: str) -> str:
        """The id of a command that changed files; "" for none, and for who can no longer undo."""
        if self._closing.is_set():
            return ""
        try:
            found = self._session.command_changes(spool_id)
        except (ArcError, OSError):
            return ""
        return spool_id if found is not None and found.rows else ""

    def _last_words(self, job_id: str) -> str:
        """The last whole lines: a line whose beginning is missing may hide what it is."""
        text = self._session.job_tail(job_id, TAIL_BYTES)
        if len(text.encode("utf-8", "replace")) < TAIL_BYTES - LONGEST_CHARACTER:
            return text
        return text.partition("\n")[2] or text

    def close(self) -> None:
        """The session is closed, and its jobs with it: draw how they ended, and be done."""
        self._stop_listening()
        self._closing.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        for card in self._cards:
            self._refreshed(card)
            card.close()

    # ---- inside -----------------------------------------------------------------------------

    def _place(self, show: "Show") -> None:
        with self._lock:
            lines, self._lines = self._lines, deque()
            new, self._new = self._new, deque()
        if not self._in_kernel:
            for line in lines:
                show.aside(line)
            return
        for job_id in new:
            self.card(job_id, show.client).draw()

    def _hear(self, event: Event) -> None:
        """Take note, in whichever thread."""
        if not isinstance(event, JobStarted | JobOutput | JobEnded):
            return
        with self._lock:
            job = self._board.fold(event)
            if job is None:
                return
            if isinstance(event, JobStarted):
                self._new.append(job.id)
                self._lines.append(jobs.began(job))
            elif isinstance(event, JobEnded):
                self._lines.append(jobs.over(job))
            self._start_to_watch()
        self._woken.set()

    def _start_to_watch(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._thread = threading.Thread(target=self._watch, name="arc-jobs", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        """Draw what changed, then rest; the first change after a rest is drawn at once."""
        while not self._closing.is_set():
            self._woken.wait()
            self._woken.clear()
            self._print_lines()
            with self._lock:
                cards = list(self._cards)
            late = [card for card in cards if not self._refreshed(card)]
            if self._closing.wait(REFRESH_SEC):
                return
            if late:
                self._woken.set()

    def _refreshed(self, card: LiveJob) -> bool:
        """Whether all of it is drawn; a job that cannot be looked at keeps the card it has."""
        try:
            return card.refresh()
        except (ArcError, OSError):
            return True

    def _print_lines(self) -> None:
        """What a terminal is told between two cells."""
        with self._lock:
            if self._in_cell:
                return
            lines, self._lines = self._lines, deque()
        for line in lines if self._tells else ():
            print_between(self._shell, line)

    def _end(self, job_id: str) -> None:
        self._session.kill_job(job_id)


def _step_of(session: Session, call_id: str) -> int:
    """The step whose call began a job; 0 where that is not known."""
    for turn in reversed(session.turns):
        if call_id in turn.calls:
            return next((s.number for s in turn.steps if turn.calls[call_id] in s.parts), 0)
    return 0
