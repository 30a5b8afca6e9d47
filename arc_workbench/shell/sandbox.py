"""What confines a command: the words to put before it, and what they promise.

`workspace-write` stops writing outside the project, the system's temporary folder and a scratch
folder of ours; reading, the network and starting programs stay free. `required` gives the command a
temporary folder and a loopback of its own, and no socket that leads out. In both, what programs
obey (`protected`) and our own state, wherever it lies, stay as they are; no capability, no new
privileges, no process outside can be seen. A file in the project that has a second name outside can
be written: no wall of names sees that.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.shell.notes import NO_SANDBOX
from arc_workbench.shell.protected import Found, Item
from arc_workbench.shell.sandbox_paths import (
    between,
    depth,
    home,
    is_above,
    is_below,
    is_in,
    lies_in,
    real,
)
from arc_workbench.shell.sandbox_probe import (
    ISOLATION,
    NO_NETWORK,
    Backend,
    Backends,
    probe,
    root_flags,
)
from arc_workbench.shell.states import SandboxMode

__all__ = ["Backend", "Backends", "Confinement", "LandlockRules", "confine", "probe"]

_MOST_MOUNTS = 128
_FILTER_NUMBER = "9"
_UMASK = "umask 077; "
_WITH_FILTER = f' {_FILTER_NUMBER}<"$0"'
_MOST_SOCKETS = 64
_RUNNING = ("/run", "/var/run")
_TEMPORARY = ("/tmp", "/var/tmp")
_SYSTEM = ("/run/current-system", "/run/opengl-driver")  # where a distribution keeps its programs
_LEADS_OUT = (
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS"),
    *("DOCKER_HOST", "CONTAINER_HOST", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"),
)


@dataclass(frozen=True)
class LandlockRules:
    """What a command may write at and below, where only Landlock confines it."""

    writable: tuple[bytes, ...]


@dataclass(frozen=True)
class Confinement:
    """How a command is confined.

    `prefix` goes before the shell's own words; `landlock` is for the supervisor to apply between
    fork and exec. `note` is what the result must begin with, `reason` why. `environment` is added
    to the command's. `bound` are the protected paths, from the project, that are read-only for it.
    """

    prefix: tuple[str, ...] = ()
    landlock: LandlockRules | None = None
    backend: str = ""
    note: str = ""
    reason: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    bound: frozenset[str] = frozenset()


def confine(
    mode: SandboxMode,
    *,
    project: Path,
    cwd: Path,
    scratch: Path,
    state: Sequence[Path],
    backends: Backends,
    found: Found | None = None,
    overlay: Path | None = None,
    temporary: Path | None = None,
    filtered: Path | None = None,
    uid: int | None = None,
) -> Confinement:
    """How to run a command in `cwd` so that `mode` holds; nothing is run or made.

    `state` are our own folders, those that are missing do not count; `scratch` is what commands may
    write of them, `temporary` the system's temporary folder. `found` is what is protected below the
    project, `filtered` the file of `sandbox_filter`, and `uid` runs the command (this process's
    user for None). With an `overlay` that folder stands in the project's place, and `required`
    holds whatever the mode. Raises `ToolError` where `required` cannot be held.
    """
    if overlay is not None:
        mode = "required"
    if mode == "off":
        return Confinement()
    plan = _Plan(
        mode,
        real(project),
        real(cwd),
        real(scratch),
        tuple(real(folder) for folder in state if folder.exists()),
        real(temporary or Path(tempfile.gettempdir())),
        real(overlay or project),
        found or Found(project),
        os.geteuid() if uid is None else uid,
        str(filtered) if filtered else "",
    )
    why_not = backends.why_not if not backends.bubblewrap else _impossible(plan)
    if not why_not and mode == "required" and not backends.no_network:
        why_not = f"the network cannot be closed off: {backends.why_not}"
    if not why_not:
        return _bubblewrap(plan, backends.bubblewrap)
    return _without_bubblewrap(plan, backends, why_not)


@dataclass(frozen=True)
class _Plan:
    """What is to be held, as real paths."""

    mode: SandboxMode
    project: str
    cwd: str
    scratch: str
    state: tuple[str, ...]
    temporary: str
    source: str
    found: Found
    uid: int
    filtered: str

    @property
    def private(self) -> bool:
        return self.mode == "required"

    @property
    def shares_temporary(self) -> bool:
        """Whether the system's temporary folder is one that can be given to a command."""
        ours = is_in(home(), self.temporary) or self.is_ours(self.temporary)
        return not self.private and not ours

    @property
    def is_copy(self) -> bool:
        """Whether something else stands in the project's place."""
        return self.source != self.project

    @property
    def gives_project(self) -> bool:
        """Whether the project can be written; one that lies in our state is read-only."""
        return self.is_copy or not self.is_ours(self.project)

    def is_ours(self, place: str) -> bool:
        """Whether a place is one of our folders, or lies in one."""
        return lies_in(place, self.state)


