"""`arc-workbench purge`: which changes go, in words, and whether the person wants that."""

import re
import sys
from pathlib import Path
from typing import TextIO

from arc_workbench.errors import SettingsError
from arc_workbench.frontends.odd import escaped
from arc_workbench.frontends.words import folder, plural, size
from arc_workbench.workbench import PurgePlan

NO_AGE = "Say how old a change must be to go: --older-than 30d (or 12h). Nothing went."
WRONG_AGE = "{word} is no age; nothing went. Write 30d for days or 12h for hours."
NOT_SURE = "Nobody can answer here; nothing went. Say that you are sure: --yes"
NO_FOLDER = "No folder {name}; nothing went."

_AGE = re.compile(r"(\d{1,6})([dh])")


def days_of(word: str | None) -> float:
    """`30d` and `12h` in days; raises `SettingsError` for anything else."""
    if word is None:
        raise SettingsError(NO_AGE, key="older_than")
    match = _AGE.fullmatch(word)
    if match is None:
        raise SettingsError(WRONG_AGE.format(word=escaped(word)), key="older_than")
    count = int(match[1])
    return float(count) if match[2] == "d" else count / 24


def place_of(name: str) -> Path:
    """The folder that is named; raises `SettingsError` where there is none."""
    try:
        found = Path(name).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # gone, a user that is not there, a NUL
        found = None
    if found is None or not found.is_dir():
        raise SettingsError(NO_FOLDER.format(name=escaped(name)), key="project")
    return found


def told(name: str, plan: PurgePlan) -> str:
    """What would go and what stays, in one line each."""
    kept = f"{plural(plan.kept, 'change')} can still be undone."
    if not plan.changes and not plan.aside:
        return f"Nothing of {folder(escaped(name))} is that old; {kept}"
    oldest = f", the oldest from {escaped(plan.oldest)}" if plan.oldest else ""
    changes = f"{plural(plan.changes, 'change')} with {size(plan.bytes)} of old text{oldest}"
    what = " and ".join(filter(None, (changes if plan.changes else "", _aside(plan))))
    lost = " They could not be undone any more." if plan.changes else ""
    return f"Of {folder(escaped(name))}: {what}.{lost}\n{kept}"


def freed(done: PurgePlan) -> str:
    """What went, in one line."""
    what = [f"{plural(done.changes, 'change')}"] if done.changes or not done.aside else []
    what += [_aside(done)] if done.aside else []
    return f"{' and '.join(what)} forgotten, {size(done.bytes)} freed."


def goes(plan: PurgePlan) -> bool:
    """Whether anything goes at all."""
    return bool(plan.changes or plan.aside)


def _aside(plan: PurgePlan) -> str:
    if not plan.aside:
        return ""
    return f"{plural(plan.aside, 'damaged journal')} that {_was(plan.aside)} put aside"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def agreed() -> bool:
    """Ask on the terminal; raises `SettingsError` where there is none."""
    stream: TextIO | None = sys.stdin
    if stream is None or stream.closed or not stream.isatty():
        raise SettingsError(NOT_SURE)
    try:
        return input("Forget them? Type y: ").strip().lower() == "y"
    except EOFError:
        return False
