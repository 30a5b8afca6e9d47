"""`%agent changes`, `undo`, `recovery` and `dryrun`: what was changed, and the way back."""

# pyright: basic

import os
from collections.abc import Sequence
from typing import Literal, Protocol, cast

from arc_workbench.agent.session import Session
from arc_workbench.content import ChangeRow, Changes, Diff, Recovery, RecoveryEntry
from arc_workbench.errors import SettingsError
from arc_workbench.frontends import history, plain
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.diff import diff
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.history import changes as change_table
from arc_workbench.frontends.notebook.history import recovery as recovery_card
from arc_workbench.frontends.notebook.look import Look, rows_of
from arc_workbench.frontends.notebook.pressing import Action, Card, PressLook
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.words import plural
from arc_workbench.settings import project_folder
from arc_workbench.workbench import journal_of
from arc_workbench.workspace import Workspace

Verb = Literal["keep", "restore"]

NEWEST = 50
MINUS = "\u2212"
LOOKED_THROUGH = 100_000
MOST_BUTTONS = 8
NO_SESSION = "There is no session yet; nothing ran. Run a %%agent cell first."
NO_FOLDER = "This session has no project folder; it changes no files."
ANOTHER_FOLDER = "The session of that folder is over. Begin one there, then: %agent undo {change}"


class Journal(Protocol):
    """What can be looked at: of a session, or of a folder that has none yet."""

    def changes(self, limit: int = NEWEST) -> tuple[ChangeRow, ...]:
        """The newest changes first."""
        ...

    def change_diff(self, change_id: str) -> Diff:
        """What a change did to its file."""
        ...

    def recovery(self) -> Recovery:
        """What start-up found."""
        ...


class _OfFolder:
    """The journal of a folder without a session."""

    def __init__(self, files: Workspace) -> None:
        self._files = files
        self.change_diff = files.change_diff
        self.recovery = files.recovery

    def changes(self, limit: int = NEWEST) -> tuple[ChangeRow, ...]:
        """The newest changes first."""
        return self._files.history(limit)


def _journal(desk: Desk) -> Journal:
    if desk.current is not None:
        return desk.current
    folder = project_folder(desk.settings({}))
    if folder is None:
        raise SettingsError(NO_FOLDER)
    return _OfFolder(journal_of(folder, os.environ))


def _session(desk: Desk) -> Session:
    if desk.current is None:
        raise SettingsError(NO_SESSION)
    return desk.current


# ---- changes and undo ---------------------------------------------------------------------------


def changes(desk: Desk, change_id: str = "") -> Look:
    """The newest changes, or the diff of one; with buttons where somebody can press them."""
    journal = _journal(desk)
    card = _one(journal, change_id) if change_id else _newest(journal)
    return PressLook(desk, card, _undo_actions(desk, journal, change_id))


def _newest(journal: Journal) -> Card:
    def draw() -> Look:
        rows = journal.changes(NEWEST)
        text = plain.block(Changes(changes=rows)) if rows else history.NO_CHANGES
        html = page(change_table(Changes(changes=rows)), *_ways(rows))
        return Look(text, rows_of(rows), html)

    return draw


def _one(journal: Journal, change_id: str) -> Card:
    def draw() -> Look:
        change = journal.change_diff(change_id)
        row = _row(journal, change_id)
        rows = (row,) if row else ()
        text = "\n".join([*(plain.block(Changes(changes=(each,))) for each in rows), _text(change)])
        shown = [change_table(Changes(changes=(each,))) for each in rows]
        can = [_command("Undo it", f"undo {change_id}")] if row and _can(row) else []
        return Look(text, rows_of(rows), page(*shown, diff(change), *can))

    return draw


def _row(journal: Journal, change_id: str) -> ChangeRow | None:
    rows = journal.changes(LOOKED_THROUGH)
    return next((row for row in rows if row.id == change_id), None)


def _can(row: ChangeRow) -> bool:
    return history.can_be_undone(row)


def _ways(rows: Sequence[ChangeRow]) -> list[Element]:
    """What to type, with the first change that it would work for."""
    if not rows:
        return []
    able = next((row for row in rows if _can(row)), None)
    undo = [_command("Undo one", f"undo {able.id}")] if able else []
    return [*undo, _command("See one", f"changes {rows[0].id}")]


def _command(words: str, command: str) -> Element:
    return el("p", "aw-soft", f"{words}: ", el("code", "", f"%agent {command}"))


def _undo_actions(desk: Desk, journal: Journal, change_id: str) -> list[Action]:
    session = desk.current
    if session is None:
        return []
    found = [_row(journal, change_id)] if change_id else journal.changes(NEWEST)
    rows = [row for row in found if row is not None and _can(row)]
    return [_undo_action(desk, session, row) for row in rows[:MOST_BUTTONS]]


def _undo_action(desk: Desk, session: Session, row: ChangeRow) -> Action:
    def act() -> str:
        now = desk.current
        if now is None or now.project != session.project:
            raise SettingsError(ANOTHER_FOLDER.format(change=row.id))
        undone, _ = now.undo(row.id)
        return f"{history.undone(undone)}. To take that back: %agent undo {undone.id}"

    lines = history.lines(row, MINUS)
    return Action("undo", row.id, f"Undo {row.id}", row.path, lines, act, group=row.id)


