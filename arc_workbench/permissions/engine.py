"""The decision about one action, as a pure function of the action, the mode and the grants."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from arc_workbench.permissions.modes import MODES, Verdict
from arc_workbench.permissions.rules import Rule, can_be_granted


@dataclass(frozen=True)
class Decision:
    """A verdict, whose it is, and one sentence for people that says why."""

    verdict: Verdict
    by: Literal["mode", "session"]
    because: str


def decide(*, tool: str, effect: str, subject: str, mode: str, grants: Iterable[Rule]) -> Decision:
    """Judge one action. A mode that denies cannot be pierced by a grant (behaviour B.2)."""
    verdict = MODES[mode][effect]
    if verdict == "deny":
        return Decision("deny", "mode", f"Mode {mode} only looks; present a plan instead.")
    if verdict == "ask" and can_be_granted(effect, subject):
        granted = next((rule for rule in grants if rule.covers(tool, subject)), None)
        if granted is not None:
            return Decision("allow", "session", "You allowed this for the session.")
    return Decision(verdict, "mode", _why(mode, effect, verdict))


def _why(mode: str, effect: str, verdict: Verdict) -> str:
    kinds = {
        "read": "looking",
        "write": "every change",
        "execute": "every command",
        "network": "every request",
        "desktop": "every action on the desktop",
        "session": "the session's own notes",
    }
    return f"Mode {mode} {'allows' if verdict == 'allow' else 'asks before'} {kinds[effect]}."
