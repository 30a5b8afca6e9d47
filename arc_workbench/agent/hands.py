"""What a person does to files between turns: undo, recovery, the dry run; each told as an event."""

from pathlib import Path
from typing import Literal

from arc_workbench.agent.run import Run
from arc_workbench.content import ChangeRow, CommandChanges, Diff, Recovery
from arc_workbench.errors import ToolError
from arc_workbench.events import FileChanged, SettingChanged
from arc_workbench.views import shown_of
from arc_workbench.workspace import Author, Change, FilePlan, Workspace

DRY_RUN_FOLDER = "dry-run"

_MOST_COMMANDS = 50

DryRun = Literal["off", "on", "applied", "discarded"]


def file_changed(
    plan: FilePlan, change: Change, call_id: str = "", *, dry_run: bool = False
) -> FileChanged:
    """The event that tells of a change of one file."""
    return FileChanged(
        call_id=call_id,
        change_id=change.id,
        path=change.place.shown,
        sha256=change.sha256 or "",
        diff=plan.diff,
        created=change.op == "create",
        removed=change.op == "remove",
        undoes=plan.undoes,
        dry_run=dry_run,
    )


def undo(run: Run, change_id: str) -> tuple[ChangeRow, Diff]:
    """Take one change back; "" is the last one of this session. Returns the change that did it.

    Raises `ToolError` where there is none, or where its file changed since.
    """
    files = _files(run)
    wanted = change_id or files.last_change(run.session_id)
    if not wanted:
        raise ToolError("Nothing of this session is left to undo. Others have ids: %agent changes")
    plan = files.plan_undo(wanted, confined=False)
    change = files.apply(plan, Author(run.session_id))
    run.log.emit(file_changed(plan, change))
    return files.change(change.id), files.change_diff(change.id)


def undo_command(run: Run, spool_id: str) -> tuple[tuple[ChangeRow, ...], str]:
    """Take back what a command of this session changed: the changes that did it, and what to know.

    Raises `ToolError` where that is not kept, or where a file changed since.
    """
    files = _files(run)
    rewound = files.rewind_command(spool_id, Author(run.session_id))
    for change in rewound.changes:
        run.log.emit(_changed_by_hand(files, change, undoes=spool_id))
    return tuple(files.change(change.id) for change in rewound.changes), rewound.note


def changing_commands(run: Run) -> tuple[str, ...]:
    """The newest commands of this session of which changes of files are kept, the newest first."""
    if run.workspace is None:
        return ()
    shown = {
        block.spool
        for turn in run.history.turns
        for call in list(turn.calls.values())
        for block in shown_of(call.result)
        if isinstance(block, CommandChanges) and block.rows
    }
    jobs = {job.spool for job in list(run.history.jobs.jobs.values())}
    newest = sorted(filter(None, shown | jobs), key=_number, reverse=True)[:_MOST_COMMANDS]
    return tuple(spool for spool in newest if _is_kept(run.workspace, spool, run.session_id))


def _is_kept(files: Workspace, spool_id: str, session: str) -> bool:
    """Whether changes of that command are kept; what cannot be looked at now is not offered."""
    try:
        found = files.command_changes(spool_id, session)
    except ToolError:
        return False
    return found is not None and bool(found.rows)


def _number(spool_id: str) -> int:
    """The order in which commands began; ids that are not ours come last."""
    digits = spool_id.removeprefix("s")
    return int(digits) if digits.isdecimal() else -1


def _changed_by_hand(files: Workspace, change: Change, undoes: str = "") -> FileChanged:
    """The event that tells of a change that a person made, as the journal has it."""
    diff = files.change_diff(change.id)
    return FileChanged(
        call_id="",
        change_id=change.id,
        path=change.place.shown,
        sha256=change.sha256 or "",
        diff=diff.unified,
        created=diff.created,
        removed=diff.removed,
        undoes=undoes,
    )


def decide(run: Run, change_id: str, how: Literal["keep", "restore"]) -> Recovery:
    """What a person decides about a change that recovery could not settle."""
    return _files(run).decide(change_id, how, Author(run.session_id))


def set_dry_run(run: Run, folder: Path, *, on: bool) -> None:
    """Begin a dry run in `folder`, or end one that holds nothing.

    Raises `ToolError` where changes would get lost.
    """
    files = _files(run)
    if on == files.dry_run:
        return
    if on:
        files.begin_dry_run(folder)
        _tell(run, "off", "on")
        return
    held = len(files.dry_run_diffs())
    if held:
        raise ToolError(
            f"The dry run holds changes of {held} file{'s' * (held != 1)}; it stays on. "
            "Take them or drop them: %agent dryrun apply or %agent dryrun discard."
        )
    files.end_dry_run()
    _tell(run, "on", "off")


def apply_dry_run(run: Run) -> tuple[ChangeRow, ...]:
    """Make all changes of the dry run in the project, or none; then it is over."""
    files = _dry(run)
    done = files.apply_dry_run(Author(run.session_id))
    for change in done:
        run.log.emit(_changed_by_hand(files, change))
    _tell(run, "on", "applied")
    return tuple(files.change(change.id) for change in done)


def discard_dry_run(run: Run) -> int:
    """Throw the dry run away; how many files it had changed."""
    count = _dry(run).end_dry_run()
    _tell(run, "on", "discarded")
    return count


def dry_run_diffs(run: Run) -> tuple[Diff, ...]:
    """How each file of the dry run differs from the project's."""
    return _dry(run).dry_run_diffs()


def _dry(run: Run) -> Workspace:
    files = _files(run)
    if not files.dry_run:
        raise ToolError("No dry run is on. Begin one: %agent dryrun on")
    return files


def _files(run: Run) -> Workspace:
    if run.workspace is None:
        raise ToolError("This session has no project folder, so there are no files to change.")
    return run.workspace


def _tell(run: Run, old: DryRun, new: DryRun) -> None:
    run.log.emit(SettingChanged(key="dryRun", old=old, new=new))
