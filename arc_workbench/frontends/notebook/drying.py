"""`%agent dryrun`: whether files change in a copy only, what differs, and what becomes of it."""

# pyright: basic

from arc_workbench.agent.session import Session
from arc_workbench.content import Changes, Diff
from arc_workbench.errors import SettingsError
from arc_workbench.frontends import history, plain
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.diff import DETAILED, diff
from arc_workbench.frontends.notebook.elements import Node
from arc_workbench.frontends.notebook.history import changes as change_table
from arc_workbench.frontends.notebook.lines import command, done
from arc_workbench.frontends.notebook.look import Look, rows_of
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.words import plural

NO_SESSION = "There is no session yet; nothing ran. Run a %%agent cell first."


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
    drawn: list[Node] = [diff(each, DETAILED) for each in diffs]
    ways = [command("Write all of it", "dryrun apply"), command("Drop it", "dryrun discard")]
    return Look("\n".join(map(_text, diffs)), rows_of(diffs), page(*drawn, *ways))


def _applied(session: Session) -> Look:
    rows = session.dry_run_apply()
    names = ", ".join(row.id for row in rows)
    said = f"{plural(len(rows), 'file')} written{': ' if names else ''}{names}"
    return Look(said, rows_of(rows), page(done(said), change_table(Changes(changes=rows))))


def _text(change: Diff) -> str:
    return plain.block(change)
