"""The frozen action: what is shown, approved and run, with a digest that no other action has.

The encoding is injective: every value carries its type and its length, so no two different
actions can be written the same way (REQ-S3).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from arc_workbench.content import Display, JsonObject


@dataclass(frozen=True)
class ActionRecord:
    """One call, frozen before anybody is asked.

    `arguments` is the JSON text that will be run; `binds` are facts that must still hold then
    (a file's hash, a folder's real path, the digest of the environment handed to a child).
    """

    session: str
    call_id: str
    tool: str
    effect: str
    arguments: str
    input: JsonObject
    subject: str
    description: str
    cwd: str
    display: tuple[Display, ...] = ()
    binds: Mapping[str, str] = field(default_factory=dict[str, str])
    suggested_rule: str = ""

    @property
    def digest(self) -> str:
        """sha256 (hex) of everything that decides what runs and what is shown."""
        parts: list[JsonValue] = [
            self.session,
            self.call_id,
            self.tool,
            self.effect,
            self.arguments,
            self.subject,
            self.description,
            self.cwd,
            [block.model_dump(mode="json") for block in self.display],
            dict(self.binds),
        ]
        return hashlib.sha256(encode(parts)).hexdigest()


def encode(value: JsonValue) -> bytes:
    """A JSON value as bytes, injectively: equal bytes mean equal value and equal types."""
    match value:
        case None:
            return b"n"
        case bool():
            return b"t" if value else b"f"
        case int():
            return _framed(b"i", str(value).encode("ascii"))
        case float():
            return _framed(b"d", value.hex().encode("ascii"))
        case str():
            return _framed(b"s", value.encode("utf-8", "surrogatepass"))
        case list():
            return _framed(b"l", b"".join(encode(item) for item in value))
        case dict():
            pairs = sorted((encode(key), encode(item)) for key, item in value.items())
            return _framed(b"m", b"".join(key + item for key, item in pairs))


def _framed(kind: bytes, body: bytes) -> bytes:
    return kind + str(len(body)).encode("ascii") + b":" + body
