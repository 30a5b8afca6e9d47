"""Changing files through the journal: written down, done, checked, and settled, or as it was.

`Ledger` is what all changes of a project folder go through, whoever asks. It holds the journal's
lock from the look at the old content to the note that the change is done, so of two processes on
one folder exactly one is inside.
"""

import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from weakref import WeakSet

from arc_workbench.content import ChangeRow, Recovery
from arc_workbench.errors import ToolError
from arc_workbench.workspace import carrying, effects, naming, purging, recovery
from arc_workbench.workspace.images import Image
from arc_workbench.workspace.journal import TAMPERED, Journal, Left
from arc_workbench.workspace.own_files import UnusableError, folder_for
from arc_workbench.workspace.paths import reason
from arc_workbench.workspace.plans import FilePlan, changed_meanwhile
from arc_workbench.workspace.purging import Purged
from arc_workbench.workspace.records import Author, Intent
from arc_workbench.workspace.recovery import Settled
from arc_workbench.workspace.verdicts import JOURNAL_ENTRY, Findings

Status = Literal["prepared", "committed", "undone", "rolled_back", "ambiguous", "kept"]
How = Literal["keep", "restore"]


@dataclass(frozen=True)
class Done:
    """A change that was made, as the journal has it."""

    intent: Intent
    inode: int


_LEDGERS: WeakSet["Ledger"] = WeakSet()


