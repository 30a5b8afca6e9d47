"""A session: commands in, events out. Everything a front end does is one of these verbs."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from arc_workbench.agent import hands
from arc_workbench.agent.jobs import JobWatch
from arc_workbench.agent.log import Sink
from arc_workbench.agent.reply import whole_characters
from arc_workbench.agent.run import Run
from arc_workbench.agent.turn import run_turn
from arc_workbench.content import ChangeRow, CommandChanges, Diff, Recovery
from arc_workbench.errors import SessionBusy, SessionError, SettingsError, ToolError
from arc_workbench.events import Access, Decider, Mode, Notice, Scope, SettingChanged
from arc_workbench.models.provider import Provider
from arc_workbench.shell import JobState, SandboxMode
from arc_workbench.store.session_dir import SessionDir
from arc_workbench.store.transcript import Transcript
from arc_workbench.tools.tool import Tool
from arc_workbench.views import JobBoard, TurnView
from arc_workbench.workspace import Workspace


class Session:
    """One conversation over one folder.

    `listen`, `resolve`, `steer`, `cancel` and what is about jobs may be called from any thread;
    `send` runs on the loop that awaits it. Opened by `open_session`; `close`, or `async with`, lets
    it go.
    """

    def __init__(
        self, run: Run, place: SessionDir, transcript: Transcript, toolset_name: str
    ) -> None:
        self.toolset_name = toolset_name
        self._run = run
        self._place = place
        self._transcript = transcript
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._taken_back: dict[str, frozenset[str]] = {}

    # ---- facts ------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's own name on disk."""
        return self._run.session_id

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._run.name

    @property
    def folder(self) -> Path:
        """Where its transcript lies."""
        return self._place.folder

    @property
    def turns(self) -> list[TurnView]:
        """Every turn of the session, oldest first."""
        return self._run.history.turns

    @property
    def project(self) -> Path | None:
        """The project folder, or None for chat only."""
        return self._run.cwd if self._run.workspace is not None else None

    @property
    def model(self) -> str:
        """The model that answers, as it is typed."""
        return self._run.provider.label

    @property
    def provider(self) -> Provider:
        """What answers now."""
        return self._run.provider

    @property
    def open_prompts(self) -> tuple[str, ...]:
        """The prompts that wait for an answer, oldest first."""
        return self._run.gate.open_prompts()

    def blank_view(self) -> TurnView:
        """A view to fold the next turn into, with what the session runs with now."""
        return self._run.history.blank_view()

    @property
    def mode(self) -> str:
        """Which calls are allowed, asked for or denied."""
        return self._run.gate.mode

    @property
    def access(self) -> str:
        """Which tools are offered."""
        return self._run.access

    @property
    def sandbox(self) -> SandboxMode:
        """What confines commands; "off" too where there is no project folder, and so no command."""
        return self._run.shell.sandbox if self._run.shell is not None else "off"

    @property
    def step(self) -> int:
        """The number of the last step that began; 0 before the first."""
        return self._run.history.last_step

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self._task is not None and not self._task.done()

    @property
    def offered(self) -> Sequence[Tool]:
        """The tools the model is told of now."""
        return self._run.offered()

    @property
    def dry_run(self) -> bool:
        """Whether changes of files are kept beside the project until they are applied."""
        return self._run.dry_run

    def changes(self, limit: int = 50) -> tuple[ChangeRow, ...]:
        """The newest changes of the project folder, by whatever session, newest first."""
        return self._files.history(limit)

    def change(self, change_id: str) -> ChangeRow:
        """One change; `ToolError` where there is none of that id."""
        return self._files.change(change_id)

    def change_diff(self, change_id: str) -> Diff:
        """What one change did; `ToolError` where there is none of that id."""
        return self._files.change_diff(change_id)

    @property
    def history_note(self) -> str:
        """What must be said with every list of changes, if it may not be whole; "" for nothing."""
        return self._files.history_note

    def diff_since(self, change_id: str) -> Diff | None:
        """What became of a change's file since then; None where it is what the change left."""
        return self._files.diff_since(change_id)

    def recovery(self) -> Recovery:
        """How the journal of the project folder stands; blocked means that nothing is written."""
        return self._files.recovery()

    def dry_run_diffs(self) -> tuple[Diff, ...]:
        """What applying the dry run would change; `ToolError` where none is on."""
        return hands.dry_run_diffs(self._run)

    def board(self) -> JobBoard:
        """Every background job of the session as it stands now, to fold further events into."""
        return self._run.history.jobs.copy()

    def jobs(self) -> tuple[JobState, ...]:
        """The background jobs, the newest first; those of an earlier kernel are among them."""
        return self._run.jobs.states() if self._run.jobs is not None else ()

    def job(self, job_id: str) -> JobState:
        """One background job; `ToolError` where there is none of that id."""
        return self._jobs.state(job_id)

    def job_tail(self, job_id: str, max_bytes: int = 2048) -> str:
        """The end of what a job printed, as plain text; what the model reads next stays the same.

        Raises `ToolError` where there is none of that id.
        """
        return self._jobs.tail(job_id, max_bytes)

    def job_output(self, job_id: str) -> Path:
        """The file of all that a job printed; `ToolError` where there is none of that id."""
        return self._jobs.output(job_id)

    # ---- verbs ------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Put one line for the person into the record."""
        self._require_open()
        self._run.log.emit(Notice(level="info", text=text))

    def listen(self, sink: Sink) -> Callable[[], None]:
        """Hand every event from now on to `sink`, in order, each stored before it is shown.

        `sink` is called from whichever thread the event came from and must only take note of it.
        Returns the function that ends it.
        """
        return self._run.log.listen(sink)

    async def send(self, prompt: str) -> TurnView:
        """Run one turn to its end and return it; how it ended is `turn.reason`.

        Raises `SessionBusy` while another turn runs, `SettingsError` for an empty prompt, and
        `TranscriptError` where the record cannot be written. Cancelling the caller interrupts the
        turn: its calls are answered and nothing runs on when the cancellation surfaces.
        """
        if not prompt.strip():
            raise SettingsError("The cell has no task; nothing ran. Write it below the first line.")
        if self.busy:
            raise SessionBusy(
                f"t{self._run.history.last_turn} still runs; prompt not sent. Await it, or --new."
            )
        self._require_open()
        self._loop = asyncio.get_running_loop()
        text = whole_characters(prompt)
        task = asyncio.create_task(self._turn(text))
        self._task = task
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._stop_and_wait(task)
            raise
        return self.turns[-1]

    def resolve(
        self,
        prompt: str,
        *,
        allow: bool,
        reason: str = "",
        scope: Scope = "once",
        by: Decider = "person",
        digest: str | None = None,
    ) -> bool:
        """Answer an open prompt; False if it was answered already or is not open.

        With `digest` the answer counts only for the very action that digest belongs to. Raises
        `SettingsError` for a scope or a decider that there is none of.
        """
        _require("scope", scope, get_args(Scope))
        _require("decider", by, get_args(Decider))
        words = whole_characters(reason)
        return self._run.gate.resolve(
            prompt, allow=allow, reason=words, scope=scope, by=by, digest=digest
        )

    def steer(self, text: str) -> None:
        """Say something to the model before its next step, or at the start of the next turn."""
        if text.strip():
            self._run.steering.append(whole_characters(text))

    def cancel(self) -> None:
        """Stop the turn now: what runs is ended and answered."""
        self._run.signal.set()
        task, loop = self._task, self._loop
        if task is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; a prompt that is open is judged again when it is answered.

        Raises `SettingsError` for a word that is no mode.
        """
        _require("mode", mode, get_args(Mode))
        self._change("mode", self.mode, mode)
        self._run.gate.mode = mode

    def set_access(self, access: Access) -> None:
        """Change which tools are offered, from the next step on.

        Raises `SettingsError` for a word that is no access.
        """
        _require("access", access, get_args(Access))
        self._change("access", self.access, access)
        self._run.access = access

    def set_sandbox(self, mode: SandboxMode) -> None:
        """Change what confines the commands that begin from now on; jobs go on as they began.

        Where there is no project folder there is nothing to confine, and nothing changes. Raises
        `SettingsError` for a word that is no sandbox, and `SessionBusy` while a turn runs.
        """
        _require("sandbox", mode, get_args(SandboxMode))
        self._require_idle()
        if self._run.shell is not None:
            self._change("sandbox", self.sandbox, mode)
            self._run.shell.sandbox = mode

    def set_provider(self, provider: Provider) -> None:
        """Change the model, from the next step on."""
        self._change("model", self.model, provider.label)
        self._run.provider = provider

    def undo(self, change_id: str = "") -> tuple[ChangeRow, Diff]:
        """Take one change back, by default the last of this session; what did it is returned.

        It can itself be undone. Raises `ToolError` where the file changed since, and `SessionBusy`
        while a turn runs.
        """
        self._require_idle()
        undone = hands.undo(self._run, change_id)
        for spool_id, ids in list(self._taken_back.items()):
            if undone[0].undoes in ids:
                del self._taken_back[spool_id]
        return undone

    def undo_command(self, spool_id: str) -> tuple[tuple[ChangeRow, ...], str]:
        """Take back what a command of this session changed in the project, all of it or nothing.

        Returns the changes that did it, each of which can be undone, and what else to know. Raises
        `ToolError` where nothing is kept of the command, or where a file changed since, and
        `SessionBusy` while a turn runs.
        """
        self._require_idle()
        undone = hands.undo_command(self._run, spool_id)
        self._taken_back[spool_id] = frozenset(row.id for row in undone[0])
        return undone

    def command_changes(self, spool_id: str) -> CommandChanges | None:
        """What a command of this session changed; None where that is not kept."""
        return self._files.command_changes(spool_id, self.id)

    def changing_commands(self, *, standing: bool = False) -> tuple[str, ...]:
        """The ids of this session's newest commands of which changes are kept, newest first.

        With `standing` without those that were taken back here and stayed so.
        """
        found = hands.changing_commands(self._run)
        return tuple(each for each in found if not standing or each not in self._taken_back)

    def recover(self, change_id: str, how: Literal["keep", "restore"]) -> Recovery:
        """Settle what recovery could not: keep the file as it is, or restore what it held before.

        Raises `ToolError` for a change that needs no decision, `SessionBusy` while a turn runs.
        """
        self._require_idle()
        return hands.decide(self._run, change_id, how)

    def set_dry_run(self, on: bool) -> None:
        """Begin a dry run, or end one that holds nothing.

        Raises `ToolError` where it holds changes, `SessionBusy` while a turn runs.
        """
        self._require_idle()
        hands.set_dry_run(self._run, self._place.folder / hands.DRY_RUN_FOLDER, on=on)

    def dry_run_apply(self) -> tuple[ChangeRow, ...]:
        """Make all changes of the dry run in the project, or none, and end it.

        Raises `ToolError` where a file changed since the dry run touched it, `SessionBusy` while a
        turn runs.
        """
        self._require_idle()
        return hands.apply_dry_run(self._run)

    def dry_run_discard(self) -> int:
        """Throw the dry run away; how many files it had. `SessionBusy` while a turn runs."""
        self._require_idle()
        return hands.discard_dry_run(self._run)

    def kill_job(self, job_id: str) -> JobState:
        """End a background job and all it started; returns when it is over, after 3 s at most.

        May be called from any thread. Raises `ToolError` where there is none of that id.
        """
        return self._jobs.kill(job_id)

    def cap(self, *, on: bool) -> None:
        """While on, no mode is looser than `default` and no grant counts: what would ask, asks."""
        self._run.gate.capped = on

    def close(self) -> None:
        """Let the session go, so that another process may take it. A second call does nothing.

        A turn that runs is interrupted first and keeps the session until its calls are answered.
        Background jobs end with the session; how they ended is in the record then.
        """
        self._closed = True
        if self._task is None or self._task.done():
            self._let_go()
            return
        self._task.add_done_callback(lambda _: self._let_go())
        self.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            await self._stop_and_wait(self._task)
        self.close()

    # ---- inside -----------------------------------------------------------------------------

    def _let_go(self) -> None:
        try:
            if self._run.jobs is not None:
                self._run.jobs.close()
        finally:
            self._transcript.close()
            if self._run.workspace is not None:
                self._run.workspace.close()
            self._place.release()

    async def _turn(self, prompt: str) -> None:
        await run_turn(self._run, prompt)

    async def _stop_and_wait(self, task: "asyncio.Task[None]") -> None:
        """Interrupt the turn and wait until everything in it is answered, however often asked."""
        self._run.signal.set()
        task.cancel()
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})

    @property
    def _files(self) -> Workspace:
        if self._run.workspace is None:
            raise ToolError("This session has no project folder, so there are no files.")
        return self._run.workspace

    @property
    def _jobs(self) -> JobWatch:
        if self._run.jobs is None:
            raise ToolError("This session has no project folder, so there are no jobs.")
        return self._run.jobs

    def _require_idle(self) -> None:
        self._require_open()
        if self.busy:
            raise SessionBusy(
                f"t{self._run.history.last_turn} still runs; nothing was done. Await it first."
            )

    def _require_open(self) -> None:
        if self._closed:
            raise SessionError(f"Session {self.name} is closed; nothing ran. Open it again.")

    def _change(
        self, key: Literal["mode", "access", "model", "sandbox"], old: str, new: str
    ) -> None:
        self._require_open()
        if old != new:
            self._run.log.emit(SettingChanged(key=key, old=old, new=new))


def _require(what: str, word: str, allowed: tuple[str, ...]) -> None:
    if word not in allowed:
        raise SettingsError(
            f"{word} is no {what}; nothing ran. Known: {', '.join(allowed)}.",
            key=what,
            allowed=allowed,
        )
