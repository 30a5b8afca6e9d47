"""Answers for runs where nobody can: by a policy that was set from outside (decision 29)."""

from arc_workbench.agent.session import Session
from arc_workbench.events import Event, PermissionRequested
from arc_workbench.settings import Policy


class Policing:
    """A listener that answers each question the moment it is asked.

    `rules` denies whatever would ask (what rules and mode allow never asks); `deny` lets no mode
    and no grant loosen that; `allow` allows what asks, once. `reason` is told to the model instead
    of the usual words of a denial.
    """

    def __init__(self, session: Session, policy: Policy, reason: str = "") -> None:
        self._session = session
        self._reason = reason
        self._allow = policy == "allow"
        session.cap(on=policy == "deny")
        self.denied = 0

    def __call__(self, event: Event) -> None:
        """Answer a question; anything else is passed over."""
        if isinstance(event, PermissionRequested):
            self.denied += 0 if self._allow else 1
            self._session.resolve(
                event.prompt,
                allow=self._allow,
                by="policy",
                reason=self._reason,
                digest=event.digest,
            )
