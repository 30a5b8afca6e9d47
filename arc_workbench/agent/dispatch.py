"""One tool call from its raw text to its one result: parse, plan, permit, run.

Whatever happens, exactly one `ToolCallFinished` is emitted: also when the arguments are no JSON,
when the person denies or interrupts, and when a tool has a bug.
"""

import asyncio
import contextvars
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from arc_workbench.agent.arguments import parse_arguments
from arc_workbench.agent.gate import ANYWHERE, Ruling, Surroundings
from arc_workbench.agent.hands import file_changed
from arc_workbench.agent.run import Run
from arc_workbench.content import Command, JsonObject, ToolCall, ToolResult, text_of
from arc_workbench.errors import ToolError, TranscriptError
from arc_workbench.events import (
    Notice,
    ToolCallFinished,
    ToolCallStarted,
    ToolProgress,
)
from arc_workbench.permissions.action import ActionRecord
from arc_workbench.shell.sandbox_probe import probe
from arc_workbench.tools.tool import PermissionAnswer, Prepared, Tool, ToolContext
from arc_workbench.workspace import Change, FilePlan

R = TypeVar("R")
Outcome = Literal["done", "failed", "denied", "stopped"]

HELD_IN_DRY_RUN = frozenset({"read", "write", "session"})
DRY_RUN = (
    "A dry run is on, so {name} did not run: what it would change could not be held back. Tools "
    "that change files work, and their changes wait for the person."
)
STOPPED = "Aborted: the person interrupted this call"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Finish:
    result: ToolResult
    outcome: Outcome
    ran: bool
    digest: str = ""


async def dispatch(call: ToolCall, step: int, run: Run) -> None:
    """Answer one call. Cancelling it answers the call as stopped and then surfaces."""
    progress = _Progress()
    try:
        finish = await _attempt(call, step, run, progress)
    except asyncio.CancelledError:
        _emit(call, step, run, _stopped(progress), progress.began)
        raise
    except TranscriptError:
        raise
    except ToolError as fault:
        finish = _Finish(_error(fault), "failed", progress.ran, progress.digest)
    except Exception as bug:
        _log.exception("The tool %s failed", call.name)
        run.log.emit(Notice(level="error", text=f"{call.name} has a fault of its own: {bug!r}"))
        text = f"{call.name} failed on a fault of its own ({type(bug).__name__}). Try another way."
        finish = _Finish(ToolResult.error(text), "failed", progress.ran, progress.digest)
    _emit(call, step, run, finish, progress.began)


def answer_unrun(call: ToolCall, step: int, run: Run, why: str) -> None:
    """Answer a call whose turn never came."""
    finish = _Finish(ToolResult.error(why, note="not run"), "stopped", ran=False)
    _emit(call, step, run, finish, time.monotonic())


@dataclass
class _Progress:
    """How far a call came, for the answer when it is cut short.

    `began` is a monotonic clock, set anew when it runs: waiting for the person does not count.
    """

    began: float = field(default_factory=time.monotonic)
    ran: bool = False
    digest: str = ""
    late: ToolResult | None = None


async def _attempt(call: ToolCall, step: int, run: Run, progress: _Progress) -> _Finish:
    started = ToolCallStarted(step=step, call_id=call.id, name=call.name, input=None)
    try:
        given = parse_arguments(call.arguments)
    except ToolError:
        run.log.emit(started)
        raise
    tool = run.toolset.find(call.name)
    subject = tool.subject_of(given) if tool else ""
    run.log.emit(started.model_copy(update={"input": given, "subject": subject}))
    if tool is None or tool not in run.offered():
        raise ToolError(_unknown(call.name, run))
    if _lost_in_dry_run(tool, run):
        raise ToolError(DRY_RUN.format(name=tool.name))
    _note_unknown_keys(tool, given, run)
    arguments = json.dumps(given, ensure_ascii=False)
    return await _permitted(_Call(call, step, tool, given, arguments), run, progress)


@dataclass(frozen=True)
class _Call:
    raw: ToolCall
    step: int
    tool: Tool
    given: JsonObject
    arguments: str


