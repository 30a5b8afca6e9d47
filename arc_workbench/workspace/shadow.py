"""A dry run: a tree of its own in which changes land, until they are applied or thrown away.

The project is only read. Each file that a change touches has its new content here, and the hash
that the project's file had when it was first touched; applying goes through the journal, as one
group, and only if every file is still what it was then (REQ-S144, REQ-S145).
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace import own_files
from arc_workbench.workspace.paths import reason

LIST = "files.json"
TREE = "tree"
REMOVED = "removed"
LOST = "The project is untouched. Begin a new session: --new"


@dataclass(frozen=True)
class Shadowed:
    """One file of a dry run: its real path (as bytes in hex), and its hash when first touched.

    `content` names what it holds now; "" where the dry run removed it.
    """

    path: str
    before_sha256: str | None
    content: str
    mode: int = 0

    @property
    def real(self) -> Path:
        """The file of the project that this stands for."""
        return Path(os.fsdecode(bytes.fromhex(self.path)))

    @property
    def removed(self) -> bool:
        """Whether the dry run removed the file."""
        return not self.content


@dataclass(frozen=True)
class Wanted:
    """What the dry run shall hold for a file: these bytes, or None for no file."""

    real: Path
    before_sha256: str | None
    content: bytes | None
    mode: int = 0


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
        """Where the content of a file lies, if the dry run has one for it.

        For a file that it removed this is a name that nothing has.
        """
        file = self._files.get(real)
        return self._folder / TREE / (file.content or REMOVED) if file is not None else None

    def content(self, file: Shadowed) -> bytes | None:
        """The bytes that the dry run has for a file; None where it removed it."""
        if file.removed:
            return None
        try:
            return (self._folder / TREE / file.content).read_bytes()
        except OSError as fault:
            raise ToolError(f"{file.real.name}: the dry run's content is lost. {LOST}") from fault

    def put(self, real: Path, before_sha256: str | None, content: bytes, mode: int) -> None:
        """Let the dry run's file hold these bytes; `ToolError` where there is no room for it."""
        self.put_all((Wanted(real, before_sha256, content, mode),))

    def put_all(self, wanted: Sequence[Wanted]) -> None:
        """Let files hold this, or be gone; `before_sha256` counts for those touched first now."""
        files = dict(self._files)
        try:
            (self._folder / TREE).mkdir(mode=0o700, parents=True, exist_ok=True)
            for one in wanted:
                name = hashlib.sha256(os.fsencode(one.real)).hexdigest()
                if one.content is not None:
                    self._replace(f"{TREE}/{name}", one.content)
                first = files.get(one.real)
                before = first.before_sha256 if first is not None else one.before_sha256
                mode = first.mode if first is not None and not first.removed else one.mode
                held = name if one.content is not None else ""
                if not held and before is None:  # it came and went in the dry run
                    files.pop(one.real, None)
                    continue
                files[one.real] = Shadowed(os.fsencode(one.real).hex(), before, held, mode)
            if files != self._files:
                self._write_list(list(files.values()))
        except OSError as fault:
            raise ToolError(
                f"The dry run could not keep its change: {reason(fault)}; nothing was written."
            ) from fault
        self._files = files

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
