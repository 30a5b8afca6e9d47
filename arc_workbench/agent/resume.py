"""Taking a session up again: what was open when it ended is answered, and nothing runs on."""

from arc_workbench.agent.history import History
from arc_workbench.agent.jobs import JobWatch
from arc_workbench.agent.log import EventLog
from arc_workbench.content import ToolResult
from arc_workbench.events import ToolCallFinished, TurnFinished


def close_what_was_open(log: EventLog, history: History) -> None:
    """Answer each call without a result and end an open turn (REQ-S8, BUG-A1, J-97).

    A prompt that was open is void with that: its call is answered, and nobody can allow it.
    """
    for call in list(history.open_calls.values()):
        begun = call.id in history.begun
        text = (
            "Interrupted: the session ended while this call ran. It may have run in part; look "
            "before you repeat it."
            if begun
            else "Interrupted: the session ended before this call ran; nothing ran."
        )
        log.emit(
            ToolCallFinished(
                step=history.last_step,
                call_id=call.id,
                name=call.name,
                result=ToolResult.error(text, note="interrupted"),
                ran=begun,
                outcome="stopped",
            )
        )
    if history.in_turn:
        log.emit(
            TurnFinished(
                turn=history.last_turn,
                reason="aborted",
                detail=f"Interrupted after step {history.last_step}: the session ended here.",
            )
        )


def settle_jobs(watch: JobWatch, history: History) -> None:
    """Record how each job ended that ran when the session ended (REQ-F40)."""
    for job in history.jobs.running:
        watch.settle(job)
