"""What a command made or changed of protected names is put aside when the command has ended.

A name that does not exist cannot be closed off without leaving something in the project, so what
appears under it is taken away afterwards. Until then it is there.
"""

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.content import text_of
from arc_workbench.shell.protected import Found, Item, Watch, state_below
from arc_workbench.shell.sandbox_git import harmless
from arc_workbench.shell.sandbox_kept import Kept, keep

_TRIES = 1000
_MOST_MOVED = 1_000
_MOST_KEPT = 16 << 20
_SUFFIX = ".moved-aside"


@dataclass(frozen=True)
class Settled:
    """What was found after a command, as paths in the project.

    `removed` were put aside, `restored` have their old content again, `changed` are not what they
    were and could not be put right. `unseen` was not looked at this time only. `linked` have a
    second name, so their content may have been changed through that.
    """

    removed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    aside: str = ""

    @property
    def note(self) -> str:
        """The same in words for the result, "" for nothing to say; plain text on one line."""
        said: list[str] = []
        if self.removed:
            said.append(
                "Protected names were made and put aside "
                f"({shown(self.aside)}): {_few(self.removed)}."
            )
        if self.restored:
            said.append(f"Protected files were changed and put back: {_few(self.restored)}.")
        if self.changed:
            said.append(f"Protected files are not what they were: {_few(self.changed)}.")
        if self.unseen:
            said.append(
                "New folders were not searched for protected names, there are too many: "
                f"{_few(self.unseen)}."
            )
        return " ".join(said)


@dataclass
class Guard:
    """Remembers what is protected before a command, and settles it afterwards.

    `bound` are the paths that the sandbox holds read-only: what still is the same file there was
    not changed by the command. Contents of the others are kept in memory while it runs, up to
    16 MiB. `accepted` says of a path that somebody else was allowed to change it.
    """

    watch: Watch
    before: Found
    bound: frozenset[str]
    aside: Path
    accepted: Callable[[str], bool] = lambda path: False
    _states: dict[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _kept: dict[str, Kept] = field(default_factory=dict[str, Kept])

    def __post_init__(self) -> None:
        room = _MOST_KEPT
        for item in self.before.items:
            if item.path not in self.bound:
                kept = keep(self.before.root / item.path, room)
                if item.folder:
                    self._states[item.path] = state_below(self.before.root / item.path)
                if kept is not None:
                    room -= kept.size
                    self._kept[item.path] = kept

    def settle(self) -> Settled:
        """Put aside what is new, put back what changed. May be called again, also in between."""
        after = self.watch.look()
        old = {item.path: item for item in self.before.items}
        known = {(item.identity, item.stamp): item for item in self.before.items}
        removed: list[str] = []
        restored: list[str] = []
        changed: list[str] = []
        for item in after.items:
            was = old.get(item.path)
            if was is not None and self._written_through_another_name(item, was):
                changed.append(item.path)
                continue
            came = known.get((item.identity, item.stamp))
            if self._is_untouched(item, was) or self._only_moved(item, came):
                continue
            if harmless(item, after) or self.accepted(item.path):
                continue
            if len(removed) >= _MOST_MOVED or not self._put_aside(item.path):
                changed.append(item.path)
            elif self._put_back(item.path):
                restored.append(item.path)
            else:
                removed.append(item.path)
        there = {item.path for item in after.items}
        gone = sorted(self._kept.keys() - there)
        lost = [path for path in gone if not self._went(old[path], after)]
        restored.extend(filter(self._put_back, lost))
        return Settled(
            tuple(removed),
            tuple(restored),
            tuple(changed),
            tuple(sorted(set(after.unseen) - set(self.before.unseen))),
            self.before.linked,
            str(self.aside) if removed else "",
        )

    def _is_untouched(self, item: Item, was: Item | None) -> bool:
        if was is not None and was.identity == item.identity:
            if item.path in self.bound:
                return True
            state = self._states.get(item.path, ())
            if was.stamp == item.stamp and state == self._state(item):
                return True
        kept = self._kept.get(item.path)
        return kept is not None and keep(self.before.root / item.path, _MOST_KEPT) == kept

    def _written_through_another_name(self, item: Item, was: Item) -> bool:
        """A file with two names is read-only under this one alone."""
        same = item.identity == was.identity and item.path in self.bound
        return same and not item.folder and item.links > 1 and item.stamp != was.stamp

    def _only_moved(self, item: Item, came: Item | None) -> bool:
        """Whether this is what lay elsewhere before and came here with a folder around it."""
        if came is None or came.path == item.path:
            return False
        return came.path in self.bound or self._states.get(came.path, ()) == self._state(item)

    def _state(self, item: Item) -> tuple[object, ...]:
        return state_below(self.before.root / item.path) if item.folder else ()

    @staticmethod
    def _went(was: Item, after: Found) -> bool:
        """Whether a file only lies elsewhere now, or its whole folder is gone."""
        if any(item.identity == was.identity for item in after.items):
            return True
        return not (after.root / was.path).parent.is_dir()

    def _put_aside(self, path: str) -> bool:
        """Move one name out of the project, following no link on the way.

        Where the folder of our state lies on another disk it stays beside its place, under a name
        that nothing obeys.
        """
        try:
            self.aside.mkdir(mode=0o700, parents=True, exist_ok=True)
            source = _folder_of(self.watch.root, path)
        except OSError:
            return False
        name = path.rpartition("/")[2]
        try:
            target = os.open(self.aside, os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                return self._move(name, source, target, "") or self._move(
                    name, source, source, _SUFFIX
                )
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _move(self, name: str, source: int, target: int, suffix: str) -> bool:
        """Rename into `target` under a free name; False for another disk, or no right to."""
        new = f"{name}{suffix}"
        for _ in range(_TRIES):
            with suppress(FileNotFoundError):
                os.lstat(new, dir_fd=target)
                new = f"{name}{suffix}-{next(self._numbers)}"
                continue
            try:
                os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
            except OSError as fault:
                return fault.errno == errno.ENOENT
            return True
        return False

    def _put_back(self, path: str) -> bool:
        kept = self._kept.get(path)
        if kept is None:
            return False
        with suppress(OSError):
            folder = _folder_of(self.watch.root, path)
            try:
                kept.write(Path(f"/proc/self/fd/{folder}/{path.rpartition('/')[2]}"))
            finally:
                os.close(folder)
            return True
        return False


def _folder_of(root: Path, path: str) -> int:
    """The folder that holds `path`, opened without following any link below the root."""
    flags = os.O_DIRECTORY | os.O_CLOEXEC
    at = os.open(root, flags)
    for name in path.split("/")[:-1]:
        try:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


def _few(paths: tuple[str, ...], most: int = 5) -> str:
    named = ", ".join(map(shown, paths[:most]))
    return f"{named} and {len(paths) - most} more" if len(paths) > most else named


def shown(path: str) -> str:
    """A name in words: what is no character, or none to print, is written out."""
    return "".join(
        char if char.isprintable() else ascii(char)[1:-1] for char in text_of(Path(path))
    )
