"""Arc's `workspace_history`: what changed in the project's files, and whether it still stands."""

from typing import cast

from arc_workbench.content import Changes, JsonObject, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.tool import Tool, ToolArgs, ToolContext

MOST = 1000


class Args(ToolArgs):
    """List recent changes of the project's files, newest first, with their change ids.

    Every file tool writes into the same journal, of every session on this folder. Each change has
    change_id, path, op (create, write, edit, undo, restore, apply) and status: committed, undone,
    rolled_back (it was cut off and the file is as before), prepared, ambiguous (a person must
    decide) or kept. Changes made by commands are not in it. limit is at most 1000.
    """

    limit: int = 50


def run(args: Args, ctx: ToolContext) -> ToolResult:
    if not 1 <= args.limit <= MOST:
        raise ToolError(f"limit must be 1 to {MOST}, not {args.limit}.")
    rows = ctx.workspace.history(args.limit)
    changes = [
        {"change_id": row.id, "path": row.path, "op": row.op, "status": row.status}
        | ({"undoes": row.undoes} if row.undoes else {})
        for row in rows
    ]
    note = ctx.workspace.history_note
    value = cast("JsonObject", {"changes": changes} | ({"note": note} if note else {}))
    count = f"{len(rows)} change{'s' * (len(rows) != 1)}"
    return ToolResult.of_json(value, note=count, display=(Changes(changes=rows, note=note),))


TOOL = Tool("workspace_history", Args, run, effect="read", direct=False)