def _after_fork() -> None:
    for ledger in list(_LEDGERS):
        ledger.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Ledger:
    """The journal of one folder, with the hands that do what is written in it.

    `state` is the folder in which journals are kept, `root` the real path of the project. Nothing
    is created there before the first change. May be used from any thread.
    """

    def __init__(self, state: Path, root: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._journal = Journal(folder_for(state.resolve(), root), root)
        self._clock = clock
        self._lock = threading.RLock()
        self._findings = Findings(self._journal)
        _LEDGERS.add(self)

    @property
    def folder(self) -> Path:
        """Where the journal lies, or would."""
        return self._journal.folder

    def close(self) -> None:
        """Let the files go; they are opened again when they are needed."""
        with self._lock:
            self._journal.close()

    def begin_anew(self) -> None:
        """In a child that was forked off: share neither files nor locks with the parent."""
        self._lock = threading.RLock()
        self._journal.close()

    # ---- looking --------------------------------------------------------------------------------

    def report(self) -> Recovery:
        """Bring the journal up to date, settle what was left half done, and say what was found."""
        try:
            with self._hold(create=False):
                pass
        except ToolError:
            if not self._findings.fault:
                raise
        return self._findings.report()

    def history(self, limit: int) -> tuple[ChangeRow, ...]:
        """The newest changes, newest first, at most `limit`."""
        with self._hold(create=False) as journal:
            numbers = reversed(journal.ids[-limit:] if limit else journal.ids[:0])
            return tuple(self._row(journal.intent(number)) for number in numbers)

    def row(self, id_: str) -> ChangeRow:
        """One change; `ToolError` where there is none of that id."""
        with self._hold(create=False) as journal:
            return self._row(naming.found(journal, id_))

    def contents(self, id_: str) -> tuple[Intent, bytes | None, bytes | None]:
        """A change, and what the file held before and after it."""
        with self._hold(create=False) as journal:
            intent = naming.found(journal, id_)
            before, after = (
                journal.images.read(image) if image is not None else None
                for image in (intent.before, intent.after)
            )
            return intent, before, after

    def image(self, image: Image | None) -> bytes | None:
        """The bytes of an image."""
        with self._hold(create=False) as journal:
            return journal.images.read(image) if image is not None else None

    @property
    def note(self) -> str:
        """What must be said with every list of changes that may not be whole; "" for nothing."""
        with self._hold(create=False) as journal:
            return TAMPERED if journal.damage is not None else ""

    def last_of(self, session: str) -> str:
        """The newest change of a session that is in force and is itself no undo; "" for none.

        Raises `ToolError` for a damaged journal.
        """
        with self._hold(create=False) as journal:
            if journal.damage is not None:
                raise self._blocked()
            for number in reversed(journal.ids):
                intent = journal.intent(number)
                mine = intent.session == session and not intent.undoes
                if mine and self._status(intent) == "committed":
                    return intent.id
            return ""

    def to_undo(self, id_: str) -> tuple[Intent, bytes | None, Left]:
        """A change that can be undone, what the file held before, and how it was left since.

        Raises `ToolError` for one that is not in force.
        """
        with self._hold(create=False) as journal:
            intent = naming.found(journal, id_)
            status = self._status(intent)
            if status == "undone":
                by = journal.undone_by(id_)
                raise ToolError(f"{id_} is undone already, by {by}. To redo it, undo {by}.")
            if status != "committed":
                raise ToolError(
                    f"{id_} is {status.replace('_', ' ')}, so there is nothing to undo."
                )
            before = journal.images.read(intent.before) if intent.before is not None else None
            return intent, before, journal.left_by(intent)

    # ---- changing -------------------------------------------------------------------------------

    def apply(self, plan: FilePlan, author: Author) -> Done:
        """Do one plan; on any failure the file is what it was, and `ToolError` says why."""
        return self.apply_all((plan,), author)[0]

    def apply_all(self, plans: Sequence[FilePlan], author: Author) -> tuple[Done, ...]:
        """Do all of these plans or none of them."""
        with self._hold(create=True) as journal:
            self._require_sound()
            return self._apply(journal, plans, author)

    def _apply(
        self, journal: Journal, plans: Sequence[FilePlan], author: Author
    ) -> tuple[Done, ...]:
        intents = self._begin(journal, plans, author)
        inodes: list[int] = []
        working = plans[0]
        try:
            for plan, intent in zip(plans, intents, strict=True):
                working = plan
                inodes.append(carrying.carry_out(plan, intent))
        except BaseException as fault:
            touched = len(inodes) + (not isinstance(fault, effects.ConflictError))
            error = self._given_up(journal, working, intents, touched, fault)
            if error is fault:
                raise
            raise error from fault
        done = tuple(map(Done, intents, inodes))
        for one in done:
            _note_done(journal, one)
        return done

    def _begin(
        self, journal: Journal, plans: Sequence[FilePlan], author: Author
    ) -> tuple[Intent, ...]:
        """Look at each file a last time, keep what it holds, and write down what is to happen."""
        images = journal.images
        end = started = journal.images_end
        number = journal.next_number
        group = f"c{number}" if len(plans) > 1 else ""
        intents: list[Intent] = []
        try:
            for offset, plan in enumerate(plans):
                with carrying.failures(plan, "nothing was written"):
                    kept = carrying.keep(plan, images, end)
                end = kept.end
                id_, now = f"c{number + offset}", int(self._clock())
                intents.append(carrying.intended(plan, kept, id_, group, author, now))
            with carrying.failures(plans[0], "nothing was written"):
                if end > started:
                    images.sync()
                journal.begin(intents)
        except BaseException:
            if end > started:
                images.cut(started)
            raise
        for intent in intents:
            for image in filter(None, (intent.before, intent.after)):
                images.remember(image)
        return tuple(intents)

    def _given_up(
        self,
        journal: Journal,
        plan: FilePlan,
        intents: Sequence[Intent],
        touched: int,
        fault: BaseException,
    ) -> BaseException:
        """Put right what can be put right, and the error that says how it stands."""
        try:
            settled = self._after_failure(journal, plan, intents, touched, fault)
        except (OSError, ToolError, effects.ConflictError):
            state = "what became of it is found out at the next change or start"
        else:
            state = naming.state_of(plan, settled)
        if isinstance(fault, effects.ConflictError):
            return changed_meanwhile(plan.place.shown)
        if isinstance(fault, carrying.ReadBackError):
            return ToolError(f"{plan.place.shown} {fault}; {state}. Read it again.")
        if isinstance(fault, OSError):
            return carrying.worded(plan, fault, state)
        return fault

    def _after_failure(
        self,
        journal: Journal,
        plan: FilePlan,
        intents: Sequence[Intent],
        touched: int,
        fault: BaseException,
    ) -> list[Settled]:
        mine = [one for one in intents if one.file == plan.place.real]
        alone = len(intents) == 1
        if alone and isinstance(fault, effects.ConflictError):
            carrying.clear(intents[0])
            journal.settle(intents[0].id, "void", why="the file had changed; it was not touched")
            return [Settled(mine[0], "out", "")]
        if alone and isinstance(fault, carrying.ReadBackError) and not fault.stored_wrongly:
            journal.settle(intents[0].id, "done", why="changed by another program right after")
            return [Settled(mine[0], "in", "")]
        if isinstance(fault, carrying.ReadBackError) and fault.stored_wrongly:
            carrying.write_again(journal, mine[0])
        for intent in intents[touched:]:
            carrying.clear(intent)
        settled = recovery.settle(journal, list(intents), touched)
        self._findings.note(recovery.unclear(settled))
        return settled

    # ---- what a person decides ------------------------------------------------------------------

    def decide(
        self,
        id_: str,
        how: How,
        plan_restore: Callable[[Intent], FilePlan | None],
        author: Author,
    ) -> None:
        """Settle what is unclear: `keep` the file as it is, or `restore` what it held before.

        `plan_restore` plans the old content over what is there now; None where it is there.
        """
        with self._hold(create=False) as journal:
            if id_ == JOURNAL_ENTRY and journal.damage is not None:
                if how == "restore":
                    raise ToolError(
                        "A damaged journal cannot be restored. keep journal puts it aside, "
                        "leaves every file as it is, and begins a new one."
                    )
                journal.put_aside()
                self._findings.clear()
                return
            if id_ not in journal.pending:
                raise ToolError(f"{id_} needs no decision. See: %agent recovery")
            intent = naming.found(journal, id_)
            plan = plan_restore(intent) if how == "restore" else None
            if plan is not None:
                self._apply(journal, (plan,), author)
            carrying.clear(intent)
            journal.settle(id_, "kept" if how == "keep" else "void", why="a person decided")
            journal.sync()
            self._findings.drop_decided()

    def purge(self, before: float, *, only_look: bool) -> Purged:
        """Forget changes made before that time (seconds since the epoch), or say what would go."""
        with self._hold(create=False) as journal:
            return purging.look(journal, before) if only_look else purging.purge(journal, before)

    # ---- inside ---------------------------------------------------------------------------------

    @contextmanager
    def _hold(self, *, create: bool) -> Generator[Journal]:
        """The journal, locked and up to date, with what was left half done settled."""
        with self._lock:
            try:
                with self._journal.locked(create=create):
                    self._findings.fault = ""
                    self._recover()
                    yield self._journal
            except UnusableError as fault:
                self._findings.fault = str(fault)
                raise self._blocked() from None
            except OSError as fault:
                raise ToolError(
                    f"The journal cannot be used: {reason(fault)}. Put that right, then try again; "
                    "until then no file is changed."
                ) from fault

    def _recover(self) -> None:
        journal = self._journal
        if journal.damage is None and not self._findings.knows(journal.pending):
            self._findings.note(recovery.settle_pending(journal))
        self._findings.drop_decided()

    def _require_sound(self) -> None:
        if self._findings.blocked:
            raise self._blocked()

    def _blocked(self) -> ToolError:
        return ToolError(
            f"Journal {self._findings.verdict}: writing blocked, reading works. "
            "See %agent recovery",
            details={"mutationBlocked": True},
        )

    def _row(self, intent: Intent) -> ChangeRow:
        return ChangeRow(
            id=intent.id,
            op=intent.verb,
            path=intent.shown,
            added=intent.added,
            removed=intent.removed,
            status=self._status(intent),
            session=intent.session,
            undoes=intent.undoes,
        )

    def _status(self, intent: Intent) -> Status:
        match self._journal.state(intent.number):
            case "done":
                return "undone" if self._journal.undone_by(intent.id) else "committed"
            case "void":
                return "rolled_back"
            case "kept":
                return "kept"
            case _:
                return "ambiguous" if self._findings.knows([intent.id]) else "prepared"


def _note_done(journal: Journal, done: Done) -> None:
    try:
        journal.settle(done.intent.id, "done", inode=done.inode)
    except OSError:
        return  # the change is whole and on the disk; the next look at the journal finds that out
