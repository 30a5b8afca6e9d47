"""Links that lead to our own folders, where commands can replace them.

A link cannot be made read-only in its place. One that is not what it was is put back afterwards.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.shell.sandbox_paths import lies_in, real


@dataclass(frozen=True)
class Way:
    """A link: its name in the folder that really holds it, and where it leads."""

    folder: str
    name: str
    target: Path

    def put_back(self, aside: Path) -> bool:
        """Have it as it was, what took its place goes into `aside`; False where nothing was done.

        Raises `OSError` where that cannot be done.
        """
        place = Path(self.folder, self.name)
        with suppress(OSError):
            if place.readlink() == self.target:
                return False
        if real(place.parent) != self.folder:
            raise FileNotFoundError(f"{self.folder} is not what it was")
        if os.path.lexists(place):
            aside.mkdir(mode=0o700, parents=True, exist_ok=True)
            number = sum(1 for _ in aside.iterdir())
            place.rename(aside / f"{self.name}.link-{number}")
        place.symlink_to(self.target)
        return True


def ways_to(state: Iterable[Path], open_to_all: Sequence[str]) -> tuple[Way, ...]:
    """The links on the way to our folders that lie in folders which commands can write."""
    found: dict[Way, None] = {}
    for place in state:
        for at in (*reversed(place.parents), place):
            if at.is_symlink() and lies_in(folder := real(at.parent), open_to_all):
                found[Way(folder, at.name, at.readlink())] = None
    return tuple(found)