async def _permitted(call: _Call, run: Run, progress: _Progress) -> _Finish:
    ctx = _context(call, run)
    prepared, where = await _in_thread(lambda: _prepared(call, ctx, run), run)
    record = _freeze(call, prepared, run)
    progress.digest = record.digest
    if not (call.tool.asks_itself and run.gate.judge_silently(record).verdict == "ask"):
        ruling = await run.gate.rule(record, call.step, where)
        if not ruling.allowed:
            return _denied(call, ruling, record.digest, run)
        if ruling.asked:
            await _still_the_same(call, record, ctx, run)
    progress.ran, progress.began = True, time.monotonic()
    result = await _run(prepared, run, progress)
    return _Finish(result, "failed" if result.is_error else "done", True, record.digest)


def _prepared(call: _Call, ctx: ToolContext, run: Run) -> tuple[Prepared, Surroundings]:
    prepared = call.tool.prepare(call.arguments, ctx)
    return prepared, _surroundings(prepared, run)


def _surroundings(prepared: Prepared, run: Run) -> Surroundings:
    """What will confine a command, if this is one; tried here where that is not known yet."""
    if run.shell is None or not any(isinstance(block, Command) for block in prepared.display):
        return ANYWHERE
    if run.dry_run:
        return Surroundings("required", on_a_copy=True)
    if run.shell.sandbox == "workspace-write" and not _can_confine():
        return Surroundings("unavailable")
    return Surroundings(run.shell.sandbox)


def _can_confine() -> bool:
    backends = probe()
    return bool(backends.bubblewrap or backends.landlock)


async def _still_the_same(call: _Call, record: ActionRecord, ctx: ToolContext, run: Run) -> None:
    """Plan the call again after a person was asked; anything but what was shown is refused."""
    try:
        again = await _in_thread(lambda: call.tool.prepare(call.arguments, ctx), run)
        same = _freeze(call, again, run).digest == record.digest
    except ToolError:
        same = False
    if not same:
        what = record.subject or call.tool.name
        raise ToolError(
            f"{what} changed while you were asked; nothing ran. The agent must ask again."
        )


async def _run(prepared: Prepared, run: Run, progress: _Progress) -> ToolResult:
    """Run the prepared call: `def` in a worker thread, `async def` on the loop."""

    def keep(late: ToolResult | Awaitable[ToolResult]) -> None:
        progress.late = late if isinstance(late, ToolResult) else None

    outcome = await _in_thread(prepared.run, run, keep)
    return outcome if isinstance(outcome, ToolResult) else await _on_loop(outcome)


async def _on_loop(work: Awaitable[ToolResult]) -> ToolResult:
    """Await a tool; only a cancellation of this very turn counts as the person's interrupt."""
    try:
        return await work
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _Escaped("a task inside the tool was cancelled") from fault
    except (SystemExit, StopIteration) as fault:
        raise _Escaped(repr(fault)) from fault


class _Escaped(Exception):
    """A tool raised what would have ended more than its call."""


def _contained(work: Callable[[], R]) -> Callable[[], R]:
    """`work`, whose every exception is one that can cross from a worker thread to the loop."""

    def contained() -> R:
        try:
            return work()
        except (StopIteration, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as fault:
            raise _Escaped(repr(fault)) from fault

    return contained


async def _in_thread(work: Callable[[], R], run: Run, keep: Callable[[R], None] | None = None) -> R:
    """Run `work` in a worker thread; when cancelled, set the signal and wait until it is over.

    So nothing of a call goes on after its answer; what it still returned goes to `keep`.
    """
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, context.run, _contained(work))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        run.signal.set()
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError:
                continue
        if future.exception() is None and keep is not None:
            keep(future.result())
        raise


