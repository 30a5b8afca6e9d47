"""A campaign of kills: `python -m tests.faults.kills FOLDER SEED POINTS [older]`.

One process imports everything once and forks a child for each point. The child does one operation
and is killed before its k-th step; then the folder is opened again by children that are killed
before the first, the second, … step of the recovery, until one comes through or the dice end it.
Then the model is checked, and the next k is tried with the next operation of that kind, until k is
past its end.
Prints one JSON object: how many points, how many changes got in, what went wrong.
"""

import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Literal

from arc_workbench.content import ChangeRow
from arc_workbench.workspace import Workspace
from arc_workbench.workspace.effects import TEMPORARY_PREFIX
from tests.faults.model import ALL, Model, Operation, Violation, require, tree_of
from tests.faults.steps import deadly, older_system, replaced

KINDS = ("create", "write", "undo", "undo", "edit", "group", "undo", "group")
SEEDS = ("a.txt", "b/c.txt", "b/d.sh", "e.txt", "f.txt")
How = Literal["keep", "restore"]
HOWS: tuple[How, ...] = ("keep", "restore")
AGAIN = 0.8  # how likely it is that a recovery is killed, and killed again


def in_child(at: int, work: Callable[[], object]) -> tuple[bool, bool]:
    """Do it in a child that dies before step `at`; whether it came through, and was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with replaced(deadly(at)):
                work()
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    require(os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed, see above")
    return not os.WIFSIGNALED(status), os.WIFSIGNALED(status)


def purge(workspace: Workspace) -> object:
    """Forget every change so far."""
    return workspace.purge(time.time() + 60)


def die(*_: object) -> None:
    """Be killed here and now."""
    os.kill(os.getpid(), signal.SIGKILL)


def deciding(id_: str, how: How) -> Callable[[Workspace], object]:
    """The work of deciding about a change."""
    return lambda workspace: workspace.decide(id_, how)


class Campaign:
    """Kills until there were as many as wanted."""

    def __init__(self, folder: Path, seed: int, points: int) -> None:
        self.points = 0
        self.outcomes: Counter[str] = Counter()
        self._wanted = points
        self._folder = folder
        self._dice = Random(seed)
        self._model = self._begin(0)

    def _begin(self, number: int) -> Model:
        folder = self._folder / f"round{number}"
        (folder / "project").mkdir(parents=True)
        model = Model(folder / "project", folder / "state", self._dice)
        model.seed(SEEDS)
        return model

    def run(self) -> None:
        """All kinds of operations in turn; each before each of its steps."""
        number = 1
        while self.points < self._wanted:
            for kind in KINDS:
                if self.points >= self._wanted:
                    break
                self._before_each_step(kind)
            self._model.check_contents(self._history())
            for how in HOWS:
                self._decide_before_each_step(how)
            self._purge_before_each_step()
            if number % 2:  # what follows has a short journal, or one that was purged
                shutil.rmtree(self._model.root.parent)
                self._model = self._begin(number)
            number += 1

    def _before_each_step(self, kind: str) -> None:
        at = 1
        while self._one(self._model.operation(kind), at):
            at += 1

    def _one(self, operation: Operation, at: int) -> bool:
        """One operation with one kill; whether it was killed."""
        rows = self._rows()
        through, killed = in_child(at, lambda: self._with_workspace(operation.run))
        self._recover()
        is_in = self._model.check(operation, acknowledged=through, rows_before=rows)
        self.points += killed
        self.outcomes[f"{operation.kind} {'in' if is_in else 'out'}"] += 1
        return killed

    # ---- what a person decides ------------------------------------------------------------------

    def _decide_before_each_step(self, how: How) -> None:
        """Decide about a change that is unclear, and be killed before each step of that."""
        name, old = self._make_unclear()
        theirs = self._model.files[name]
        at, killed = 1, True
        while killed:
            id_ = self._unclear()
            if not id_:  # the kill came when it was settled already
                break
            killed = in_child(at, lambda id_=id_: self._with_workspace(deciding(id_, how)))[1]
            self.points += killed
            at += 1
        require(not self._unclear(), "it was decided and is still unclear")
        now = tree_of(self._model.root)
        wanted = {**self._model.files, name: theirs if how == "keep" else (old, theirs[1])}
        require(now == wanted, "not what was decided", how, name)
        self._model.files = now
        self.outcomes[how] += 1

    def _make_unclear(self) -> tuple[str, bytes]:
        """A change that is cut off, of a file that somebody writes then; and what it held."""
        name = self._dice.choice(sorted(self._model.files))
        old, mode = self._model.files[name]

        def work(workspace: Workspace) -> None:
            plan = workspace.plan_write(workspace.inside(name), "never there")
            with replaced({"dress": die}):
                workspace.apply(plan)

        _, killed = in_child(0, lambda: self._with_workspace(work))
        require(killed, "it was to be killed")
        for beside in (self._model.root / name).parent.glob(f"{TEMPORARY_PREFIX}*"):
            beside.unlink()
        (self._model.root / name).write_bytes(b"theirs")
        self._model.files[name] = (b"theirs", mode)
        return name, old

    def _unclear(self) -> str:
        """The id of the change that a person must decide about, "" for none."""
        workspace = self._model.workspace()
        report = workspace.recovery()
        workspace.close()
        require(report.verdict != "tampered", "tampered by a crash alone", report)
        return report.entries[0].id if report.verdict == "ambiguous" else ""

    # ---- purging --------------------------------------------------------------------------------

    def _purge_before_each_step(self) -> None:
        at, killed = 1, True
        while killed:
            rows = self._history()
            killed = in_child(at, lambda: self._with_workspace(purge))[1]
            require(self._history() in (rows, ()), "a part of the history")
            require(not self._unclear(), "unclear after a purge")
            require(tree_of(self._model.root) == self._model.files, "a purge changed files")
            self.points += killed
            at += 1
        require(self._rows() == 0, "the history is still there")

    # ---- opening it again -----------------------------------------------------------------------

    def _recover(self) -> None:
        at, killed = 1, True
        while killed and self._dice.random() < AGAIN:
            _, killed = in_child(at, lambda: self._with_workspace(Workspace.recovery))
            self.points += killed
            self.outcomes["recovery killed"] += killed
            at += 1

    def _with_workspace(self, work: Callable[[Workspace], object]) -> None:
        workspace = self._model.workspace()
        work(workspace)
        workspace.close()

    def _history(self) -> tuple[ChangeRow, ...]:
        workspace = self._model.workspace()
        try:
            return workspace.history(ALL)
        finally:
            workspace.close()

    def _rows(self) -> int:
        return len(self._history())


def main() -> int:
    """Run one campaign, told by the command line."""
    folder, seed, points, *rest = sys.argv[1:]
    os.umask(0o022)
    fault = ""
    campaign = Campaign(Path(folder).resolve(), int(seed), int(points))
    with ExitStack() as stack:
        if rest == ["older"]:
            stack.enter_context(replaced(older_system()))
        try:
            campaign.run()
        except Violation:
            fault = traceback.format_exc()
    told = {"points": campaign.points, "outcomes": campaign.outcomes, "fault": fault}
    sys.stdout.write(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
