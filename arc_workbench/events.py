"""Every fact of a session, as one union with one format version.

Events are frozen, in the past tense, and JSON. The session stamps each with `seq` (from 1, without
a gap among durable ones) and `at` (seconds since the epoch, for people only: order is `seq`).
Durable events are on disk before anybody is shown them; transient ones are shown and not recorded.

Words: a session has turns (one prompt to its end), a turn has steps (one model response and its
tool calls). Turns and steps count from 1 over the whole session.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from arc_workbench.content import (
    Display,
    JsonObject,
    Recovery,
    ReplyBlock,
    ToolResult,
    Usage,
    Value,
)

FORMAT = 1

Mode = Literal["default", "acceptEdits", "plan", "yolo"]
Access = Literal["full", "safe"]
Scope = Literal["once", "session"]
EndReason = Literal["completed", "aborted", "error", "limit"]
JobEnd = Literal["completed", "failed", "timed_out", "killed", "aborted", "limited"]
Decider = Literal["person", "policy", "mode", "list", "rule", "session"]


class _Event(Value):
    durable: ClassVar[bool] = True
    seq: int = 0
    at: float = 0.0


# ---- lifecycle ----------------------------------------------------------------------------------


class SessionOpened(_Event):
    """The first line of every transcript, and again each time the session is taken up."""

    type: Literal["SessionOpened"] = "SessionOpened"
    format: int = FORMAT
    session: str
    name: str
    project: str
    toolset: str
    model: str
    mode: Mode
    access: Access
    resumed: bool = False


class SettingChanged(_Event):
    """The person changed what the session runs with, from the next step on.

    A dry run (`dryRun`) goes from `off` to `on`, and from there to `applied` or `discarded`;
    `sandbox` is what confines the commands that begin from now on.
    """

    type: Literal["SettingChanged"] = "SettingChanged"
    key: Literal["mode", "access", "model", "sandbox", "dryRun"]
    old: str
    new: str


class TurnStarted(_Event):
    """A prompt was taken; word for word as typed."""

    type: Literal["TurnStarted"] = "TurnStarted"
    turn: int
    prompt: str


class StepStarted(_Event):
    """A request is about to be made of the model that is named."""

    type: Literal["StepStarted"] = "StepStarted"
    turn: int
    step: int
    model: str


class StepFinished(_Event):
    """The reply came whole and each of its calls is answered."""

    type: Literal["StepFinished"] = "StepFinished"
    step: int
    usage: Usage


class TurnFinished(_Event):
    """The turn is over; `detail` is one line for people where it did not complete."""

    type: Literal["TurnFinished"] = "TurnFinished"
    turn: int
    reason: EndReason
    detail: str = ""


# ---- model --------------------------------------------------------------------------------------


class TextDelta(_Event):
    """The next piece of what the model says."""

    durable: ClassVar[bool] = False
    type: Literal["TextDelta"] = "TextDelta"
    step: int
    text: str


class ThinkingDelta(_Event):
    """The next piece of what the model thinks."""

    durable: ClassVar[bool] = False
    type: Literal["ThinkingDelta"] = "ThinkingDelta"
    step: int
    text: str


class ArgumentsDelta(_Event):
    """The next piece of a tool call that is still being written."""

    durable: ClassVar[bool] = False
    type: Literal["ArgumentsDelta"] = "ArgumentsDelta"
    step: int
    call_id: str
    name: str
    text: str


class AssistantMessage(_Event):
    """One reply of the model, whole; nothing of it ran yet."""

    type: Literal["AssistantMessage"] = "AssistantMessage"
    step: int
    model: str
    content: tuple[ReplyBlock, ...]
    stop_reason: str


# ---- tools --------------------------------------------------------------------------------------


class ToolCallStarted(_Event):
    """A call's turn has come; `input` is None where its arguments are no JSON object."""

    type: Literal["ToolCallStarted"] = "ToolCallStarted"
    step: int
    call_id: str
    name: str
    input: JsonObject | None
    subject: str = ""


class ToolProgress(_Event):
    """The newest output of a running call."""

    durable: ClassVar[bool] = False
    type: Literal["ToolProgress"] = "ToolProgress"
    call_id: str
    text: str


class ToolCallFinished(_Event):
    """The one result of a call; `ran` is false where nothing was executed."""

    type: Literal["ToolCallFinished"] = "ToolCallFinished"
    step: int
    call_id: str
    name: str
    result: ToolResult
    ran: bool
    outcome: Literal["done", "failed", "denied", "stopped"]
    digest: str = ""
    duration_sec: float = 0.0


# ---- background jobs ----------------------------------------------------------------------------


class JobStarted(_Event):
    """A command went to the background as the job `job`; its output goes to the spool `spool`.

    `call_id` is the call that started it and `began_at` when that was, in seconds since the epoch;
    `sandbox` is what confines it ("" for nothing), `timeout_sec` when it will be ended (None: it
    has no limit of its own).
    """

    type: Literal["JobStarted"] = "JobStarted"
    job: str
    spool: str
    call_id: str
    command: str
    cwd: str
    sandbox: str = ""
    timeout_sec: float | None = None
    began_at: float = 0.0


