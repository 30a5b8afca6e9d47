"""Plans that bring back what a file held before, and the difference that a change made."""

import os
import stat
from pathlib import Path

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.journal import Left
from arc_workbench.workspace.paths import Place
from arc_workbench.workspace.plans import FilePlan, current_sha256, plan_content, shown_difference
from arc_workbench.workspace.reading import sha256_of
from arc_workbench.workspace.records import Intent


def plan_undo(
    place: Place, intent: Intent, before: bytes | None, left: Left, deadline: Deadline
) -> FilePlan:
    """The file as it was before a change that is in force.

    Raises `ToolError`, which says what differs, unless the file is byte for byte and in person what
    the change made of it (REQ-S64).
    """
    after = intent.after.sha256 if intent.after is not None else None
    inode = _require_untouched(place, intent.id, after)
    if current_sha256(place, deadline) != after:
        later = left.last_change not in {"", intent.id}
        what = f"by {left.last_change}; undo that first" if later else "its bytes are others"
        raise _not_undone(place, intent.id, what)
    if left.inode and inode != left.inode:
        raise _not_undone(place, intent.id, "another file has its name now")
    return plan_content(
        place,
        after,
        before,
        deadline,
        verb="undo",
        undoes=intent.id,
        mode=intent.mode if after is None else 0,
        before_inode=left.inode,
        folders=intent.folders if before is None else (),
    )


def plan_restore(
    place: Place, before: bytes | None, mode: int, deadline: Deadline
) -> FilePlan | None:
    """What the file held before, over whatever is there now; None where nothing would change."""
    now = current_sha256(place, deadline)
    if now == (sha256_of(before) if before is not None else None):
        return None
    kept = mode if now is None else 0
    return plan_content(place, now, before, deadline, verb="restore", mode=kept)


def difference(place: Place, before: bytes | None, after: bytes | None, deadline: Deadline) -> Diff:
    """What became of one file, as a diff, whatever it is now."""
    return Diff(
        path=place.shown,
        unified=shown_difference(place, before, after, deadline),
        created=before is None,
        removed=after is None,
    )


def _require_untouched(place: Place, id_: str, after: str | None) -> int:
    """The inode of the file, 0 where there is none and should be none."""
    try:
        found = place.real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if after is not None:
            raise _not_undone(place, id_, "it is gone") from None
        return 0
    if after is None:
        raise _not_undone(place, id_, "there is a file of that name again")
    if Path(os.path.realpath(place.real)) != place.real:
        raise _not_undone(place, id_, "it is reached through a link now")
    if not stat.S_ISREG(found.st_mode):
        raise _not_undone(place, id_, "it is no regular file any more")
    if found.st_nlink > 1:
        raise _not_undone(place, id_, "it has another name now, a hard link")
    return found.st_ino


def _not_undone(place: Place, id_: str, what: str) -> ToolError:
    return ToolError(
        f"{place.shown} changed after {id_}; it was not undone. Compare: %agent changes {id_} "
        f"({what})",
        details={"changedAfter": id_},
    )
