"""Finding a change by the id that somebody typed, and the words for how one stands."""

from collections.abc import Sequence

from arc_workbench.errors import ToolError
from arc_workbench.workspace.journal import TAMPERED, Journal
from arc_workbench.workspace.plans import FilePlan
from arc_workbench.workspace.records import Intent
from arc_workbench.workspace.recovery import Settled


def found(journal: Journal, id_: str) -> Intent:
    """The change of that id; `ToolError` where there is none, or it cannot be read any more."""
    digits = id_[1:]
    if not (id_[:1] == "c" and digits.isascii() and digits.isdigit() and digits[0] != "0"):
        raise ToolError(
            f"{id_!r} is no change. Changes are named c1, c2, …; see workspace_history, or "
            "%agent changes."
        )
    try:
        return journal.intent(int(digits))
    except KeyError:
        if journal.damage is not None:
            raise ToolError(TAMPERED, details={"mutationBlocked": True}) from None
        known = f"c{journal.ids[0]} to c{journal.ids[-1]}" if journal.ids else "none yet"
        raise ToolError(f"There is no change {id_} in this folder's journal ({known}).") from None


def state_of(plan: FilePlan, settled: Sequence[Settled]) -> str:
    """How the file of a plan stands after it could not be done."""
    where = {one.where for one in settled}
    if where == {"out"}:
        return "it is as it was" if len(settled) == 1 else "every file is as it was"
    if where == {"in"}:
        return "it has the new content, which a power cut might undo"
    return f"{plan.place.shown} needs a look: see %agent recovery"
