"""Arcturn's `grep`: lines of files that match a regular expression."""

from pydantic import Field

from arc_workbench.content import Matches, MatchLine, ToolResult
from arc_workbench.tools.looking import counted, on_disk
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Block, Hits, Line, Place, describe, on_one_line

MATCHES = 200
LINE_CHARS = 2000


class Args(ExactArgs):
    """Search the lines of files for a regular expression, in a file or in all files of a folder.

    A match is shown as path:line:text, a line of context as path-line-text, and blocks are
    separated by --. At most 200 matches are returned. Folders named .git and node_modules are
    skipped; names that begin with a dot, and what Git ignores, are not. A file with a NUL byte in
    its first 8000 bytes is binary: if the expression matches in it, it is counted and named, but
    no line is shown. What cannot be read is counted and named too.

    The dialect is that of ripgrep (Rust): no backtracking, \\w, \\d and \\b know all scripts, and
    nothing, not even \\s, matches across the end of a line. Look-around and back-references are
    passed on to PCRE2. Where ripgrep is not installed, Python's expressions are used; the result's
    details name the engine. A search that takes longer than 20 seconds is stopped, with an error.
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
    with on_disk(ctx):
        hits = ctx.workspace.search(
            place,
            args.pattern,
            ignore_case=args.case_insensitive,
            context=max(0, args.context_lines),
            glob=args.glob,
            limit=MATCHES,
            signal=ctx.signal,
        )
    notes = [*_notes(hits), *filter(None, [ctx.workspace.dry_run_note])]
    separator = "\n--\n" if args.context_lines > 0 else "\n"
    body = separator.join(_block(block) for block in hits.blocks) or "No matches found."
    return ToolResult.of_text(
        "\n".join([body, *([""] if notes else []), *notes]),
        note=counted(hits.count, "match", "matches"),
        display=(_display(hits, notes),),
        matchCount=hits.count,
        filesSearched=hits.files_searched,
        truncated=hits.truncated,
        skippedCount=len(hits.skipped),
        engine=hits.engine,
    )


def _display(hits: Hits, notes: list[str]) -> Matches:
    lines = (
        MatchLine(
            path=block.path,
            line=line.number,
            text=line.text,
            spans=line.spans,
            context=not line.matched,
        )
        for block in hits.blocks
        for line in block.lines
    )
    return Matches(
        lines=tuple(lines),
        count=hits.count,
        note=" ".join(note.removeprefix("[").removesuffix("]") for note in notes),
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
    if hits.stopped:
        notes.append(f"[Not all files were looked at. {hits.stopped}]")
    if hits.skipped:
        notes.append(f"[{describe(hits.skipped)}]")
    return notes


TOOL = Tool.planned("grep", Args, plan, run, effect="read")
