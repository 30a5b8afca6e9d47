"""Arcturn's `read`: numbered lines of a file, the outline of a large one, or a picture."""

import base64
import math
from typing import Annotated

from pydantic import BeforeValidator, Field

from arc_workbench.code.outline import outline_of
from arc_workbench.content import Declaration, Image, JsonObject, Outline, Text, ToolResult
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Place, Slice

LINES = 2000
LINE_CHARS = 2000
OUTLINED_BYTES = 16_384
WHOLE_BYTES = 8 << 20
OUTLINE_ENTRIES = 1000
OUTLINE_CHARS = 40_000


def _positive_or(default: int) -> BeforeValidator:
    """What is no number, or none above zero, stands for the default; fractions are cut off."""

    def validate(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return float(default)
        return float(math.floor(value)) if 1 <= value < math.inf else float(default)

    return BeforeValidator(validate)


class Args(ExactArgs):
    """Read a file. Text comes as numbered lines: the number right-aligned, a tab, the line.

    Of a source file of 16384 bytes or more the outline is returned instead: what it declares, and
    on which lines. Read those with `offset` and `limit`, which always give literal lines. At most
    2000 lines are returned from `offset` on, and a note at the end says how to go on; a line is
    cut after 2000 characters. Images (.png, .jpg, .jpeg, .gif, .webp) are returned as pictures.
    Binary files are refused. For a folder use ls or glob.
    """

    path: str = Field(description="The file, relative to the working directory or absolute.")
    offset: Annotated[Omittable[float], _positive_or(1)] = Field(
        None, description="The first line to return, counted from 1 (default 1)."
    )
    limit: Annotated[Omittable[float], _positive_or(LINES)] = Field(
        None, description="How many lines to return (default 2000)."
    )
    outline: Omittable[bool] = Field(
        None,
        description="Ask for the declarations of the file instead of its lines; where there is no "
        "outline of it, the lines are returned.",
    )


def plan(args: Args, ctx: ToolContext) -> Planned[Place]:
    place = ctx.workspace.anywhere(args.path)
    return Planned(place, subject=str(place.path), description=f"Read {place.named}")


def run(args: Args, ctx: ToolContext, place: Place) -> ToolResult:
    if ctx.workspace.is_picture(place):
        return _picture(place, ctx)
    found = ctx.workspace.read(
        place,
        start_line=int(args.offset or 1),
        max_lines=int(args.limit or LINES),
        max_bytes=None,
        max_line_chars=LINE_CHARS,
        lossy=True,
        signal=ctx.signal,
    )
    literal = args.offset is not None or args.limit is not None
    wanted = not literal and (args.outline or found.size >= OUTLINED_BYTES)
    if wanted and (outlined := _outlined(place, ctx, found.size)):
        return outlined
    return ToolResult(
        content=(Text(text="\n".join([*_numbered(found), *_notes(found)])),),
        note=f"{len(found.lines)} lines",
        details=_details(found) | ({"outlineUnavailable": True} if wanted else {}),
    )


def _picture(place: Place, ctx: ToolContext) -> ToolResult:
    picture = ctx.workspace.read_image(place)
    size = len(picture.data)
    data = base64.b64encode(picture.data).decode("ascii")
    return ToolResult(
        content=(
            Text(text=f"Image {place.shown} ({picture.mime}, {size} bytes)"),
            Image(data=data, mime=picture.mime),
        ),
        note="picture",
        details={"path": place.shown, "mimeType": picture.mime, "bytes": size},
    )


def _numbered(found: Slice) -> list[str]:
    return [
        f"{number:>6}\t{line.removesuffix(chr(13))}{_mark(number, found)}"
        for number, line in enumerate(found.lines, found.start_line)
    ]


def _mark(number: int, found: Slice) -> str:
    return f"… [line truncated at {LINE_CHARS} chars]" if number in found.cut_lines else ""


def _notes(found: Slice) -> list[str]:
    notes: list[str] = []
    if found.lossy:
        notes.append(
            f"[Not UTF-8, probably {found.encoding}: what could not be read is shown as \ufffd.]"
        )
    if found.truncated:
        whole = found.total_lines or f"a file of {found.size} bytes"
        notes.append(
            f"[Showing lines {found.start_line}-{found.end_line} of {whole}. "
            f"Use offset={found.end_line + 1} to continue reading.]"
        )
    return ["", *notes] if notes else []


def _details(found: Slice) -> JsonObject:
    return {
        "path": found.place.shown,
        "totalLines": found.total_lines,
        "startLine": found.start_line,
        "endLine": found.end_line,
        "truncated": found.truncated,
        "sha256": found.sha256,
    }


def _outlined(place: Place, ctx: ToolContext, size: int) -> ToolResult | None:
    """The file's declarations instead of its lines; `None` where there is no outline of it."""
    if size > WHOLE_BYTES:
        return None
    whole = ctx.workspace.read(
        place, max_lines=size + 1, max_bytes=WHOLE_BYTES + 1, lossy=True, signal=ctx.signal
    )
    declarations = outline_of(place.real.name, whole.text)
    if whole.truncated or declarations is None:
        return None
    shown, omission = _fitting(declarations)
    return ToolResult(
        content=(Text(text="\n".join(_outline_lines(whole, declarations, shown, omission))),),
        display=(
            Outline(
                path=place.shown,
                size=whole.size,
                total_lines=len(whole.lines),
                declarations=shown,
            ),
        ),
        note=_counted(len(declarations)),
        details=_details(whole)
        | {
            "truncated": len(shown) < len(declarations),
            "outline": True,
            "declarationCount": len(declarations),
        },
    )


def _counted(count: int) -> str:
    return "1 declaration" if count == 1 else f"{count} declarations"


def _fitting(all_: tuple[Declaration, ...]) -> tuple[tuple[Declaration, ...], str]:
    """As many declarations as are read with profit, and what to say of the others."""
    if _within(all_) == len(all_):
        return all_, ""
    outer = tuple(each for each in all_ if each.depth == 0)
    if (count := _within(outer)) == len(outer):
        said = f"[{len(outer)} of {len(all_)} declarations; those inside of classes are left out.]"
        return outer, said
    first_left_out = outer[count].line
    said = (
        f"[The first {count} of {len(all_)} declarations, without those inside of classes. "
        f"Use offset={first_left_out} to read on from there.]"
    )
    return outer[:count], said


def _within(declarations: tuple[Declaration, ...]) -> int:
    """How many of them stay within the bounds of an outline."""
    room = OUTLINE_CHARS
    for count, each in enumerate(declarations[:OUTLINE_ENTRIES]):
        room -= len(_entry(each)) + 1
        if room < 0:
            return count
    return min(len(declarations), OUTLINE_ENTRIES)


def _entry(declaration: Declaration) -> str:
    indent = "  " * declaration.depth
    head = f"{declaration.line:>6}\t{indent}{declaration.kind} {declaration.name}"
    return f"{head}: {declaration.signature}"


def _outline_lines(
    whole: Slice, all_: tuple[Declaration, ...], shown: tuple[Declaration, ...], omission: str
) -> list[str]:
    example, limit = _example(all_, len(whole.lines))
    header = (
        f"Outline of {whole.place.shown}: {whole.size} bytes, {len(whole.lines)} lines, "
        f"{_counted(len(all_))}. This is an outline, not the text of the file: each entry is line, "
        f"kind, name, signature. To read lines, give offset and limit, for example "
        f"offset={example.line}, limit={limit} for {example.name}."
    )
    notes = [omission] if omission else []
    return [header, "", *map(_entry, shown), *([""] if notes else []), *notes, *_notes(whole)]


def _example(all_: tuple[Declaration, ...], total_lines: int) -> tuple[Declaration, int]:
    """The first declaration that is more than a few lines long, and its lines."""
    ends = [each.line for each in all_[1:]] + [total_lines + 1]
    lengths = [max(1, end - each.line) for each, end in zip(all_, ends, strict=True)]
    at = next((index for index, length in enumerate(lengths) if length > 4), 0)
    return all_[at], min(lengths[at], LINES)


TOOL = Tool.planned("read", Args, plan, run, effect="read")
