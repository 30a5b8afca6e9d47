"""A planned change of a file, put into the words and blocks that a prompt and a result show."""

from arc_workbench.content import Diff, JsonObject
from arc_workbench.tools.tool import Planned, ToolContext
from arc_workbench.workspace import Change, FilePlan

ONLY_DRY = "Dry run: the project is unchanged until the person applies it."


def planned_file(
    plan: FilePlan, description: str, suggested_rule: str, ctx: ToolContext
) -> Planned[FilePlan]:
    """The plan with its diff, its real destination as subject, and the facts that bind it."""
    dry = ctx.workspace.dry_run
    return Planned(
        what=plan,
        subject=str(plan.place.path),
        description=f"{description} (dry run)" if dry else description,
        display=(file_diff(plan),),
        binds={**plan.binds, "dry_run": "yes"} if dry else plan.binds,
        suggested_rule=suggested_rule,
    )


def file_diff(plan: FilePlan) -> Diff:
    """The change as a block that people see."""
    return Diff(
        path=plan.place.shown,
        unified=plan.diff,
        created=plan.op == "create",
        removed=plan.op == "remove",
    )


def change_facts(change: Change) -> JsonObject:
    """What a result says of a change: its id, the file, and what the file is now."""
    return {"change_id": change.id, "path": change.place.shown, "sha256": change.sha256}


def dry_run_facts(ctx: ToolContext) -> JsonObject:
    """What a result says while a dry run is on."""
    return {"dry_run": True, "dry_run_note": ONLY_DRY} if ctx.workspace.dry_run else {}


def dry_run_remark(ctx: ToolContext) -> str:
    """The same as a line of text, "" otherwise."""
    return f"[{ONLY_DRY}]" if ctx.workspace.dry_run else ""
