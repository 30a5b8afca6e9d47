"""What is there after the power went at any point of a change, whatever was not synced by then."""

import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.faults.model import ALL, Model, Operation, Tree
from tests.faults.power import Disk, Recorder, Step, crashes
from tests.faults.steps import older_system, replaced
from tests.requirements import requirement

SEEDS = ("a.txt", "b/c.txt", "b/d.sh", "e.txt")
DISKS = 8


@dataclass(frozen=True)
class Done:
    """An operation that was recorded: the tree and the changes before it."""

    operation: Operation
    before: Tree
    rows: int


class Machine:
    """A project folder whose power can go; it is rebuilt from a disk at the same path."""

    def __init__(self, base: Path, dice: Random) -> None:
        self._base = base
        self._dice = dice
        self.folder = base / "machine"
        (self.folder / "project").mkdir(parents=True)
        self.model = Model(self.folder / "project", self.folder / "state", dice)
        self.model.seed(SEEDS)

    def record(self, kinds: tuple[str, ...]) -> tuple[Disk, list[Step], list[Done]]:
        """Do these operations and write down every step."""
        start, recorder, done = Disk.of(self.folder), Recorder(), list[Done]()
        for kind in kinds:
            operation = self.model.operation(kind)
            rows = self._rows()
            done.append(Done(operation, self.model.files, rows))
            with replaced(recorder.calls()):
                workspace = self.model.workspace()
                operation.run(workspace)
                workspace.close()
            recorder.say(kind)
            self.model.check(operation, acknowledged=True, rows_before=rows)
        return start, recorder.log, done

    def _rows(self) -> int:
        workspace = self.model.workspace()
        try:
            return len(workspace.history(ALL))
        finally:
            workspace.close()

    @contextmanager
    def as_found(self) -> Generator[None]:
        """The folder is put away while others stand in its place, and is there again after it."""
        files = self.model.files
        self.folder.rename(self._base / "put-away")
        self.folder.mkdir()
        try:
            yield
        finally:
            shutil.rmtree(self.folder)
            (self._base / "put-away").rename(self.folder)
            self.model.files = files

    def found(self, disk: Disk) -> None:
        """Let this be what is on the disk."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        disk.write_to(self.folder)

    def check(self, log: list[Step], done: list[Done]) -> None:
        """The model, for a disk that was found after this log."""
        said = sum(step.what == "said" for step in log)
        acknowledged = said == len(done)
        last = done[min(said, len(done) - 1)]
        self.model.files = last.before
        self.model.check(last.operation, acknowledged=acknowledged, rows_before=last.rows)

    def recover_and_cut(self, disk: Disk, log: list[Step], done: list[Done], most: int) -> int:
        """Cut the power again, at each point of the recovery."""
        self.found(disk)
        start, recorder = Disk.of(self.folder), Recorder()
        with replaced(recorder.calls()):
            workspace = self.model.workspace()
            workspace.recovery()
            workspace.close()
        count = 0
        for again, _ in crashes(start, recorder.log, self._dice, most):
            self.found(again)
            self.check(log, done)
            count += 1
        return count


@requirement("REQ-F4", "REQ-F8", "REQ-F9", "REQ-F69")
@pytest.mark.parametrize("older", [False, True], ids=["swapping", "renaming"])
@pytest.mark.parametrize(
    "kinds",
    [("create", "write"), ("group", "edit"), ("write", "undo"), ("create", "undo", "group")],
    ids="-".join,
)
def test_a_power_cut_anywhere_loses_no_acknowledged_change_and_tears_no_file(
    quick_folder: Path, scale: float, kinds: tuple[str, ...], older: bool
) -> None:
    dice = Random(len(kinds[0]))
    disks = max(3, int(DISKS * scale))
    machine = Machine(quick_folder, dice)
    with ExitStack() as stack:
        if older:
            stack.enter_context(replaced(older_system()))
        start, log, done = machine.record(kinds)
        stack.enter_context(machine.as_found())
        points = 0
        for disk, end in crashes(start, log, dice, disks):
            machine.found(disk)
            machine.check(log[:end], done)
            points += 1
            if dice.random() < 0.02:
                points += machine.recover_and_cut(disk, log[:end], done, disks)
    assert points > 100


@requirement("REQ-F9", "REQ-S69", "BUG-E18")
def test_each_step_is_on_the_disk_before_the_next_one_rests_on_it(quick_folder: Path) -> None:
    machine = Machine(quick_folder, Random(1))
    machine.record(("create",))

    _, log, _ = machine.record(("write",))

    assert [f"{step.what} {_named(step, log, machine.folder)}" for step in log] == [
        *("bytes images-1", "bytes images-1", "sync images-1"),
        *("bytes journal.jsonl", "sync journal.jsonl", "bytes lock"),
        *("name temporary", "mode temporary", "bytes temporary", "mode temporary"),
        *("sync temporary", "swap temporary", "gone temporary", "sync project"),
        *("bytes journal.jsonl", "said write"),
    ]


def _named(step: Step, log: list[Step], folder: Path) -> str:
    """What a step is about."""
    if step.what == "said":
        return step.name
    if step.what in {"name", "swap", "gone"} or step.inode in {each.other for each in log}:
        return "temporary"
    return {path.stat().st_ino: path.name for path in folder.rglob("*")}[step.inode]
