"""Every error that leaves this package, as one tree.

ArcError
├── SettingsError      a setting or option is unknown or out of range
├── ScriptError        a script file is not what the grammar allows
├── SessionError       a session cannot do what was asked of it
│   ├── SessionBusy    a turn still runs
│   ├── SessionHeld    another process holds the session
│   └── TranscriptError  the record on disk cannot be read
├── ProviderError      the model side failed
└── ToolError          an expected failure of a tool, worded for the model
"""

from typing import Literal

ProviderFault = Literal[
    "auth", "rate_limit", "overloaded", "invalid_request", "network", "aborted", "unknown"
]


class ArcError(Exception):
    """The root: every error this package raises on purpose."""


class SettingsError(ArcError):
    """A setting is unknown or has a value it cannot have. The text is one line for a person."""

    def __init__(self, message: str, *, key: str = "", allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key
        self.allowed = allowed


class ScriptError(ArcError):
    """A script is malformed; names the file and, where it can be known, the line."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class SessionError(ArcError):
    """A session cannot do what was asked of it."""


class SessionBusy(SessionError):
    """A turn still runs, so no other can begin."""


class SessionHeld(SessionError):
    """Another process holds this session; nothing was read or written."""


class TranscriptError(SessionError):
    """The record of a session is damaged in its middle; nothing was changed."""


class ProviderError(ArcError):
    """The model side failed; `kind` says how, so that the caller can decide what to do."""

    def __init__(self, message: str, *, kind: ProviderFault = "unknown") -> None:
        super().__init__(message)
        self.kind: ProviderFault = kind


class ToolError(ArcError):
    """An expected failure of a tool: says what is wrong and what to do next.

    `details` reaches programs beside the text (a sha256, a count).
    """

    def __init__(self, message: str, *, details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.details: dict[str, object] = details or {}
