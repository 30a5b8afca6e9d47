"""The composition root: settings in, a session out. It knows every part and decides nothing."""

import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from arc_workbench.agent.gate import Gate
from arc_workbench.agent.hands import DRY_RUN_FOLDER
from arc_workbench.agent.history import History
from arc_workbench.agent.jobs import JobWatch
from arc_workbench.agent.log import EventLog
from arc_workbench.agent.prompt import system_prompt
from arc_workbench.agent.resume import close_what_was_open, settle_jobs
from arc_workbench.agent.run import Run
from arc_workbench.agent.session import Session
from arc_workbench.content import text_of
from arc_workbench.errors import ToolError
from arc_workbench.events import Access, Event, Notice, RecoveryReported, SessionOpened
from arc_workbench.models import make_provider
from arc_workbench.models.provider import Provider
from arc_workbench.settings import (
    DEFAULT_SESSION,
    Settings,
    ToolsetName,
    home,
    load,
    project_folder,
    sessions_folder,
)
from arc_workbench.shell import Guarded, JobState, Shell, recorded
from arc_workbench.store import session_dir, transcript
from arc_workbench.store.redaction import Redactor
from arc_workbench.store.session_dir import SessionDir
from arc_workbench.store.transcript import Transcript
from arc_workbench.supervisor.order import OUTPUT
from arc_workbench.tools.foreign import PublicTool, foreign
from arc_workbench.tools.tool import Tool
from arc_workbench.tools.toolset import Toolset
from arc_workbench.workspace import Purged, Workspace
from arc_workbench.workspace.names import is_protected

SHELL_FOLDER = "shell"
_EARLIER_SESSIONS = 20
_SESSIONS_LOOKED_AT = 200


async def open_session(
    settings: Settings | None = None,
    *,
    tools: Iterable[PublicTool] = (),
    **changes: object,
) -> Session:
    """Open a session: a new one, or the newest of that name where one exists and `new` is off.

    `changes` are settings by keyword and count before `settings`. `tools` are a person's own
    (decision 18). Raises `SettingsError` (nothing was opened), `ScriptError`, `SessionHeld` where
    another process has the session, `TranscriptError` where its record is damaged.
    """
    environment = dict(os.environ)
    chosen = _chosen(settings, environment, changes)
    root = project_folder(chosen)
    provider = make_provider(chosen.model, pace=chosen.pace)
    toolset = Toolset([*tools_of(chosen.toolset), *map(foreign, tools)])
    place, note = _place(chosen, environment, root)
    try:
        session = _opened(chosen, place, root, provider, toolset, environment)
        if note:
            session.note(note)
        return session
    except BaseException:
        place.release()
        raise


def tools_of(name: ToolsetName) -> tuple[Tool, ...]:
    """The tools of one vocabulary, or of both (decision 1)."""
    from arc_workbench.toolsets import arc, arcturn

    chosen = {"arc": arc.TOOLS, "arcturn": arcturn.TOOLS, "both": (*arc.TOOLS, *arcturn.TOOLS)}
    return chosen[name]


def _chosen(
    settings: Settings | None, environment: Mapping[str, str], changes: Mapping[str, object]
) -> Settings:
    if settings is None:
        return load(environment, changes)
    return Settings.of({**settings.model_dump(), **changes})


def _place(
    settings: Settings, environment: Mapping[str, str], root: Path | None
) -> tuple[SessionDir, str]:
    """The folder of the session, and what must be said when it is not the one that was named."""
    folder = sessions_folder(settings, environment)
    name = settings.session or DEFAULT_SESSION
    known = session_dir.newest(folder, name) if settings.session and not settings.new else None
    if known is None:
        return session_dir.create(folder, name), ""
    if not _is_over(known, root, settings.toolset):
        other = f"Session {name} is over another folder or toolset; a new one of that name begins."
        return session_dir.create(folder, name), other
    return session_dir.hold(known, name), ""


def _is_over(known: Path, root: Path | None, toolset: str) -> bool:
    """Whether a session on disk works on this folder with these tools; what is damaged may be."""
    first = transcript.first(known / "transcript.jsonl")
    if not isinstance(first, SessionOpened):
        return True
    return first.project == (text_of(root) if root else "") and first.toolset == toolset


def _opened(
    settings: Settings,
    place: SessionDir,
    root: Path | None,
    provider: Provider,
    toolset: Toolset,
    environment: Mapping[str, str],
) -> Session:
    past, torn = transcript.read(place.transcript) if place.transcript.exists() else ([], b"")
    transcript.repair(place.transcript, torn)
    history = _told(past)
    record = Transcript(place.transcript)
    log = EventLog(record, Redactor(environment), history.apply, history.last_seq)
    access: Access = settings.access or "full"
    cwd = root or _here()
    shell = _shell(root, place, settings, environment, log) if root else None
    run = Run(
        session_id=place.id,
        name=place.name,
        cwd=cwd,
        log=log,
        gate=Gate(log, settings.mode, history.last_prompt),
        history=history,
        toolset=toolset,
        provider=provider,
        access=access,
        system=system_prompt,
        workspace=_workspace(root, settings, environment) if root else None,
        shell=shell,
        jobs=JobWatch(shell, log) if shell else None,
        max_steps=settings.max_steps,
        snapshots=settings.snapshots,
    )
    log.emit(_opening(settings, run, resumed=bool(past)))
    if torn:
        log.emit(
            Notice(
                level="warning",
                text="The last line of the transcript was cut off; it was put aside.",
            )
        )
    close_what_was_open(log, history)
    if run.jobs is not None:
        settle_jobs(run.jobs, history)
    _report_recovery(run)
    session = Session(run, place, record, settings.toolset)
    left = (place.folder / DRY_RUN_FOLDER).exists()
    if run.workspace is not None and (settings.dry_run or left):
        session.set_dry_run(True)
    return session


