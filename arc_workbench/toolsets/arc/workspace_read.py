"""Arc's `workspace_read`: a slice of a text file, and the hash of the whole."""

from pydantic import Field

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import Place


class Args(ToolArgs):
    """Read a bounded slice of a UTF-8 file of the project: at most 2000 lines or 64 KiB.

    Returns path, sha256 (of the whole file, whatever the slice), start_line, end_line, total_lines,
    truncated, next_start_line and content. When truncated is true, call again with start_line set
    to next_start_line. Pass the sha256 as expected_sha256 when changing the file.
    """

    path: str
    start_line: int = Field(1, description="1-based first line")


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.inside(args.path)
    return Planned(place, subject=str(place.path), description=f"Read {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    if args.start_line < 1:
        raise ToolError("start_line counts from 1; nothing was read.")
    found = ctx.workspace.read(place, start_line=args.start_line, signal=ctx.signal)
    value: JsonObject = {
        "path": place.shown,
        "sha256": found.sha256,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "total_lines": found.total_lines,
        "truncated": found.truncated,
        "next_start_line": found.next_line,
        "content": found.text,
    }
    if found.cut_lines:
        value["note"] = f"Line {found.cut_lines[0]} is longer than 64 KiB and is cut."
    return ToolResult.of_json(value, note=f"{len(found.lines)} lines")


TOOL = Tool.planned("workspace_read", Args, plan, run, effect="read")
