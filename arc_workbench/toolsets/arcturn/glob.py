"""Arcturn's `glob`: files whose names fit a pattern."""

from pydantic import Field

from arc_workbench.content import Name, Names, ToolResult
from arc_workbench.tools.looking import counted, on_disk
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Place, describe, on_one_line

FILES = 500


class Args(ExactArgs):
    """Find files by glob pattern, the most recently modified first.

    `*` and `?` stay within one folder, `**` crosses folders, `{a,b}` and `[abc]` are alternatives;
    names that begin with a dot are included. Folders named .git and node_modules are skipped, and
    what Git ignores is not. At most 500 files are returned. What cannot be read is counted and
    named; after 20 seconds the search ends with what it has and says so.
    """

    pattern: str | list[str] = Field(
        description="One pattern or several, relative to path, such as **/*.py."
    )
    path: Omittable[str] = Field(
        None, description="The folder to look in (default: the working directory)."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.anywhere("." if args.path is None else args.path)
    return Planned(place, subject=str(place.path), description=f"Find files in {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    patterns = (args.pattern,) if isinstance(args.pattern, str) else tuple(args.pattern)
    with on_disk(ctx):
        found = ctx.workspace.find(place, patterns, limit=FILES, signal=ctx.signal)
    lines = [on_one_line(path) for path in found.paths] or ["No files found."]
    notes: list[str] = []
    if found.truncated:
        notes.append(
            f"[Showing the {FILES} newest of {found.total} files. Narrow the pattern or path.]"
        )
    if found.stopped:
        notes.append(f"[The list is not complete. {found.stopped}]")
    if found.skipped:
        notes.append(f"[{describe(found.skipped)}]")
    if dry := ctx.workspace.dry_run_note:
        notes.append(dry)
    return ToolResult.of_text(
        "\n".join([*lines, *([""] if notes else []), *notes]),
        note=counted(found.total, "file", "files"),
        display=(
            Names(
                names=tuple(Name(path=path, kind="file") for path in found.paths),
                note=" ".join(note.removeprefix("[").removesuffix("]") for note in notes),
            ),
        ),
        matchCount=found.total,
        truncated=found.truncated,
        skippedCount=len(found.skipped),
    )


TOOL = Tool.planned("glob", Args, plan, run, effect="read")
