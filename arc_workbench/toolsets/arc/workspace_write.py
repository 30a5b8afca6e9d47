"""Arc's `workspace_write`: a whole file, if it is still what the caller read."""

from arc_workbench.content import ToolResult
from arc_workbench.tools.files import change_facts, dry_run_facts, file_diff, planned_file
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import FilePlan


class Args(ToolArgs):
    """Create or replace one UTF-8 file of the project, wholly or not at all.

    A file that exists is only replaced when expected_sha256 is its present sha256, as
    workspace_read returns it; for a new file leave it out. Missing folders are created. Returns
    change_id, path, sha256 (the new one, good for the next change), bytes and created. The change
    is in the journal of the project: workspace_undo takes the change_id back.
    """

    path: str
    content: str
    expected_sha256: Omittable[str] = None


def plan(args: Args, ctx: ToolContext) -> Planned[FilePlan]:
    planned = ctx.workspace.plan_write(
        ctx.workspace.inside(args.path),
        args.content,
        expected_sha256=args.expected_sha256,
        must_expect=True,
        signal=ctx.signal,
    )
    verb = "Create" if planned.op == "create" else "Overwrite"
    place = planned.place
    return planned_file(planned, f"{verb} file {place.named}", str(place.path.parent / "**"), ctx)


def run(args: Args, ctx: ToolContext, plan: FilePlan) -> ToolResult:
    change = ctx.apply(plan)
    value = change_facts(change) | {"bytes": change.size, "created": change.op == "create"}
    if plan.other_names:
        value |= {"other_names": plan.other_names, "note": plan.link_note}
    value |= dry_run_facts(ctx)
    return ToolResult.of_json(value, note=plan.tally, display=(file_diff(plan),))


TOOL = Tool.planned("workspace_write", Args, plan, run, effect="write")
