"""A model whose replies a test lays out beforehand."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable

from arc_workbench.content import Usage
from arc_workbench.errors import ProviderError
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    StopReason,
    TextPiece,
)

Piece = ModelEvent | ProviderError | asyncio.Event


class FakeProvider:
    """Streams the next of its replies for each request and keeps the requests.

    An `asyncio.Event` among the pieces is set when the stream comes to it, and then the stream
    hangs: a model that never goes on. After the last reply every further one is "Done.".
    """

    label = "fake:model"
    notice = ""

    def __init__(self, *replies: Iterable[Piece]) -> None:
        self.requests: list[ModelRequest] = []
        self._replies = [list(reply) for reply in replies]

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Play one reply."""
        self.requests.append(request)
        for piece in self._replies.pop(0) if self._replies else says("Done."):
            if isinstance(piece, ProviderError):
                raise piece
            if isinstance(piece, asyncio.Event):
                piece.set()
                await asyncio.Event().wait()
            else:
                yield piece


def says(text: str) -> list[ModelEvent]:
    """A reply of words, in two pieces, that ends the turn."""
    half = len(text) // 2
    return [TextPiece(text[:half]), TextPiece(text[half:]), ReplyEnded("end_turn", Usage())]


def calls(
    *wanted: tuple[str, str, object], stop_reason: StopReason = "tool_use", say: str = ""
) -> list[ModelEvent]:
    """A reply that makes calls, each (id, tool, input); text as input is sent as it is."""
    pieces: list[ModelEvent] = [TextPiece(say)] if say else []
    for id_, name, given in wanted:
        raw = given if isinstance(given, str) else json.dumps(given)
        pieces += [CallOpened(id_, name), ArgumentsPiece(raw), CallClosed()]
    return [*pieces, ReplyEnded(stop_reason, Usage(input_tokens=10, output_tokens=5))]
