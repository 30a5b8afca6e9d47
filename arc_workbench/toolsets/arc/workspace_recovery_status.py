"""Arc's `workspace_recovery_status`: how the journal was found, and whether writing is blocked."""

from typing import cast

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.tools.tool import Tool, ToolArgs, ToolContext


class Args(ToolArgs):
    """Read the report of the journal's recovery: what was found when it was opened.

    The verdict is clean, repaired (what a crash cut off was completed or taken back), ambiguous or
    tampered. The last two block every change of files until the person has decided; reading stays
    possible. Each entry says what happened and what the person can do. No tool decides this.
    """


def run(args: Args, ctx: ToolContext) -> ToolResult:
    report = ctx.workspace.recovery()
    entries = [
        {
            "change_id": entry.id,
            "path": entry.path,
            "op": entry.op,
            "status": entry.status,
            "happened": entry.happened,
            "next": entry.next,
        }
        for entry in report.entries
    ]
    value: dict[str, object] = {
        "verdict": report.verdict,
        "mutation_blocked": report.mutation_blocked,
        "entries": entries,
    }
    return ToolResult.of_json(cast("JsonObject", value), note=report.verdict, display=(report,))


TOOL = Tool("workspace_recovery_status", Args, run, effect="read", direct=False)
