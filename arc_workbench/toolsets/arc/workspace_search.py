"""Arc's `workspace_search`: a literal text in the project's files."""

from pydantic import Field

from arc_workbench.content import JsonObject, Matches, MatchLine, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.looking import counted, on_disk
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import Hits, Place, describe

MOST = 200
MORE = "There are more; narrow path or query."


class Args(ToolArgs):
    """Search the UTF-8 files of the project for a literal text, without regard to case.

    Folders named .git and node_modules are left out. Returns matches (each with path, line and
    text) and truncated, which is true when there are more than `limit` (or than 200); then narrow
    path or query. A file with a NUL byte in its first 8000 bytes is binary: where the text is in
    it, a note counts and names it, and no line is shown. The note also counts what could not be
    read and names the first five. A search over 20 seconds is stopped, with an error.
    """

    query: str
    path: Omittable[str] = Field(None, description="relative directory; default .")
    limit: int = 50


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.inside("." if args.path is None else args.path)
    return Planned(place, subject=str(place.path), description=f"Search {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    if args.limit < 1:
        raise ToolError("limit must be at least 1; nothing was searched.")
    with on_disk(ctx):
        hits = ctx.workspace.search(
            place,
            args.query,
            literal=True,
            ignore_case=True,
            limit=min(args.limit, MOST),
            signal=ctx.signal,
        )
    value: JsonObject = {"matches": [*_matches(hits)], "truncated": hits.truncated}
    said = (hits.stopped, describe(hits.skipped), ctx.workspace.dry_run_note)
    note = " ".join(filter(None, said))
    if note:
        value["note"] = note
    lines = tuple(
        MatchLine(path=block.path, line=line.number, text=line.text, spans=line.spans)
        for block in hits.blocks
        for line in block.lines
    )
    more = MORE if hits.truncated else ""
    shown = Matches(lines=lines, count=hits.count, note=" ".join(filter(None, (more, note))))
    return ToolResult.of_json(value, note=counted(hits.count, "match", "matches"), display=(shown,))


def _matches(hits: Hits) -> list[JsonObject]:
    return [
        {"path": block.path, "line": line.number, "text": line.text + "…" * line.cut}
        for block in hits.blocks
        for line in block.lines
    ]


TOOL = Tool.planned("workspace_search", Args, plan, run, effect="read")
