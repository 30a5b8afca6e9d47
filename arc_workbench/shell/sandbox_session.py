"""The sandbox of one session: probed once, tried once over its project, and settled per command."""

import subprocess
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
from arc_workbench.shell.sandbox_guard import Guard
from arc_workbench.shell.states import SandboxMode

_TRY = ("/bin/sh", "-c", ":")
_SECONDS = 10
_FILTER = "calls.bpf"


@dataclass(frozen=True, eq=False)
class Cage:
    """How one command is confined, as long as it runs; to be settled when it has ended.

    `guard` is None where nothing confines it. `held` are the folders of `root` that it cannot move.
    """

    confinement: Confinement
    guard: Guard | None = None
    root: Path | None = None
    held: frozenset[str] = frozenset()
    released: "Callable[[Cage], None]" = lambda cage: None

    def settled(self) -> str:
        """Settle the guard; what is to be said of it, "" for nothing."""
        note = self.guard.settle().note if self.guard is not None else ""
        self.released(self)
        return note


class Sandbox:
    """Confines the commands of one session over `project`.

    `state` are our own folders and must exist, `scratch` the one that commands may write (made
    where it is missing), and `aside` (also ours) where guarded names are put. Any thread may ask;
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
        self._temporary = temporary
        self._backends = backends
        self._watch = Watch(project, is_protected)
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
        watch = Watch(overlay, self._is_protected) if overlay else self._watch
        with self._lock:
            found = self._unmoved(watch.look(), root)
            confinement = self._once(_Wanted(mode, cwd, overlay, found.layout), found)
            if not confinement.backend:
                return Cage(confinement)
            guard = Guard(watch, found, confinement.bound, self._aside)
            held = frozenset(found.anchors if confinement.prefix else ())
            cage = Cage(confinement, guard, root, held, self._release)
            self._running.add(cage)
            return cage

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
                state=self._state,
                backends=backends,
                found=found,
                overlay=wanted.overlay,
                temporary=self._temporary,
                filtered=self._filter() if wanted.private else None,
            )

        try:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise _not_set_up(fault) from fault
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

    @property
    def private(self) -> bool:
        return self.mode == "required" or self.overlay is not None


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
