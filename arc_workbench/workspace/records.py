"""The lines of the journal: what each says, how it is framed, how it hangs on the one before.

A line is one JSON object. Its first key says what it is and its last is the SHA-256 over the hash
of the line before and the rest of this line, so that a line that was changed, removed, doubled or
moved no longer fits. Numbers count records, not time; `time` is for people and for purging only.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from arc_workbench.content import JsonObject
from arc_workbench.workspace.images import Image
from arc_workbench.workspace.paths import printable

FORMAT = 1
FIRST = "0" * 64

Verb = Literal["create", "write", "edit", "undo", "restore", "apply"]
_SETTLING = re.compile(rb'^\{"(?:done|void|kept)":"c(\d{1,18})"', re.MULTILINE)
_TAIL = len(',"hash":"') + 64 + len('"}')


@dataclass(frozen=True)
class Author:
    """Who changes something: a session and, if a tool did it, the call."""

    session: str = ""
    call: str = ""


@dataclass(frozen=True)
class Intent:
    """One change as it stands in the journal, written before anything happens to the file.

    `file` is the real path; `before` and `after` are None where there is no file. `temporary` is
    the name, beside the file, that is used on the way. `folders` are the folders that are made
    for it, the outermost first. Changes of one `group` (the id of its first) stand or fall
    together. `mode` are the permission bits the file has, or had where it is removed. `end` is
    where the images end that this change and those before it need.
    """

    id: str
    verb: Verb
    file: Path
    shown: str
    before: Image | None
    after: Image | None
    mode: int
    temporary: str
    folders: tuple[str, ...] = ()
    group: str = ""
    undoes: str = ""
    added: int = 0
    removed: int = 0
    session: str = ""
    call: str = ""
    time: int = 0
    end: int = 0

    @property
    def number(self) -> int:
        """The number in the id."""
        return int(self.id[1:])

    @property
    def effect(self) -> Literal["create", "change", "remove"]:
        """What happens to the name."""
        if self.before is None:
            return "create"
        return "change" if self.after is not None else "remove"


def seal(record: Mapping[str, object], before: str) -> tuple[bytes, str]:
    """A record as its line, hanging on the hash `before`; and its own hash."""
    body = json.dumps(record, separators=(",", ":"))[:-1].encode("ascii")
    found = hashlib.sha256(before.encode("ascii") + body).hexdigest()
    return body + f',"hash":"{found}"}}\n'.encode("ascii"), found


def hash_of(line: bytes, before: bytes) -> bytes | None:
    """The hash of a whole line (with its line end) if it fits, else None."""
    body, tail = line[: -_TAIL - 1], line[-_TAIL - 1 :]
    found = hashlib.sha256(before + body).hexdigest().encode("ascii")
    return found if tail == b',"hash":"' + found + b'"}\n' else None


def header(workspace: str, folder: str, images: str, first: int) -> dict[str, object]:
    """The first record: whose journal it is, and where the contents of its changes lie."""
    return {
        "journal": str(FORMAT),
        "seq": 0,
        "undoes": "",
        "workspace": workspace,
        "folder": folder,
        "images": images,
        "first": first,
    }


def settled_in(lines: bytes) -> list[int]:
    """The numbers of the changes that some of these lines settle, whether the lines fit or not."""
    return [int(number) for number in _SETTLING.findall(lines)]


def said(line: bytes) -> tuple[str, str]:
    """What a line says, and of which change: "change", "done", "void" or "kept"."""
    parts = line[:60].split(b'"')
    return parts[1].decode("ascii"), parts[3].decode("ascii")


def parsed(line: bytes) -> JsonObject:
    """A line that fits its hash, as an object."""
    return cast("JsonObject", json.loads(line))


# ---- a change and its record --------------------------------------------------------------------


def of_intent(intent: Intent, seq: int) -> dict[str, object]:
    """The record of a change."""
    record: dict[str, object] = {
        "change": intent.id,
        "seq": seq,
        "undoes": intent.undoes,
        "op": intent.verb,
        "shown": intent.shown,
        **_file(intent.file),
        "before": _image(intent.before),
        "after": _image(intent.after),
        "mode": intent.mode,
        "temporary": intent.temporary,
        "folders": [os.fsencode(name).hex() for name in intent.folders],
        "group": intent.group,
        "lines": [intent.added, intent.removed],
        "session": intent.session,
        "call": intent.call,
        "time": intent.time,
        "end": intent.end,
    }
    return record


def to_intent(record: JsonObject) -> Intent:
    """A change, read back from its record."""
    lines = cast("list[int]", record["lines"])
    return Intent(
        id=str(record["change"]),
        verb=cast("Verb", record["op"]),
        file=Path(os.fsdecode(bytes.fromhex(str(record["file_bytes"]))))
        if "file_bytes" in record
        else Path(str(record["file"])),
        shown=str(record["shown"]),
        before=_to_image(record["before"]),
        after=_to_image(record["after"]),
        mode=int(cast("int", record["mode"])),
        temporary=str(record["temporary"]),
        folders=tuple(
            os.fsdecode(bytes.fromhex(name)) for name in cast("list[str]", record["folders"])
        ),
        group=str(record["group"]),
        undoes=str(record["undoes"]),
        added=lines[0],
        removed=lines[1],
        session=str(record["session"]),
        call=str(record["call"]),
        time=int(cast("int", record["time"])),
        end=int(cast("int", record["end"])),
    )


def file_key(path: Path) -> bytes:
    """What the record of every change of this file holds."""
    return json.dumps(_file(path), separators=(",", ":"))[1:-1].encode("ascii")


def _file(path: Path) -> dict[str, object]:
    text = printable(str(path))
    if text == str(path):
        return {"file": text}
    return {"file": text, "file_bytes": os.fsencode(path).hex()}


def _image(image: Image | None) -> object:
    return None if image is None else [image.sha256, image.at, image.size]


def _to_image(found: object) -> Image | None:
    if found is None:
        return None
    sha256, at, size = cast("tuple[str, int, int]", found)
    return Image(sha256, at, size)
