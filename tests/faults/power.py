"""A disk that loses what was not synced when the power goes.

`Recorder` writes down what the workspace asks of the system: bytes and lengths by file, names by
folder, and what was synced. `crashes` then gives disks as they may be found after a cut at any
point of that: whatever was synced is there, and of the rest each step may be there or not. Where a
longer length got to the disk and the bytes did not, there are zeros.
"""

import os
import stat
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, cast

from tests.faults.steps import Call, real, renaming

What = Literal["bytes", "length", "mode", "name", "swap", "move", "gone"]
CHANGES_OF_NAMES = ("name", "swap", "move", "gone")


@dataclass(frozen=True)
class Step:
    """One change of a file (`inode` is the file) or of a folder's names (`inode` is the folder)."""

    what: What | Literal["sync", "said"]
    inode: int
    name: str = ""
    to: str = ""
    at: int = 0
    data: bytes = b""
    other: int = 0


@dataclass
class Disk:
    """What is on a disk: files and folders by inode, from a root folder."""

    root: int
    files: dict[int, tuple[bytes, int]]
    folders: dict[int, dict[str, int]]

    @classmethod
    def of(cls, root: Path) -> "Disk":
        """What is below a folder now."""
        disk = cls(root.stat().st_ino, {}, {})
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            entries = {path.name: path.stat().st_ino for path in folder.iterdir()}
            disk.folders[folder.stat().st_ino] = entries
            for path in folder.iterdir():
                if path.is_file():
                    facts = path.stat()
                    disk.files[facts.st_ino] = (path.read_bytes(), stat.S_IMODE(facts.st_mode))
        return disk

    def write_to(self, root: Path) -> None:
        """Make this the content of an empty folder."""
        self._write(self.root, root)

    def _write(self, folder: int, path: Path) -> None:
        for name, inode in self.folders[folder].items():
            if inode in self.folders:
                (path / name).mkdir(mode=0o700)
                self._write(inode, path / name)
            else:
                content, mode = self.files.get(inode, (b"", 0o600))
                (path / name).write_bytes(content)
                (path / name).chmod(mode)

    # ---- steps ----------------------------------------------------------------------------------

    def do(self, step: Step, *, zeros: bool = False) -> None:
        """Let a step get to the disk; with `zeros` only the length of what it wrote."""
        if step.what in CHANGES_OF_NAMES:
            if step.inode in self.folders:
                self._change_names(self.folders[step.inode], step)
            return
        content, mode = self.files.get(step.inode, (b"", 0o600))
        match step.what:
            case "bytes":
                end = step.at + len(step.data)
                content = content.ljust(end, b"\0")
                if not zeros:
                    content = content[: step.at] + step.data + content[end:]
            case "length":
                content = content[: step.at]
            case _:
                mode = step.at
        self.files[step.inode] = (content, mode)

    def _change_names(self, names: dict[str, int], step: Step) -> None:
        match step.what:
            case "name":
                names[step.name] = step.other
                if step.at:
                    self.folders.setdefault(step.other, {})
            case "swap":
                if step.name in names and step.to in names:
                    names[step.name], names[step.to] = names[step.to], names[step.name]
            case "move":
                if step.name in names:
                    names[step.to] = names.pop(step.name)
            case _:
                names.pop(step.name, None)