def _context(call: _Call, run: Run) -> ToolContext:
    stream = run.log.redactor.stream()

    def on_update(text: str = "", details: JsonObject | None = None) -> None:
        del details
        clear = stream.feed(text)
        if clear:
            run.log.emit(ToolProgress(call_id=call.raw.id, text=clear))

    def on_change(plan: FilePlan, change: Change) -> None:
        run.log.emit(file_changed(plan, change, call.raw.id, dry_run=run.dry_run))

    async def request_permission(
        *, tool_name: str, tool_call_id: str, subject: str, description: str
    ) -> PermissionAnswer:
        del tool_name, tool_call_id  # the call that runs is the one that is asked about
        shown = Prepared(subject, description, (), {}, "", lambda: ToolResult(content=()))
        ruling = await run.gate.rule(_freeze(call, shown, run), call.step)
        return PermissionAnswer("allow" if ruling.allowed else "deny", ruling.reason)

    return ToolContext(
        cwd=run.cwd,
        signal=run.signal,
        session_id=run.session_id,
        tool_call_id=call.raw.id,
        on_update=on_update,
        request_permission=request_permission,
        on_change=on_change,
        project=run.workspace,
        commands=run.shell,
        snapshots=run.snapshots,
    )


def _freeze(call: _Call, prepared: Prepared, run: Run) -> ActionRecord:
    return ActionRecord(
        session=run.session_id,
        call_id=call.raw.id,
        tool=call.tool.name,
        effect=call.tool.effect,
        arguments=call.arguments,
        input=call.given,
        subject=prepared.subject,
        description=prepared.description,
        cwd=text_of(run.cwd),
        display=prepared.display,
        binds=prepared.binds,
        suggested_rule=prepared.suggested_rule,
    )


def _denied(call: _Call, ruling: Ruling, digest: str, run: Run) -> _Finish:
    name, subject = call.tool.name, call.tool.subject_of(call.given)
    match ruling.by:
        case "person":
            said = f" They said: {ruling.reason}" if ruling.reason else ""
            text = f"The person denied this call; nothing ran.{said}"
        case "policy":
            run.log.emit(
                Notice(
                    level="warning",
                    text=f"Policy denied {name} {subject}; the model was told. "
                    "Policy is set outside.",
                )
            )
            text = ruling.reason or (
                "Nobody could be asked, and the policy of this run denies what would ask; nothing "
                "ran. Go on without it, or say what you would have done."
            )
        case _:
            text = f"Not allowed; nothing ran. {ruling.because}"
    return _Finish(ToolResult.error(text, note="denied"), "denied", False, digest)


def _stopped(progress: _Progress) -> _Finish:
    """What was captured before the interrupt is kept in the answer."""
    late = progress.late.text if progress.late is not None else ""
    text = (
        late if late.startswith(("Aborted:", "Command aborted.")) else f"{STOPPED}.\n{late}".strip()
    )
    base = progress.late or ToolResult(content=())
    result = replace_text(base, text)
    return _Finish(result, "stopped", progress.ran, progress.digest)


def replace_text(result: ToolResult, text: str) -> ToolResult:
    """The same result as an error with other words for the model."""
    worded = ToolResult.error(text, note="stopped", details=result.details)
    return worded.model_copy(update={"display": result.display})


def _error(fault: ToolError) -> ToolResult:
    return ToolResult.error(str(fault), details=_json_details(fault))


def _json_details(fault: ToolError) -> JsonObject:
    details: JsonObject = json.loads(json.dumps(fault.details, default=str))
    return details


def _unknown(name: str, run: Run) -> str:
    known = ", ".join(tool.name for tool in run.offered())
    return f"There is no tool {name}; nothing ran. Tools here: {known or 'none'}."


def _lost_in_dry_run(tool: Tool, run: Run) -> bool:
    """Whether a dry run is on and could not hold back what the tool changes."""
    return run.dry_run and not tool.held_back and tool.effect not in HELD_IN_DRY_RUN


def _note_unknown_keys(tool: Tool, given: JsonObject, run: Run) -> None:
    extra = tool.passed_over(given)
    if extra:
        text = f"{tool.name}: passed over what its schema does not name: {', '.join(extra)}."
        run.log.emit(Notice(level="info", text=text))


def _emit(call: ToolCall, step: int, run: Run, finish: _Finish, began: float) -> None:
    run.log.emit(
        ToolCallFinished(
            step=step,
            call_id=call.id,
            name=call.name,
            result=finish.result,
            ran=finish.ran,
            outcome=finish.outcome,
            digest=finish.digest,
            duration_sec=round(time.monotonic() - began, 3),
        )
    )
