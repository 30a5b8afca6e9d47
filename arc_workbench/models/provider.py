"""What a provider is: it takes one request and streams one reply.

A reply is: any number of pieces in the order in which they were written, then exactly one
`ReplyEnded`. A stream that ends without it was cut, and nothing of it may run. Failures are
`ProviderError`, whose kind says what went wrong; retry is the caller's business.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from arc_workbench.content import Message, ToolSpec, Usage

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "other"]


@dataclass(frozen=True)
class ModelRequest:
    """Everything a model is told: the instructions, the whole conversation, the tools."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]


@dataclass(frozen=True)
class TextPiece:
    """The next piece of a text block; a new block begins after any other kind of piece."""

    text: str


@dataclass(frozen=True)
class ThinkingPiece:
    """The next piece of reasoning; `signature` comes with the last one where there is one."""

    text: str
    signature: str = ""


@dataclass(frozen=True)
class CallOpened:
    """A tool call begins; its arguments follow as raw JSON text."""

    id: str
    name: str


@dataclass(frozen=True)
class ArgumentsPiece:
    """The next piece of the arguments of the call that was opened last."""

    text: str


@dataclass(frozen=True)
class CallClosed:
    """The call that was opened last is whole."""


@dataclass(frozen=True)
class ReplyEnded:
    """The reply is whole; calls run only if `stop_reason` is `tool_use`."""

    stop_reason: StopReason
    usage: Usage


ModelEvent = TextPiece | ThinkingPiece | CallOpened | ArgumentsPiece | CallClosed | ReplyEnded


class Provider(Protocol):
    """One model: `label` is how people see it (`script:tour`), `notice` what they must know.

    `notice` is one line said before the first reply ("Scripted model. These words come from
    tour.yaml, not from a language model. The tools are real."), or empty.
    """

    @property
    def label(self) -> str:
        """The model as a person types it."""
        ...

    @property
    def notice(self) -> str:
        """What the person must know before the first reply, or nothing."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask for one reply. Raises `ProviderError`; cancelling it frees everything it holds."""
        ...


ProviderFactory = Callable[[str, float], Provider]
"""(what follows the colon of the spec, tokens per second for those that pace) -> Provider."""
