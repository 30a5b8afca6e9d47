"""What one of several processes does in a folder: `python -m tests.faults.rivals WHAT ROOT …`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Author, Workspace, anchors, system


def main() -> None:
    """Wait for a line, then do it."""
    what, root, *rest = sys.argv[1:]
    workspace = Workspace(Path(root), Path(os.environ["ARC_WORKBENCH_HOME"]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    works: dict[str, Callable[..., None]] = {
        "count": count,
        "append": append,
        "hold": hold,
        "swap": swap,
    }
    works[what](workspace, *rest)


def count(workspace: Workspace, wanted: str) -> None:
    """Add one to the number in a file, until it was done so many times."""
    place = workspace.inside("count.txt")
    won = 0
    while won < int(wanted):
        number = int(workspace.read(place).text)
        try:
            workspace.apply(workspace.plan_edit(place, str(number), str(number + 1)))
        except ToolError:
            continue
        won += 1


def append(workspace: Workspace, name: str, times: str) -> None:
    """Write one file so many times."""
    for number in range(int(times)):
        place = workspace.inside(f"{name}.txt")
        workspace.apply(workspace.plan_write(place, f"{name} {number}"), Author(session=name))


def hold(workspace: Workspace) -> None:
    """Stop in the middle of a change, with the locks held, until killed."""

    def exchange(*_: object) -> None:
        sys.stdout.write("holding\n")
        sys.stdout.flush()
        sys.stdin.readline()

    system.exchange = exchange
    workspace.apply(workspace.plan_write(workspace.inside("a.txt"), "mine"))


def swap(workspace: Workspace, outside: str) -> None:
    """Let a folder be a link to one outside, and a folder again, and so on, until killed."""
    (workspace.root / "link").symlink_to(outside)
    with anchors.open_folder(workspace.real_root) as root:
        while os.getppid() != 1:
            system.exchange(root, "sub", "link")


if __name__ == "__main__":
    main()
