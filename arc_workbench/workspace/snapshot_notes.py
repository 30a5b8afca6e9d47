"""What else a person must know of a command, beside the names of the files that it changed."""

from collections.abc import Sequence

from arc_workbench.workspace.snapshot_record import FileChange, FolderMode, first_names
from arc_workbench.workspace.snapshot_tree import Tree

GONE = (
    "The project folder is not where it was. .git, node_modules and ignored files are in no "
    "snapshot."
)


def of(
    changes: Sequence[FileChange], modes: Sequence[FolderMode], before: Tree, after: Tree
) -> list[str]:
    """What the rows do not show."""
    if "" not in after.folders:
        return [GONE]
    notes: list[str] = []
    if powers := [change.path for change in changes if change.new_powers]:
        notes.append(
            "Set so that they run with the rights of their owner or group (set-user-ID, "
            f"set-group-ID): {first_names(powers)}."
        )
    if changed := [one.path or "./" for one in modes if one.after is not None]:
        notes.append(f"The permission bits of folders changed: {first_names(changed)}.")
    if others := sorted(set(after.others) - set(before.others)):
        notes.append(f"Neither a file nor a link, so not taken back: {first_names(others)}.")
    return notes
