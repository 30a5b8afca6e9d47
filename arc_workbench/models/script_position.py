"""Where in a script a conversation stands, worked out from the request alone.

What was read of the last request is remembered, so that the next one costs only its new messages;
a request that does not go on from there is read again from its last prompt.
"""

import json
import re
from collections.abc import Sequence

from arc_workbench.content import (
    Answer,
    Message,
    ModelMessage,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    UserMessage,
)
from arc_workbench.models.provider import ModelRequest
from arc_workbench.models.script_pace import CHARS_PER_TOKEN
from arc_workbench.models.script_steps import Script
from arc_workbench.models.script_walk import Reply, Walk

_OWN_ID = re.compile(r"call_([0-9]{1,9})")
_BROKEN_OFF = ("Aborted:", "Command aborted.", "Interrupted:")
_IMAGE_CHARS = 1_500 * CHARS_PER_TOKEN


class Position:
    """Follows one conversation; the same request always gives the same reply."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._start_over([])

    def reply_to(self, request: ModelRequest) -> Reply:
        """The reply that the script gives to this request."""
        offered = [tool.name for tool in request.tools]
        messages = request.messages
        if not self._goes_on(messages, offered):
            self._start_over(offered)
            self._skip_to(messages, _last_prompt(self._script, messages))
        for index in range(self._seen, len(messages)):
            self._read(messages[index])
        self._measure(request)
        return self._walk.reply(offered)

    @property
    def seen(self) -> int:
        """How many messages the last request held."""
        return self._seen

    @property
    def next_call(self) -> int:
        """The number of the next call: above every number that the conversation holds."""
        return self._calls + 1

    @property
    def input_tokens(self) -> int:
        """The last request's size, estimated."""
        return (self._chars + self._frame_chars) // CHARS_PER_TOKEN

    # ---- keeping up ----

    def _goes_on(self, messages: Sequence[Message], offered: list[str]) -> bool:
        if offered != self._offered or not 0 < self._seen <= len(messages):
            return False
        newest = messages[self._seen - 1]
        return newest is self._newest or newest == self._newest

    def _start_over(self, offered: list[str]) -> None:
        self._walk = Walk(self._script, "")
        self._offered = offered
        self._seen = self._calls = self._chars = self._frame_chars = 0
        self._newest: Message | None = None

    def _skip_to(self, messages: Sequence[Message], start: int) -> None:
        for index in range(start):
            self._count(messages[index])

    def _read(self, message: Message) -> None:
        self._count(message)
        if isinstance(message, ModelMessage):
            self._walk.replied(message, self._offered)
            return
        for block in message.content:
            if isinstance(block, Answer):
                self._walk.answered(block)
        self._hear(message)

    def _hear(self, message: UserMessage) -> None:
        words = _words(message)
        prompt = _prompt_of(self._script, message)
        if prompt is not None:
            self._walk = Walk(self._script, prompt)
        elif words:
            self._walk.steered("\n".join(words))

    # ---- counting ----

    def _count(self, message: Message) -> None:
        self._seen += 1
        self._newest = message
        for block in message.content:
            self._chars += _chars(block)
            if isinstance(block, ToolCall):
                own = _OWN_ID.fullmatch(block.id)
                self._calls = max(self._calls + 1, int(own[1]) if own else 0)

    def _measure(self, request: ModelRequest) -> None:
        """The tools are measured once, when they are first offered."""
        if not self._frame_chars:
            self._frame_chars = len(request.system) + sum(map(_spec_chars, request.tools))


def _last_prompt(script: Script, messages: Sequence[Message]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage) and _prompt_of(script, message) is not None:
            return index
    return 0


def _prompt_of(script: Script, message: UserMessage) -> str | None:
    """The prompt that begins a turn here, or None where the turn goes on.

    Words beside results are usually steering. They are a prompt where the script has a turn for
    them, and where the turn before was broken off.
    """
    words = _words(message)
    named = next((text for text in reversed(words) if script.turn_named(text)), None)
    if named is not None or not words:
        return named
    answers = [block for block in message.content if isinstance(block, Answer)]
    over = not answers or any(_is_broken_off(answer) for answer in answers)
    return words[-1] if over else None


def _words(message: UserMessage) -> list[str]:
    return [block.text for block in message.content if isinstance(block, Text)]


def _is_broken_off(answer: Answer) -> bool:
    first = next((block.text for block in answer.content if isinstance(block, Text)), "")
    return answer.is_error and first.startswith(_BROKEN_OFF)


def _chars(block: Answer | Text | Thinking | ToolCall) -> int:
    match block:
        case Answer():
            return sum(
                len(inner.text) if isinstance(inner, Text) else _IMAGE_CHARS
                for inner in block.content
            )
        case ToolCall():
            return len(block.name) + len(block.arguments)
        case _:
            return len(block.text)


def _spec_chars(tool: ToolSpec) -> int:
    schema = json.dumps(tool.input_schema, ensure_ascii=False)
    return len(tool.name) + len(tool.description) + len(schema)
