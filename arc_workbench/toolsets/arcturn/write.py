"""Arcturn's `write`: a whole file, created or overwritten."""

from pydantic import Field

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.tools.files import dry_run_remark, file_diff, planned_file
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import FilePlan


class Args(ExactArgs):
    """Create a file or overwrite one, including any missing parent folders.

    The content is written as UTF-8 exactly as given; line ends are not converted. Permission is
    always asked first, unless a rule or the mode settles it. For a long file (over about 6000
    characters) write a skeleton first and extend it with `edit`.
    """

    path: str = Field(description="The file, relative to the working directory or absolute.")
    content: str = Field(description="The whole new content of the file.")


def plan(args: Args, ctx: ToolContext) -> Planned[FilePlan]:
    planned = ctx.workspace.plan_write(
        ctx.workspace.anywhere(args.path), args.content, signal=ctx.signal
    )
    verb = "Create" if planned.op == "create" else "Overwrite"
    place = planned.place
    return planned_file(planned, f"{verb} file {place.named}", str(place.path.parent / "**"), ctx)


def run(args: Args, ctx: ToolContext, plan: FilePlan) -> ToolResult:
    change = ctx.apply(plan)
    created = change.op == "create"
    said = f"{'Created' if created else 'Updated'} {change.place.shown} ({change.size} bytes)."
    extra: JsonObject = {"otherNames": plan.other_names} if plan.other_names else {}
    return ToolResult.of_text(
        " ".join(filter(None, (said, plan.link_note, dry_run_remark(ctx)))),
        note=plan.tally,
        display=(file_diff(plan),),
        path=change.place.shown,
        created=created,
        bytes=change.size,
        sha256=change.sha256,
        change_id=change.id,
        **extra,
    )


TOOL = Tool.planned("write", Args, plan, run, effect="write")
