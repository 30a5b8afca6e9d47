"""Arcturn's `ls`: the entries of one folder."""

from pydantic import Field

from arc_workbench.content import Name, Names, ToolResult
from arc_workbench.tools.looking import counted, on_disk
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Entry, Place, on_one_line

ENTRIES = 500
UNITS = ("KB", "MB", "GB")


class Args(ExactArgs):
    """List the entries of a folder: folders first with a final /, then files with their size.

    At most 500 entries are returned.
    """

    path: Omittable[str] = Field(
        None, description="The folder (default: the working directory), relative or absolute."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.anywhere("." if args.path is None else args.path)
    return Planned(place, subject=str(place.path), description=f"List {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    with on_disk(ctx):
        found = ctx.workspace.level(place, limit=ENTRIES, signal=ctx.signal)
    lines = [_line(entry) for entry in found.entries] or ["(empty folder)"]
    notes: list[str] = []
    if found.truncated:
        said = f"Showing {ENTRIES} of {found.total} entries. List a deeper folder, or use glob."
        notes.append(f"[{said}]")
    if dry := ctx.workspace.dry_run_note:
        notes.append(dry)
    lines += ["", *notes] if notes else []
    note = " ".join(said.strip("[]") for said in notes)
    return ToolResult.of_text(
        "\n".join(lines),
        note=counted(found.total, "entry", "entries"),
        display=(Names(names=tuple(_name(entry) for entry in found.entries), note=note),),
        path=place.shown,
        entryCount=found.total,
        truncated=found.truncated,
    )


def _name(entry: Entry) -> Name:
    return Name(path=entry.name, kind=entry.kind, size=entry.size)


def _line(entry: Entry) -> str:
    name = on_one_line(entry.name)
    if entry.kind == "folder":
        return f"{name}/"
    return name if entry.size is None else f"{name}  ({readable_size(entry.size)})"


def readable_size(size: int) -> str:
    """A number of bytes as B, or with one decimal as KB, MB or GB."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in UNITS:
        value /= 1024
        if value < 1023.95 or unit == UNITS[-1]:
            return f"{value:.1f} {unit}"
    raise AssertionError(size)


TOOL = Tool.planned("ls", Args, plan, run, effect="read")