def _shell(
    root: Path,
    place: SessionDir,
    settings: Settings,
    environment: Mapping[str, str],
    log: EventLog,
) -> Shell:
    ours = (home(environment), sessions_folder(settings, environment), place.folder)
    guarded = Guarded(tuple(folder.absolute() for folder in ours), is_protected)
    return Shell(
        root,
        _with_this_python(environment),
        spools=place.folder / SHELL_FOLDER,
        sandbox=settings.sandbox,
        guarded=guarded,
        redact=log.redactor.text,
        secrets=log.redactor,
    )


@dataclass(frozen=True)
class EarlierJob:
    """A background job of another session: its state, and the file of all it printed."""

    session: str
    name: str
    state: JobState
    output: Path


def earlier_jobs(
    project: Path, environment: Mapping[str, str], but: str = ""
) -> tuple[EarlierJob, ...]:
    """The background jobs of other sessions over this folder, the newest session first.

    Looks at the newest twenty such sessions; `but` is the id of one that is left out.
    """
    sessions = sessions_folder(load(environment), environment)
    if not sessions.is_dir():
        return ()
    known = [folder for folder in sessions.iterdir() if session_dir.FOLDER.fullmatch(folder.name)]
    newest = sorted(known, key=lambda folder: folder.name, reverse=True)[:_SESSIONS_LOOKED_AT]
    wanted = text_of(project.resolve())
    over = [folder for folder in newest if folder.name != but and _project_of(folder) == wanted]
    return tuple(job for folder in over[:_EARLIER_SESSIONS] for job in _jobs_in(folder))


def _project_of(session: Path) -> str:
    try:
        first = transcript.first(session / "transcript.jsonl")
    except OSError:
        return ""
    return first.project if isinstance(first, SessionOpened) else ""


def _jobs_in(session: Path) -> list[EarlierJob]:
    """The jobs of one session, the newest first."""
    shell = session / SHELL_FOLDER
    found = session_dir.FOLDER.fullmatch(session.name)
    name = found[1] if found else session.name
    return [
        EarlierJob(session.name, name, state, shell / state.spool_id / OUTPUT)
        for state in reversed(recorded(shell))
        if state.job_id
    ]


def journal_of(project: Path, environment: Mapping[str, str]) -> Workspace:
    """The files of a folder and their journal, without a session; it must exist."""
    return _workspace(project, load(environment), environment)


@dataclass(frozen=True)
class PurgePlan:
    """What a purge takes: changes and bytes that go, changes that stay, the day of the oldest.

    `oldest` is a day, `2026-03-01`, or "" where there is no change at all.
    """

    project: Path
    before: float
    changes: int
    bytes: int
    oldest: str
    kept: int
    aside: int = 0


def purge_plan(project: Path, older_than_days: float, environment: Mapping[str, str]) -> PurgePlan:
    """What forgetting the changes of a folder that are older than that would take."""
    before = time.time() - older_than_days * 86_400
    files = journal_of(project, environment)
    try:
        return _purge_plan(project, before, files.purge(before, only_look=True))
    finally:
        files.close()


def purge(plan: PurgePlan) -> PurgePlan:
    """Do what the plan says; what really went is returned."""
    files = journal_of(plan.project, os.environ)
    try:
        return _purge_plan(plan.project, plan.before, files.purge(plan.before))
    finally:
        files.close()


def _purge_plan(project: Path, before: float, found: Purged) -> PurgePlan:
    oldest = datetime.fromtimestamp(found.oldest, UTC).strftime("%Y-%m-%d") if found.oldest else ""
    return PurgePlan(project, before, found.changes, found.freed, oldest, found.kept, found.aside)


def _workspace(root: Path, settings: Settings, environment: Mapping[str, str]) -> Workspace:
    own = home(environment)
    return Workspace(
        root, own / "workspaces", protected=(own, sessions_folder(settings, environment))
    )


def _report_recovery(run: Run) -> None:
    """Settle what a crash left half done, and tell it where anything was found."""
    if run.workspace is None:
        return
    try:
        report = run.workspace.recovery()
    except ToolError as fault:
        run.log.emit(Notice(level="warning", text=str(fault)))
        return
    if report.verdict != "clean":
        run.log.emit(RecoveryReported(report=report))


def _told(past: Iterable[Event]) -> History:
    history = History()
    for event in past:
        history.apply(event)
    return history


def _opening(settings: Settings, run: Run, *, resumed: bool) -> SessionOpened:
    return SessionOpened(
        session=run.session_id,
        name=run.name,
        project=text_of(run.cwd) if run.workspace else "",
        toolset=settings.toolset,
        model=run.provider.label,
        mode=settings.mode,
        access=run.access,
        resumed=resumed,
    )


def _here() -> Path:
    """The working folder, or the root where that folder is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)


def _with_this_python(environment: Mapping[str, str]) -> dict[str, str]:
    """Commands find the Python of this session first, as a person at the notebook expects."""
    here = str(Path(sys.executable).parent)
    rest = environment.get("PATH", os.defpath)
    return {**environment, "PATH": rest if rest.startswith(here) else f"{here}{os.pathsep}{rest}"}
