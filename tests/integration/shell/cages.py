"""A project, our state and an outside for attempts to break out, all in the test's own folder."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arc_workbench.shell.protected import Watch
from arc_workbench.shell.sandbox import Backends, Confinement, confine, probe
from arc_workbench.shell.sandbox_filter import write_filter
from arc_workbench.shell.sandbox_guard import Guard, Settled
from arc_workbench.shell.states import SandboxMode
from arc_workbench.workspace.names import is_protected

NOBODY = 65534
_SECONDS = 60
_GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "safe.directory=*")
_CONTENT = {
    "project/a.txt": "a\n",
    "project/.gitmodules": "",
    "project/.bashrc": "# shell\n",
    "project/.vscode/settings.json": "{}\n",
    "project/pkg/.vscode/tasks.json": "{}\n",
    "project/lib/site.pth": "x\n",
    "outside/marker": "untouched\n",
    "outside/folder/inner": "inner\n",
    "state/record": "record\n",
    "state/scratch/note": "",
    "home/.profile": "# home\n",
    "tmp/seen": "",
}

Facts = dict[str, tuple[int, int, int, bytes]]


def users() -> list[int]:
    """Who the attempts run as: root and another user, or only the one that runs the tests."""
    return [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]


def working_backends() -> Backends:
    """What works here; skips the test where no command can be confined."""
    found = probe()
    if not found.bubblewrap:
        pytest.skip(f"unavailable: {found.why_not}")
    return found


@dataclass
class World:
    """The folders of one test, owned by the user `uid`."""

    base: Path
    uid: int
    project: Path = field(init=False)
    outside: Path = field(init=False)
    state: Path = field(init=False)
    scratch: Path = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.base = self.base.resolve()
        self.project = self.base / "project"
        self.outside = self.base / "outside"
        self.state = self.base / "state"
        self.scratch = self.state / "scratch"
        self.temporary = self.base / "tmp"

    def python(self) -> str:
        """An interpreter that this user can start; skips the test where there is none."""
        for program in ("/usr/bin/python3", "/usr/local/bin/python3"):
            if os.access(program, os.X_OK):
                return program
        pytest.skip("unavailable: no Python that every user can start")

    def guarded(
        self, mode: SandboxMode, *, unfiltered: bool = False, **more: Path
    ) -> tuple[Confinement, Guard]:
        """A confinement for the project, and what settles it."""
        watch = Watch(self.project, is_protected)
        found = watch.look()
        confinement = confine(
            mode,
            project=self.project,
            cwd=more.get("cwd", self.project),
            scratch=self.scratch,
            state=[self.state],
            backends=working_backends(),
            found=found,
            overlay=more.get("overlay"),
            temporary=more.get("temporary", self.temporary),
            filtered=self._filter() if mode == "required" and not unfiltered else None,
            uid=self.uid,
        )
        return confinement, Guard(watch, found, confinement.bound, self.base / "aside")

    def _filter(self) -> Path | None:
        place = write_filter(self.base / "aside/calls.bpf")
        if place and self.uid != os.geteuid():
            shutil.chown(place.parent, self.uid)
            shutil.chown(place, self.uid)
        return place

    def attempt(self, mode: SandboxMode, script: str) -> tuple[str, Settled]:
        """Run a script in a cage and settle: what it printed and what was found afterwards."""
        confinement, guard = self.guarded(mode)
        ran = self.run(confinement.prefix, script, confinement.environment)
        return ran.stdout + ran.stderr, guard.settle()

    def run(
        self, prefix: Sequence[str], script: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script as this world's user; with no prefix it is not confined."""
        given: dict[str, str] = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.base / "home"),
            "TMPDIR": str(self.temporary),
            "OUTSIDE": str(self.outside),
            "PROJECT": str(self.project),
            "STATE": str(self.state),
            "BASE": str(self.base),
            "GIT": " ".join(_GIT),
            "PYTHON": "/usr/bin/python3 -I",
        }
        given.update(environment or {})
        other = self.uid != os.geteuid()
        return subprocess.run(
            [*prefix, "/bin/sh", "-c", "--", script],
            cwd=self.project,
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            user=self.uid if other else None,
            group=self.uid if other else None,
            extra_groups=[] if other else None,
        )

    def facts(self) -> Facts:
        """All that must stay as it is: what lies outside, our state, and protected names."""
        kept: Facts = {}
        for place in sorted(self.base.rglob("*")):
            path = str(place.relative_to(self.base))
            if self._must_stay(path):
                told = place.lstat()
                content = place.read_bytes() if stat.S_ISREG(told.st_mode) else b""
                kept[path] = (told.st_mode, told.st_uid, told.st_ino, content)
        return kept

    @staticmethod
    def _must_stay(path: str) -> bool:
        area, _, inner = path.partition("/")
        if area == "aside" or path.startswith("state/scratch") or area == "tmp":
            return False
        if area != "project":
            return True
        if "/.git/" in path:
            piece = inner.rpartition(".git/")[2]
            return piece.split("/")[0] in {"hooks", "config", "commondir", "config.worktree"}
        return is_protected(inner.split("/")) and not inner.endswith(".git")


def make_world(base: Path, uid: int) -> World:
    """Two repositories, one in the other, with the protected names that projects have."""
    for path, content in _CONTENT.items():
        place = base / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    for folder in ("project", "project/sub"):
        place = base / folder
        place.mkdir(exist_ok=True)
        subprocess.run([*_GIT, "init", "-q", "--template=", str(place)], check=True)
        (place / ".git/hooks").mkdir(exist_ok=True)
        (place / ".git/hooks/pre-commit").write_text("#!/bin/sh\n", encoding="utf-8")
    (base / "outside/marker").chmod(0o666)
    if uid != os.geteuid():
        _open_way(base)
        for place in (base, *base.rglob("*")):
            shutil.chown(place, uid, uid)
    return World(base, uid)


def _open_way(base: Path) -> None:
    """Let another user reach the test's folder; pytest makes those above it for us alone."""
    for folder in (base, *base.parents):
        told = folder.stat()
        if not told.st_mode & stat.S_IXOTH and told.st_uid == os.geteuid():
            folder.chmod(stat.S_IMODE(told.st_mode) | stat.S_IXOTH)
