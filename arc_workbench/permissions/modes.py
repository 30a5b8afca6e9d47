"""Modes: what each kind of effect may do while a mode is on. A new mode is one row."""

from typing import Literal

Verdict = Literal["allow", "ask", "deny"]

EFFECTS = ("read", "write", "execute", "network", "desktop", "session")

MODES: dict[str, dict[str, Verdict]] = {
    "default": {
        "read": "allow",
        "write": "ask",
        "execute": "ask",
        "network": "ask",
        "desktop": "ask",
        "session": "allow",
    },
    "acceptEdits": {
        "read": "allow",
        "write": "allow",
        "execute": "ask",
        "network": "ask",
        "desktop": "ask",
        "session": "allow",
    },
    "plan": {
        "read": "allow",
        "write": "deny",
        "execute": "deny",
        "network": "deny",
        "desktop": "deny",
        "session": "allow",
    },
    "yolo": {
        "read": "allow",
        "write": "allow",
        "execute": "allow",
        "network": "allow",
        "desktop": "allow",
        "session": "allow",
    },
}

ACCESS: dict[str, frozenset[str]] = {
    "full": frozenset(EFFECTS),
    "safe": frozenset({"read", "write", "network", "session"}),
}
"""Which effects a session offers tools for (decision 3): access hides, mode decides."""
