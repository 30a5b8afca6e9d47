"""What a write or an edit would do to one file, worked out without doing it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arc_workbench.errors import ToolError
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.editing import replace, unified_diff
from arc_workbench.workspace.matching import Likeness
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

ABSENT = "absent"
MARK = "\ufeff"

Op = Literal["create", "change"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FilePlan:
    """The change of one file as it was worked out: what is shown is what `Workspace.apply` does.

    `content` are all bytes the file will have. `binds` are the facts that must still hold then.
    `other_names` counts the hard links that keep the old bytes.
    """

    place: Place
    op: Op
    before_sha256: str | None
    after_sha256: str
    content: bytes = field(repr=False)
    diff: str = field(repr=False)
    replacements: int = 0
    likeness: Likeness = "exact"
    line_endings_folded: bool = False
    other_names: int = 0

    @property
    def binds(self) -> Mapping[str, str]:
        """The real file, what it holds before and what it holds after."""
        real = str(self.place.real)
        path = {"path": printable(real)}
        if path["path"] != real:  # two names may look alike once they are escaped
            path["path_bytes"] = os.fsencode(real).hex()
        return {**path, "before": self.before_sha256 or ABSENT, "after": self.after_sha256}

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
        signs = [line[:1] for line in self.diff.split("\n")[2:]]
        return f"+{signs.count('+')} -{signs.count('-')}"


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
    after = _without_second_mark(done.text, text) if bom else done.text
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
        other_names=0 if before is None else _other_names(place),
    )


def _without_second_mark(after: str, before: str) -> str:
    """`after`, for a file that keeps its byte order mark: new text brings in no other one."""
    return after if before.startswith(MARK) else after.lstrip(MARK)


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
    if kind_of(place.real, place.shown) != "absent":
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


def _require_writable(place: Place) -> None:
    if not os.access(place.real, os.W_OK):
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
