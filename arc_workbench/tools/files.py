"""A planned change of a file, put into the words and blocks that a prompt shows."""

from arc_workbench.content import Diff
from arc_workbench.tools.tool import Planned
from arc_workbench.workspace import FilePlan


def planned_file(plan: FilePlan, description: str, suggested_rule: str) -> Planned[FilePlan]:
    """The plan with its diff, its real destination as subject, and the facts that bind it."""
    return Planned(
        what=plan,
        subject=str(plan.place.path),
        description=description,
        display=(file_diff(plan),),
        binds=plan.binds,
        suggested_rule=suggested_rule,
    )


def file_diff(plan: FilePlan) -> Diff:
    """The change as a block that people see."""
    return Diff(path=plan.place.shown, unified=plan.diff, created=plan.op == "create")
