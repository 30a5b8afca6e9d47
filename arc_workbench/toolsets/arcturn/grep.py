"""Arcturn's `grep`: lines of files that match a regular expression."""

from pydantic import Field

from arc_workbench.content import ToolResult
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Block, Hits, Line, Place, describe, on_one_line

MATCHES = 200
LINE_CHARS = 2000


class Args(ExactArgs):
    """Search the lines of files for a regular expression, in a file or in all files of a folder.

    The expression is one of Python's. A match is shown as path:line:text, a line of context as
    path-line-text, and blocks are separated by --. Folders named .git and node_modules are
    skipped. Binary files (a NUL byte in the first 8000 bytes) and those that cannot be read are not
    searched: the result counts them and names the first five. At most 200 matches are returned.
    """

    pattern: str = Field(description="The regular expression.")
    path: Omittable[str] = Field(
        None, description="The file or folder to search (default: the working directory)."
    )
    glob: Omittable[str] = Field(
        None, description="Only files whose name fits this pattern, such as *.py or src/**/*.c."
    )
    case_insensitive: bool = Field(
        False, alias="caseInsensitive", description="Take capital and small letters as equal."
    )
    context_lines: int = Field(
        0, alias="contextLines", description="Lines to show before and after each match."
    )


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.anywhere("." if args.path is None else args.path)
    return Planned(place, subject=str(place.path), description=f"Search {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    hits = ctx.workspace.search(
        place,
        args.pattern,
        ignore_case=args.case_insensitive,
        context=max(0, args.context_lines),
        glob=args.glob,
        limit=MATCHES,
        signal=ctx.signal,
    )
    separator = "\n--\n" if args.context_lines > 0 else "\n"
    body = separator.join(_block(block) for block in hits.blocks) or "No matches found."
    notes = _notes(hits)
    return ToolResult.of_text(
        "\n".join([body, *([""] if notes else []), *notes]),
        note=f"{hits.count} matches",
        matchCount=hits.count,
        filesSearched=hits.files_searched,
        truncated=hits.truncated,
        skippedCount=len(hits.skipped),
    )


def _block(block: Block) -> str:
    path = on_one_line(block.path)
    return "\n".join(_line(path, line) for line in block.lines)


def _line(path: str, line: Line) -> str:
    mark = ":" if line.matched else "-"
    cut = f"… [line truncated at {LINE_CHARS} chars]" if line.cut else ""
    return f"{path}{mark}{line.number}{mark}{line.text}{cut}"


def _notes(hits: Hits) -> list[str]:
    notes: list[str] = []
    if hits.truncated:
        notes.append(
            f"[Stopped after {hits.count} matches; there are more. Narrow the pattern, path or "
            "glob.]"
        )
    if hits.skipped:
        notes.append(f"[{describe(hits.skipped)}]")
    return notes


TOOL = Tool.planned("grep", Args, plan, run, effect="read")
