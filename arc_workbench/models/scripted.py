"""The offline model: says what a script says, and calls the tools that it names for real."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from arc_workbench.content import Usage
from arc_workbench.errors import ProviderError, ProviderFault, ScriptError
from arc_workbench.models.provider import (
    ArgumentsPiece,
    CallClosed,
    CallOpened,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    StopReason,
    TextPiece,
    ThinkingPiece,
)
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.script_pace import CHARS_PER_TOKEN, Pace
from arc_workbench.models.script_position import Position
from arc_workbench.models.script_steps import Ending, Script
from arc_workbench.models.script_walk import CallMade, Passage, Reply

KIND = "script"
MAX_BYTES = 256 * 1024
BUNDLED = Path(__file__).parent / "scripts"
_FILE_ENDINGS = (".yaml", ".yml")
_PARAGRAPH = "\n\n"


class Scripted:
    """A provider that follows one script, at `pace` tokens per second."""

    def __init__(self, script: Script, spec: str, pace: float) -> None:
        self._script = script
        self._spec = spec
        self._pace = pace
        self._position = Position(script)
        self._attempts: Counter[int] = Counter()

    @property
    def label(self) -> str:
        """The model as a person types it."""
        return self._spec

    @property
    def notice(self) -> str:
        """That no language model speaks here."""
        return (
            f"Scripted model. These words come from {self._script.name}, not from a language "
            "model. The tools are real."
        )

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The reply to the request. Raises `ProviderError` only where the script plays one."""
        reply = self._position.reply_to(request)
        ending = self._ending_now(reply.ending)
        input_tokens, first_call = self._position.input_tokens, self._position.next_call
        if ending.fail:
            raise _played(ending.fail)
        pace, chars = Pace(self._pace), 0
        for piece in _pieces(reply, first_call, pace, cut=ending.cut):
            if isinstance(piece, TextPiece | ThinkingPiece | ArgumentsPiece):
                await pace.wait(piece.text)
                chars += len(piece.text)
            yield piece
        if ending.cut_fault:
            raise _played(ending.cut_fault)
        if not ending.cut:
            natural: StopReason = "tool_use" if reply.calls else "end_turn"
            yield ReplyEnded(ending.stop_reason or natural, _usage(input_tokens, chars))

    def _ending_now(self, ending: Ending) -> Ending:
        """A failure that is played `times` times is over then: the one thing that is counted."""
        if ending.times is None:
            return ending
        self._attempts[self._position.seen] += 1
        over = self._attempts[self._position.seen] > ending.times
        return Ending(stop_reason=ending.stop_reason) if over else ending


def scripted(rest: str, pace: float) -> Scripted:
    """The provider for `script:` and what follows: a file, or a script of the package.

    Raises `ScriptError` with one line where it cannot be read or is not what the grammar says.
    """
    file = Path(rest) if rest.endswith(_FILE_ENDINGS) else _bundled(rest)
    return Scripted(read_script(file.name, _text(file, rest)), f"{KIND}:{rest}", pace)


def bundled_names() -> list[str]:
    """The scripts that come with the package."""
    return sorted(file.stem for file in BUNDLED.glob("*.yaml"))


def _bundled(name: str) -> Path:
    if name not in bundled_names():
        known = ", ".join(f"{KIND}:{known}" for known in bundled_names())
        raise ScriptError(
            f"No script {name or 'named'}; nothing ran. Known: {known}, {KIND}:FILE.yaml"
        )
    return BUNDLED / f"{name}.yaml"


def _text(file: Path, typed: str) -> str:
    if not file.is_file():
        raise ScriptError(f"No file {typed}; nothing ran. Check the path behind {KIND}:")
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as fault:
        reason = fault.strerror or "it cannot be opened"
        raise ScriptError(f"{typed} cannot be read ({reason}); nothing ran. Check it.") from fault
    if len(data) > MAX_BYTES:
        raise ScriptError(f"{typed} is larger than 256 KiB; nothing ran. Shorten it.")
    return _decoded(file.name, data)


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        message = f"{name} line {line}: this is no UTF-8; nothing ran. Save it as UTF-8."
        raise ScriptError(message, line=line) from None


def _played(kind: ProviderFault) -> ProviderError:
    return ProviderError(f"{kind} (played by the script)", kind=kind)


def _usage(input_tokens: int, chars: int) -> Usage:
    output_tokens = -(-chars // CHARS_PER_TOKEN)
    return Usage(input_tokens=input_tokens, output_tokens=output_tokens, estimated=True)


# ---- a reply in pieces --------------------------------------------------------------------------


def _pieces(reply: Reply, first_call: int, pace: Pace, *, cut: bool) -> Iterator[ModelEvent]:
    """Everything of a reply but its end; a cut one breaks off in the middle of its last call."""
    before = None
    for passage in reply.passages:
        yield from _passage_pieces(passage, pace, goes_on=before == passage.kind)
        before = passage.kind if passage.text else before
    for number, call in enumerate(reply.calls):
        last = number == len(reply.calls) - 1
        yield from _call_pieces(call, f"call_{first_call + number}", pace, cut=cut and last)


def _passage_pieces(passage: Passage, pace: Pace, *, goes_on: bool) -> Iterator[ModelEvent]:
    kind = ThinkingPiece if passage.kind == "think" else TextPiece
    text = _PARAGRAPH + passage.text if goes_on and passage.text else passage.text
    return (kind(piece) for piece in pace.pieces(text))


def _call_pieces(call: CallMade, call_id: str, pace: Pace, *, cut: bool) -> Iterator[ModelEvent]:
    written = call.arguments[: len(call.arguments) // 2] if cut else call.arguments
    yield CallOpened(call_id, call.tool)
    for piece in pace.pieces(written):
        yield ArgumentsPiece(piece)
    if not cut:
        yield CallClosed()
