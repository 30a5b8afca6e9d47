"""One step: one response of the model, then its tool calls, one after another."""

import asyncio
import logging
from typing import Literal

from arc_workbench.agent.dispatch import answer_unrun, dispatch
from arc_workbench.agent.reply import Reply
from arc_workbench.agent.run import Run
from arc_workbench.content import ReplyBlock, ToolCall
from arc_workbench.errors import ProviderError, TranscriptError
from arc_workbench.events import (
    ArgumentsDelta,
    AssistantMessage,
    Notice,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
)
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallOpened,
    ModelEvent,
    ModelRequest,
    TextPiece,
    ThinkingPiece,
)
from arc_workbench.store.redaction import Stream

_log = logging.getLogger(__name__)

ABORTED = "Aborted: the person interrupted before this call began; nothing ran."
CUT_OFF = (
    "The reply was cut off by the output limit, so none of its calls ran. Send them again, in "
    "smaller parts."
)


async def run_step(run: Run, turn: int) -> Literal["again", "done"]:
    """Ask for one reply and run its calls; "again" while the model waits for results.

    Raises `ProviderError` where no whole reply came, `CancelledError` where the person
    interrupted; in both cases every call that was taken in is answered.
    """
    step = run.history.last_step + 1
    model = run.provider.label
    _announce(run)
    run.log.emit(StepStarted(turn=turn, step=step, model=model))
    reply = await _ask(run, step)
    _check_ids(run, reply.calls())
    stop_reason = reply.stop_reason or "other"
    run.log.emit(_message(step, model, reply.blocks(), stop_reason))
    await _answer_calls(run, step, reply)
    run.log.emit(StepFinished(step=step, usage=reply.usage))
    return "again" if reply.calls() else "done"


def _announce(run: Run) -> None:
    """Say once what the person must know of this model."""
    if run.provider.notice and run.announced != run.provider.label:
        run.announced = run.provider.label
        run.log.emit(Notice(level="info", text=run.provider.notice))


async def _ask(run: Run, step: int) -> Reply:
    request = ModelRequest(run.system(run), run.history.conversation.messages(), run.specs())
    reply = Reply()
    shown = _Shown(run, step)
    try:
        async for piece in run.provider.stream(request):
            reply.take(piece)
            shown.show(piece, reply)
    except (asyncio.CancelledError, ProviderError):
        _keep_words(run, step, reply)
        raise
    except TranscriptError:
        raise
    except Exception as bug:
        _log.exception("The provider %s failed", run.provider.label)
        _keep_words(run, step, reply)
        raise ProviderError(f"The model side has a fault of its own: {bug!r}") from bug
    if reply.stop_reason is None:
        _keep_words(run, step, reply)
        raise ProviderError("The reply ended in its middle; nothing of it ran.", kind="network")
    return reply


def _keep_words(run: Run, step: int, reply: Reply) -> None:
    """Settle what was shown of a reply that did not come whole: its words stay, nothing runs."""
    run.log.emit(_message(step, run.provider.label, reply.words_so_far(), "aborted"))


async def _answer_calls(run: Run, step: int, reply: Reply) -> None:
    calls = reply.calls()
    if reply.stop_reason != "tool_use":
        for call in calls:
            answer_unrun(call, step, run, CUT_OFF)
        return
    for index, call in enumerate(calls):
        try:
            await dispatch(call, step, run)
        except asyncio.CancelledError:
            for late in calls[index + 1 :]:
                answer_unrun(late, step, run, ABORTED)
            raise


def _check_ids(run: Run, calls: list[ToolCall]) -> None:
    ids = [call.id for call in calls]
    if len(set(ids)) != len(ids) or run.history.known_calls.intersection(ids):
        raise ProviderError("The reply uses the id of a tool call twice; nothing of it ran.")


def _message(
    step: int, model: str, blocks: tuple[ReplyBlock, ...], stop_reason: str
) -> AssistantMessage:
    return AssistantMessage(step=step, model=model, content=blocks, stop_reason=stop_reason)


class _Shown:
    """Shows a stream as it comes, with secrets held back until they can be recognised."""

    def __init__(self, run: Run, step: int) -> None:
        self._run = run
        self._step = step
        self._kind: type[ModelEvent] | None = None
        self._stream: Stream = run.log.redactor.stream()
        self._call: CallOpened | None = None

    def show(self, piece: ModelEvent, reply: Reply) -> None:
        """Emit what can be shown of this piece."""
        if type(piece) is not self._kind:
            self._flush()
            self._kind = type(piece)
        match piece:
            case TextPiece(text=text) | ThinkingPiece(text=text) | ArgumentsPiece(text=text):
                self._call = reply.call or self._call
                self._emit(self._stream.feed(text))
            case CallOpened():
                self._call = piece
                self._run.log.emit(
                    ArgumentsDelta(step=self._step, call_id=piece.id, name=piece.name, text="")
                )
            case _:
                pass

    def _flush(self) -> None:
        self._emit(self._stream.end())
        self._stream = self._run.log.redactor.stream()

    def _emit(self, text: str) -> None:
        if not text:
            return
        if self._kind is TextPiece:
            self._run.log.emit(TextDelta(step=self._step, text=text))
        elif self._kind is ThinkingPiece:
            self._run.log.emit(ThinkingDelta(step=self._step, text=text))
        elif self._kind is ArgumentsPiece and self._call is not None:
            self._run.log.emit(
                ArgumentsDelta(
                    step=self._step, call_id=self._call.id, name=self._call.name, text=text
                )
            )
