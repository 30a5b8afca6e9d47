"""Arc's `workspace_undo`: one change taken back, if the file is still what that change made it."""

from arc_workbench.content import ToolResult
from arc_workbench.tools.files import change_facts, file_diff, planned_file
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import FilePlan


class Args(ToolArgs):
    """Undo exactly one change of a file, by the change_id that a file tool returned.

    The file gets back what it held before that change, byte for byte; a file that the change
    created is removed. Refused, with nothing touched, if the file changed since in any way: other
    bytes, a link, another file of that name, gone. An undo is a change itself: its own change_id,
    which is returned, undoes it again. Changes made by commands cannot be undone.
    """

    change_id: str

    def subject(self) -> str:
        """The change; the file is not known before the journal was asked."""
        return self.change_id


def plan(args: Args, ctx: ToolContext) -> Planned[FilePlan]:
    planned = ctx.workspace.plan_undo(args.change_id, confined=True, signal=ctx.signal)
    place = planned.place
    return planned_file(planned, f"Undo {args.change_id} of {place.named}", str(place.path), ctx)


def run(args: Args, ctx: ToolContext, plan: FilePlan) -> ToolResult:
    change = ctx.apply(plan)
    value = change_facts(change) | {"undoes": args.change_id}
    return ToolResult.of_json(value, note=plan.tally, display=(file_diff(plan),))


TOOL = Tool.planned("workspace_undo", Args, plan, run, effect="write", direct=False)