def _impossible(plan: _Plan) -> str:
    if plan.project == "/":
        return "the project is the whole file system"
    if not Path(plan.source).is_dir():
        return "the project's folder cannot be reached"
    return ""


# ---- bubblewrap ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mount:
    """One thing to lay over what is seen; among those for one place the higher rank comes last.

    What only keeps a folder in its place (`_HOLD`) opens nothing that is shut around it.
    """

    place: str
    rank: int
    words: tuple[str, ...]


_HIDE, _HOLD, _OPEN, _SHUT = range(4)


def _bubblewrap(plan: _Plan, program: str) -> Confinement:
    bound, protected = _protected(plan)
    mounts = [*_hidden(plan), *_opened(plan), *_own_state(plan), *protected]
    shut = [mount.place for mount in mounts if mount.rank == _SHUT]
    mounts = [mount for mount in mounts if mount.rank != _HOLD or not lies_in(mount.place, shut)]
    mounts.sort(key=lambda mount: (depth(mount.place), mount.rank))
    words = [*_launcher(plan), program, *root_flags(plan.uid)]
    for mount in dict.fromkeys(mounts):
        words += mount.words
    words += ISOLATION
    if plan.private:
        words += NO_NETWORK
        words += ("--seccomp", _FILTER_NUMBER) if plan.filtered else ()
        for name in _LEADS_OUT:
            words += ("--unsetenv", name)
    words += ("--chdir", plan.cwd, "--")
    return Confinement(
        tuple(words), None, "bubblewrap", environment=_environment(plan), bound=bound
    )


def _launcher(plan: _Plan) -> tuple[str, ...]:
    """What starts bubblewrap where `required` wants more than its words can say."""
    if not plan.private:
        return ()
    umask = "" if plan.is_copy else _UMASK  # a copy only shows what would come of a command
    return ("/bin/sh", "-c", f'{umask}exec "$@"{_WITH_FILTER * bool(plan.filtered)}', plan.filtered)


def _environment(plan: _Plan) -> dict[str, str]:
    if plan.shares_temporary:
        return {}
    return _temporary_in(_TEMPORARY[0] if plan.private else plan.scratch)


def _temporary_in(place: str) -> dict[str, str]:
    return {"TMPDIR": place, "TMP": place, "TEMP": place}


def _hidden(plan: _Plan) -> Iterator[_Mount]:
    """What lets a command talk with what runs outside."""
    if not plan.private:
        return
    covered = _covered(plan)
    for place in covered:
        if place in _RUNNING:
            yield _Mount(place, _HIDE, ("--tmpfs", place))
        else:
            yield _Mount(place, _HIDE, ("--bind", plan.scratch, place))
            yield from _own_way(place, plan, covered)
    for place in filter(os.path.isdir, _SYSTEM):
        yield _Mount(place, _SHUT, ("--ro-bind", place, place))
    if is_below(plan.cwd, covered) and not is_in(plan.cwd, plan.project):
        yield _Mount(plan.cwd, _OPEN, ("--ro-bind", plan.cwd, plan.cwd))
    if not plan.filtered:
        yield from _sockets(plan, covered)


def _own_way(root: str, plan: _Plan, covered: Sequence[str]) -> Iterator[_Mount]:
    """Folders of one command alone that lead from the scratch folder to what is laid into it.

    Another command has the same scratch folder, and could put a link there on the way.
    """
    for place in (plan.project, *plan.state):
        first = next(between(root, place), "")
        if first and first not in covered:
            yield _Mount(first, _HIDE, ("--tmpfs", first))


def _covered(plan: _Plan) -> tuple[str, ...]:
    """The folders that `required` hides. One that holds the home folder stays."""
    temporary = () if is_in(home(), plan.temporary) else (plan.temporary,)
    places = (*_RUNNING, *_TEMPORARY, *temporary)
    return tuple(place for place in dict.fromkeys(places) if _is_own_folder(place))


def _is_own_folder(place: str) -> bool:
    return Path(place).is_dir() and not Path(place).is_symlink()


