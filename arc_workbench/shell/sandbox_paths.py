"""Which path lies in which: plain words of real paths, nothing is looked up but links and home."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def real(path: Path) -> str:
    """Where a path leads."""
    return os.path.realpath(path)


def home() -> str:
    """The home folder; "" for a user that has none."""
    try:
        return real(Path.home())
    except RuntimeError:
        return ""


def depth(path: str) -> int:
    """How many folders lie above it."""
    return path.rstrip("/").count("/")


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path lies in one of these folders, and is not that folder."""
    return any(path != folder and is_in(path, folder) for folder in folders)


def lies_in(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders or lies in one."""
    return any(is_in(path, folder) for folder in folders)


def is_above(folder: str, paths: Iterable[str]) -> bool:
    """Whether one of these paths is the folder or lies in it."""
    return any(is_in(path, folder) for path in paths)


def between(root: str, place: str) -> Iterator[str]:
    """The folders strictly between two, the outermost first."""
    if place == root or not is_in(place, root):
        return
    at = root.rstrip("/")
    for name in place[len(at) + 1 :].split("/")[:-1]:
        at = f"{at}/{name}"
        yield at
