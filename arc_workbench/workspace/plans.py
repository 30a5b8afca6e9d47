"""What a write or an edit would do to one file, worked out without doing it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from arc_workbench.errors import ToolError
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.editing import replace, unified_diff
from arc_workbench.workspace.matching import Likeness
from arc_workbench.workspace.names import refusal
from arc_workbench.workspace.paths import (
    Place,
    is_kernel_view,
    kind_of,
    printable,
    refuse_escaped,
    require_file,
)
from arc_workbench.workspace.reading import (
    BOM,
    MAX_TEXT_BYTES,
    SNIFFED_BYTES,
    Snapshot,
    sha256_of,
    snapshot,
    text_of,
)
from arc_workbench.workspace.records import Verb

ABSENT = "absent"
MARK = "\ufeff"

Op = Literal["create", "change", "remove"]
TOO_LARGE = b"\0"  # stands for content that is over the limit, which is not shown as text

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FilePlan:
    """The change of one file as it was worked out: what is shown is what `Workspace.apply` does.

    `content` are all bytes the file will have. `before_sha256` is None where there is no file yet,
    `after_sha256` where there will be none. `binds` are the facts that must still hold then.
    `other_names` counts the hard links that keep the old bytes. `mode` is what a new file gets, 0
    for the usual; `before_inode` the inode that the file must still have, 0 for any. `verb` is the
    word for it in the journal, and `undoes` the change that it takes back. `folders` are those
    above a file that is removed which go with it, if they are empty.
    """

    place: Place
    op: Op
    before_sha256: str | None
    after_sha256: str | None
    content: bytes = field(repr=False)
    diff: str = field(repr=False)
    replacements: int = 0
    likeness: Likeness = "exact"
    line_endings_folded: bool = False
    other_names: int = 0
    verb: Verb = "write"
    undoes: str = ""
    mode: int = 0
    before_inode: int = 0
    folders: tuple[str, ...] = ()

    @property
    def binds(self) -> Mapping[str, str]:
        """The real file, what it holds before and what it holds after."""
        real = str(self.place.real)
        path = {"path": printable(real)}
        if path["path"] != real:  # two names may look alike once they are escaped
            path["path_bytes"] = os.fsencode(real).hex()
        return {
            **path,
            "before": self.before_sha256 or ABSENT,
            "after": self.after_sha256 or ABSENT,
        }

    @property
    def link_note(self) -> str:
        """What became of the file's other names, if it has any; one sentence."""
        if not self.other_names:
            return ""
        return (
            f"{self.place.shown} had {self.other_names + 1} names (hard links); "
            f"the other{'s keep' if self.other_names > 1 else ' keeps'} the old text."
        )

    @property
    def tally(self) -> str:
        """How many lines the diff adds and removes: "+3 -1"."""
        return f"+{self.added} -{self.removed}"

    @cached_property
    def added(self) -> int:
        """How many lines the diff adds."""
        return self._signs("+")

    @cached_property
    def removed(self) -> int:
        """How many lines the diff removes."""
        return self._signs("-")

    def _signs(self, sign: str) -> int:
        body = self.diff.partition("\n")[2].partition("\n")[2]
        return body.count("\n" + sign) + body.startswith(sign)


@dataclass(frozen=True)
class Expected:
    """The hash that the caller believes the file to have, and whether one must be sent."""

    sha256: str | None
    must_be_sent: bool


def plan_write(place: Place, content: str, expected: Expected, deadline: Deadline) -> FilePlan:
    """`content` as the whole of the file; see `Workspace.plan_write`."""
    data = _encoded(content, place.shown)
    if _kind(place) == "absent":
        refuse_escaped(place)
        _refuse_expectation(expected.sha256, place.shown)
        _refuse_name(place)
        return _plan(place, None, None, data, content, deadline)
    before = snapshot(place, deadline)
    _check_expectation(expected, before.sha256, place.shown)
    _require_writable(place)
    old, bom = _old_text(place, before)
    if bom:
        content = content.lstrip(MARK)
        data = BOM + _encoded(content, place.shown)
    return _plan(place, before.sha256, old, data, content, deadline)


