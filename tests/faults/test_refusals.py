"""The system refuses a step: a typed error, the old bytes, nothing left over, and it goes on."""

import errno
import itertools
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.faults.model import ALL, Model, Operation, tree_of
from tests.faults.steps import (
    CHANGING,
    OPENING,
    SYNCING,
    WRITING,
    Call,
    older_system,
    real,
    renaming,
    replaced,
)
from tests.requirements import requirement

LOOKING = ("facts", "look", "open_without_links", "read", "read_at", "try_lock")
FAULTS = {
    "ENOSPC": errno.ENOSPC,
    "EDQUOT": errno.EDQUOT,
    "EROFS": errno.EROFS,
    "EIO": errno.EIO,
    "EMFILE": errno.EMFILE,
    "ENFILE": errno.ENFILE,
    "ENOMEM": errno.ENOMEM,
    "EXDEV": errno.EXDEV,
    "ESTALE": errno.ESTALE,
}
KINDS = ("write", "create", "undo", "group")


class Refusing:
    """Wrappers that let one call fail, or from it on all calls of that function."""

    def __init__(self, at: int, fault: BaseException, *, lasting: bool) -> None:
        self.struck = ""
        self._left = at
        self._fault = fault
        self._lasting = lasting

    def calls(self) -> dict[str, Call]:
        """What to replace in `system`."""
        names = (*CHANGING, *renaming(), *OPENING, *WRITING, *SYNCING, *LOOKING)
        return {name: self._wrapped(name) for name in names}

    def _wrapped(self, name: str) -> Call:
        call = real(name)

        def wrapper(*args: object, **more: object) -> object:
            self._left -= 1
            if self._left == 0:
                self.struck = name
            if self._left == 0 or (self._lasting and self.struck == name):
                raise self._fault
            return call(*args, **more)

        return wrapper


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class Bench:
    """A folder in which operations are tried while something fails."""

    def __init__(self, folder: Path) -> None:
        (folder / "project").mkdir()
        self.model = Model(folder / "project", folder / "state", Random(3))
        self.model.seed(("a.txt", "b/c.txt", "d.sh"))
        self.workspace = self.model.workspace()
        for kind in ("create", "write"):
            self.do(self.model.operation(kind))

    def do(self, operation: Operation) -> None:
        """Do it with nothing in the way."""
        operation.run(self.workspace)
        self.model.files = operation.after
        assert tree_of(self.model.root) == operation.after

    def attempt(self, kind: str, refusing: Refusing) -> bool:
        """Try an operation of a kind; whether the fault struck at all."""
        operation = self.model.operation(kind)
        self.workspace.history(1)  # what it opens once is open
        before, files = descriptors(), self.model.files
        said = ""
        with replaced(refusing.calls()):
            try:
                operation.run(self.workspace)
            except ToolError as fault:
                said = str(fault)
            except KeyboardInterrupt:
                said = "interrupted"
        report = self.workspace.recovery()
        now = tree_of(self.model.root)
        assert now in (files, operation.after), (refusing.struck, said)
        assert report.verdict in {"clean", "repaired"}, (refusing.struck, said, report)
        assert said or now == operation.after, refusing.struck
        assert descriptors() <= before + 2, (refusing.struck, said)  # the journal and its images
        if "as it was" in said or "nothing" in said:
            assert now == files, (refusing.struck, said)
        self.model.files = now
        self.model.check_contents(self.workspace.history(8))
        return bool(refusing.struck)


@pytest.fixture
def bench(quick_folder: Path) -> Bench:
    return Bench(quick_folder)


@requirement("REQ-F11", "REQ-F18", "REQ-F19", "REQ-F20", "REQ-F21", "REQ-F22", "REQ-F24", "BUG-E18")
@pytest.mark.parametrize(
    ("name", "lasting", "older"),
    [
        *((name, False, False) for name in FAULTS),
        *((name, True, False) for name in ("ENOSPC", "EROFS", "EIO", "EMFILE")),
        *((name, False, True) for name in ("ENOSPC", "EIO", "EXDEV")),
    ],
)
def test_whatever_step_is_refused_the_files_are_whole_and_the_session_goes_on(
    bench: Bench, name: str, lasting: bool, older: bool
) -> None:
    with ExitStack() as stack:
        if older:
            stack.enter_context(replaced(older_system()))
        for kind in KINDS:
            for at in itertools.count(1):
                fault = OSError(FAULTS[name], os.strerror(FAULTS[name]))
                if not bench.attempt(kind, Refusing(at, fault, lasting=lasting)):
                    break
            bench.do(bench.model.operation("write"))


@requirement("REQ-F25")
def test_an_interrupt_at_any_step_leaves_whole_files_and_surfaces(bench: Bench) -> None:
    for kind in KINDS:
        for at in itertools.count(1):
            if not bench.attempt(kind, Refusing(at, KeyboardInterrupt(), lasting=False)):
                break


@requirement("REQ-F25")
def test_an_interrupt_after_any_step_leaves_whole_files(bench: Bench, scale: float) -> None:
    def interrupting(at: int) -> dict[str, Call]:
        count = itertools.count(1)

        def wrapped(call: Call) -> Call:
            def wrapper(*args: object, **more: object) -> object:
                result = call(*args, **more)
                if next(count) == at:
                    signal.raise_signal(signal.SIGINT)
                return result

            return wrapper

        return {name: wrapped(real(name)) for name in (*CHANGING, *renaming(), *WRITING, *SYNCING)}

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for kind in KINDS:
            for at in range(1, 40):
                operation = bench.model.operation(kind)
                with replaced(interrupting(at)), suppress(KeyboardInterrupt):
                    operation.run(bench.workspace)
                assert bench.workspace.recovery().verdict in {"clean", "repaired"}
                now = tree_of(bench.model.root)
                assert now in (bench.model.files, operation.after)
                bench.model.files = now
    finally:
        signal.signal(signal.SIGINT, previous)
    assert Workspace(bench.model.root, bench.model.state).recovery().verdict == "clean"


@requirement("REQ-F20")
@pytest.mark.parametrize(("kind", "count"), [("write", 4), ("create", 4), ("undo", 3)])
def test_a_sync_that_fails_is_never_called_a_success(bench: Bench, kind: str, count: int) -> None:
    bench.do(bench.model.operation("write"))
    for at in range(1, count + 1):
        with (
            replaced(_failing_sync(at)),
            pytest.raises(ToolError, match="input/output error"),
        ):
            bench.model.operation(kind).run(bench.workspace)
        bench.workspace.recovery()
        bench.model.files = tree_of(bench.model.root)


def _failing_sync(at: int) -> dict[str, Call]:
    """Of all syncs, the one of that number fails."""
    numbers = itertools.count(1)

    def failing(call: Call) -> Call:
        def wrapper(opened: int) -> object:
            if next(numbers) == at:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return call(opened)

        return wrapper

    return {name: failing(real(name)) for name in SYNCING}


@requirement("REQ-F23")
def test_short_writes_come_to_whole_files(bench: Bench) -> None:
    def short(call: Callable[..., object]) -> Call:
        def wrapper(opened: int, data: bytes | memoryview, *at: int) -> object:
            return call(opened, data[:7], *at)

        return wrapper

    with replaced({name: short(real(name)) for name in WRITING}):
        for kind in KINDS:
            bench.do(bench.model.operation(kind))

    assert len(bench.model.workspace().history(ALL)) == len(bench.workspace.history(ALL))
