"""The sandbox of one session: probed once, tried once over its project, and settled per command."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from weakref import WeakSet

from arc_workbench.errors import ToolError
from arc_workbench.shell.protected import Found, Predicate, Watch
from arc_workbench.shell.sandbox import Backends, Confinement, confine, probe
from arc_workbench.shell.sandbox_filter import write_filter
from arc_workbench.shell.sandbox_guard import Guard, shown
from arc_workbench.shell.sandbox_paths import is_in, lies_in, real
from arc_workbench.shell.sandbox_ways import Way, ways_to
from arc_workbench.shell.states import SandboxMode

_TRY = ("/bin/sh", "-c", ":")
_SECONDS = 10
_FILTER = "calls.bpf"


@dataclass(frozen=True, eq=False)
class Cage:
    """How one command is confined, as long as it runs; to be settled when it has ended.

    `guard` is None where nothing confines it. `held` are the folders of `root` that it cannot move,
    `ways` the links to our folders that it can.
    """

    confinement: Confinement
    guard: Guard | None = None
    root: Path | None = None
    held: frozenset[str] = frozenset()
    ways: tuple[Way, ...] = ()
    released: "Callable[[Cage], None]" = lambda cage: None

    def settled(self) -> str:
        """Settle the guard; what is to be said of it, "" for nothing."""
        if self.guard is None:
            return ""
        said = [self.guard.settle().note, *(_put_back(way, self.guard.aside) for way in self.ways)]
        self.released(self)
        return " ".join(filter(None, said))


class Sandbox:
    """Confines the commands of one session over `project`.

    `state` are our own folders, `scratch` the one that commands may write, and `aside` (also ours)
    where guarded names are put. What is missing of them is made where a command could make it
    first; a command may be asked for before they are there. Any thread may ask;
    of commands that run at the same time, the first that ends puts aside, and tells, what any of
    them made of protected names.
    """

    def __init__(
        self,
        *,
        project: Path,
        scratch: Path,
        aside: Path,
        state: Sequence[Path],
        is_protected: Predicate,
        temporary: Path | None = None,
        backends: Callable[[], Backends] = probe,
    ) -> None:
        self._project = project
        self._scratch = scratch
        self._aside = aside
        self._state = tuple(state)
        self._is_protected = is_protected
        self._temporary = temporary or Path(tempfile.gettempdir())
        self._backends = backends
        self._watch: tuple[tuple[str, ...], Watch] | None = None
        self._filter_file: Path | Literal[False] | None = False  # False: not made yet
        self._lock = threading.Lock()
        self._running: WeakSet[Cage] = WeakSet()
        self._last: tuple[object, Confinement] | None = None
        self._started: set[tuple[str, Path | None, Path]] = set()

    def cage(self, mode: SandboxMode, *, cwd: Path, overlay: Path | None = None) -> Cage:
        """How to run one command in `cwd`, by what really works over this project.

        Raises `ToolError` where `required`, or a command over an `overlay`, cannot be confined.
        """
        if mode == "off" and overlay is None:
            return Cage(Confinement())
        root = overlay or self._project
        with self._lock:
            state = self._own_state()
            ways = ways_to(self._state, self._open_to_all())
            watch = self._watch_over(root, state)
            found = self._unmoved(watch.look(), root)
            confinement = self._once(_Wanted(mode, cwd, overlay, found.layout, state), found)
            if not confinement.backend:
                return Cage(confinement)
            guard = Guard(watch, found, confinement.bound, self._aside)
            held = frozenset(found.anchors if confinement.prefix else ())
            cage = Cage(confinement, guard, root, held, ways, self._release)
            self._running.add(cage)
            return cage

    def _own_state(self) -> tuple[str, ...]:
        """Where our folders really lie now; the missing ones are made where commands can write."""
        try:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            for place in dict.fromkeys(map(real, self._state)):
                if lies_in(place, self._open_to_all()):
                    Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise _not_set_up(fault) from fault
        return tuple(real(place) for place in self._state if place.is_dir())

    def _open_to_all(self) -> tuple[str, ...]:
        return real(self._project), real(self._temporary)

    def _watch_over(self, root: Path, state: tuple[str, ...]) -> Watch:
        """What finds protected names below `root`; a name in our own folders is none."""
        project = real(self._project)
        inside = (os.path.relpath(place, project) for place in state if is_in(place, project))
        but = tuple(path for path in inside if path != ".")
        if root != self._project:
            self._make_places(root, but)
            return Watch(root, self._is_protected, but=but)
        if self._watch is None or self._watch[0] != but:
            self._watch = (but, Watch(root, self._is_protected, but=but))
        return self._watch[1]

    @staticmethod
    def _make_places(copy: Path, paths: Sequence[str]) -> None:
        """Where our folders are laid over a copy: now, as what comes later counts as new."""
        try:
            for path in paths:
                (copy / path).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise _not_set_up(fault) from fault

    def _release(self, cage: Cage) -> None:
        with self._lock:
            self._running.discard(cage)

    def _unmoved(self, found: Found, root: Path) -> Found:
        """Without the folders that a running command could put a link in the place of.

        One that is laid over itself would let the next command write wherever the link leads.
        """
        others = [cage.held for cage in self._running if cage.root == root]
        kept = tuple(path for path in found.anchors if all(path in held for held in others))
        return replace(found, anchors=kept)

    def _once(self, wanted: "_Wanted", found: Found) -> Confinement:
        """The confinement as last time, where nothing it depends on is different."""
        if self._last is None or self._last[0] != wanted:
            self._last = (wanted, self._confined(wanted, found))
        confinement = self._last[1]
        if not confinement.prefix or (wanted.private and not self._filter()):
            self._last = None  # what stood in the way may be gone, and other sockets there
        return confinement

    def _confined(self, wanted: "_Wanted", found: Found) -> Confinement:
        """The confinement by what really works over this project, which is tried once."""

        def made(backends: Backends) -> Confinement:
            return confine(
                wanted.mode,
                project=self._project,
                cwd=wanted.cwd,
                scratch=self._scratch,
                state=[Path(place) for place in wanted.state],
                backends=backends,
                found=found,
                overlay=wanted.overlay,
                temporary=self._temporary,
                filtered=self._filter() if wanted.private else None,
            )

        backends = self._backends()
        confinement = made(backends)
        if confinement.prefix and (why_not := self._why_not(confinement, wanted)):
            confinement = made(replace(backends, bubblewrap="", why_not=why_not))
        return confinement

    def _filter(self) -> Path | None:
        try:
            if self._filter_file is False:
                self._filter_file = write_filter(self._aside / _FILTER)
            return self._filter_file
        except OSError as fault:
            raise _not_set_up(fault) from fault

    def _why_not(self, confinement: Confinement, wanted: "_Wanted") -> str:
        """Why bubblewrap cannot start over this project; "" if it can, which is tried once.

        A folder above it that may not be entered is a reason that only a try shows.
        """
        tried = (wanted.mode, wanted.overlay, wanted.cwd)
        if tried in self._started:
            return ""
        why_not = _start(confinement.prefix)
        if not why_not:
            self._started.add(tried)
        return why_not


@dataclass(frozen=True)
class _Wanted:
    """What a confinement depends on within one session."""

    mode: SandboxMode
    cwd: Path
    overlay: Path | None
    layout: tuple[object, ...]
    state: tuple[str, ...]

    @property
    def private(self) -> bool:
        return self.mode == "required" or self.overlay is not None


def _put_back(way: Way, aside: Path) -> str:
    try:
        put_back = way.put_back(aside)
    except OSError:
        return f"The link {shown(way.name)} to the own folders of this program was changed."
    return f"The link {shown(way.name)} was changed and put back." if put_back else ""


def _not_set_up(fault: OSError) -> ToolError:
    return ToolError(
        f"The sandbox could not be set up ({fault}); nothing ran. Make room and try again."
    )


def _start(prefix: Sequence[str]) -> str:
    try:
        ran = subprocess.run(
            [*prefix, *_TRY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"bubblewrap does not start here ({fault})"
    if ran.returncode:
        return f"bubblewrap does not start here ({ran.stderr.strip() or ran.returncode})"
    return ""