def undo(desk: Desk, change_id: str = "") -> Look:
    """Take back one change; without a name the last one of this session that stands."""
    row, change = _session(desk).undo(change_id)
    said = history.undone(row)
    again = _command("To take that back", f"undo {row.id}")
    return Look(said, rows_of((row,)), page(_said(said), diff(change), again))


def _said(words: str) -> Element:
    sign = el("span", "aw-mark aw-mark--done", "\u2713", aria_hidden="true")
    return el("div", "aw-note", sign, " ", el("span", "", el("b", "", words)))


# ---- recovery -----------------------------------------------------------------------------------


def recovery(desk: Desk, verb: str = "", change_id: str = "") -> Look:
    """The verdict of start-up; `keep` and `restore` decide about one change."""
    if not verb:
        journal = _journal(desk)
        actions = _decisions(desk, journal.recovery()) if desk.current else []
        return PressLook(desk, lambda: _report(journal.recovery()), actions)
    if not change_id:
        raise SettingsError(f"Which change? Type: %agent recovery {verb} c3")
    changed, after = _decide(desk, cast("Verb", verb), change_id)
    return _report(after, changed)


def _decisions(desk: Desk, report: Recovery) -> list[Action]:
    """What may be decided about each change that needs it."""
    if report.verdict == "tampered":
        return [_decision(desk, "keep", "journal", "Put it aside and begin anew", "")]
    open_ = [each for each in report.entries if each.status == "ambiguous"]
    return [action for each in open_[: MOST_BUTTONS // 2] for action in _choices(desk, each)]


def _choices(desk: Desk, entry: RecoveryEntry) -> tuple[Action, Action]:
    back = f"Put back the text before {entry.id}"
    return (
        _decision(desk, "keep", entry.id, "Keep the file as it is", entry.path),
        _decision(desk, "restore", entry.id, back, entry.path),
    )


def _decision(desk: Desk, verb: Verb, change_id: str, label: str, about: str) -> Action:
    def act() -> str:
        return f"{change_id}: {_decide(desk, verb, change_id)[0]}"

    return Action(verb, f"{verb}-{change_id}", label, about, "", act, group=change_id)


def _decide(desk: Desk, verb: Verb, change_id: str) -> tuple[str, Recovery]:
    session = _session(desk)
    before = session.recovery().verdict
    after = session.recover(change_id, verb)
    return f"{before} -> {after.verdict}", after


def _report(report: Recovery, headline: str = "") -> Look:
    blocked = history.blocked(report)
    first = headline or " \u00b7 ".join(filter(None, (report.verdict, blocked)))
    _, *rest = plain.block(report).split("\n")
    return Look("\n".join([first, *rest]), rows_of(report.entries), page(recovery_card(report)))


# ---- dry-run ------------------------------------------------------------------------------------


def dryrun(desk: Desk, verb: str = "") -> Look:
    """Whether files change in a copy only; what differs; write it or drop it."""
    if desk.current is None:
        return _before_a_session(desk, verb)
    session = desk.current
    match verb:
        case "on":
            was = _on(session.dry_run)
            session.set_dry_run(True)
            return Look(f"{was} -> on", [{"dry_run": True}])
        case "diff":
            return _differing(session.dry_run_diffs())
        case "apply":
            return _applied(session)
        case "discard":
            count = session.dry_run_discard()
            return Look(f"{plural(count, 'file')} dropped", [{"dropped": count}])
        case _:
            count = len(session.dry_run_diffs()) if session.dry_run else 0
            words = f"on \u00b7 {history.differ(count)}" if session.dry_run else "off"
            return Look(words, [{"dry_run": session.dry_run, "differ": count}])


def _before_a_session(desk: Desk, verb: str) -> Look:
    on = bool(desk.settings({}).dry_run)
    if verb == "on":
        desk.choose("dry_run", True)
        return Look(f"{_on(on)} -> on", [{"dry_run": True}])
    if verb:
        raise SettingsError(NO_SESSION)
    return Look(_on(on), [{"dry_run": on, "differ": 0}])


def _on(on: bool) -> str:
    return "on" if on else "off"


def _differing(diffs: tuple[Diff, ...]) -> Look:
    if not diffs:
        return Look("Nothing differs.", [])
    drawn: list[Node] = [diff(each) for each in diffs]
    ways = [_command("Write all of it", "dryrun apply"), _command("Drop it", "dryrun discard")]
    return Look("\n".join(map(_text, diffs)), rows_of(diffs), page(*drawn, *ways))


def _applied(session: Session) -> Look:
    rows = session.dry_run_apply()
    names = ", ".join(row.id for row in rows)
    said = f"{plural(len(rows), 'file')} written{': ' if names else ''}{names}"
    return Look(said, rows_of(rows), page(_said(said), change_table(Changes(changes=rows))))


def _text(change: Diff) -> str:
    return plain.block(change)
