"""What works on this machine, each with the way on; never the value of a key."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from arc_workbench.code import trees
from arc_workbench.code.languages import SUFFIXES
from arc_workbench.errors import ArcError
from arc_workbench.frontends.words import folder
from arc_workbench.secret_names import looks_secret
from arc_workbench.settings import home
from arc_workbench.shell.platform import interpreter
from arc_workbench.shell.sandbox_probe import probe
from arc_workbench.supervisor.limits import group_can_be_made
from arc_workbench.workbench import journal_of
from arc_workbench.workspace import ripgrep

State = Literal["ok", "missing", "off"]

VERSION_SEC = 5


@dataclass(frozen=True)
class Finding:
    """One thing: whether it works, what was seen, and what to do next."""

    name: str
    state: State
    detail: str
    next: str = ""

    def as_json(self) -> dict[str, str]:
        """The finding as `doctor --json` prints it."""
        return asdict(self)


def examine(
    environment: Mapping[str, str], *, kernel: bool, project: Path | None = None
) -> list[Finding]:
    """Look at this machine; sends nothing, and starts nothing but `rg --version` and a sandbox.

    The journal is that of the `project` folder, or of the working folder.
    """
    return [
        Finding("python", "ok", sys.version.split()[0]),
        _kernel(kernel),
        _buttons(),
        _front_end("jupyterlab", "4.5"),
        _front_end("notebook", "7.5"),
        _shell(environment),
        _processes(),
        *_sandbox(),
        _ripgrep(),
        _outlines(),
        _journal(environment, project),
        _display(environment),
        _key(environment),
        _policy(environment),
    ]


def as_text(findings: list[Finding]) -> str:
    """One line: names and states."""
    return " · ".join(f"{found.name} {found.state}" for found in findings)


def as_table(findings: list[Finding]) -> str:
    """One line a finding, with what to do next where something is missing."""
    width = max(len(found.name) for found in findings)
    lines = [
        f"{f.name:<{width}}  {f.state:<8} {f.detail}" + (f"  {f.next}" if f.next else "")
        for f in findings
    ]
    return "\n".join(lines)


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _kernel(kernel: bool) -> Finding:
    found = _installed("ipykernel")
    where = f"ipykernel {found}, {'a kernel runs this' if kernel else 'no kernel here'}"
    if not found:
        return Finding("kernel", "missing", "ipykernel is not installed", "pip install ipykernel")
    if tuple(map(int, found.split(".")[:2])) < (7, 4):
        return Finding("kernel", "ok", where, "7.4 lets buttons work in every front end")
    return Finding("kernel", "ok", where)


def _buttons() -> Finding:
    found = _installed("anywidget")
    if not found:
        return Finding("buttons", "missing", "anywidget is not installed", "pip install anywidget")
    try:
        import_module("anywidget")
    except ImportError as fault:
        what = f"anywidget {found} cannot be imported ({fault})"
        return Finding("buttons", "missing", what, "questions are asked as text until it is mended")
    return Finding("buttons", "ok", f"anywidget {found}")


def _front_end(package: str, least: str) -> Finding:
    found = _installed(package)
    if not found:
        return Finding(package, "missing", "not installed here", "pip install 'arc-workbench[lab]'")
    return Finding(package, "ok", f"{found} (tested from {least})")


def _shell(environment: Mapping[str, str]) -> Finding:
    program = interpreter(os.name, environment).program
    kept = sum(map(looks_secret, environment))
    detail = f"{program}; {kept} variables look secret and are not passed to commands"
    return Finding("shell", "ok" if shutil.which(program) else "missing", detail)


def _processes() -> Finding:
    """What holds together all that a command starts, so that nothing of it outlives its job."""
    if sys.platform != "linux":
        found = "known by a mark in their environment; one that hides it may live on"
        return Finding("processes", "ok", found, "Linux finds them all")
    found = "a subreaper: all that a command starts ends with it"
    if group_can_be_made():
        return Finding("processes", "ok", f"{found}; their number is held down by a cgroup")
    return Finding("processes", "ok", f"{found}; their number is watched, no cgroup can be made")


def _sandbox() -> list[Finding]:
    """What can confine commands here, by trying it; and that nothing does unless asked to."""
    bubblewrap, *others = (
        Finding(found.name, found.state, found.detail, found.next) for found in probe().findings
    )
    if bubblewrap.state != "ok":
        return [replace(bubblewrap, name="sandbox"), *others]
    detail = f"{bubblewrap.detail}; only where it is asked for: --sandbox"
    return [replace(bubblewrap, name="sandbox", detail=detail), *others]


def _ripgrep() -> Finding:
    program = ripgrep.program()
    found = _version_of(program) if program else ""
    if found:
        return Finding("ripgrep", "ok", f"{found} searches")
    what = f"{program} does not run" if program else "not on PATH"
    detail = f"{what}; the engine of this package searches, slower"
    return Finding("ripgrep", "missing", detail, "pip install 'arc-workbench[search]'")


def _version_of(program: str) -> str:
    """The first line of `rg --version`, or nothing where it does not answer."""
    try:
        told = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=VERSION_SEC,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = told.stdout.partition("\n")[0].strip()
    return first if told.returncode == 0 and first.startswith("ripgrep") else ""


def _outlines() -> Finding:
    """Python has its own parser; other languages have one where their grammar is installed."""
    others = sorted(set(SUFFIXES) - {"python"})
    absent = [language for language in others if not trees.installed(language)]
    if not absent:
        return Finding("outlines", "ok", f"python, {', '.join(others)}")
    there = ", ".join(["python", *(name for name in others if name not in absent)])
    detail = f"parsed: {there}; told line by line: {', '.join(absent)}"
    return Finding("outlines", "missing", detail, "pip install 'arc-workbench[code]'")


def _journal(environment: Mapping[str, str], project: Path | None) -> Finding:
    state = folder(str(home(environment)))
    try:
        with contextlib.closing(journal_of(project or Path.cwd(), environment)) as files:
            report = files.recovery()
    except (ArcError, OSError) as fault:
        return Finding("journal", "off", f"{state}; {fault}", "see %agent recovery")
    said = f"{project.name} is {report.verdict}" if project else f"{report.verdict} here"
    if report.mutation_blocked:
        return Finding("journal", "off", f"{state}; {said}", "see %agent recovery")
    return Finding("journal", "ok", f"{state}; {said}")


def _display(environment: Mapping[str, str]) -> Finding:
    place = environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY")
    if sys.platform in {"darwin", "win32"} or place:
        return Finding("display", "ok", place or sys.platform)
    return Finding("display", "missing", "no display", "only needed for a desktop tool")


def _key(environment: Mapping[str, str]) -> Finding:
    present = bool(environment.get("ANTHROPIC_API_KEY"))
    if present:
        return Finding(
            "key", "off", "ANTHROPIC_API_KEY is set; this version has no provider for it"
        )
    return Finding(
        "key", "missing", "no ANTHROPIC_API_KEY", "not needed: script:tour works without"
    )


def _policy(environment: Mapping[str, str]) -> Finding:
    chosen = environment.get("ARC_WORKBENCH_POLICY", "rules")
    return Finding("policy", "ok", f"{chosen} decides where nobody can answer")
