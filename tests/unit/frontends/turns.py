"""Turns to draw, folded from events as a session emits them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from arc_workbench.content import (
    ChangeRow,
    Command,
    Diff,
    Display,
    JsonObject,
    Output,
    ReplyBlock,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from arc_workbench.events import (
    AssistantMessage,
    EndReason,
    Event,
    Notice,
    PermissionRequested,
    PermissionResolved,
    Scope,
    SessionOpened,
    StepFinished,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.views import TurnView, fold

DIGEST = "4c1f9a2e77aa03c5" * 4
CLOCK = "\n".join(
    (
        "--- a/src/tidetable/clock.py",
        "+++ b/src/tidetable/clock.py",
        "@@ -3 +3,3 @@",
        " from datetime import time",
        "+",
        "+DAY = 24 * 60",
        "@@ -11,5 +13,5 @@ to_minutes",
        " def to_minutes(text: str) -> int:",
        "     # Minutes since midnight; 24:00 closes the day.",
        '-    hours, minutes = text.split(":")',
        "-    return int(hours) * 60 + int(minutes)",
        '+    hours, minutes = (int(part) for part in text.split(":", 1))',
        "+    return (hours * 60 + minutes) % DAY",
        " ",
        "",
    )
)


@dataclass
class Telling:
    """A turn told event by event; every verb returns the telling."""

    view: TurnView = field(default_factory=TurnView)
    step: int = 0
    calls: int = 0

    def tell(self, *events: Event) -> "Telling":
        for event in events:
            fold(self.view, event)
        return self

    def open(self, model: str = "script:tour", toolset: str = "arcturn") -> "Telling":
        return self.tell(
            SessionOpened(
                session="s",
                name="main",
                project="/home/ada/tidetable",
                toolset=toolset,
                model=model,
                mode="default",
                access="full",
            ),
            TurnStarted(turn=1, prompt="The midnight test fails. Fix it.", at=1_000.0),
        )

    def reply(self, *content: ReplyBlock) -> "Telling":
        self.step += 1
        model = self.view.model
        return self.tell(
            StepStarted(turn=1, step=self.step, model=model),
            AssistantMessage(step=self.step, model=model, content=content, stop_reason="tool_use"),
        )

    def say(self, text: str) -> "Telling":
        return self.reply(Text(text=text))

    def call(self, name: str, given: JsonObject | None, subject: str = "") -> "Telling":
        """One step with one call, started."""
        self.calls += 1
        call_id = f"call{self.calls}"
        return self.reply(ToolCall(id=call_id, name=name, arguments="{}")).start(
            call_id, name, given, subject
        )

    def start(
        self, call_id: str, name: str, given: JsonObject | None, subject: str = ""
    ) -> "Telling":
        return self.tell(
            ToolCallStarted(
                step=self.step, call_id=call_id, name=name, input=given, subject=subject
            )
        )

    def finish(
        self, result: ToolResult, outcome: str = "done", took: float = 0.01, call_id: str = ""
    ) -> "Telling":
        known = self.view.calls[call_id or f"call{self.calls}"]
        outcomes = {"done", "failed", "denied", "stopped"}
        assert outcome in outcomes
        return self.tell(
            ToolCallFinished.model_validate(
                {
                    "step": self.step,
                    "call_id": known.id,
                    "name": known.name,
                    "result": result,
                    "ran": outcome in {"done", "failed"},
                    "outcome": outcome,
                    "duration_sec": took,
                }
            )
        )

    def ask(self, asked: PermissionRequested) -> "Telling":
        return self.tell(asked)

    def notice(self, text: str) -> "Telling":
        return self.tell(Notice(level="info", text=text))

    def end(self, reason: EndReason = "completed", detail: str = "") -> "Telling":
        return self.tell(
            StepFinished(step=self.step, usage=Usage(input_tokens=18_000, output_tokens=400)),
            TurnFinished(turn=1, reason=reason, detail=detail, at=1_042.0),
        )


def question(
    display: Iterable[Display] = (),
    *,
    tool: str = "bash",
    effect: str = "execute",
    subject: str = "",
    description: str = "",
    given: JsonObject | None = None,
    because: str = "Mode default asks before every command.",
    scopes: tuple[Scope, ...] = ("once", "session"),
    call_id: str = "call1",
    step: int = 1,
    cwd: str = "/home/ada/tidetable",
) -> PermissionRequested:
    """An open question."""
    return PermissionRequested(
        prompt="p2",
        step=step,
        call_id=call_id,
        tool=tool,
        effect=effect,
        subject=subject,
        description=description,
        because=because,
        display=tuple(display),
        input=given or {},
        cwd=cwd,
        digest=DIGEST,
        scopes=scopes,
    )


def command(text: str, **given: str) -> PermissionRequested:
    """The question before a command."""
    scopes: tuple[Scope, ...] = ("once",) if "\n" in text else ("once", "session")
    return question(
        [Command(command=text, cwd="/home/ada/tidetable")],
        subject=text,
        given={"command": text, **given},
        scopes=scopes,
    )


def change(unified: str = CLOCK, path: str = "src/tidetable/clock.py") -> PermissionRequested:
    """The question before a change of a file."""
    return question(
        [Diff(path=path, unified=unified)],
        tool="edit",
        effect="write",
        subject=path,
        because="Mode default asks before every change.",
        given={"path": path, "oldText": "a", "newText": "b"},
    )


def resolved(asked: PermissionRequested, verdict: str = "allow", **more: str) -> PermissionResolved:
    """The answer of a person, unless `by` says otherwise."""
    return PermissionResolved.model_validate(
        {
            "call_id": asked.call_id,
            "tool": asked.tool,
            "subject": asked.subject,
            "verdict": verdict,
            "by": "person",
            "because": asked.because,
            "digest": asked.digest,
            "prompt": asked.prompt,
            **more,
        }
    )


def output(text: str, cut_bytes: int = 0) -> tuple[Display, ...]:
    """What a command printed."""
    return (Output(text=text, cut_bytes=cut_bytes),)


def changed_row(name: str, **more: str) -> ChangeRow:
    """One change of the journal."""
    usual = {"op": "edit", "path": "calc.py", "added": 1, "removed": 1, "status": "committed"}
    return ChangeRow.model_validate({"id": name, **usual, **more})