class JobOutput(_Event):
    """The newest output of a background job, as plain text; `bytes` were printed in all so far."""

    durable: ClassVar[bool] = False
    type: Literal["JobOutput"] = "JobOutput"
    job: str
    text: str
    bytes: int = 0


class JobEnded(_Event):
    """A background job is over, and everything that it had started.

    `exit_code` is None where a signal ended it (`signal` names that), and `limit` is what a job
    that was `limited` ran into. `tail` is the end of its output, which is not whole where some of
    it was `lost`; `note` is what else there is to say. `tell` is false where the job ended with its
    session: the model is not told of that by itself.
    """

    type: Literal["JobEnded"] = "JobEnded"
    job: str
    status: JobEnd
    exit_code: int | None = None
    signal: str | None = None
    duration_sec: float = 0.0
    bytes: int = 0
    lost: bool = False
    limit: str = ""
    note: str = ""
    tail: str = ""
    tell: bool = True


# ---- permission ---------------------------------------------------------------------------------


class PermissionRequested(_Event):
    """Somebody must answer before the call runs.

    Everything shown is taken from the frozen action whose `digest` the answer is bound to
    (REQ-S1, REQ-S2). `scopes` are the grants offered, the narrowest first; in a `dry_run` what is
    asked for lands beside the project. `sandbox` is what will confine a command (`off`,
    `workspace-write`, `required`), `unavailable` where it should be confined and cannot; "" for
    what is no command.
    """

    type: Literal["PermissionRequested"] = "PermissionRequested"
    prompt: str
    step: int
    call_id: str
    tool: str
    effect: str
    subject: str
    description: str
    because: str
    display: tuple[Display, ...]
    input: JsonObject
    cwd: str
    digest: str
    scopes: tuple[Scope, ...] = ("once", "session")
    suggested_rule: str = ""
    dry_run: bool = False
    sandbox: str = ""


class PermissionResolved(_Event):
    """The one decision about a call (`by` says whose); `prompt` is empty where nobody was asked."""

    type: Literal["PermissionResolved"] = "PermissionResolved"
    call_id: str
    tool: str
    subject: str
    verdict: Literal["allow", "deny"]
    by: Decider
    because: str
    digest: str
    prompt: str = ""
    scope: Scope = "once"
    reason: str = ""


class RuleAdded(_Event):
    """A grant that holds until the kernel ends; it is never read back from disk (REQ-S8)."""

    type: Literal["RuleAdded"] = "RuleAdded"
    tool: str
    specifier: str
    scope: Literal["session"] = "session"


# ---- workspace ----------------------------------------------------------------------------------


class FileChanged(_Event):
    """A file was changed through the journal: by the call `call_id`, or where that is "" by hand.

    `sha256` is "" where the file was `removed`; `undoes` is the change that was taken back. In a
    `dry_run` only the dry run's own file changed.
    """

    type: Literal["FileChanged"] = "FileChanged"
    call_id: str
    change_id: str
    path: str
    sha256: str
    diff: str
    created: bool
    removed: bool = False
    undoes: str = ""
    dry_run: bool = False


class RecoveryReported(_Event):
    """What the journal of the project folder was found in when the session opened, if not clean."""

    type: Literal["RecoveryReported"] = "RecoveryReported"
    report: Recovery


# ---- other --------------------------------------------------------------------------------------


class Steered(_Event):
    """Words of the person that reach the model before its next step."""

    type: Literal["Steered"] = "Steered"
    text: str


class Notice(_Event):
    """One line for the person; nothing of it reaches the model."""

    type: Literal["Notice"] = "Notice"
    level: Literal["info", "warning", "error"]
    text: str


Event = Annotated[
    SessionOpened
    | SettingChanged
    | TurnStarted
    | StepStarted
    | StepFinished
    | TurnFinished
    | TextDelta
    | ThinkingDelta
    | ArgumentsDelta
    | AssistantMessage
    | ToolCallStarted
    | ToolProgress
    | ToolCallFinished
    | JobStarted
    | JobOutput
    | JobEnded
    | PermissionRequested
    | PermissionResolved
    | RuleAdded
    | FileChanged
    | RecoveryReported
    | Steered
    | Notice,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads and writes events as JSON."""


def background_task(event: Event) -> tuple[str, JsonObject] | None:
    """What the page calls an event of a job, and the payload it gives it; None for other events.

    `JobStarted` is its `backgroundTaskStart {taskId, command}`, `JobOutput` its
    `backgroundTaskOutput {taskId, chunk}`, `JobEnded` its `backgroundTaskEnd {taskId, exitCode}`,
    where `exitCode` is null after a signal.
    """
    match event:
        case JobStarted():
            return "backgroundTaskStart", {"taskId": event.job, "command": event.command}
        case JobOutput():
            return "backgroundTaskOutput", {"taskId": event.job, "chunk": event.text}
        case JobEnded():
            return "backgroundTaskEnd", {"taskId": event.job, "exitCode": event.exit_code}
        case _:
            return None
