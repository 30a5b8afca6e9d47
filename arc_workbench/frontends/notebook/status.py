"""`%agent status`: the session as it stands, and what commands find in their environment."""

# pyright: basic

from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.elements import Element, Node, el
from arc_workbench.frontends.notebook.look import Look
from arc_workbench.frontends.notebook.odd import chips
from arc_workbench.frontends.notebook.static import page
from arc_workbench.frontends.words import plural
from arc_workbench.shell.environment import ChildEnvironment

MOST_NAMES = 100


def status(desk: Desk, word: str = "") -> Look:
    """The session in one line; its HTML, its rows and a terminal hold the environment, too.

    The plain text of a notebook does not: it is to be the same on every machine.
    """
    line, facts = _session(desk)
    passed = desk.environment
    facts |= {"variables": len(passed.values), "left_out": ", ".join(passed.left_out)}
    in_kernel = getattr(desk.shell, "kernel", None) is not None
    text = line if in_kernel else f"{line}\n{_said(passed)}"
    rows: list[Node] = [el("p", "", *chips(line)), _drawn(passed)]
    return Look(text, [facts], page(*rows))


def _session(desk: Desk) -> tuple[str, dict[str, object]]:
    session = desk.current
    if session is None:
        facts = {key: desk.value(key) for key in ("model", "mode", "access", "sandbox")}
        words = ["no session yet", *list(facts.values())[:3]]
    else:
        facts = {
            "session": session.name,
            "model": session.model,
            "mode": session.mode,
            "access": session.access,
            "step": session.step,
            "sandbox": desk.value("sandbox"),
        }
        words = [*map(str, list(facts.values())[:4]), f"step {session.step}"]
        words += ["dry run"] if session.dry_run else []
    words += [f"sandbox {facts['sandbox']}"] if facts["sandbox"] != "off" else []
    return " \u00b7 ".join(words), dict(facts)


def _said(passed: ChildEnvironment) -> str:
    """What commands get, in one line; names, never values."""
    count = plural(len(passed.values), "variable")
    if not passed.left_out:
        return f"Commands get {count}; none looks secret."
    names = ", ".join(passed.left_out[:MOST_NAMES])
    more = len(passed.left_out) - MOST_NAMES
    return f"Commands get {count}; left out as secret: {names}" + (
        f" and {more:,} more." if more > 0 else "."
    )


def _drawn(passed: ChildEnvironment) -> Element:
    names = chips(", ".join(sorted(passed.values)), "name")
    chevron = el("span", "aw-chev", "\u203a", aria_hidden="true")
    summary = el("summary", "", chevron, f" {_said(passed)}")
    return el("details", "aw-more", summary, el("p", "aw-soft", *names))
