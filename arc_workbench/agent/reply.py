"""One reply of the model while it is being written, and what of it may be kept or run."""

from arc_workbench.content import ReplyBlock, Text, Thinking, ToolCall, Usage
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ReplyEnded,
    StopReason,
    TextPiece,
    ThinkingPiece,
)


class Reply:
    """Puts the pieces of a stream together into blocks, in the order in which they came."""

    def __init__(self) -> None:
        self._blocks: list[ReplyBlock] = []
        self._open: list[str] = []
        self._kind: str = ""
        self._call: CallOpened | None = None
        self._signature = ""
        self.stop_reason: StopReason | None = None
        self.usage = Usage()

    @property
    def call(self) -> CallOpened | None:
        """The tool call that is being written, if one is."""
        return self._call

    def take(self, piece: ModelEvent) -> None:
        """Add one piece of the stream."""
        match piece:
            case TextPiece():
                self._extend("text", piece.text)
            case ThinkingPiece():
                self._extend("thinking", piece.text)
                self._signature = piece.signature or self._signature
            case CallOpened():
                self._close()
                self._kind, self._call = "call", piece
            case ArgumentsPiece():
                self._open.append(piece.text)
            case CallClosed():
                self._close()
            case ReplyEnded():
                self._close()
                self.stop_reason, self.usage = piece.stop_reason, piece.usage

    def blocks(self) -> tuple[ReplyBlock, ...]:
        """The whole reply; only meaningful once it ended."""
        return tuple(self._blocks)

    def calls(self) -> list[ToolCall]:
        """The closed tool calls, in order."""
        return [block for block in self._blocks if isinstance(block, ToolCall)]

    def words_so_far(self) -> tuple[ReplyBlock, ...]:
        """What can be kept of a reply that was cut: words only, no thought and no call."""
        if self._kind == "text":
            self._close()
        return tuple(block for block in self._blocks if isinstance(block, Text))

    def _extend(self, kind: str, text: str) -> None:
        if self._kind != kind:
            self._close()
            self._kind = kind
        self._open.append(whole_characters(text))

    def _close(self) -> None:
        text = "".join(self._open)
        match self._kind:
            case "text" if text:
                self._blocks.append(Text(text=text))
            case "thinking":
                self._blocks.append(Thinking(text=text, signature=self._signature))
            case "call" if self._call is not None:
                self._blocks.append(
                    ToolCall(id=self._call.id, name=self._call.name, arguments=text)
                )
            case _:
                pass
        self._open, self._kind, self._call, self._signature = [], "", None, ""


def whole_characters(text: str) -> str:
    """`text` with halves of characters, which no file can hold, replaced by a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
