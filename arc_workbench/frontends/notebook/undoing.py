"""`%agent changes`, `undo` and `recovery`: what was changed, and the way back."""

# pyright: basic

from collections.abc import Sequence
from typing import cast

from arc_workbench.content import ChangeRow, Changes, Diff, Recovery, RecoveryEntry
from arc_workbench.errors import SettingsError
from arc_workbench.frontends import history, plain
from arc_workbench.frontends.notebook import journals, rewinding
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.diff import DETAILED, diff
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.history import changes as change_table
from arc_workbench.frontends.notebook.history import recovery as recovery_card
from arc_workbench.frontends.notebook.journals import LOOKED_THROUGH, Journal, Verb
from arc_workbench.frontends.notebook.lines import command, done, soft
from arc_workbench.frontends.notebook.look import Look, rows_of
from arc_workbench.frontends.notebook.pressing import Action, Buttons, Card, PressLook
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.words import plural

NEWEST = 300
MINUS = "\u2212"
MOST_BUTTONS = 8
SINCE = "Since then, by hand or by other changes"
NO_CHANGE_SINCE = "The file has not changed since."


# ---- changes and undo ---------------------------------------------------------------------------


def changes(desk: Desk, change_id: str = "", project: str = "") -> Look:
    """The newest changes, or what one change or command did; with buttons for who can press."""
    if rewinding.is_command(change_id):
        return rewinding.looked_at(desk, change_id, project)
    journal = journals.find(desk, project)
    card = _one(desk, journal, change_id) if change_id else _newest(desk, journal)
    return PressLook(desk, card, _undo_buttons(desk, journal, change_id))


def _newest(desk: Desk, journal: Journal) -> Card:
    def draw() -> Look:
        now = journals.at(desk, journal.folder)
        rows, count = _counted(now)
        block = Changes(changes=rows, note=now.note())
        older = history.older(rows, count)
        others = history.by_commands(_commands(desk, now))
        text = [plain.block(block, NEWEST), *([f"... {older}"] if older else [])]
        text += [*([others] if others else []), *_said(now)]
        shown = [change_table(block), *soft(older, others), *_ways(rows), *soft(*_said(now))]
        return Look("\n".join(text), rows_of(rows), page(*shown))

    return draw


def _commands(desk: Desk, journal: Journal) -> tuple[str, ...]:
    """The commands of the session that changed files of this folder."""
    session = desk.current
    if session is None or session.project is None or session.project != journal.folder:
        return ()
    return session.changing_commands()


def _counted(journal: Journal) -> tuple[tuple[ChangeRow, ...], int]:
    """The newest changes, and how many older ones there are."""
    rows = journal.changes(NEWEST + 1)
    if len(rows) <= NEWEST:
        return rows, 0
    return rows[:NEWEST], len(journal.changes(LOOKED_THROUGH)) - NEWEST


def _one(desk: Desk, journal: Journal, change_id: str) -> Card:
    def draw() -> Look:
        now = journals.at(desk, journal.folder)
        change, since = now.change_diff(change_id), now.diff_since(change_id)
        row = now.change(change_id)
        rows = (row,) if row else ()
        text = [plain.block(Changes(changes=(each,))) for each in rows]
        text += [_text(change), *(_text_since(since)), *_said(now)]
        shown: list[Node] = [change_table(Changes(changes=(each,))) for each in rows]
        shown += [diff(change, DETAILED), *_drawn_since(since)]
        shown += [command("Undo it", f"undo {change_id}")] if row and _can(row) else []
        return Look("\n".join(text), rows_of(rows), page(*shown, *soft(*_said(now))))

    return draw


def _text_since(since: Diff | None) -> list[str]:
    return [f"{SINCE}:", _text(since)] if since else []


def _drawn_since(since: Diff | None) -> list[Element]:
    if since is None:
        return [el("p", "aw-soft", NO_CHANGE_SINCE)]
    return [el("p", "aw-strong", SINCE), diff(since, DETAILED)]


def _said(journal: Journal) -> list[str]:
    """The folder, where no session names it."""
    return [f"{journal.said[0].upper()}{journal.said[1:]}."] if journal.said else []


def _can(row: ChangeRow) -> bool:
    return history.can_be_undone(row)


def _ways(rows: Sequence[ChangeRow]) -> list[Element]:
    """What to type, with the first change that it would work for."""
    if not rows:
        return []
    able = next((row for row in rows if _can(row)), None)
    undo = [command("Undo one", f"undo {able.id}")] if able else []
    return [*undo, command("See one", f"changes {rows[0].id}")]


def _undo_buttons(desk: Desk, journal: Journal, change_id: str) -> Buttons:
    found = [journal.change(change_id)] if change_id else journal.changes(NEWEST)
    rows = [row for row in found if row is not None and _can(row)]
    actions = [_undo_action(desk, journal, row) for row in rows[:MOST_BUTTONS]]
    left = rows[MOST_BUTTONS:]
    session = desk.current
    if session is not None and not change_id:
        actions += rewinding.actions(desk, session, _commands(desk, journal))
    more = f"Only the newest {MOST_BUTTONS} have a button. Any other: %agent undo "
    return Buttons("changes", actions, more + left[0].id if left else "")