def _sockets(plan: _Plan, covered: Sequence[str]) -> Iterator[_Mount]:
    """Where calls cannot be filtered: what something outside the project listens on now.

    A socket on a read-only disk can be talked to all the same. One that was named by a relative
    path, or comes later outside the hidden folders, is not found.
    """
    at_home = is_in(home(), plan.project)
    places = [
        place
        for place in _listening()
        if (not is_below(place, covered) or is_in(place, plan.cwd))
        and (at_home or not is_in(place, plan.project))
    ]
    if len(places) > _MOST_SOCKETS:
        for folder in dict.fromkeys(map(os.path.dirname, places)):
            yield _Mount(folder, _SHUT, ("--tmpfs", folder))
        return
    for place in places:
        yield _Mount(place, _SHUT, ("--ro-bind", os.devnull, place))


def _listening() -> list[str]:
    """The sockets of the system that have a place in the file system."""
    try:
        lines = Path("/proc/net/unix").read_bytes().splitlines()[1:]
    except OSError:
        return []
    named = (os.fsdecode(line.split(None, 7)[7]) for line in lines if line.count(b" /"))
    return [place for place in dict.fromkeys(named) if place[:1] == "/" and _is_socket(place)]


def _is_socket(place: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(place).st_mode)
    except OSError:
        return False


def _opened(plan: _Plan) -> Iterator[_Mount]:
    """What can be written, with the folders around it held in their places."""
    if plan.gives_project:
        yield _Mount(plan.project, _OPEN, ("--bind", plan.source, plan.project))
    else:
        yield _Mount(plan.project, _SHUT, ("--ro-bind", plan.project, plan.project))
    roots = [plan.temporary] if plan.shares_temporary else []
    if not plan.private:
        for place in (*roots, plan.scratch):
            yield _Mount(place, _OPEN, ("--bind", place, place))
    if not plan.is_copy:
        for place in (plan.project, plan.scratch, *plan.state):
            for root in (*roots, plan.project):
                for folder in between(root, place):
                    yield _Mount(folder, _HOLD, ("--bind", folder, folder))


def _own_state(plan: _Plan) -> Iterator[_Mount]:
    """Our own records, wherever a command could write them.

    In a copy too, though it has none of them: a long command lies there as a file.
    """
    roots = [plan.project]
    if plan.private:
        roots += _covered(plan)
    if plan.shares_temporary:
        roots.append(plan.temporary)
    for place in plan.state:
        if is_below(place, roots):
            yield _Mount(place, _SHUT, ("--ro-bind", place, place))


def _protected(plan: _Plan) -> tuple[frozenset[str], list[_Mount]]:
    """Read-only mounts for what is protected, those on top first where there are very many.

    A mount cannot be renamed, but a folder around it can: repositories and the folders above them
    are held in their places too.
    """
    mounts: list[_Mount] = []
    for path in sorted(plan.found.anchors, key=depth)[: _MOST_MOUNTS // 2]:
        inner, outer = f"{plan.source}/{path}", f"{plan.project}/{path}"
        mounts.append(_Mount(outer, _HOLD, ("--bind-try", inner, outer)))
    bound: set[str] = set()
    for item in sorted(filter(_can_bind, plan.found.items), key=lambda item: depth(item.path)):
        if len(mounts) >= _MOST_MOUNTS:
            break
        inner, outer = f"{plan.source}/{item.path}", f"{plan.project}/{item.path}"
        mounts.append(_Mount(outer, _SHUT, ("--ro-bind-try", inner, outer)))
        bound.add(item.path)
    return frozenset(bound), mounts


def _can_bind(item: Item) -> bool:
    return item.bindable


# ---- without bubblewrap -------------------------------------------------------------------------


def _without_bubblewrap(plan: _Plan, backends: Backends, why_not: str) -> Confinement:
    """Landlock where that is enough, else the note; `ToolError` for `required`."""
    if plan.private:
        raise ToolError(
            f"A sandbox is required and there is none ({why_not}); nothing ran. The person can "
            "install bubblewrap, or choose workspace-write or off as the sandbox."
        )
    if not backends.landlock:
        return Confinement(note=NO_SANDBOX, reason=why_not)
    if is_above(plan.project, plan.state):
        reason = f"{why_not}; Landlock cannot hold our records in the project apart"
        return Confinement(note=NO_SANDBOX, reason=reason)
    shares = plan.shares_temporary and not is_above(plan.temporary, plan.state)
    project = [plan.project] if plan.gives_project else []
    writable = [*project, plan.scratch, *([plan.temporary] if shares else [])]
    environment = {} if shares else _temporary_in(plan.scratch)
    rules = LandlockRules(tuple(map(os.fsencode, writable)))
    return Confinement((), rules, "landlock", reason=why_not, environment=environment)
