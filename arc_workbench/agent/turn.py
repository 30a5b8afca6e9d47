"""One turn: a prompt to its end, step by step."""

import asyncio

from arc_workbench.agent.run import Run
from arc_workbench.agent.step import run_step
from arc_workbench.errors import ProviderError, TranscriptError
from arc_workbench.events import EndReason, Notice, Steered, TurnFinished, TurnStarted


async def run_turn(run: Run, prompt: str) -> EndReason:
    """Run one turn and say how it ended; failures are ends, not exceptions (behaviour E.4).

    Raises only `TranscriptError`, when the record itself cannot be written.
    """
    turn = run.history.last_turn + 1
    run.signal.clear()
    run.log.emit(TurnStarted(turn=turn, prompt=prompt))
    try:
        reason, detail = await _until_done(run, turn)
    except asyncio.CancelledError:
        reason, detail = "aborted", _interrupted(run)
    except ProviderError as fault:
        reason, detail = "error", str(fault)
    except TranscriptError as fault:
        run.log.tell_unrecorded(Notice(level="error", text=str(fault)))
        run.log.tell_unrecorded(TurnFinished(turn=turn, reason="error", detail=str(fault)))
        raise
    run.log.emit(TurnFinished(turn=turn, reason=reason, detail=detail))
    return reason


async def _until_done(run: Run, turn: int) -> tuple[EndReason, str]:
    for _ in range(run.max_steps):
        _take_steering(run)
        if await run_step(run, turn) == "done" and not run.steering:
            return "completed", ""
    return "limit", f"Stopped after {run.max_steps} steps, the most a turn may have."


def _take_steering(run: Run) -> None:
    while run.steering:
        run.log.emit(Steered(text=run.steering.popleft()))


def _interrupted(run: Run) -> str:
    return (
        f"Interrupted after step {run.history.last_step}; every call is answered, nothing runs on."
    )
