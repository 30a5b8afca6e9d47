"""Arc's `shell_output`."""

from typing import Annotated

from pydantic import Field

from arc_workbench.content import JsonObject, ToolResult
from arc_workbench.shell import Tail
from arc_workbench.tools.commands import shown
from arc_workbench.tools.tool import ExactArgs, Tool, ToolContext

_MAX_BYTES = 65_536


class Args(ExactArgs):
    """Read one byte range of the whole output of a shell command.

    The output is kept as it was printed, errors among it, in the order of arrival. Take spool_id
    from shell_exec or shell_job. Returns JSON: offset, bytes, text, eof. Go on at offset + bytes
    until eof is true: then the command has ended and nothing follows. A range may be shorter than
    max_bytes, since it ends with a line where it can; at the end of what a running command has
    printed so far it has 0 bytes and eof is false. Bytes that are no UTF-8 become replacement
    characters.
    """

    spool_id: str
    offset: Annotated[int, Field(ge=0)] = Field(
        0, description="byte position to read from; continue at offset + bytes"
    )
    max_bytes: Annotated[int, Field(ge=1, le=_MAX_BYTES)] = Field(
        _MAX_BYTES, description="bytes to read; at most 65536 per call"
    )

    def subject(self) -> str:
        """The output that is read."""
        return self.spool_id


def run(args: Args, ctx: ToolContext) -> ToolResult:
    found = ctx.shell.piece(args.spool_id, args.offset, args.max_bytes)
    told: JsonObject = {
        "spool_id": args.spool_id,
        "offset": found.offset,
        "bytes": found.size,
        "text": found.text,
        "eof": found.eof,
    }
    block = shown(Tail(found.text, 0, found.size))
    return ToolResult.of_json(
        told, note=f"{found.size:,} bytes{', the end' * found.eof}", display=(block,)
    )


TOOL = Tool("shell_output", Args, run, effect="read", offered_as="execute", direct=False)
