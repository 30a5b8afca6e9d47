"""`%agent` subcommands: nouns show, verbs act (interface.md 3)."""

# pyright: basic

import os
from typing import Any

from arc_workbench.errors import ArcError, SettingsError
from arc_workbench.frontends import doctor, options, plain
from arc_workbench.frontends.notebook.cell import AgentError
from arc_workbench.frontends.notebook.desk import Desk
from arc_workbench.frontends.notebook.drying import dryrun
from arc_workbench.frontends.notebook.jobs import jobs
from arc_workbench.frontends.notebook.look import Look
from arc_workbench.frontends.notebook.static import static_bundle
from arc_workbench.frontends.notebook.status import status
from arc_workbench.frontends.notebook.undoing import changes, recovery, undo
from arc_workbench.permissions.modes import MODES
from arc_workbench.settings import project_folder
from arc_workbench.views import TurnView


def run_line(desk: Desk, line: str) -> Look | None:
    """Run one `%agent` line; a slip raises `AgentError` with one line and changes nothing."""
    try:
        words = options.split(line.rstrip().removesuffix(";"))
        known, rest = options.subcommand(words)
        if known.options:
            parsed = options.parse(rest, known.options)
            project = parsed.text("project") or ""
            return COMMANDS[known.name](desk, *_checked(known, parsed.words), project=project)
        return COMMANDS[known.name](desk, *_checked(known, rest))
    except ArcError as fault:
        raise AgentError(str(fault)) from None


def _checked(known: options.Subcommand, rest: tuple[str, ...]) -> tuple[str, ...]:
    most = known.most if known.usage else 0
    if len(rest) > most:
        raise SettingsError(f"{rest[most]} is too much; nothing ran. See: %agent help {known.name}")
    if rest and known.values and rest[0] not in known.values:
        raise SettingsError(
            f"{rest[0]} is no {known.name}; nothing ran. Known: {', '.join(known.values)}."
        )
    return rest


def _help(desk: Desk, word: str = "") -> Look:
    return Look(options.help_for(word) if word else options.usage(), [])


def _tools(desk: Desk, word: str = "") -> Look:
    from arc_workbench.frontends.tool_list import described, offered_tools

    session = desk.current
    settings = desk.settings({})
    mode = session.mode if session else settings.mode
    tools = offered_tools(session, settings)
    if word:
        tools = [tool for tool in tools if tool.name == word]
        if not tools:
            raise SettingsError(f"There is no tool {word} here. See: %agent tools")
        return Look(described(tools[0]), [tools[0].definition.model_dump()])
    words = {"allow": "allowed", "ask": "asks", "deny": "denied"}
    rows = [{"name": tool.name, "verdict": words[MODES[mode][tool.effect]]} for tool in tools]
    text = " · ".join(f"{row['name']} {row['verdict']}" for row in rows) or "no tools"
    return Look(text, rows)


def _transcript(desk: Desk, word: str = "") -> Look:
    session = desk.current
    if session is None or not session.turns:
        raise SettingsError("There is no turn to show yet. Run a %%agent cell first.")
    turn = _place(session.turns, word)
    bundle = static_bundle(turn, prompt=True)
    text = f"{plain.title(turn)}\n{bundle['text/plain']}"
    return Look(text, turn.rows(), bundle["text/html"])


def _place(turns: list[TurnView], word: str) -> TurnView:
    """`t2` is a turn, `7` a step, `-2` two steps back; nothing is the last turn."""
    if not word:
        return turns[-1]
    number = word.removeprefix("t")
    try:
        count = int(number)
    except ValueError:
        raise SettingsError(
            f"{word} is no place. Places: t2 (turn), 7 (step), -2 (steps back)."
        ) from None
    if word.startswith("t"):
        found = [turn for turn in turns if turn.number == count]
    else:
        steps = [(step.number, turn) for turn in turns for step in turn.steps]
        last = steps[-1][0] if steps else 0
        wanted = last + count if count < 0 else count
        found = [turn for step, turn in steps if step == wanted]
    if not found:
        raise SettingsError(f"There is no {word} in this session.")
    return found[0]


def _doctor(desk: Desk, word: str = "") -> Look:
    session = desk.current
    project = session.project if session else project_folder(desk.settings({}))
    kernel = getattr(desk.shell, "kernel", None) is not None
    rows = doctor.examine(os.environ, kernel=kernel, project=project)
    return Look(doctor.as_text(rows), [row.as_json() for row in rows])


def _setting(key: str) -> Any:
    def show_or_set(desk: Desk, word: str = "") -> Look | None:
        if not word:
            return Look(desk.value(key), [{key: desk.value(key)}])
        changed = desk.change(key, word)
        return Look(changed, [{key: word}])

    return show_or_set


COMMANDS: dict[str, Any] = {
    "status": status,
    "help": _help,
    "tools": _tools,
    "transcript": _transcript,
    "doctor": _doctor,
    "mode": _setting("mode"),
    "access": _setting("access"),
    "model": _setting("model"),
    "changes": changes,
    "undo": undo,
    "recovery": recovery,
    "dryrun": dryrun,
    "jobs": jobs,
}
