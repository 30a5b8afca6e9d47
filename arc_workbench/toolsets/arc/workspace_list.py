"""Arc's `workspace_list`: what lies in the project, in pages."""

from pydantic import Field

from arc_workbench.content import JsonObject, Name, Names, ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.looking import counted, on_disk
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import Planned, Tool, ToolArgs, ToolContext
from arc_workbench.workspace import Entry, Place, describe

MOST = 1000


class Args(ToolArgs):
    """List files and folders of the project by their paths relative to the project folder.

    Everything below `path` is listed, or only its own entries when `recursive` is false; folders
    named .git and node_modules are left out. Returns path, entries (each with path, type and size),
    truncated and next_offset: when truncated is true, call again with offset set to next_offset. A
    page holds at most 1000 entries, whatever the limit. A note counts what could not be read, or
    says why the list is not complete.
    """

    path: Omittable[str] = Field(None, description="relative directory; default .")
    recursive: bool = True
    limit: int = 200
    offset: int = Field(0, description="pagination offset")


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.inside("." if args.path is None else args.path)
    return Planned(place, subject=str(place.path), description=f"List {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    if args.limit < 1 or args.offset < 0:
        raise ToolError("limit must be at least 1 and offset at least 0; nothing was listed.")
    with on_disk(ctx):
        found = ctx.workspace.list(
            place,
            recursive=args.recursive,
            limit=min(args.limit, MOST),
            offset=args.offset,
            signal=ctx.signal,
        )
    value: JsonObject = {
        "path": place.shown,
        "entries": [_entry(entry) for entry in found.entries],
        "truncated": found.truncated,
        "next_offset": found.next_offset,
    }
    said = (found.stopped, describe(found.skipped), ctx.workspace.dry_run_note)
    note = " ".join(filter(None, said))
    if note:
        value["note"] = note
    names = tuple(Name(path=one.name, kind=one.kind, size=one.size) for one in found.entries)
    more = f"More from offset {found.next_offset}." if found.truncated else ""
    return ToolResult.of_json(
        value,
        note=counted(len(found.entries), "entry", "entries"),
        display=(Names(names=names, note=" ".join(filter(None, (more, note)))),),
    )


def _entry(entry: Entry) -> JsonObject:
    kind = "directory" if entry.kind == "folder" else entry.kind
    return {"path": entry.name, "type": kind, "size": entry.size}


TOOL = Tool.planned("workspace_list", Args, plan, run, effect="read")