def plan_edit(
    place: Place,
    old: str,
    new: str,
    expected: Expected,
    deadline: Deadline,
    *,
    replace_all: bool,
) -> FilePlan:
    """One exact replacement in a file that exists; see `Workspace.plan_edit`."""
    if _kind(place) == "absent":
        refuse_escaped(place)
        raise ToolError(
            f"File not found: {place.path}. An edit changes a file that exists; to create one, "
            "write it (write, workspace_write)."
        )
    before = snapshot(place, deadline)
    _check_expectation(expected, before.sha256, place.shown)
    _require_writable(place)
    if before.data is None:
        raise ToolError(
            f"{place.shown} is over {MAX_TEXT_BYTES >> 20} MiB, too large to be edited here."
        )
    text, bom = text_of(before.data, place)
    _encoded(new, place.shown)
    done = replace(text, old, new, replace_all=replace_all, shown=place.shown, check=deadline.check)
    after = _without_second_mark(done.text, text, new) if bom else done.text
    if after == text:
        raise ToolError(
            f"{place.shown}: old and new text are the same once the file's line ends and byte "
            "order mark are kept, so there is nothing to change; nothing was written."
        )
    data = (BOM if bom else b"") + after.encode("utf-8")
    return FilePlan(
        place=place,
        op="change",
        before_sha256=before.sha256,
        after_sha256=sha256_of(data),
        content=data,
        diff=unified_diff(text, after, place.shown, deadline.check),
        verb="edit",
        replacements=done.count,
        likeness=done.likeness,
        line_endings_folded=done.likeness == "line ends" or done.line_ends_adapted,
        other_names=_other_names(place),
    )


def _plan(
    place: Place, before: str | None, old: str | None, data: bytes, text: str, deadline: Deadline
) -> FilePlan:
    known = before is None or old is not None
    return FilePlan(
        place=place,
        op="create" if before is None else "change",
        before_sha256=before,
        after_sha256=sha256_of(data),
        content=data,
        diff=unified_diff(old, text, place.shown, deadline.check)
        if known
        else _whole(place, before),
        verb="create" if before is None else "write",
        other_names=0 if before is None else _other_names(place),
    )


def plan_content(
    place: Place,
    before_sha256: str | None,
    content: bytes | None,
    deadline: Deadline,
    *,
    verb: Verb,
    undoes: str = "",
    mode: int = 0,
    before_inode: int = 0,
    folders: tuple[str, ...] = (),
) -> FilePlan:
    """Exactly these bytes as the file, or no file; made on a file of that very hash.

    Raises `ToolError` where the file is another by now.
    """
    now = snapshot(place, deadline) if _kind(place) == "file" else None
    if (now.sha256 if now else None) != before_sha256:
        raise changed_meanwhile(place.shown)
    before = (now.data if now.data is not None else TOO_LARGE) if now else None
    return FilePlan(
        place=place,
        op="remove" if content is None else "change" if now else "create",
        before_sha256=before_sha256,
        after_sha256=sha256_of(content) if content is not None else None,
        content=content or b"",
        diff=shown_difference(place, before, content, deadline),
        verb=verb,
        undoes=undoes,
        mode=mode,
        before_inode=before_inode,
        folders=folders,
    )


def current_sha256(place: Place, deadline: Deadline) -> str | None:
    """What the file's bytes hash to now; None where there is none."""
    return snapshot(place, deadline).sha256 if _kind(place) == "file" else None


def current_bytes(place: Place, deadline: Deadline) -> bytes | None:
    """What the file holds now; None where there is none, a stand-in where it is too large."""
    if _kind(place) == "absent":
        return None
    data = snapshot(place, deadline).data
    return TOO_LARGE if data is None else data


def shown_difference(
    place: Place, before: bytes | None, after: bytes | None, deadline: Deadline
) -> str:
    """Two contents of a file as a unified diff; None is no file."""
    old, new = _as_text(before), _as_text(after)
    if (before is not None and old is None) or (after is not None and new is None):
        return _whole(place, sha256_of(before) if before is not None else None)
    diff = unified_diff(old, new or "", place.shown, deadline.check)
    if after is not None or not diff:
        return diff
    head, _, rest = diff.partition("\n")
    return f"{head}\n+++ /dev/null\n{rest.partition(chr(10))[2]}"


