"""What a command changed, by the id of its output, and the way back: typed, and as buttons."""

# pyright: basic

import contextlib
import re
from collections.abc import Sequence

from arc_workbench.agent.session import Session
from arc_workbench.content import Changes, CommandChanges
from arc_workbench.errors import SettingsError, ToolError
from arc_workbench.frontends import history, plain
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.history import changes as change_table
from arc_workbench.frontends.notebook.history import command_changes
from arc_workbench.frontends.notebook.lines import command, done, soft
from arc_workbench.frontends.notebook.look import Look, rows_of
from arc_workbench.frontends.notebook.pressing import Action, Buttons, PressLook
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.words import plural
from arc_workbench.settings import project_folder
from arc_workbench.views import TurnView, shown_of

_ID = re.compile(r"s[0-9]+")
MOST_ROWS = 300
MOST_BUTTONS = 4
NO_SESSION = "{spool} is the output of a command; only the session that ran it knows what changed."
NOT_KEPT = "What the command {spool} changed is not kept. Known: {known}."
TURN = "Take back what a command changed"


def is_command(word: str) -> bool:
    """Whether a word is the id of the output of a command, and no change of the journal."""
    return _ID.fullmatch(word) is not None


def looked_at(desk: Desk, spool_id: str, project: str = "") -> Look:
    """What one command changed; with a button where somebody can press it."""
    session = _session(desk, spool_id, project)
    found = session.command_changes(spool_id)
    if found is None:
        known = ", ".join(session.changing_commands()) or "none"
        raise SettingsError(NOT_KEPT.format(spool=spool_id, known=known))
    text = plain.block(found, MOST_ROWS)
    look = Look(text, rows_of(found.rows), page(command_changes(found)))
    standing = spool_id in session.changing_commands(standing=True)
    actions = [_action(desk, session, found)] if standing else []
    return PressLook(desk, lambda: look, Buttons("changes", actions))


def undo(desk: Desk, spool_id: str, project: str = "") -> Look:
    """Take back what one command changed, all of it or nothing."""
    session = _session(desk, spool_id, project)
    rows, note = session.undo_command(spool_id)
    desk.settle()
    said = history.command_undone(spool_id, rows)
    again = history.again(rows)
    shown = [done(said), *([change_table(Changes(changes=rows))] if rows else [])]
    text = "\n".join(filter(None, (said, note)))
    return Look(text, rows_of(rows), page(*shown, *soft(note, again)))


def actions(desk: Desk, session: Session, spool_ids: Sequence[str]) -> list[Action]:
    """A button for each of the newest of these commands whose changes still stand."""
    standing = [each for each in session.changing_commands(standing=True) if each in spool_ids]
    found = [session.command_changes(each) for each in standing[:MOST_BUTTONS]]
    return [_action(desk, session, changes) for changes in found if changes is not None]


def below_turn(desk: Desk, session: Session, turn: TurnView) -> None:
    """Where a turn's commands changed files, show the way back, with buttons that need the kernel.

    Shows nothing where nobody can press.
    """
    blocks = [
        block
        for call in turn.calls.values()
        for block in shown_of(call.result)
        if isinstance(block, CommandChanges) and block.rows and block.spool
    ]
    try:
        found = actions(desk, session, [block.spool for block in blocks]) if blocks else []
    except ToolError:  # the turn is over all the same
        return
    if not found:
        return
    buttons = Buttons("changes", found)
    ways = [f"undo {action.name}" for action in buttons.actions]
    text = "\n".join(f"{TURN}: %agent {way}" for way in ways)
    look = Look(text, [], page(*(command(TURN, way) for way in ways)))
    with contextlib.suppress(NotImplementedError):  # nobody can press
        PressLook(desk, lambda: look, buttons).show()


def _session(desk: Desk, spool_id: str, project: str) -> Session:
    """The session whose command it is; that of another folder, or none, has no such command."""
    session = desk.current
    if session is None:
        raise SettingsError(NO_SESSION.format(spool=spool_id))
    if project and project_folder(desk.settings({"project": project})) != session.project:
        raise SettingsError(NO_SESSION.format(spool=spool_id))
    return session


def _action(desk: Desk, session: Session, found: CommandChanges) -> Action:
    spool = found.spool

    def act() -> str:
        rows, note = session.undo_command(spool)
        said = (history.command_undone(spool, rows), note.removesuffix("."), history.again(rows))
        return ". ".join(filter(None, said))

    first = found.rows[0].path if found.rows else ""
    left = len(found.rows) + found.more - 1
    says = f"and {plural(left, 'more file')}" if left > 0 else found.rows[0].kind
    return Action("undo", spool, f"Undo {spool}", first, says, act, group=spool)
