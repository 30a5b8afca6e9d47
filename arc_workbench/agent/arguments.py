"""The arguments of a tool call, read as strictly as JSON is written."""

import json
from typing import NoReturn, cast

from arc_workbench.content import JsonObject
from arc_workbench.errors import ToolError

QUOTED_CHARS = 2_000


def parse_arguments(text: str) -> JsonObject:
    """One JSON object, or `ToolError`.

    Refused: text that is not JSON, another type than an object, a key that stands twice, NaN and
    infinities, lone surrogates, and nesting deeper than can be read. The error quotes the first
    2,000 characters under the key INVALID_JSON (S1-051 to S1-053, REQ-F61). An empty text counts
    as an empty object, as providers send it for a call without arguments.
    """
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as fault:
        raise _invalid(text, _why(fault)) from None
    if not isinstance(value, dict):
        raise _invalid(text, "it is not an object")
    return cast("JsonObject", value)


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _why(fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "it is nested too deeply"
    if isinstance(fault, UnicodeEncodeError):
        return "a string holds half of a character"
    return str(fault)


def _invalid(text: str, why: str) -> ToolError:
    quoted = json.dumps({"INVALID_JSON": text[:QUOTED_CHARS]}, ensure_ascii=True)
    return ToolError(
        f"The arguments are not one JSON object ({why}); nothing ran. Send the call again with "
        f"valid JSON. What came: {quoted}",
        details={"invalidJson": text[:QUOTED_CHARS]},
    )