def _as_text(content: bytes | None) -> str | None:
    """Content as it can be compared, or None."""
    if content is None or b"\0" in content[:SNIFFED_BYTES] or len(content) > MAX_TEXT_BYTES:
        return None
    try:
        return content.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _without_second_mark(after: str, before: str, new: str) -> str:
    """`after`, for a file that keeps its byte order mark: new text brings in no other one."""
    if before.startswith(MARK) or not after.startswith(new):
        return after
    return after[len(new) - len(new.lstrip(MARK)) :]


def _other_names(place: Place) -> int:
    """How many more names the file has, which a change of this one leaves as they are."""
    try:
        return place.real.stat().st_nlink - 1
    except OSError:
        return 0


def _whole(place: Place, before: str | None) -> str:
    """Stands for a diff where the old content cannot be shown as text."""
    return f"{place.shown}: replaces a file that is not text, or too large to compare ({before})\n"


def _old_text(place: Place, before: Snapshot) -> tuple[str | None, bool]:
    """What the file held, as far as it can be compared, and whether a byte order mark leads it."""
    if before.data is None or b"\0" in before.data[:SNIFFED_BYTES]:
        return None, False
    try:
        return text_of(before.data, place)
    except ToolError:
        return None, False


def _kind(place: Place) -> Literal["absent", "file"]:
    """Whether the file is to be created; raises `ToolError` where no file could be."""
    if kind_of(place.held, place.shown) != "absent":
        require_file(place)
        return "file"
    for parent in place.real.parents:
        kind = kind_of(parent, place.shown)
        if kind not in {"absent", "folder"}:
            raise ToolError(
                f"{place.shown}: {printable(parent.name)} is not a folder; nothing was written."
            )
        if kind == "folder":
            break
    if is_kernel_view(place.real) or place.given.endswith(("/", os.sep)):
        raise ToolError(f"{place.shown} cannot be a file; nothing was written.")
    return "absent"


def _refuse_name(place: Place) -> None:
    """Raise `ToolError` if something would be created under a name that not every system holds."""
    known = next(parent for parent in place.real.parents if parent.exists())
    if why := refusal(place.real.relative_to(known).as_posix()):
        raise ToolError(f"{place.shown}: nothing was written: {why}.")


def _require_writable(place: Place) -> None:
    if not os.access(place.held, os.W_OK):
        raise ToolError(f"{place.shown} is read-only; nothing was written.")


def _encoded(content: str, shown: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise ToolError(
            f"{shown}: the text holds half of a surrogate pair at character {fault.start}; "
            "nothing was written. Send the whole character."
        ) from None


# ---- what the caller believes is there ----------------------------------------------------------


def _refuse_expectation(expected: str | None, shown: str) -> None:
    if expected is not None:
        raise ToolError(
            f"{shown} does not exist, but expected_sha256 was sent; nothing was written. "
            "Leave it out to create the file."
        )


def _check_expectation(expected: Expected, actual: str, shown: str) -> None:
    details: dict[str, object] = {"sha256": actual}
    if expected.sha256 is None:
        if expected.must_be_sent:
            raise ToolError(
                f"{shown} exists; nothing was written. Send expected_sha256 {actual}.",
                details=details,
            )
        return
    wanted = expected.sha256.strip().lower()
    if not _SHA256.fullmatch(wanted):
        raise ToolError(
            f"{shown}: expected_sha256 is not a SHA-256 (64 hexadecimal digits); nothing was "
            f"written. The file's is {actual}.",
            details=details,
        )
    if wanted != actual:
        raise ToolError(
            f"{shown} changed since it was read; nothing was written. Read it again. "
            f"(Its sha256 is {actual}.)",
            details=details,
        )


def changed_meanwhile(shown: str) -> ToolError:
    """The error for a file that is no longer what was planned on."""
    return ToolError(
        f"{shown} changed while you were asked; nothing ran. The agent must ask again."
    )
