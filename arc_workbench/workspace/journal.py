"""The journal of a project folder: an append-only file of records, under a lock the kernel holds.

It lies outside the project, readable by its owner only. Reading it checks every record; a line
that a crash cut off is put aside, and anything else that does not add up is `damage`, after which
nothing is written. Only one process at a time is inside `locked`; what a dead one left half done
is then in `pending`.
"""

import os
from array import array
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arc_workbench.content import JsonObject
from arc_workbench.workspace import own_files, records, system
from arc_workbench.workspace.images import Images, sha256_in
from arc_workbench.workspace.lockfile import LockFile
from arc_workbench.workspace.paths import printable
from arc_workbench.workspace.records import FIRST, FORMAT, Intent

JOURNAL = "journal.jsonl"

CHANGING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)

Settlement = Literal["done", "void", "kept"]
STATES: tuple[str, ...] = ("prepared", "done", "void", "kept")


@dataclass(frozen=True)
class Damage:
    """What does not add up, and from which record on; nothing is written until a person decides."""

    what: str
    record: int = 0
    newer: bool = False


class Journal:
    """One journal, read once and then followed; use it inside `locked`, one thread at a time."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self.damage: Damage | None = None
        self.torn_bytes = 0
        self.pending: dict[str, None] = {}
        self._root = root
        self._lock = LockFile(folder)
        self._file = -1
        self._images: Images | None = None
        self._images_name = ""
        self._forget()

    def _forget(self) -> None:
        self._end = 0
        self._seq = -1
        self._head = FIRST.encode("ascii")
        self._base = 1
        self._last_end = (0, 0)
        self._places = array("Q")
        self._states = bytearray()
        self._undone: dict[str, str] = {}
        self.pending.clear()
        self.damage = None
        self._noted: tuple[int, bytes] | None = None

    # ---- taking hold ----------------------------------------------------------------------------

    @contextmanager
    def locked(self, *, create: bool) -> Generator[None]:
        """Hold the journal, up to date. Without `create` one that is absent stays absent."""
        if create:
            own_files.make_folder(self.folder)
        elif not os.path.lexists(self.folder):
            yield
            return
        own_files.require_ours(self.folder, folder=True)
        try:
            self._lock.take()
            self._follow(create=create)
            yield
        finally:
            self._lock.free()

    def close(self) -> None:
        """Let the files go."""
        self._drop_files()
        self._lock.close()

    def _drop_files(self) -> None:
        if self._images is not None:
            self._images.close()
            self._images = None
        if self._file >= 0:
            system.close(self._file)
            self._file = -1

    # ---- following what is written --------------------------------------------------------------

    def _follow(self, *, create: bool) -> None:
        path = self.folder / JOURNAL
        if not os.path.lexists(path):
            self.let_go()
            if self._lock.noted() is not None:
                self.damage = Damage("the journal is gone, but there were records")
            elif create:
                self._begin(path)
            return
        own_files.require_ours(path, folder=False)
        if self._file >= 0 and not own_files.is_same(self._file, path):
            self.let_go()
        if self._file < 0:
            self._forget()
            self._file = own_files.open_own(path, CHANGING)
        self._noted = self._lock.noted()
        if self.damage is None and system.facts(self._file).st_size != self._end:
            with self._read_again_if_interrupted():
                self._read_on()
        if self.damage is None and self._noted is not None and self._noted[0] > self._seq:
            self.damage = Damage("records are missing at the end", self._seq + 1)
        if self.damage is None and not os.path.lexists(self.images_path):
            self.damage = Damage("the file with what the files held before is gone")

    def _begin(self, path: Path) -> None:
        """A new journal, whole before it has its name."""
        images = self.free_name("images-")
        line, _ = records.seal(self.header(images, self._base), FIRST)
        own_files.write_whole(self.folder, images, b"")
        self.replace_by(line)
        self._follow(create=False)

    def header(self, images: str, first: int) -> dict[str, object]:
        """The first record: whose journal this is, and where the contents of its changes lie."""
        folder = printable(str(self._root))
        return records.header(own_files.identity(self._root), folder, images, first)

    def replace_by(self, lines: bytes) -> None:
        """Let these lines be the journal from now on, in one step."""
        new = self.folder / f"{JOURNAL}.new"
        own_files.write_whole(self.folder, new.name, lines)
        own_files.sync_folder(self.folder)  # so that the images that it names are there before it
        self._lock.forget()
        system.rename_own(new, self.folder / JOURNAL)
        own_files.sync_folder(self.folder)

    def free_name(self, prefix: str) -> str:
        """A name in the journal's folder that nothing has yet."""
        number = 1
        while os.path.lexists(self.folder / f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def put_aside(self) -> None:
        """Give a damaged journal another name; the next change begins a new one, numbers go on."""
        self._lock.forget()
        if os.path.lexists(self.folder / JOURNAL):
            system.rename_own(self.folder / JOURNAL, self.folder / self.free_name("damaged-"))
        own_files.sync_folder(self.folder)
        self.let_go()

    def let_go(self) -> None:
        """Forget what was read, since the file is another or none; the numbers go on."""
        following = self.next_number
        self._drop_files()
        self._forget()
        self._base = following

    @contextmanager
    def _read_again_if_interrupted(self) -> Generator[None]:
        """What was taken in half is forgotten, and read from the file the next time."""
        try:
            yield
        except BaseException:
            self._drop_files()
            raise

    def _read_on(self) -> None:
        size = system.facts(self._file).st_size
        if size < self._end:
            self.damage = Damage("the journal was cut", self._seq + 1)
            return
        with os.fdopen(os.dup(self._file), "rb", buffering=1 << 20) as file:
            file.seek(self._end)
            for line in file:
                found = records.hash_of(line, self._head)
                if found is None:
                    self._judge_rest(line, size)
                    return
                self._take(line, found)
                if self.damage is not None:
                    return

    def _judge_rest(self, line: bytes, size: int) -> None:
        """The first line that does not fit: the end of a write that a crash cut off, or damage."""
        rest = system.read_at(self._file, size - self._end, self._end)
        safe = self._seq < 0 or (self._noted is not None and self._noted[0] > self._seq)
        whole = line.removesuffix(b"\n")[:-1] + b"\n" if line == rest else b""
        for mended in (line + b"\n", whole):
            found = records.hash_of(mended, self._head) if line == rest else None
            if found is not None:  # only the line end is missing, or is not one
                system.cut(self._file, self._end + len(mended) - 1)
                system.write_at(self._file, b"\n", self._end + len(mended) - 1)
                self._take(mended, found)
                return
        if safe or (b"\n" in rest and not self._can_be_unsynced(rest)):
            self.damage = Damage("a record is not what was written", self._seq + 1)
            return
        own_files.write_whole(self.folder, f"torn-{self._seq + 1}", rest)
        system.cut(self._file, self._end)
        system.sync(self._file)
        self.torn_bytes += len(rest)

    def _can_be_unsynced(self, rest: bytes) -> bool:
        """Whether a power cut can have left these lines, parts of which never got to the disk.

        What a later record rests on was on the disk before that was written.
        """
        settled = records.settled_in(rest)
        return b"\0" in rest and all(number < self.next_number for number in settled)

    def _take(self, line: bytes, found: bytes) -> None:
        """Take a line in that fits."""
        kind, id_ = records.said(line)
        if kind == "journal":
            self._header(records.parsed(line))
        elif kind == "change":
            self._places.append(self._end)
            self._states.append(0)
            self.pending[id_] = None
            if undoes := line.split(b'"', 10)[9].decode("ascii"):
                self._undone[undoes] = id_
        elif kind in STATES and int(id_[1:]) in self.ids:
            self._states[int(id_[1:]) - self._base] = STATES.index(kind)
            self.pending.pop(id_, None)
        else:
            self.damage = Damage("a newer version wrote some records; update this one", newer=True)
            return
        self._seq += 1
        self._end += len(line)
        self._head = found
        if self._noted is not None and self._noted[0] == self._seq and self._noted[1] != found:
            self.damage = Damage("another record stands where one was safe", self._seq)

    def _header(self, record: JsonObject) -> None:
        if int(str(record["journal"])) > FORMAT:
            self.damage = Damage("a newer version wrote the journal; update this one", newer=True)
        elif record["workspace"] != own_files.identity(self._root):
            self.damage = Damage(f"the journal belongs to another folder, {record['folder']}")
        else:
            self._base = int(str(record["first"]))
            self._images_name = str(record["images"])

    # ---- appending ------------------------------------------------------------------------------

    @property
    def images(self) -> Images:
        """Where the contents lie."""
        if self._images is None:
            own_files.require_ours(self.images_path, folder=False)
            self._images = Images(own_files.open_own(self.images_path, CHANGING))
        return self._images

    @property
    def images_path(self) -> Path:
        """The file that the contents lie in."""
        return self.folder / self._images_name

    @property
    def images_end(self) -> int:
        """Where the contents end that the changes so far have."""
        if not self.ids:
            return 0
        last = self.ids[-1]
        if self._last_end[0] != last:
            self._last_end = (last, self.intent(last).end)
        return self._last_end[1]

    @property
    def next_number(self) -> int:
        """The number of the next change."""
        return self._base + len(self._places)

    def begin(self, intents: Sequence[Intent]) -> None:
        """Write down what is about to happen, and wait until that is on the disk."""
        lines: list[bytes] = []
        seq, head = self._seq, self._head
        for intent in intents:
            seq += 1
            line, hashed = records.seal(records.of_intent(intent, seq), head.decode("ascii"))
            head = hashed.encode("ascii")
            lines.append(line)
        self._append(lines, sync=True)
        self._last_end = (intents[-1].number, intents[-1].end)
        self._noted = (self._seq, self._head)
        self._lock.note(*self._noted)

    def settle(self, id_: str, how: Settlement, *, inode: int = 0, why: str = "") -> None:
        """Write down what became of a change; it need not be on the disk to be found out again."""
        record: dict[str, object] = {how: id_, "seq": self._seq + 1, "undoes": ""}
        record |= {"inode": inode} if inode else {}
        record |= {"why": why} if why else {}
        line, _ = records.seal(record, self._head.decode("ascii"))
        self._append([line], sync=False)

    def sync(self) -> None:
        """Wait until everything appended is on the disk."""
        system.sync_data(self._file)

    def _append(self, lines: list[bytes], *, sync: bool) -> None:
        """Append whole lines or none."""
        try:
            at = self._end
            left = memoryview(b"".join(lines))
            while left:
                done = system.write_at(self._file, left, at)
                left, at = left[done:], at + done
            if sync:
                system.sync_data(self._file)
        except BaseException:
            with suppress(OSError):
                system.cut(self._file, self._end)
                system.sync(self._file)
            raise
        with self._read_again_if_interrupted():
            for line in lines:
                found = records.hash_of(line, self._head)
                assert found is not None
                self._take(line, found)

    # ---- looking things up ----------------------------------------------------------------------

    @property
    def ids(self) -> range:
        """The numbers of the changes that are recorded."""
        return range(self._base, self.next_number)

    def intent(self, number: int) -> Intent:
        """One change; `KeyError` where there is none of that number."""
        if number not in self.ids:
            raise KeyError(number)
        return records.to_intent(records.parsed(self._line(self._places[number - self._base])))

    def state(self, number: int) -> str:
        """What became of a change: prepared, done, void or kept."""
        return STATES[self._states[number - self._base]]

    def undone_by(self, id_: str) -> str:
        """The change that took this one back and was itself not taken back; "" for none."""
        by = self._undone.get(id_, "")
        if by and self.state(int(by[1:])) in {"done", "prepared"} and not self.undone_by(by):
            return by
        return ""

    def inode_since(self, intent: Intent) -> int:
        """The inode of a file as this change, or a later one that came back to it, left it.

        0 where that is not known.
        """
        wanted = sha256_in(intent.after)
        inode, latest, left = 0, "", {"": ""}
        name = records.file_key(intent.file)
        for line in self._lines_from(self._places[intent.number - self._base]):
            how, id_ = records.said(line)
            if how == "change" and name in line:
                found = records.to_intent(records.parsed(line))
                latest, left = (
                    id_,
                    {"done": sha256_in(found.after), "void": sha256_in(found.before)},
                )
            elif id_ == latest and left.get(how) == wanted:
                unknown = inode if how == "void" else 0
                inode = int(str(records.parsed(line).get("inode", unknown)))
        return inode

    def records(self) -> Iterator[JsonObject]:
        """Every record, in order."""
        return map(records.parsed, self._lines_from(0))

    def _lines_from(self, at: int) -> Iterator[bytes]:
        with os.fdopen(os.dup(self._file), "rb", buffering=1 << 20) as file:
            file.seek(at)
            for line in file:
                at += len(line)
                if at > self._end:
                    return
                yield line

    def _line(self, at: int) -> bytes:
        size = 4096
        while True:
            found = system.read_at(self._file, size, at)
            end = found.find(b"\n")
            if end >= 0 or len(found) < size:
                return found[: end + 1]
            size *= 4
