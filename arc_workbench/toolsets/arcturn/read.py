"""Arcturn's `read`: numbered lines of a file, or a picture."""

import base64
import math
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from arc_workbench.content import Image, JsonObject, Text, ToolResult
from arc_workbench.tools.schema import Omittable
from arc_workbench.tools.tool import ExactArgs, Planned, Tool, ToolContext
from arc_workbench.workspace import Place, Slice

LINES = 2000
LINE_CHARS = 2000
OUTLINED_BYTES = 16_384


def _positive_or(default: int) -> BeforeValidator:
    """What is no number, or none above zero, stands for the default; fractions are cut off."""

    def validate(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return float(default)
        return float(math.floor(value)) if 1 <= value < math.inf else float(default)

    return BeforeValidator(validate)


class Args(ExactArgs):
    """Read a file. Text comes as numbered lines: the number right-aligned, a tab, the line.

    At most 2000 lines are returned from `offset` on, and a note at the end says how to go on; a
    line is cut after 2000 characters. Images (.png, .jpg, .jpeg, .gif, .webp) are returned as
    pictures. Binary files are refused. For a folder use ls or glob.
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
    return ToolResult(
        content=(Text(text="\n".join([*_numbered(found), *_notes(found)])),),
        note=f"{len(found.lines)} lines",
        details=_details(found) | _outline(args, found),
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


def _outline(args: Args, found: Slice) -> dict[str, JsonValue]:
    """Lines that were asked for are literal; else a large file would have been outlined."""
    literal = args.offset is not None or args.limit is not None
    wanted = args.outline or found.size >= OUTLINED_BYTES
    return {"outlineUnavailable": True} if wanted and not literal else {}


TOOL = Tool.planned("read", Args, plan, run, effect="read")
