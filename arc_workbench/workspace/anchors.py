"""Opening a place exactly where it was resolved: no link on the way, whatever was swapped since.

A `Place` is resolved once, with its links; what is opened here is that real path with no link in
any of its components, so a folder that became a link in between cannot lead elsewhere (REQ-S60).
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from arc_workbench.workspace import system


@contextmanager
def opened(path: Path, flags: int = system.READING) -> Generator[int]:
    """The file or folder at a real path; `OSError` where a component is a link or is gone."""
    descriptor = system.open_without_links(path, flags)
    try:
        yield descriptor
    finally:
        system.close(descriptor)


@contextmanager
def open_folder(path: Path) -> Generator[int]:
    """A folder at a real path, to look into and to change names in."""
    with opened(path, system.FOLDER) as folder:
        yield folder


def missing_below(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The deepest folder above `path` that exists, and the names of those that are to be made."""
    names: list[str] = []
    folder = path.parent
    while not os.path.lexists(folder):
        names.append(folder.name)
        folder = folder.parent
    return folder, tuple(reversed(names))
