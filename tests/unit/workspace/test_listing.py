"""What is in a folder, and which files fit a pattern."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Listing, Workspace, listing
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.globs import compile_globs
from arc_workbench.workspace.paths import Roots
from tests.requirements import requirement
from tests.unit.workspace.stopping import StopAfter


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")


def names(found: Listing) -> list[str]:
    return [entry.name for entry in found.entries]


@requirement("S1-100", "S1-103", "J-25")
def test_a_level_has_folders_first_and_counts_a_linked_folder_as_one(
    workspace: Workspace, root: Path
) -> None:
    make(root, "b.txt", "A.txt", "sub/x", ".git/config", "node_modules/m/x")
    (root / "to-sub").symlink_to("sub")
    (root / "dangling").symlink_to("nowhere")

    found = workspace.level(workspace.anywhere("."))

    assert [(entry.name, entry.kind) for entry in found.entries] == [
        (".git", "folder"),
        ("node_modules", "folder"),
        ("sub", "folder"),
        ("to-sub", "folder"),
        ("A.txt", "file"),
        ("b.txt", "file"),
        ("dangling", "link"),
    ]
    assert [entry.size for entry in found.entries] == [None, None, None, None, 5, 5, None]


@requirement("S2-022", "S2-025", "S2-029")
def test_a_listing_is_recursive_sorted_and_leaves_out_two_folders(
    workspace: Workspace, root: Path
) -> None:
    make(root, "b.txt", "a/z.txt", "a.txt", ".env", ".git/config", "a/node_modules/m")
    make(root, ".gitignore")

    found = workspace.list(workspace.inside("."))
    flat = workspace.list(workspace.inside("."), recursive=False)
    below = workspace.list(workspace.inside("a"))

    assert names(found) == [".env", ".gitignore", "a", "a.txt", "a/z.txt", "b.txt"]
    assert names(flat) == [".env", ".gitignore", "a", "a.txt", "b.txt"]
    assert names(below) == ["a/z.txt"]


@requirement("S2-023", "S2-026", "S2-027")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_the_pages_of_a_listing_add_up(workspace: Workspace, root: Path, limit: int) -> None:
    make(root, *(f"{number}.txt" for number in range(7)))
    place = workspace.inside(".")

    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = workspace.list(place, limit=limit, offset=offset)
        assert page.total == min(7, offset + limit + 1)
        pages += names(page)
        offset = page.next_offset

    assert pages == [f"{number}.txt" for number in range(7)]
    assert workspace.list(place, offset=99).entries == ()


@requirement("REQ-S59", "S2-020")
def test_links_out_of_the_project_are_named_and_not_entered(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "out").symlink_to(outside)
    (root / "file-out").symlink_to(outside / "secret.txt")
    (root / "dangling").symlink_to("nowhere")

    found = workspace.list(workspace.inside("."))

    assert [(entry.name, entry.kind) for entry in found.entries] == [
        ("dangling", "link"),
        ("file-out", "link"),
        ("out", "link"),
    ]
    assert [(skip.path, skip.reason) for skip in found.skipped] == [
        ("dangling", "dangling link"),
        ("file-out", "leads outside"),
        ("out", "leads outside"),
    ]


@requirement("BUG-G5", "J-24", "REQ-F52")
def test_G5_each_real_folder_is_gone_through_once(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    make(root, "z/deep/x.txt")
    (root / "loop").symlink_to(".")
    (root / "z/up").symlink_to("..")
    (root / "a-link").symlink_to("z/deep")
    (root / "elsewhere").symlink_to(outside)

    found = workspace.find(workspace.anywhere("."), ("**/*.txt",))

    assert sorted(found.paths) == ["elsewhere/secret.txt", "z/deep/x.txt"]


@requirement("S1-095", "S1-096", "S1-097")
def test_glob_finds_files_newest_first_without_the_two_folders(
    workspace: Workspace, root: Path
) -> None:
    make(root, "old.py", "sub/.new.py", "mid.py", ".git/x.py", "node_modules/x.py", "a.txt")
    for age, name in enumerate(["sub/.new.py", "mid.py", "old.py"]):
        os.utime(root / name, (1_000_000 - age, 1_000_000 - age))

    found = workspace.find(workspace.anywhere("."), ("**/*.py",))

    assert found.paths == ("sub/.new.py", "mid.py", "old.py")


@requirement("S1-098")
def test_glob_gives_so_many_and_says_how_many_there_are(workspace: Workspace, root: Path) -> None:
    make(root, *(f"{number}.txt" for number in range(7)))

    found = workspace.find(workspace.anywhere("."), ("*.txt",), limit=5)

    assert (len(found.paths), found.total, found.truncated) == (5, 7, True)


@requirement("BUG-G4", "J-23")
def test_G4_a_missing_folder_is_an_error_and_an_unreadable_one_is_named(
    workspace: Workspace, root: Path
) -> None:
    make(root, "x.txt")
    for name in ("gone", "x.txt"):
        with pytest.raises(ToolError, match="nothing was searched"):
            workspace.find(workspace.anywhere(name), ("*",))
        with pytest.raises(ToolError, match="nothing was searched"):
            workspace.level(workspace.anywhere(name))


@contextmanager
def deep(root: Path, name: str, levels: int) -> Generator[None]:
    """Folders so deep that no path can name the last ones, with a file in the last."""
    with chdir(root):
        for _ in range(levels):
            Path(name).mkdir()
            os.chdir(name)
        Path("last.txt").touch()
        try:
            yield
        finally:
            for _ in range(levels):
                for path in Path().iterdir():
                    path.unlink() if path.is_file() else path.rmdir()
                os.chdir("..")
            Path(name).rmdir()


@requirement("REQ-F52", "BUG-G4")
def test_a_tree_deeper_than_any_path_is_walked_to_its_end(workspace: Workspace, root: Path) -> None:
    make(root, "near.txt")

    with deep(root, "d" * 200, 40):
        found = workspace.find(workspace.anywhere("."), ("**/*.txt",))

    assert found.paths == ("near.txt", f"{'d' * 200}/" * 40 + "last.txt")


@requirement("REQ-F52", "BUG-G4")
def test_G4_a_tree_of_thousands_of_levels_is_walked_as_far_as_it_goes(
    workspace: Workspace, root: Path
) -> None:
    make(root, "near.txt")
    place = workspace.inside(".")

    with deep(root, "d", 2500):
        found = workspace.find(place, ("**/*.txt",))
        listed = workspace.list(place, limit=100_000)
        narrow = workspace.find(place, ("*.txt", "d/x/*.txt"))

    assert found.paths == narrow.paths == ("near.txt",)
    assert [skip.reason for skip in found.skipped] == ["unreadable"]
    assert [skip.reason for skip in listed.skipped] == ["unreadable"]
    assert narrow.skipped == ()


@requirement("REQ-F52")
def test_a_walk_that_runs_out_of_time_gives_what_it_has_and_says_so(root: Path) -> None:
    make(root, *(f"{number}.txt" for number in range(500)))
    place = Roots(root).inside(".")
    over = Deadline(seconds=-1)

    found = listing.matching(place, compile_globs(("*",)), limit=9, prefix="", deadline=over)
    listed = listing.below(
        place, recursive=True, limit=9, offset=0, prefix="", deadline=Deadline(seconds=-1)
    )

    assert found.stopped.startswith("This timed out")
    assert listed.stopped.startswith("This timed out")


@requirement("REQ-S60")
def test_a_folder_that_becomes_a_link_is_never_gone_through(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    """Swaps a folder for a link to one outside as fast as it can, while walks go on."""
    make(root, "sub/mine.txt")
    program = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "os.symlink(sys.argv[2], 'other')\n"
        "print(flush=True)\n"
        "while True:\n"
        "    os.rename('sub', 'kept'); os.rename('other', 'sub')\n"
        "    os.rename('sub', 'other'); os.rename('kept', 'sub')\n"
    )
    place = workspace.inside(".")
    seen: set[str] = set()
    with subprocess.Popen(
        [sys.executable, "-c", program, str(root), str(outside)], stdout=subprocess.PIPE
    ) as swapping:
        try:
            assert swapping.stdout is not None
            swapping.stdout.readline()
            for _ in range(1000):
                seen.update(workspace.find(place, ("**/*.txt",)).paths)
                seen.update(names(workspace.list(place)))
        finally:
            swapping.kill()

    assert not [name for name in seen if name.endswith("secret.txt")]


def test_a_walk_stops_when_a_person_interrupts(workspace: Workspace) -> None:
    stopped = threading.Event()
    stopped.set()

    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.list(workspace.inside("."), signal=stopped)


@requirement("REQ-F53")
def test_one_large_folder_is_left_in_its_middle_when_a_person_interrupts(
    workspace: Workspace, root: Path
) -> None:
    make(root, *(f"{number}.txt" for number in range(1000)))
    place = workspace.inside(".")

    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.level(place, signal=StopAfter(4))
    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.list(place, signal=StopAfter(4))
    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.find(place, ("*.md",), signal=StopAfter(8))


@requirement("J-26", "REQ-F68")
def test_odd_names_come_back_as_they_are_or_can_at_least_be_stored(
    workspace: Workspace, root: Path
) -> None:
    make(root, "weird\\name", "two\nlines")
    (root / os.fsdecode(b"bad\xff")).touch()

    found = names(workspace.list(workspace.inside(".")))

    assert found == ["bad\\xff", "two\nlines", "weird\\name"]
    assert [name.encode("utf-8") for name in found]


def test_names_below_a_folder_outside_are_relative_to_the_project(
    workspace: Workspace, outside: Path
) -> None:
    found = workspace.find(workspace.anywhere(str(outside)), ("*",))

    assert found.paths == ("../proj_evil/secret.txt",)
