"""A turn printed line by line as it happens, for terminals."""

from arc_workbench.content import Output, Text
from arc_workbench.events import (
    AssistantMessage,
    Event,
    Notice,
    TextDelta,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.frontends import plain, tinted, words
from arc_workbench.frontends.odd import escaped
from arc_workbench.views import CallView, NoteView, TurnView


class Printer:
    """Says what to print for each event; words stream, calls come as rows when they are over.

    The last lines of a command's output follow its row, with `colour` in the command's colours.
    """

    def __init__(self, *, colour: bool = False) -> None:
        self._colour = colour
        self._streamed = False

    def after(self, view: TurnView, event: Event) -> str:
        """The text to print once `event` was folded into `view`; often empty."""
        match event:
            case TextDelta(text=text):
                self._streamed = True
                return escaped(text)
            case AssistantMessage():
                return self._said(event)
            case ToolCallFinished(call_id=call_id) if call_id in view.calls:
                call = view.calls[call_id]
                return f"{plain.part(view, call)}\n{self._output(call)}"
            case Notice(level=level, text=text):
                return f"{self._line_end()}{plain.part(view, NoteView(level, text))}\n"
            case TurnStarted():
                head = [plain.head(view)] if view.dry_run else []
                lines = [*head, *(plain.part(view, part) for part in view.lead)]
                return "".join(f"{line}\n" for line in lines)
            case TurnFinished(detail=detail):
                state = words.STATES[view.state]
                why = f": {escaped(detail)}" if detail else ""
                sums = f"{words.tally(view)}\n" if view.dry_run and view.changes else ""
                return f"{self._line_end()}{state}{why}\n{sums}"
            case _:
                return ""

    def _output(self, call: CallView) -> str:
        blocks = call.result.display if call.result else ()
        outputs = [block for block in blocks if isinstance(block, Output)]
        lines = [line for each in outputs for line in tinted.terminal(each, colour=self._colour)]
        return "".join(f"  {line}\n" for line in lines)

    def aside(self, line: str) -> str:
        """A line about something beside the turn, below what was printed so far."""
        return f"{self._line_end()}{line}\n"

    def _said(self, event: AssistantMessage) -> str:
        if self._streamed:
            return self._line_end()
        texts = [block.text for block in event.content if isinstance(block, Text)]
        return "".join(f"{escaped(text)}\n" for text in texts if text)

    def _line_end(self) -> str:
        end, self._streamed = ("\n" if self._streamed else ""), False
        return end
