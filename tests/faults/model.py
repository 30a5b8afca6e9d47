"""What a project folder must hold, and the operations that change it, with what comes of each."""

import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from arc_workbench.content import ChangeRow
from arc_workbench.workspace import Workspace
from arc_workbench.workspace.effects import TEMPORARY_PREFIX
from arc_workbench.workspace.ledger import Ledger

IN_FORCE = ("committed", "undone")
RECENT = 8
ALL = 1_000_000

File = tuple[bytes, int]
"""The bytes of a file and its permission bits."""
Tree = dict[str, File]


class Violation(Exception):
    """Something that must hold does not."""


def require(holds: bool, what: str, *details: object) -> None:
    """Raise `Violation` unless it holds."""
    if not holds:
        raise Violation(what, *details)


def tree_of(root: Path) -> Tree:
    """Every file below a folder; one of ours that was left behind, or an empty folder, raises."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        require(TEMPORARY_PREFIX not in name, "a temporary file was left", name)
        if path.is_dir():
            require(any(path.iterdir()), "a folder was left that nothing is in", name)
        else:
            found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


@dataclass(frozen=True)
class Operation:
    """Something to do; `after` is the tree that comes of it, `count` how many changes it makes."""

    kind: str
    run: Callable[[Workspace], object]
    after: Tree
    count: int


@dataclass
class Model:
    """The tree as it must be, below `root`, with the journal below `state`."""

    root: Path
    state: Path
    dice: Random
    files: Tree = field(default_factory=lambda: Tree())
    made: int = 0

    def workspace(self) -> Workspace:
        """The folder, opened anew."""
        return Workspace(self.root, self.state)

    def seed(self, names: tuple[str, ...]) -> None:
        """The files that are there before anything happens."""
        for number, name in enumerate(names):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.content())
            path.chmod((0o644, 0o755, 0o600)[number % 3])
        self.files = tree_of(self.root)

    def content(self) -> bytes:
        """Text that no file held before, of any size, with a first line to edit."""
        self.made += 1
        body = self.dice.randbytes(self.dice.choice((0, 3, 900, 9_000))).hex().encode("ascii")
        return b"text %d;\n" % self.made + body

    # ---- operations -----------------------------------------------------------------------------

    def operation(self, kind: str) -> Operation:
        """One of that kind, on whatever is there."""
        match kind:
            case "write":
                return self._changes(kind, [self._written()])
            case "edit":
                return self._changes(kind, [self._edited()])
            case "create":
                return self._changes(kind, [self._created()])
            case "group":
                return self._group()
            case "undo":
                return self._undo()
            case _:
                raise ValueError(kind)

    def _changes(self, kind: str, changes: list[tuple[str, bytes]]) -> Operation:
        def run(workspace: Workspace) -> object:
            plans = [
                workspace.plan_write(workspace.inside(name), content.decode("ascii"))
                for name, content in changes
            ]
            return workspace.apply_all(plans)

        after = {**self.files}
        for name, content in changes:
            after[name] = (content, after[name][1] if name in after else 0o644)
        return Operation(kind, run, after, len(changes))

    def _any(self) -> str:
        return self.dice.choice(sorted(self.files))

    def _written(self) -> tuple[str, bytes]:
        return self._any(), self.content()

    def _created(self) -> tuple[str, bytes]:
        self.made += 1
        folder = self.dice.choice(("", f"new{self.made}/", f"new{self.made}/a/b/"))
        return f"{folder}file{self.made}.txt", self.content()

    def _edited(self) -> tuple[str, bytes]:
        name = self._any()
        return name, self.content() + self.files[name][0][-50:]

    def _group(self) -> Operation:
        names = self.dice.sample(sorted(self.files), 2)
        changes = [(name, self.content()) for name in names]
        changes.insert(self.dice.randrange(3), self._created())
        undone, after = self._newest(besides=names)
        together = self._changes("group", changes)
        if not undone:
            return together

        def run(workspace: Workspace) -> object:
            plans = [
                workspace.plan_write(workspace.inside(name), content.decode("ascii"))
                for name, content in changes
            ]
            plans.insert(1, workspace.plan_undo(undone, confined=True))
            return workspace.apply_all(plans)

        tree = {name: file for name, file in together.after.items() if name in after}
        tree |= {name: together.after[name] for name, _ in changes}
        for name, file in after.items():
            tree.setdefault(name, file)
            if file != self.files.get(name):
                tree[name] = file
        return Operation("group", run, tree, len(changes) + 1)

    def _undo(self) -> Operation:
        undone, after = self._newest()
        require(bool(undone), "there is nothing to undo")
        return Operation(
            "undo",
            lambda workspace: workspace.apply(workspace.plan_undo(undone, confined=True)),
            after,
            1,
        )

    def _newest(self, besides: list[str] | None = None) -> tuple[str, Tree]:
        """The newest change in force, of a file not in `besides`, and the tree without it."""
        ledger = Ledger(self.state, self.root.resolve())
        try:
            for row in ledger.history(ALL):
                if row.status == "committed" and row.path not in (besides or ()):
                    intent, before, _ = ledger.contents(row.id)
                    after = {name: file for name, file in self.files.items() if name != row.path}
                    if before is not None:
                        mode = self.files.get(row.path, (b"", intent.mode))[1]
                        after[row.path] = (before, mode)
                    return row.id, after
        finally:
            ledger.close()
        return "", {}

    # ---- what must hold -------------------------------------------------------------------------

    def check(self, operation: Operation, *, acknowledged: bool, rows_before: int) -> bool:
        """Everything that must hold once the folder was opened again; whether it got in."""
        workspace = self.workspace()
        try:
            report = workspace.recovery()
            require(not report.mutation_blocked, "blocked by a crash alone", report)
            require(report.verdict in {"clean", "repaired"}, "verdict", report)
            rows = workspace.history(ALL)
        finally:
            workspace.close()
        now = tree_of(self.root)
        require(now in (operation.after, self.files), "neither before nor after", *_odd(now, self))
        is_in = now == operation.after
        require(is_in or not acknowledged, "an acknowledged change is gone", operation.kind)
        new = rows[: len(rows) - rows_before]
        self._check_rows(new, operation, is_in=is_in)
        self.files = now
        self.check_contents(rows[:RECENT])
        return is_in

    @staticmethod
    def _check_rows(new: tuple[ChangeRow, ...], operation: Operation, *, is_in: bool) -> None:
        if is_in:
            require(len(new) == operation.count, "changes are missing", new)
            require(all(row.status == "committed" for row in new), "status of what is in", new)
        else:
            require(len(new) <= operation.count, "changes that nobody asked for", new)
            require(all(row.status == "rolled_back" for row in new), "status of what is out", new)

    def check_contents(self, rows: tuple[ChangeRow, ...]) -> None:
        """Of each file, the newest change in force says what it holds; all images are whole."""
        ledger = Ledger(self.state, self.root.resolve())
        seen: set[str] = set()
        try:
            for row in rows:
                if row.status not in IN_FORCE:
                    continue
                _, _, after = ledger.contents(row.id)
                if row.path not in seen:
                    seen.add(row.path)
                    held = self.files.get(row.path)
                    require(after == (held[0] if held else None), "history and file differ", row)
        finally:
            ledger.close()


def _odd(now: Tree, model: Model) -> list[object]:
    return [
        (name, now.get(name, (b"absent", 0))[0][:40], model.files.get(name, (b"absent", 0))[0][:40])
        for name in {*now, *model.files}
        if now.get(name) != model.files.get(name)
    ]
