"""What a session's durable events add up to: its turns, its conversation, its jobs, its
counters.

Live and resumed sessions use the same fold, so taking a session up again is reading its events.
"""

from dataclasses import dataclass, field

from arc_workbench.agent.conversation import Conversation
from arc_workbench.content import ToolCall
from arc_workbench.events import (
    AssistantMessage,
    Event,
    PermissionRequested,
    RecoveryReported,
    SessionOpened,
    SettingChanged,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from arc_workbench.views import JobBoard, TurnView, fold


@dataclass
class History:
    """The fold. `open_calls` are calls without a result; `begun` are those whose turn had come."""

    turns: list[TurnView] = field(default_factory=list[TurnView])
    conversation: Conversation = field(default_factory=Conversation)
    jobs: JobBoard = field(default_factory=JobBoard)
    known_calls: set[str] = field(default_factory=set[str])
    open_calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    begun: set[str] = field(default_factory=set[str])
    last_turn: int = 0
    last_step: int = 0
    last_prompt: int = 0
    last_seq: int = 0
    _base: TurnView = field(default_factory=TurnView)

    @property
    def in_turn(self) -> bool:
        """Whether the newest turn has not ended."""
        return bool(self.turns) and self.turns[-1].reason is None

    def apply(self, event: Event) -> None:
        """Take one event in; transient events only reach the view."""
        self.last_seq = max(self.last_seq, event.seq)
        self._count(event)
        self._calls(event)
        self.conversation.apply(event)
        self.jobs.fold(event)
        self._view(event)

    def _count(self, event: Event) -> None:
        match event:
            case TurnStarted(turn=turn):
                self.last_turn = turn
            case StepStarted(step=step):
                self.last_step = step
            case PermissionRequested():
                self.last_prompt += 1
            case _:
                pass

    def _calls(self, event: Event) -> None:
        match event:
            case AssistantMessage(content=content):
                for block in content:
                    if isinstance(block, ToolCall):
                        self.known_calls.add(block.id)
                        self.open_calls[block.id] = block
            case ToolCallStarted(call_id=call_id):
                self.begun.add(call_id)
            case ToolCallFinished(call_id=call_id):
                self.open_calls.pop(call_id, None)
                self.begun.discard(call_id)
            case _:
                pass

    def _view(self, event: Event) -> None:
        if isinstance(event, SessionOpened | SettingChanged | RecoveryReported):
            fold(self._base, event)
        if isinstance(event, TurnStarted):
            self.turns.append(self.blank_view())
            self._base.lead.clear()
        if self.in_turn:
            fold(self.turns[-1], event)

    def blank_view(self) -> TurnView:
        """A view with what the session runs with now."""
        base = self._base
        return TurnView(
            session=base.session,
            model=base.model,
            mode=base.mode,
            access=base.access,
            toolset=base.toolset,
            project=base.project,
            dry_run=base.dry_run,
            lead=list(base.lead),
        )
