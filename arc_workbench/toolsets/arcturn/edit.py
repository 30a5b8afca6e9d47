"""Arcturn's `edit`: one exact text in a file, replaced."""

from pydantic import Field

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.tools.files import dry_run_remark, file_diff, planned_file
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import FilePlan


class Args(ExactArgs):
    """Replace an exact text in an existing file.

    `oldText` must occur exactly once, unless `replaceAll` is true; it is compared character by
    character, so copy it from the file, without line numbers. Line ends of the file are kept.
    Returns a unified diff. Permission is asked only once the text is known to match.
    """

    path: str = Field(description="The file, relative to the working directory or absolute.")
    old_text: str = Field(alias="oldText", description="The text to replace.")
    new_text: str = Field(alias="newText", description="What stands there afterwards, literally.")
    replace_all: bool = Field(
        False, alias="replaceAll", description="Replace every occurrence, not just one."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[FilePlan]:
    planned = ctx.workspace.plan_edit(
        ctx.workspace.anywhere(args.path),
        args.old_text,
        args.new_text,
        replace_all=args.replace_all,
        signal=ctx.signal,
    )
    place = planned.place
    return planned_file(planned, f"Edit file {place.named}", str(place.path), ctx)


def run(args: Args, ctx: ToolContext, plan: FilePlan) -> ToolResult:
    change = ctx.apply(plan)
    count = plan.replacements
    head = f"Edited {change.place.shown}: {count} replacement{'s' * (count != 1)}."
    return ToolResult.of_text(
        "\n".join([head, *filter(None, [*_remarks(plan), dry_run_remark(ctx)]), "", plan.diff]),
        note=plan.tally,
        display=(file_diff(plan),),
        path=change.place.shown,
        replacements=count,
        diff=plan.diff,
        sha256=change.sha256,
        change_id=change.id,
        **_extra(plan),
    )


def _extra(plan: FilePlan) -> JsonObject:
    extra: JsonObject = {"lineEndingNormalized": True} if plan.line_endings_folded else {}
    return extra | ({"otherNames": plan.other_names} if plan.other_names else {})


def _remarks(plan: FilePlan) -> list[str]:
    remarks: list[str] = []
    if plan.line_endings_folded:
        remarks.append("Line ends differed from the file's; the file's were kept.")
    if plan.likeness == "characters":
        remarks.append(
            "The text stands in the file in another Unicode spelling of the same characters; the "
            "rest of the file keeps its spelling."
        )
    if plan.link_note:
        remarks.append(plan.link_note)
    return remarks


TOOL = Tool.planned("edit", Args, plan, run, effect="write")