class Recorder:
    """Wrappers of `system` that do what they wrap and write it down."""

    def __init__(self) -> None:
        self.log: list[Step] = []

    def say(self, what: str) -> None:
        """Note that something was acknowledged."""
        self.log.append(Step("said", 0, what))

    def calls(self) -> dict[str, Call]:
        """What to replace in `system`."""
        return {
            **{name: self._opening(real(name)) for name in ("open_at", "open_own")},
            **{name: self._writing(real(name)) for name in ("write", "write_at")},
            **{name: self._facts(real(name)) for name in ("cut", "dress", "set_mode")},
            **dict.fromkeys(("sync", "sync_data"), self._syncing),
            **{name: self._naming(real(name), "move") for name in (*renaming(), "rename_over")},
            "exchange": self._naming(real("exchange"), "swap"),
            "link": self._linking(real("link")),
            **{name: self._naming(real(name), "gone") for name in ("remove", "remove_folder")},
            "make_folder": self._making(real("make_folder")),
            "rename_own": self._own(real("rename_own"), "move"),
            "remove_own": self._own(real("remove_own"), "gone"),
            "make_own_folder": self._own(real("make_own_folder"), "name"),
        }

    def _opening(self, call: Call) -> Call:
        def wrapper(*args: object) -> object:
            own = isinstance(args[0], Path)
            path, flags = Path(str(args[0 if own else 1])), cast("int", args[1 if own else 2])
            folder = path.parent.stat() if own else os.fstat(cast("int", args[0]))
            there = _is_there(path, None if own else cast("int", args[0]))
            opened = cast("int", call(*args))
            facts = os.fstat(opened)
            if not there:
                self.log.append(Step("name", folder.st_ino, path.name, other=facts.st_ino))
                self.log.append(Step("mode", facts.st_ino, at=stat.S_IMODE(facts.st_mode)))
            elif flags & os.O_TRUNC:
                self.log.append(Step("length", facts.st_ino, at=0))
            return opened

        return wrapper

    def _writing(self, call: Call) -> Call:
        def wrapper(opened: int, data: bytes | memoryview, *at: int) -> object:
            place = at[0] if at else os.lseek(opened, 0, os.SEEK_CUR)
            self.log.append(Step("bytes", os.fstat(opened).st_ino, at=place, data=bytes(data)))
            return call(opened, data, *at)

        return wrapper

    def _facts(self, call: Call) -> Call:
        def wrapper(opened: int, value: int) -> None:
            call(opened, value)
            facts = os.fstat(opened)
            cutting = call.__name__ == "cut"
            at = value if cutting else stat.S_IMODE(facts.st_mode)
            self.log.append(Step("length" if cutting else "mode", facts.st_ino, at=at))

        return wrapper

    def _syncing(self, opened: int) -> None:
        self.log.append(Step("sync", os.fstat(opened).st_ino))

    def _naming(self, call: Call, what: What) -> Call:
        def wrapper(folder: int, name: str, to: str = "") -> None:
            there = _is_there(Path(name), folder)
            call(*(folder, name, to) if to else (folder, name))
            if there:
                self.log.append(Step(what, os.fstat(folder).st_ino, name, to))

        return wrapper

    def _making(self, call: Call) -> Call:
        def wrapper(folder: int, name: str) -> None:
            call(folder, name)
            made = os.stat(name, dir_fd=folder).st_ino
            self.log.append(Step("name", os.fstat(folder).st_ino, name, at=1, other=made))

        return wrapper

    def _linking(self, call: Call) -> Call:
        def wrapper(folder: int, name: str, to: str) -> None:
            call(folder, name, to)
            linked = os.stat(name, dir_fd=folder).st_ino
            self.log.append(Step("name", os.fstat(folder).st_ino, to, other=linked))

        return wrapper

    def _own(self, call: Call, what: What) -> Call:
        def wrapper(path: Path, *to: Path) -> None:
            there = path.exists()
            call(path, *to)
            folder = path.parent.stat().st_ino
            if what == "name" and not there:
                self.log.append(Step(what, folder, path.name, at=1, other=path.stat().st_ino))
            elif what != "name" and there:
                self.log.append(Step(what, folder, path.name, to[0].name if to else ""))

        return wrapper


def _is_there(path: Path, folder: int | None) -> bool:
    try:
        os.stat(path, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


# ---- after the cut ------------------------------------------------------------------------------


def crashes(start: Disk, log: list[Step], dice: Random, most: int) -> Iterator[tuple[Disk, int]]:
    """Disks after a cut, and before which step of the log it came; at most so many for each place.

    For each place: everything got there, nothing unsynced did, each single step did not, and
    choices at random.
    """
    for end in range(1, len(log) + 1):
        if log[end - 1].what == "sync" and end < len(log):
            continue  # the place before it holds more ways to lose
        unsynced = _unsynced(log[:end])
        for lost in _choices(unsynced, dice, most):
            yield _disk(start, log[:end], lost), end


def _unsynced(log: list[Step]) -> list[int]:
    """The places in the log of what no sync came after."""
    left: list[int] = []
    for place, step in enumerate(log):
        if step.what == "sync":
            left = [each for each in left if log[each].inode != step.inode]
        elif step.what != "said":
            left.append(place)
    return left


How = Literal["all", "bytes"]
Lost = dict[int, How]


def _choices(unsynced: list[int], dice: Random, most: int) -> Iterator[Lost]:
    found: list[Lost] = [{}]
    hows: tuple[How, ...] = ("all", "bytes")
    for how in hows:
        every: Lost = dict.fromkeys(unsynced, how)
        found.append(every)
        found.extend({place: how} for place in unsynced)
    for _ in range(most):
        some = [place for place in unsynced if dice.random() < 0.5]
        found.append({place: dice.choice(hows) for place in some})
    yield from found if len(found) <= most else [*found[:2], *dice.sample(found[2:], most - 2)]


def _disk(start: Disk, log: list[Step], lost: Lost) -> Disk:
    disk = deepcopy(start)
    for place, step in enumerate(log):
        if step.what in {"sync", "said"} or lost.get(place) == "all":
            continue
        zeros = lost.get(place) == "bytes" and step.what == "bytes"
        disk.do(step, zeros=zeros)
    return disk
