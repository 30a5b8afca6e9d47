"""Grants: what a person allowed beyond one call."""

from dataclasses import dataclass

LONGEST_GRANT = 10_000


@dataclass(frozen=True)
class Rule:
    """Allows calls of `tool` on exactly `specifier`, until the kernel ends."""

    tool: str
    specifier: str

    def covers(self, tool: str, subject: str) -> bool:
        """True only for the same tool and, letter for letter, the same subject."""
        return bool(subject) and tool == self.tool and subject == self.specifier


def can_be_granted(effect: str, subject: str) -> bool:
    """Whether a grant beyond one call may be offered for this subject.

    Never for a command of several lines or over 10,000 characters (REQ-S5), nor where there is
    no subject that a grant could name.
    """
    if not subject:
        return False
    return effect != "execute" or ("\n" not in subject and len(subject) <= LONGEST_GRANT)
