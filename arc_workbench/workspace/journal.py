"""The journal of a project folder: an append-only file of records, under a lock the kernel holds.

It lies outside the project, readable by its owner only. Reading it checks every record; a line
that a crash cut off is put aside, and anything else that does not add up is `damage`, after which
nothing is written. Only one process at a time is inside `locked`; what a dead one left half done
is then in `pending`.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.content import JsonObject
from arc_workbench.errors import ToolError
from arc_workbench.workspace import lines as again
from arc_workbench.workspace import own_files, records, system
from arc_workbench.workspace.images import Images, sha256_in
from arc_workbench.workspace.lockfile import LockFile
from arc_workbench.workspace.paths import printable
from arc_workbench.workspace.records import FIRST, FORMAT, Intent
from arc_workbench.workspace.table import STATES, Settlement, Table

JOURNAL = "journal.jsonl"
TAMPERED = "Journal tampered: writing blocked, reading works. See %agent recovery"

CHANGING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Damage:
    """What does not add up, and from which record on; nothing is written until a person decides."""

    what: str
    record: int = 0
    newer: bool = False


@dataclass(frozen=True)
class Left:
    """The inode of a file as a change left it, 0 where that is not known; its latest change."""

    inode: int
    last_change: str


class Journal:
    """One journal, read once and then followed; use it inside `locked`, one thread at a time."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self.damage: Damage | None = None
        self.torn_bytes = 0
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
        self._table = Table()
        self._last_end = (0, 0)
        self._touched_ns = 0
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
            known = self._seq > 0 or self.damage is not None
            self.let_go()
            if known or self._lock.noted() is not None:
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
        facts = system.facts(self._file)
        if self.damage is None and self._was_touched(facts):
            self._forget()
            self._noted = self._lock.noted()
        if self.damage is None and facts.st_size != self._end:
            with self._read_again_if_interrupted():
                self._read_on()
            self._mark()
        if self.damage is None and self._noted is not None and self._noted[0] > self._seq:
            self.damage = Damage("records are missing at the end", self._seq + 1)
        if self.damage is None and not os.path.lexists(self.images_path):
            self.damage = Damage("the file with what the files held before is gone")

    def _was_touched(self, facts: os.stat_result) -> bool:
        """Whether somebody wrote into what was read already: then all of it is read again."""
        return facts.st_size == self._end and facts.st_mtime_ns != self._touched_ns

    def _mark(self) -> None:
        self._touched_ns = system.facts(self._file).st_mtime_ns

    def _begin(self, path: Path) -> None:
        """A new journal, whole before it has its name."""
        images = self.free_name("images-")
        line, _ = records.seal(self.header(images, self._table.first), FIRST)
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
        """Give a damaged journal another name and begin a new one, in which the numbers go on."""
        noted, path = self._lock.noted(), self.folder / JOURNAL
        following = max(self.next_number, noted[0] + 1 if noted else 0)
        self._lock.forget()
        if os.path.lexists(path):
            system.rename_own(path, self.folder / self.free_name("damaged-"))
        own_files.sync_folder(self.folder)
        self.let_go()
        self._table = Table(following)
        self._begin(path)

    def let_go(self) -> None:
        """Forget what was read, since the file is another or none; the numbers go on."""
        following = self.next_number
        self._drop_files()
        self._forget()
        self._table = Table(following)

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
            undoes = line.split(b'"', 10)[9].decode("ascii")
            self._table.begun(id_, undoes, self._end, (self._head, found))
        elif kind in STATES and int(id_[1:]) in self.ids:
            self._table.settled(id_, kind)
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
            self._table = Table(int(str(record["first"])))
            self._images_name = str(record["images"])

    # ---- appending ------------------------------------------------------------------------------

    @property
    def pending(self) -> dict[str, None]:
        """The ids of changes that were begun and not settled, oldest first."""
        return self._table.pending

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
        return self.ids.stop

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
        self._mark()

    # ---- looking things up ----------------------------------------------------------------------

    @property
    def ids(self) -> range:
        """The numbers of the changes that are recorded."""
        return self._table.numbers

    def intent(self, number: int) -> Intent:
        """One change; `KeyError` where there is none of that number."""
        if number not in self.ids:
            raise KeyError(number)
        place, hashes = self._table.place(number), self._table.hashes(number)
        with self._noticing():
            line = again.at_place(self._file, place, hashes)
        return records.to_intent(records.parsed(line))

    def state(self, number: int) -> str:
        """What became of a change: prepared, done, void or kept."""
        return self._table.state(number)

    def undone_by(self, id_: str) -> str:
        """The change that took this one back and was itself not taken back; "" for none."""
        return self._table.undone_by(id_)

    def left_by(self, intent: Intent) -> Left:
        """How this change, or later ones of its file, left the file."""
        wanted = sha256_in(intent.after)
        inode, latest, left, last = 0, "", {"": ""}, ""
        name, at = records.file_key(intent.file), self._table.place(intent.number)
        for line in self._lines_from(at, self._table.hashes(intent.number)[0]):
            how, id_ = records.said(line)
            if how == "change" and name in line:
                found = records.to_intent(records.parsed(line))
                latest = id_
                left = {"done": sha256_in(found.after), "void": sha256_in(found.before)}
            elif id_ == latest:
                last = latest if how == "done" else last
                if left.get(how) == wanted:
                    unknown = inode if how == "void" else 0
                    inode = int(str(records.parsed(line).get("inode", unknown)))
        return Left(inode, last)

    def records(self) -> Iterator[JsonObject]:
        """Every record, in order."""
        return map(records.parsed, self._lines_from(0, FIRST.encode("ascii")))

    def _lines_from(self, at: int, head: bytes) -> Iterator[bytes]:
        with self._noticing():
            yield from again.from_place(self._file, at, self._end, head)

    @contextmanager
    def _noticing(self) -> Generator[None]:
        """Where a line is not what was read before, that is damage; `ToolError`."""
        try:
            yield
        except again.MismatchError:
            self.damage = Damage("a record is not what was read before")
            raise ToolError(TAMPERED, details={"mutationBlocked": True}) from None
