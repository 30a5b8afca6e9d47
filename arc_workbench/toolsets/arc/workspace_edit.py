"""Arc's `workspace_edit`: one exact text in a file, if the file is still what the caller read."""

from pydantic import Field

from arc_workbench.content import ToolResult
from arc_workbench.tools.files import change_facts, dry_run_facts, file_diff, planned_file
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import FilePlan


class Args(ToolArgs):
    """Replace an exact text in a UTF-8 file of the project. Read the file first.

    expected_sha256 is required: the file's present sha256, as workspace_read or the last change
    returned it. old_string must occur exactly once, unless replace_all is true. Line ends of the
    file are kept. Returns change_id, path, sha256 (the new one, good for the next change), bytes,
    created (false) and replacements. workspace_undo takes the change_id back.
    """

    path: str
    old_string: str = Field(description="must match once unless replace_all")
    new_string: str
    expected_sha256: Omittable[str] = None
    replace_all: bool = False


def plan(args: Args, ctx: ToolContext) -> Planned[FilePlan]:
    planned = ctx.workspace.plan_edit(
        ctx.workspace.inside(args.path),
        args.old_string,
        args.new_string,
        replace_all=args.replace_all,
        expected_sha256=args.expected_sha256,
        must_expect=True,
        signal=ctx.signal,
    )
    return planned_file(planned, f"Edit file {planned.place.named}", str(planned.place.path), ctx)


def run(args: Args, ctx: ToolContext, plan: FilePlan) -> ToolResult:
    change = ctx.apply(plan)
    value = change_facts(change) | {
        "bytes": change.size,
        "created": False,
        "replacements": plan.replacements,
    }
    if plan.other_names:
        value["other_names"] = plan.other_names
    if notes := _notes(plan):
        value["note"] = " ".join(notes)
    value |= dry_run_facts(ctx)
    return ToolResult.of_json(value, note=plan.tally, display=(file_diff(plan),))


def _notes(plan: FilePlan) -> list[str]:
    notes: list[str] = []
    if plan.line_endings_folded or plan.likeness == "characters":
        notes.append(
            "The text was found with other line ends or in another Unicode spelling; the file "
            "keeps its own."
        )
    if plan.link_note:
        notes.append(plan.link_note)
    return notes


TOOL = Tool.planned("workspace_edit", Args, plan, run, effect="write")
