"""What is said and shown: blocks of a message, tool calls and results, display blocks."""

import json
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

JsonObject = dict[str, JsonValue]


class Value(BaseModel):
    """A frozen piece of data; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def text_of(path: Path) -> str:
    """A path as text that any file can hold: bytes that are no UTF-8 are written out."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# ---- what the model reads and writes ------------------------------------------------------------


class Text(Value):
    """Words of the person, the model or a tool."""

    type: Literal["text"] = "text"
    text: str


class Image(Value):
    """A picture: base64 `data` of the media type `mime`."""

    type: Literal["image"] = "image"
    data: str
    mime: str


class Thinking(Value):
    """The model's reasoning, with the signature a provider may want back."""

    type: Literal["thinking"] = "thinking"
    text: str
    signature: str = ""


class ToolCall(Value):
    """A tool call as the model wrote it: `arguments` is its raw JSON text, not yet parsed."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: str


ReplyBlock = Annotated[Text | Thinking | ToolCall, Field(discriminator="type")]
ResultBlock = Annotated[Text | Image, Field(discriminator="type")]


class Answer(Value):
    """The result of one tool call as the model gets it; `call_id` pairs it with its call."""

    type: Literal["answer"] = "answer"
    call_id: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False


class UserMessage(Value):
    """What the model is told: tool results first, then words."""

    role: Literal["user"] = "user"
    content: tuple[Annotated[Answer | Text, Field(discriminator="type")], ...]


class ModelMessage(Value):
    """One reply of the model."""

    role: Literal["assistant"] = "assistant"
    content: tuple[ReplyBlock, ...]


Message = Annotated[UserMessage | ModelMessage, Field(discriminator="role")]


class ToolSpec(Value):
    """A tool as a model is told of it."""

    name: str
    description: str
    input_schema: JsonObject


class Usage(Value):
    """Tokens of one reply; `estimated` where nobody counted them exactly."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


# ---- what a person sees -------------------------------------------------------------------------


class Diff(Value):
    """A change of one file as a unified diff.

    `created` when the file did not exist before, `removed` when it does not exist after.
    """

    type: Literal["diff"] = "diff"
    path: str
    unified: str
    created: bool = False
    removed: bool = False


class Command(Value):
    """A command line and the folder it runs in."""

    type: Literal["command"] = "command"
    command: str
    cwd: str


Colour = Literal[
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    "bright_black", "bright_red", "bright_green", "bright_yellow",
    "bright_blue", "bright_magenta", "bright_cyan", "bright_white",
]  # fmt: skip
Look = Colour | Literal["bold", "dim", "italic", "underline"]


class Style(Value):
    """How the characters from `start` up to `end` of a text look; styles may lie over another."""

    start: int
    end: int
    look: Look


class Output(Value):
    """The tail of what a command printed; `cut_bytes` bytes before it are left out.

    `styles` lie over `text` as it was when it had `styled_chars` characters.
    """

    type: Literal["output"] = "output"
    text: str
    cut_bytes: int = 0
    styles: tuple[Style, ...] = ()
    styled_chars: int = 0

    @property
    def drawn_styles(self) -> tuple[Style, ...]:
        """`styles`, or none where a secret was taken out and they no longer fit."""
        return self.styles if len(self.text) == self.styled_chars else ()


class MatchLine(Value):
    """A line that was found, or one around it; `spans` are the matched stretches of `text`."""

    path: str
    line: int
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    context: bool = False


class Matches(Value):
    """Lines that a search found, in order; `note` says what was left out, "" for nothing."""

    type: Literal["matches"] = "matches"
    lines: tuple[MatchLine, ...]
    count: int
    note: str = ""


class Name(Value):
    """One name of a listing; `size` in bytes where it is a file."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int | None = None


class Names(Value):
    """Names that were listed or found, in order; `note` says what was left out."""

    type: Literal["names"] = "names"
    names: tuple[Name, ...]
    note: str = ""


class Declaration(Value):
    """One entry of an outline: where a name is declared, 1-based; `depth` 1 is inside a class."""

    line: int
    kind: str
    name: str
    signature: str
    depth: int = 0


class Outline(Value):
    """The declarations of one file."""

    type: Literal["outline"] = "outline"
    path: str
    size: int
    total_lines: int
    declarations: tuple[Declaration, ...]


class ChangeRow(Value):
    """One change of the journal: `c3  edit  calc.py  +1 -1`; `session` made it."""

    id: str
    op: Literal["create", "write", "edit", "undo", "restore", "apply"]
    path: str
    added: int
    removed: int
    status: Literal["prepared", "committed", "undone", "rolled_back", "ambiguous", "kept"]
    session: str = ""
    undoes: str = ""


class Changes(Value):
    """Changes of the project's files, newest first; `note` says why they may not be all."""

    type: Literal["changes"] = "changes"
    changes: tuple[ChangeRow, ...]
    note: str = ""


class RecoveryEntry(Value):
    """One thing that start-up found: what happened to it, and what to do, "" for nothing."""

    id: str
    path: str
    op: str
    status: str
    happened: str
    next: str = ""


class Recovery(Value):
    """The verdict of start-up over the journal of a project folder."""

    type: Literal["recovery"] = "recovery"
    verdict: Literal["clean", "repaired", "ambiguous", "tampered"]
    mutation_blocked: bool
    entries: tuple[RecoveryEntry, ...] = ()


class ChangedFile(Value):
    """A file or link that a command changed; `size` in bytes, of what is gone where it is gone."""

    path: str
    kind: Literal["created", "changed", "removed"]
    size: int


class CommandChanges(Value):
    """What a command changed in the project, by name; `more` rows are left out.

    `spool` is the id of its output, by which the changes can be taken back.
    `not_covered` counts what no snapshot holds, and `not_covered_names` are the first of those;
    `note` says what else to know, such as why nothing is known.
    """

    type: Literal["command_changes"] = "command_changes"
    spool: str = ""
    rows: tuple[ChangedFile, ...] = ()
    more: int = 0
    not_covered: int = 0
    not_covered_names: tuple[str, ...] = ()
    note: str = ""


Display = Annotated[
    Diff | Command | Output | Matches | Names | Outline | Changes | Recovery | CommandChanges,
    Field(discriminator="type"),
]


class ToolResult(Value):
    """What a tool call came to.

    `content` is for the model, `display` and `note` (a few words on the row: "5 entries") for
    people, `details` for programs. An expected failure has `is_error` and is not an exception
    (S1-166 to S1-170).
    """

    content: tuple[ResultBlock, ...]
    is_error: bool = False
    display: tuple[Display, ...] = ()
    note: str = ""
    details: JsonObject = {}

    @classmethod
    def of_text(
        cls, text: str, *, note: str = "", display: tuple[Display, ...] = (), **details: JsonValue
    ) -> Self:
        """A result of one text block."""
        return cls(content=(Text(text=text),), note=note, display=display, details=details)

    @classmethod
    def of_json(
        cls, value: JsonObject, *, note: str = "", display: tuple[Display, ...] = ()
    ) -> Self:
        """A result whose text is one JSON object; the same object is in `details` (decision 7)."""
        text = json.dumps(value, ensure_ascii=False)
        return cls(content=(Text(text=text),), note=note, display=display, details=value)

    @classmethod
    def error(cls, text: str, *, note: str = "failed", details: JsonObject | None = None) -> Self:
        """An expected failure, worded for the model."""
        return cls(content=(Text(text=text),), is_error=True, note=note, details=details or {})

    @property
    def text(self) -> str:
        """All text blocks, one after the other."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))
