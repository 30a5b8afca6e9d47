"""Events folded into what a person sees: one `TurnView`, drawn by every front end, and the jobs.

`fold` changes the view in place and says which parts changed, so that a front end that draws
live does work in proportion to what happened, not to the length of the turn.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal, cast

from arc_workbench.content import (
    Display,
    JsonObject,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from arc_workbench.events import (
    Access,
    ArgumentsDelta,
    AssistantMessage,
    EndReason,
    Event,
    FileChanged,
    JobEnded,
    JobOutput,
    JobStarted,
    Mode,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RecoveryReported,
    RuleAdded,
    SessionOpened,
    SettingChanged,
    Steered,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolProgress,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.views.jobs import JOB_TAIL_CHARS as JOB_TAIL_CHARS
from arc_workbench.views.jobs import JobBoard as JobBoard
from arc_workbench.views.jobs import JobStatus as JobStatus
from arc_workbench.views.jobs import JobView as JobView

CallState = Literal["pending", "asking", "running", "done", "failed", "denied", "stopped"]
RunState = Literal["running", "waiting", "finished", "stopped", "error"]

TAIL_CHARS = 8_000


@dataclass
class CallView:
    """One tool call: its row, and what opens under it.

    `started_at` and `ended_at` are seconds since the epoch, for people only. `question` is the
    open prompt, `decision` the one verdict about the call once there is one.
    """

    id: str
    name: str
    state: CallState = "pending"
    subject: str = ""
    input: JsonObject | None = None
    arguments: str = ""
    tail: str = ""
    result: ToolResult | None = None
    question: PermissionRequested | None = None
    decision: PermissionResolved | None = None
    started_at: float = 0.0
    ended_at: float = 0.0
    duration_sec: float = 0.0


@dataclass
class SayView:
    """Words of the model; `thinking` where it reasoned; open while it is still being written."""

    text: str
    thinking: bool = False
    open: bool = False


@dataclass
class NoteView:
    """One line for the person."""

    level: Literal["info", "warning", "error"]
    text: str


@dataclass
class SteerView:
    """Words of the person, put in while the turn ran."""

    text: str


@dataclass
class CardView:
    """A block that stands by itself, such as what was found when the session opened."""

    block: Display


Part = SayView | CallView | NoteView | SteerView | CardView


@dataclass
class StepView:
    """One model response and its tool calls, as parts in reading order."""

    number: int
    model: str
    parts: list[Part] = field(default_factory=list[Part])
    usage: Usage | None = None

    @property
    def calls(self) -> list[CallView]:
        """The tool calls of this step, in order."""
        return [part for part in self.parts if isinstance(part, CallView)]


@dataclass(repr=False)
class TurnView:
    """One prompt to its end. `lead` are lines that came before the first step."""

    number: int = 0
    prompt: str = ""
    session: str = ""
    model: str = ""
    mode: Mode = "default"
    access: Access = "full"
    toolset: str = ""
    project: str = ""
    dry_run: bool = False
    lead: list[Part] = field(default_factory=list[Part])
    steps: list[StepView] = field(default_factory=list[StepView])
    changes: list[FileChanged] = field(default_factory=list[FileChanged])
    reason: EndReason | None = None
    detail: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    calls: dict[str, CallView] = field(default_factory=dict[str, CallView])
    usage: Usage = field(default_factory=Usage)

    @property
    def cost(self) -> float | None:
        """US dollars, or None where the price is not known; never a made-up 0."""
        return None

    def rows(self) -> list[dict[str, object]]:
        """One row a tool call: step, tool, subject, state, seconds."""
        return [
            {
                "step": step.number,
                "tool": call.name,
                "subject": call.subject,
                "state": call.state,
                "seconds": call.duration_sec,
            }
            for step in self.steps
            for call in step.calls
        ]

    def to_frame(self) -> object:
        """The rows as a pandas frame; raises `ModuleNotFoundError` where pandas is missing."""
        return import_module("pandas").DataFrame(self.rows())

    def __repr__(self) -> str:
        asked = " ".join(self.prompt[:60].split())
        return f"t{self.number}  {len(self.steps)} steps  {self.reason or self.state}  {asked}"

    @property
    def state(self) -> RunState:
        """The word of the run header."""
        if self.reason is not None:
            ends: dict[EndReason, RunState] = {
                "completed": "finished",
                "aborted": "stopped",
                "error": "error",
                "limit": "error",
            }
            return ends[self.reason]
        return "waiting" if self.asking else "running"

    @property
    def asking(self) -> list[CallView]:
        """Calls that wait for an answer; only the newest step can have any."""
        return [call for step in self.steps[-1:] for call in step.calls if call.state == "asking"]

    @property
    def text(self) -> str:
        """What the model said last: the words of the last step that has any."""
        for step in reversed(self.steps):
            words = [p.text for p in step.parts if isinstance(p, SayView) and not p.thinking]
            if words:
                return "\n\n".join(words)
        return ""


@dataclass(frozen=True)
class Touched:
    """What an event changed: the header, a part that must be drawn again, or appended text.

    `step` is None for the lines before the first step. `index` is the place in `parts`.
    """

    what: Literal["head", "part", "append", "step", "nothing"]
    step: int | None = None
    index: int = 0
    text: str = ""


NOTHING = Touched("nothing")
HEAD = Touched("head")


def fold(view: TurnView, event: Event) -> Touched:
    """Apply one event to the view and say what it touched."""
    match event:
        case SessionOpened() | SettingChanged() | TurnStarted() | TurnFinished():
            return _fold_lifecycle(view, event)
        case StepStarted() | StepFinished():
            return _fold_step(view, event)
        case TextDelta() | ThinkingDelta() | ArgumentsDelta() | AssistantMessage():
            return _fold_reply(view, event)
        case ToolCallStarted() | ToolProgress() | ToolCallFinished():
            return _fold_call(view, event)
        case PermissionRequested() | PermissionResolved() | RuleAdded():
            return _fold_permission(view, event)
        case FileChanged():
            if event.call_id:
                view.changes.append(event)
            return NOTHING
        case Notice() | Steered() | RecoveryReported():
            return _add(view, _said(event))
        case JobStarted() | JobOutput() | JobEnded():  # jobs outlive turns: see `JobBoard`
            return NOTHING


def _fold_lifecycle(
    view: TurnView, event: SessionOpened | SettingChanged | TurnStarted | TurnFinished
) -> Touched:
    match event:
        case SessionOpened():
            view.session, view.model, view.project = event.name, event.model, event.project
            view.mode, view.access, view.toolset = event.mode, event.access, event.toolset
        case SettingChanged():
            _set(view, event)
        case TurnStarted():
            view.number, view.prompt, view.started_at = event.turn, event.prompt, event.at
        case TurnFinished():
            view.reason, view.detail, view.ended_at = event.reason, event.detail, event.at
    return HEAD


def _set(view: TurnView, event: SettingChanged) -> None:
    match event.key:
        case "model":
            view.model = event.new
        case "mode":
            view.mode = cast("Mode", event.new)
        case "access":
            view.access = cast("Access", event.new)
        case "dryRun":
            view.dry_run = event.new == "on"
        case "sandbox":  # said where it matters: in the question, and in what a command came to
            pass


def _fold_step(view: TurnView, event: StepStarted | StepFinished) -> Touched:
    if isinstance(event, StepStarted):
        view.steps.append(StepView(event.step, event.model))
        return Touched("step", event.step)
    view.steps[-1].usage = event.usage
    total = view.usage
    view.usage = Usage(
        input_tokens=total.input_tokens + event.usage.input_tokens,
        output_tokens=total.output_tokens + event.usage.output_tokens,
        estimated=total.estimated or event.usage.estimated,
    )
    return HEAD


def _fold_reply(
    view: TurnView, event: TextDelta | ThinkingDelta | ArgumentsDelta | AssistantMessage
) -> Touched:
    step = view.steps[-1]
    match event:
        case TextDelta() | ThinkingDelta():
            return _say(step, event.text, isinstance(event, ThinkingDelta))
        case ArgumentsDelta():
            return _write_arguments(view, step, event)
        case AssistantMessage():
            return _settle(view, step, event)


def _say(step: StepView, text: str, thinking: bool) -> Touched:
    last = step.parts[-1] if step.parts else None
    if isinstance(last, SayView) and last.open and last.thinking == thinking:
        last.text += text
        return Touched("append", step.number, len(step.parts) - 1, text)
    step.parts.append(SayView(text, thinking=thinking, open=True))
    return Touched("part", step.number, len(step.parts) - 1)


def _write_arguments(view: TurnView, step: StepView, event: ArgumentsDelta) -> Touched:
    known = view.calls.get(event.call_id)
    if known is not None:
        known.arguments += event.text
        return NOTHING
    call = CallView(event.call_id, event.name, arguments=event.text)
    view.calls[event.call_id] = call
    step.parts.append(call)
    return Touched("part", step.number, len(step.parts) - 1)


def _settle(view: TurnView, step: StepView, event: AssistantMessage) -> Touched:
    """Replace what streamed by what the reply came to, so that live and resumed views are equal."""
    kept = [part for part in step.parts if isinstance(part, NoteView | SteerView)]
    step.parts = [*kept]
    for block in event.content:
        match block:
            case Text(text=text) if text:
                step.parts.append(SayView(text))
            case Thinking(text=text):
                step.parts.append(SayView(text, thinking=True))
            case ToolCall():
                call = view.calls.setdefault(block.id, CallView(block.id, block.name))
                call.arguments = block.arguments
                step.parts.append(call)
            case Text():
                pass
    return Touched("step", step.number)


def _fold_call(view: TurnView, event: ToolCallStarted | ToolProgress | ToolCallFinished) -> Touched:
    call = view.calls.get(event.call_id)
    if call is None:
        return NOTHING
    match event:
        case ToolCallStarted():
            call.state, call.input, call.subject = "running", event.input, event.subject
            call.started_at = event.at
        case ToolProgress():
            call.tail = (call.tail + event.text)[-TAIL_CHARS:]
        case ToolCallFinished():
            call.state, call.result, call.ended_at = event.outcome, event.result, event.at
            call.duration_sec, call.question, call.tail = event.duration_sec, None, ""
    return _place(view, call)


def _fold_permission(
    view: TurnView, event: PermissionRequested | PermissionResolved | RuleAdded
) -> Touched:
    call = None if isinstance(event, RuleAdded) else view.calls.get(event.call_id)
    if call is None or isinstance(event, RuleAdded):
        return NOTHING
    if isinstance(event, PermissionRequested):
        call.state, call.question = "asking", event
    else:
        call.decision, call.question = event, None
        call.state = "running" if event.verdict == "allow" else "denied"
    return _place(view, call)


def _place(view: TurnView, call: CallView) -> Touched:
    """Where the call stands; it is always in the newest step."""
    step = view.steps[-1]
    for index, part in enumerate(step.parts):
        if part is call:
            return Touched("part", step.number, index)
    return NOTHING


def _said(event: Notice | Steered | RecoveryReported) -> Part:
    match event:
        case Notice():
            return NoteView(event.level, event.text)
        case Steered():
            return SteerView(event.text)
        case RecoveryReported():
            return CardView(event.report)


def _add(view: TurnView, part: Part) -> Touched:
    if not view.steps:
        view.lead.append(part)
        return Touched("part", None, len(view.lead) - 1)
    step = view.steps[-1]
    step.parts.append(part)
    return Touched("part", step.number, len(step.parts) - 1)


def shown_of(result: ToolResult | None) -> tuple[Display, ...]:
    """The blocks people see of a result."""
    return result.display if result is not None else ()
