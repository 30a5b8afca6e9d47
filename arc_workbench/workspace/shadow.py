"""A dry run: a tree of its own in which changes land, until they are applied or thrown away.

The project is only read. Each file that a change touches has its new content here, and the hash
that the project's file had when it was first touched; applying goes through the journal, as one
group, and only if every file is still what it was then (REQ-S144, REQ-S145).
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files
from arc_workbench.workspace.paths import reason

LIST = "files.json"
TREE = "tree"
LOST = "The project is untouched. Begin a new session: --new"


@dataclass(frozen=True)
class Shadowed:
    """One file of a dry run: its real path (as bytes in hex), and its hash when first touched."""

    path: str
    before_sha256: str | None
    content: str
    mode: int = 0

    @property
    def real(self) -> Path:
        """The file of the project that this stands for."""
        return Path(os.fsdecode(bytes.fromhex(self.path)))


class Shadow:
    """The files of one dry run, kept in a folder of our state. Used by one session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {Path(file.real): file for file in _read(folder / LIST)}

    @property
    def files(self) -> tuple[Shadowed, ...]:
        """What was touched, in the order of the names."""
        return tuple(self._files[real] for real in sorted(self._files))

    def held(self, real: Path) -> Path | None:
        """Where the content of a file lies, if the dry run has one for it."""
        file = self._files.get(real)
        return self._folder / TREE / file.content if file is not None else None

    def content(self, file: Shadowed) -> bytes:
        """The bytes that the dry run has for a file."""
        try:
            return (self._folder / TREE / file.content).read_bytes()
        except OSError as fault:
            raise ToolError(f"{file.real.name}: the dry run's content is lost. {LOST}") from fault

    def put(self, real: Path, before_sha256: str | None, content: bytes, mode: int) -> None:
        """Let the dry run's file hold these bytes; `ToolError` where there is no room for it."""
        first = self._files.get(real)
        name = hashlib.sha256(os.fsencode(real)).hexdigest()
        file = first or Shadowed(os.fsencode(real).hex(), before_sha256, name, mode)
        try:
            (self._folder / TREE).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._replace(f"{TREE}/{name}", content)
            if first is None:
                self._write_list([*self._files.values(), file])
        except OSError as fault:
            raise ToolError(
                f"The dry run could not keep its change: {reason(fault)}; nothing was written."
            ) from fault
        self._files[real] = file

    def discard(self) -> int:
        """Throw everything away; how many files that were. A second time is none."""
        count = len(self._files)
        self._files.clear()
        if self._folder.exists():
            shutil.rmtree(self._folder)
        return count

    def _replace(self, name: str, data: bytes) -> None:
        own_files.write_whole(self._folder, f"{name}.new", data)
        (self._folder / f"{name}.new").replace(self._folder / name)

    def _write_list(self, files: list[Shadowed]) -> None:
        text = json.dumps([asdict(file) for file in files])
        self._replace(LIST, text.encode("ascii"))


def _read(path: Path) -> Iterator[Shadowed]:
    if not path.exists():
        return
    try:
        for record in json.loads(path.read_text(encoding="utf-8")):
            yield Shadowed(**record)
    except (OSError, ValueError, TypeError) as fault:
        raise ToolError(f"The list of the dry run cannot be read. {LOST}") from fault
