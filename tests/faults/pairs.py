"""Two processes on one folder, both killed somewhere: `python -m tests.faults.pairs FOLDER SEED N`.

Each writes files of its own and one that they share, says before and after each change what it
does, and dies before a step that the dice choose. What one left half done the other settles.
"""

import json
import os
import sys
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.faults.model import ALL, IN_FORCE, Violation, require, tree_of
from tests.faults.steps import deadly, replaced

SHARED = "shared.txt"
MOST_STEPS = 60


class Pair:
    """The folder, and what each file may hold."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.points = 0
        self.outcomes: Counter[str] = Counter()
        self._dice = Random(seed)
        self._root, self._state = folder / "project", folder / "state"
        self._root.mkdir(parents=True)
        self._may: dict[str, set[str]] = {}
        self._made = 0

    def run(self, points: int) -> None:
        """Rounds until there were so many kills."""
        while self.points < points:
            running = [self._start(who) for who in "ab"]
            for child, told in running:
                with os.fdopen(told, encoding="utf-8") as pipe:
                    lines = pipe.read().splitlines()
                _, status = os.waitpid(child, 0)
                require(os.WIFSIGNALED(status) or status == 0, "a child failed, see above")
                self.points += os.WIFSIGNALED(status)
                self._learn(lines)
            self._check()

    def _start(self, who: str) -> tuple[int, int]:
        self._made += 1
        seed, told = self._dice.random(), os.pipe()
        child = os.fork()
        if child:
            os.close(told[1])
            return child, told[0]
        code = 1
        try:
            os.close(told[0])
            self._live(who, Random(seed), told[1])
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)

    def _live(self, who: str, dice: Random, told: int) -> None:
        with replaced(deadly(dice.randrange(1, MOST_STEPS))):
            workspace = Workspace(self._root, self._state)
            for number in range(4):
                text = f"{who} {self._made} {number};" + "x" * dice.choice((0, 5000))
                name = dice.choice((SHARED, f"{who}/{dice.randrange(3)}.txt"))
                try:
                    plan = workspace.plan_write(workspace.inside(name), text)
                    os.write(told, json.dumps(["begun", name, text]).encode("utf-8") + b"\n")
                    workspace.apply(plan)
                    os.write(told, json.dumps(["done", name, text]).encode("utf-8") + b"\n")
                except ToolError as fault:
                    require("changed" in str(fault), "another failure than a conflict", fault)
                    os.write(told, json.dumps(["refused", name, text]).encode("utf-8") + b"\n")

    def _learn(self, lines: list[str]) -> None:
        for line in lines:
            what, name, text = json.loads(line)
            self.outcomes[what] += 1
            may = self._may.setdefault(name, {""})
            if what == "begun":
                may.add(text)
            elif what == "refused":
                may.discard(text)
            elif name != SHARED:  # there, the other may have written since
                may.clear()
                may.add(text)

    def _check(self) -> None:
        workspace = Workspace(self._root, self._state)
        report = workspace.recovery()
        require(report.verdict in {"clean", "repaired"}, "verdict", report)
        rows = workspace.history(ALL)
        require(len({row.id for row in rows}) == len(rows), "an id twice")
        holds = {name: file[0].decode("ascii") for name, file in tree_of(self._root).items()}
        for name, may in self._may.items():
            require(holds.get(name, "") in may, "neither old nor new", name, holds.get(name), may)
            if name != SHARED:
                self._may[name] = {holds.get(name, "")}
        for name, text in holds.items():
            newest = next(row for row in rows if row.path == name and row.status in IN_FORCE)
            require(
                workspace.plan_undo(newest.id, confined=True).before_sha256 is not None,
                "the newest change cannot be undone",
                text,
            )
        workspace.close()


def main() -> int:
    """Run one campaign, told by the command line."""
    folder, seed, points = sys.argv[1:]
    pair = Pair(Path(folder).resolve(), int(seed))
    fault = ""
    try:
        pair.run(int(points))
    except Violation:
        fault = traceback.format_exc()
    sys.stdout.write(json.dumps({"points": pair.points, "outcomes": pair.outcomes, "fault": fault}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
