"""Where the files lie that programs obey: found by one walk, which looks only at what changed.

Of version control only what makes it run something is protected; commands must be able to commit.
"""

import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MOST_FOLDERS = 20_000
_MOST_NAMES = 200_000
_MOST_BELOW = 2_000
_NEAR = 3
_SETTLED_NS = 100_000_000  # a folder that changed this short ago may change again unseen
_MOST_CONFIG = 1 << 20

Predicate = Callable[[Sequence[str]], bool]
Identity = tuple[int, int]

_OF_OTHERS = {
    ".hg": ("hgrc", "hgrc-not-shared"),
    ".svn": (),
    ".bzr": ("branch/branch.conf",),
    ".jj": ("repo/config.toml", "repo/store/git/config", "repo/store/git/hooks"),
}
_OF_GIT = ("config", "config.worktree", "hooks", "info/attributes", "commondir")
_HOOKS_PATH = re.compile(r"^\s*hookspath\s*=\s*\"?([^\"\n#;]+)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Item:
    """One protected thing: `path` below the root, which file it is, and how it looked.

    `bindable`: it can be made read-only in its place (a link cannot). `repository` is the folder of
    the version control that obeys it, "" for anything else.
    """

    path: str
    identity: Identity
    stamp: tuple[int, int]
    bindable: bool
    folder: bool
    repository: str = ""
    links: int = 1


@dataclass(frozen=True)
class Found:
    """What one walk found. `anchors` are folders that must keep their place; `unseen` were too deep
    or too many to look at."""

    root: Path
    items: tuple[Item, ...] = ()
    anchors: tuple[str, ...] = ()
    repositories: frozenset[str] = frozenset()
    unseen: tuple[str, ...] = ()

    @property
    def layout(self) -> tuple[object, ...]:
        """What decides where something must be laid over the project."""
        return self.anchors, tuple((item.path, item.bindable) for item in self.items)

    @property
    def linked(self) -> tuple[str, ...]:
        """Protected files that have a second name, through which they can be written."""
        return tuple(item.path for item in self.items if item.links > 1 and not item.folder)


@dataclass(slots=True)
class _Listing:
    """What one folder held, and the state of the folder that this is true for.

    `settled`: it had not changed for long enough before it was read that no change can be missed.
    """

    device: int
    inode: int
    changed_ns: int
    settled: bool
    folders: list[str] = field(default_factory=list[str])
    protected: list[str] = field(default_factory=list[str])
    bare: bool = False


class Watch:
    """Finds the protected names below `root`; each `look` is linear and reads changed folders only.

    `is_protected` decides about names; what it says of one may depend on the three folders around
    it where one of those is hidden. Folders in `but`, as paths below the root, are not looked at.
    One thread at a time.
    """

    def __init__(
        self,
        root: Path,
        is_protected: Predicate,
        *,
        most_folders: int = MOST_FOLDERS,
        but: Iterable[str] = (),
    ) -> None:
        self.root = root
        self._is_protected = is_protected
        self._most_folders = most_folders
        self._but = frozenset(but)
        self._listings: dict[str, _Listing] = {}
        self._names: dict[str, bool] = {}

    def look(self) -> Found:
        """What is protected now."""
        walk = _Walk(str(self.root))
        known, listings = self._listings, dict[str, _Listing]()
        todo, most, root = deque([""]), self._most_folders, f"{self.root}/"
        while todo:
            folder = todo.popleft()  # what lies on top is always seen
            try:
                told = os.lstat(root + folder)
                listing = known.get(folder)
                if not (
                    listing
                    and listing.settled
                    and told.st_ctime_ns == listing.changed_ns
                    and told.st_ino == listing.inode
                    and told.st_dev == listing.device
                ):
                    listing = self._read(folder, told)
            except OSError:
                walk.unseen.append(folder)
                continue
            listings[folder] = listing
            if listing.protected or listing.bare:
                walk.take(folder, listing)
            if len(listings) + len(todo) + len(listing.folders) <= most:
                todo += listing.folders
            else:
                walk.unseen.append(folder)
        self._listings = listings
        return walk.found(self.root)

    def _read(self, folder: str, told: os.stat_result) -> _Listing:
        """What a folder holds. Its time of change is set by the system: nobody can put it back."""
        settled = time.time_ns() - told.st_ctime_ns > _SETTLED_NS
        listing = _Listing(told.st_dev, told.st_ino, told.st_ctime_ns, settled)
        names: set[str] = set()
        library = folder.rpartition("/")[2] == "node_modules" or "/node_modules/" in f"/{folder}/"
        around = _around(folder)
        but = {path.rpartition("/")[2] for path in self._but if path.rpartition("/")[0] == folder}
        with os.scandir(_join(str(self.root), folder)) as entries:
            for entry in entries:
                names.add(entry.name)
                if entry.name in but:
                    continue
                if self._protects(entry.name, library, around):
                    listing.protected.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    listing.folders.append(_join(folder, entry.name))
        listing.bare = {"HEAD", "objects", "refs"} <= names
        return listing

    def _protects(self, name: str, library: bool, around: tuple[str, ...]) -> bool:
        """Installed packages bring settings of editors that nothing reads there, but repositories
        among them are as real as any."""
        known = self._names.get(name)
        if known is None:
            known = self._is_protected((name,))
            if len(self._names) < _MOST_NAMES:
                self._names[name] = known
        if not known and around and not library:
            return self._is_protected((*around, name))
        return known and (not library or name.lower() == ".git" or name.lower() in _OF_OTHERS)


class _Walk:
    """Gathers what one walk finds."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.items: dict[str, Item] = {}
        self.anchors: dict[str, None] = {}
        self.repositories: set[str] = set()
        self.unseen: list[str] = []

    def take(self, folder: str, listing: _Listing) -> None:
        if listing.bare:
            self._anchor(folder)
            self._repository(folder)
        for name in listing.protected:
            path = _join(folder, name)
            told = self._look_at(path)
            if told is None:
                continue
            low = name.lower()
            if stat.S_ISDIR(told.st_mode) and low == ".git":
                self._anchor(path)
                self._repository(path)
            elif stat.S_ISDIR(told.st_mode) and low in _OF_OTHERS:
                self._anchor(path)
                self._pieces(path, _OF_OTHERS[low])
            else:
                # A `.git` file leads a work tree to its repository; a mount would hold it for ever.
                self._item(path, told, path if low == ".git" else "", bindable=low != ".git")

    def found(self, root: Path) -> Found:
        return Found(
            root,
            tuple(self.items.values()),
            tuple(self.anchors),
            frozenset(self.repositories),
            tuple(self.unseen),
        )

    def _anchor(self, path: str) -> None:
        """A folder whose place, and that of the folders around it, must not be taken."""
        while path:
            self.anchors[path] = None
            path = path.rpartition("/")[0]

    def _repository(self, folder: str) -> None:
        self.repositories.add(folder)
        self._pieces(folder, _OF_GIT)
        self._hooks_elsewhere(folder)
        for name in self._names_in(_join(folder, "worktrees")):
            own = _join(folder, f"worktrees/{name}")
            self._pieces(own, ("config.worktree", "commondir"), bindable=False)
        for path in self._modules(_join(folder, "modules")):
            self._anchor(path)
            self._repository(path)

    def _modules(self, folder: str) -> Iterator[str]:
        """The repositories of submodules; their names may hold slashes."""
        todo = [folder]
        for _ in range(_MOST_BELOW):
            if not todo:
                return
            at = todo.pop()
            for name in self._names_in(at):
                path = _join(at, name)
                if self._look_at(_join(path, "HEAD")) is not None:
                    yield path
                else:
                    todo.append(path)

    def _pieces(self, repository: str, names: Iterable[str], *, bindable: bool = True) -> None:
        """What of a repository makes it run something."""
        for name in names:
            path = _join(repository, name)
            told = self._look_at(path)
            if told is not None:
                self._item(path, told, repository, bindable=bindable)
                if "/" in name:
                    self.anchors[path.rpartition("/")[0]] = None

    def _hooks_elsewhere(self, folder: str) -> None:
        """Hooks that the configuration says lie elsewhere in the project."""
        text = read_start(_join(self._root, _join(folder, "config")), _MOST_CONFIG)
        for named in _HOOKS_PATH.findall(text):
            around = Path(self._root, folder).parent
            place = os.path.normpath(around / named.strip())
            if place.startswith(f"{self._root}/"):
                path = place[len(self._root) + 1 :]
                told = self._look_at(path)
                if told is not None:
                    self._item(path, told, folder)

    def _item(
        self, path: str, told: os.stat_result, repository: str, *, bindable: bool = True
    ) -> None:
        kind = stat.S_IFMT(told.st_mode)
        folder = kind == stat.S_IFDIR
        self.items[path] = Item(
            path,
            (told.st_dev, told.st_ino),
            (told.st_ctime_ns, told.st_size),
            bindable and kind in {stat.S_IFDIR, stat.S_IFREG},
            folder,
            repository,
            told.st_nlink,
        )

    def _look_at(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(_join(self._root, path))
        except OSError:
            return None

    def _names_in(self, folder: str) -> list[str]:
        try:
            with os.scandir(_join(self._root, folder)) as entries:
                return [entry.name for entry in entries]
        except OSError:
            return []


def state_below(place: Path) -> tuple[object, ...]:
    """What tells whether a folder, or anything in it, was changed; of a very large one, a part."""
    said: list[object] = []
    todo = [place]
    while todo and len(said) < _MOST_BELOW:
        at = todo.pop()
        with suppress(OSError):
            for inner in sorted(at.iterdir()):
                told = inner.lstat()
                said.append((str(inner.relative_to(place)), told.st_ino, told.st_ctime_ns))
                if stat.S_ISDIR(told.st_mode):
                    todo.append(inner)
    return tuple(said)


def read_start(path: str | Path, most: int) -> str:
    """The beginning of a plain file as text; "" where it cannot be read. Follows no link."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        plain = stat.S_ISREG(os.fstat(opened).st_mode)
        return os.read(opened, most).decode("utf-8", "replace") if plain else ""
    except OSError:
        return ""
    finally:
        os.close(opened)


def _around(folder: str) -> tuple[str, ...]:
    """The folders that may give a name in this one a meaning; none where no hidden one is near."""
    near = tuple(folder.split("/")[-_NEAR:])
    return near if any(name.startswith(".") for name in near) else ()


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name
