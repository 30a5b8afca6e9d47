"""A conversation with a provider, led by hand: prompts and results in, replies out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent, indent

from arc_workbench.content import (
    Answer,
    Message,
    ModelMessage,
    ReplyBlock,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
    UserMessage,
)
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    Provider,
    ReplyEnded,
    StopReason,
    TextPiece,
    ThinkingPiece,
)
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.scripted import Scripted

ARC = ("workspace_list", "workspace_read", "workspace_write", "workspace_edit", "shell_exec")
ARCTURN = ("ls", "read", "write", "edit", "bash")
SAFE = ARC[:-1]


@dataclass
class Heard:
    """One reply, put together from its pieces."""

    pieces: list[ModelEvent] = field(default_factory=list[ModelEvent])

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, TextPiece))

    @property
    def thought(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, ThinkingPiece))

    @property
    def calls(self) -> list[ToolCall]:
        opened = [piece for piece in self.pieces if isinstance(piece, CallOpened)]
        texts = self._arguments()
        return [
            ToolCall(id=call.id, name=call.name, arguments=text)
            for call, text in zip(opened, texts, strict=True)
        ]

    @property
    def arguments(self) -> list[object]:
        return [json.loads(call.arguments) for call in self.calls]

    @property
    def closed(self) -> int:
        return sum(isinstance(piece, CallClosed) for piece in self.pieces)

    @property
    def stop_reason(self) -> StopReason | None:
        last = self.pieces[-1] if self.pieces else None
        return last.stop_reason if isinstance(last, ReplyEnded) else None

    @property
    def usage(self) -> Usage:
        last = self.pieces[-1]
        assert isinstance(last, ReplyEnded)
        return last.usage

    def message(self) -> ModelMessage:
        blocks: list[ReplyBlock] = []
        if self.thought:
            blocks.append(Thinking(text=self.thought))
        if self.text:
            blocks.append(Text(text=self.text))
        return ModelMessage(content=(*blocks, *self.calls))

    def _arguments(self) -> list[str]:
        texts: list[str] = []
        for piece in self.pieces:
            if isinstance(piece, CallOpened):
                texts.append("")
            elif isinstance(piece, ArgumentsPiece):
                texts[-1] += piece.text
        return texts


class Talk:
    """One session of a provider; `messages` is what it has been sent."""

    def __init__(self, provider: Provider, tools: Iterable[str] = ARC) -> None:
        self.provider = provider
        self.messages: list[Message] = []
        self.offer(tools)
        self._open: list[ToolCall] = []

    def offer(self, tools: Iterable[str]) -> None:
        """From now on these tools are offered."""
        self.tools = [
            ToolSpec(name=name, description=f"What {name} does.", input_schema={}) for name in tools
        ]

    async def ask(self, prompt: str) -> Heard:
        """Say something to the model and hear its reply."""
        self.messages.append(UserMessage(content=(Text(text=prompt),)))
        return await self.reply()

    async def answer(self, *results: "Result", steer: str = "") -> Heard:
        """Answer the open calls in their order and hear the next reply."""
        answers = [
            answer_of(call, result) for call, result in zip(self._open, results, strict=True)
        ]
        words = (Text(text=steer),) if steer else ()
        self.messages.append(UserMessage(content=(*answers, *words)))
        return await self.reply()

    async def reply(self) -> Heard:
        """Ask for the reply to the conversation as it is, and take it in."""
        heard = await hear(self.provider, self.request())
        if heard.message().content:  # an empty reply is not kept
            self.messages.append(heard.message())
        self._open = heard.calls
        return heard

    def request(self) -> ModelRequest:
        return ModelRequest("You are a model.", tuple(self.messages), self.tools)


@dataclass(frozen=True)
class Failed:
    """An error result."""

    text: str


Result = str | Mapping[str, object] | Failed


def answer_of(call: ToolCall, result: Result) -> Answer:
    """A result as the engine hands it to a model: JSON as text, failures marked."""
    if isinstance(result, Failed):
        return Answer(call_id=call.id, content=(Text(text=result.text),), is_error=True)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return Answer(call_id=call.id, content=(Text(text=text),))


async def hear(provider: Provider, request: ModelRequest) -> Heard:
    """All pieces of one reply."""
    return Heard([piece async for piece in provider.stream(request)])


def script(steps: str, *, head: str = "") -> str:
    """The text of a script with these steps."""
    body = indent(dedent(steps).strip("\n"), "  ")
    return f"script: 1\ntitle: a test\n{dedent(head)}steps:\n{body}\n"


def model(steps: str, *, head: str = "", pace: float = 0) -> Scripted:
    """A scripted model with these steps."""
    return Scripted(read_script("test.yaml", script(steps, head=head)), "script:test.yaml", pace)


def talk(steps: str, *, head: str = "", tools: Sequence[str] = ARC) -> Talk:
    """A session with a scripted model with these steps."""
    return Talk(model(steps, head=head), tools)
