"""One-time codes: which message of a page counts as the answer of a person.

A page is hostile until it knows the code of an open prompt. A code is made per prompt, sent to
the page and to nobody else, and taken once (REQ-S6, REQ-S7, REQ-S10, REQ-S31, REQ-S32).
"""

import hmac
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arc_workbench.events import PermissionRequested, Scope

MAX_REASON_CHARS = 4_000


@dataclass(frozen=True)
class Verb:
    """What a person pressed; an answer names the prompt and the digest of what was shown."""

    do: Literal["allow", "deny", "stop"]
    prompt: str = ""
    digest: str = ""
    scope: Scope = "once"
    reason: str = ""
    then_stop: bool = False


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    do: Literal["allow", "deny"]
    prompt: str = Field(max_length=64)
    nonce: str = Field(max_length=64)
    scope: Scope = "once"
    reason: str = Field("", max_length=MAX_REASON_CHARS)
    then_stop: bool = False


class _Press(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    do: Literal["undo", "keep", "restore", "job"]
    prompt: str = Field(max_length=64)
    nonce: str = Field(max_length=64)


@dataclass(frozen=True)
class _Open:
    code: str
    digest: str
    scopes: tuple[Scope, ...]


class Codes:
    """The prompts of one run that wait for an answer. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, _Open] = {}
        self._taken: set[str] = set()
        self.dropped = 0

    def keep(self, asked: Iterable[PermissionRequested]) -> dict[str, str]:
        """Let exactly these prompts be answered; returns their codes, new ones for new prompts."""
        with self._lock:
            now = {a.prompt: a for a in asked if a.prompt not in self._taken}
            self._open = {
                prompt: self._open.get(prompt) or _new(request) for prompt, request in now.items()
            }
            return {prompt: known.code for prompt, known in self._open.items()}

    def accept(self, message: object) -> Verb | None:
        """The answer in a message, once; None for anything else, which is counted."""
        verb = self._take(message)
        if verb is None:
            self.drop()
        return verb

    def was_answered(self, prompt: str) -> bool:
        """Whether somebody's answer was taken already."""
        with self._lock:
            return prompt in self._taken

    def drop(self) -> None:
        """Count a message that was not taken."""
        with self._lock:
            self.dropped += 1

    def _take(self, message: object) -> Verb | None:
        try:
            answer = _Message.model_validate(message)
        except ValidationError:
            return None
        with self._lock:
            known = self._open.get(answer.prompt)
            if known is None or not _same(known.code, answer.nonce) or not _fits(answer, known):
                return None
            del self._open[answer.prompt]
            self._taken.add(answer.prompt)
        return Verb(
            answer.do, answer.prompt, known.digest, answer.scope, answer.reason, answer.then_stop
        )


class Tickets:
    """Codes of buttons that belong to no run; each is taken once. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, str] = {}

    def give(self, name: str) -> str:
        """A fresh code for a button; the one before counts no more."""
        with self._lock:
            self._open[name] = secrets.token_urlsafe(24)
            return self._open[name]

    def take(self, message: object) -> str:
        """The name of the button that a message presses; empty where it does not count."""
        try:
            press = _Press.model_validate(message)
        except ValidationError:
            return ""
        with self._lock:
            known = self._open.get(press.prompt)
            if known is None or not _same(known, press.nonce):
                return ""
            del self._open[press.prompt]
        return press.prompt


def _new(request: PermissionRequested) -> _Open:
    return _Open(secrets.token_urlsafe(24), request.digest, request.scopes)


def _same(code: str, given: str) -> bool:
    return hmac.compare_digest(code.encode(), given.encode("utf-8", "replace"))


def _fits(answer: _Message, known: _Open) -> bool:
    """Only what was offered: no wider grant, no reason or stop beside a yes."""
    if answer.do == "deny":
        return answer.scope == "once"
    return answer.scope in known.scopes and not answer.reason and not answer.then_stop