def _undo_action(desk: Desk, journal: Journal, row: ChangeRow) -> Action:
    def act() -> str:
        undone, _ = journals.at(desk, journal.folder).undo(row.id)
        return f"{history.undone(undone)}. To take that back: %agent undo {undone.id}"

    lines = history.lines(row, MINUS)
    return Action("undo", row.id, f"Undo {row.id}", row.path, lines, act, group=row.id)


def undo(desk: Desk, change_id: str = "", project: str = "") -> Look:
    """Take back one change, or all that one command did (`s3`).

    Without a name it is the last change of this session that stands.
    """
    if rewinding.is_command(change_id):
        return rewinding.undo(desk, change_id, project)
    journal = journals.find(desk, project)
    row, change = journal.undo(change_id)
    desk.settle()
    said = _at(history.undone(row), journal)
    again = command("To take that back", f"undo {row.id}")
    return Look(said, rows_of((row,)), page(done(said), diff(change, DETAILED), again))


def _at(words: str, journal: Journal) -> str:
    return f"{words} \u00b7 {journal.said}" if journal.said else words


# ---- recovery -----------------------------------------------------------------------------------


def recovery(desk: Desk, verb: str = "", change_id: str = "", project: str = "") -> Look:
    """The verdict of start-up; `keep` and `restore` decide about one change."""
    journal = journals.find(desk, project)
    if not verb:
        buttons = _decisions(desk, journal)
        return PressLook(desk, lambda: _report(journals.at(desk, journal.folder)), buttons)
    if not change_id:
        raise SettingsError(f"Which change? Type: %agent recovery {verb} c3")
    said = _decide(journal, cast("Verb", verb), change_id)
    desk.settle()
    return _report(journal, _at(said, journal))


def _decisions(desk: Desk, journal: Journal) -> Buttons:
    """What may be decided about each change that needs it."""
    report = journal.recovery()
    if report.verdict == "tampered":
        return Buttons("recovery", _to_begin_anew(desk, journal, report))
    open_ = [each for each in report.entries if each.status == "ambiguous"]
    asked, left = open_[: MOST_BUTTONS // 2], open_[MOST_BUTTONS // 2 :]
    actions = [action for each in asked for action in _choices(desk, journal, each)]
    more = f"{plural(len(left), 'more change')} without buttons: %agent recovery keep "
    return Buttons("recovery", actions, f"{more}{left[0].id}, or restore" if left else "")


def _to_begin_anew(desk: Desk, journal: Journal, report: Recovery) -> list[Action]:
    """The one way out of a damaged journal, where the report names it."""
    if not any(history.JOURNAL in entry.next for entry in report.entries):
        return []
    entry = RecoveryEntry(id=history.JOURNAL, path="", op="", status="", happened="")
    return [_decision(desk, journal, "keep", entry, "Put it aside and begin anew")]


def _choices(desk: Desk, journal: Journal, entry: RecoveryEntry) -> tuple[Action, Action]:
    back = f"Put back the text before {entry.id}"
    return (
        _decision(desk, journal, "keep", entry, "Keep the file as it is"),
        _decision(desk, journal, "restore", entry, back),
    )


def _decision(desk: Desk, journal: Journal, verb: Verb, entry: RecoveryEntry, label: str) -> Action:
    def act() -> str:
        return _decide(journals.at(desk, journal.folder), verb, entry.id)

    asks = f"Which is right, what lies there now or the text before {entry.id}?"
    name = f"{verb}-{entry.id}"
    question = asks if entry.path else "What is to become of the damaged journal?"
    return Action(verb, name, label, entry.path, "", act, group=entry.id, asks=question)


def _decide(journal: Journal, verb: Verb, change_id: str) -> str:
    """Do it; what it came to, and how to go back from there."""
    entries = {entry.id: entry for entry in journal.recovery().entries}
    before = [row.id for row in journal.changes(1)]
    after = journal.recover(change_id, verb)
    entry = entries.get(change_id)
    if verb == "keep" or entry is None:
        return history.kept(change_id, after)
    made = [row for row in journal.changes(1) if row.id not in before]
    return history.restored(entry, made[0] if made else None, after)


def _report(journal: Journal, headline: str = "") -> Look:
    report = journal.recovery()
    blocked = history.blocked(report)
    first = headline or " \u00b7 ".join(filter(None, (report.verdict, blocked, journal.said)))
    _, *rest = plain.block(report).split("\n")
    shown = [*([done(headline)] if headline else []), recovery_card(report)]
    html = page(*shown, *soft(*([] if headline else _said(journal))))
    return Look("\n".join([first, *rest]), rows_of(report.entries), html)


def _text(change: Diff) -> str:
    return plain.block(change)
