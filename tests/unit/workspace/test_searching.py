"""Text in files: what matches, in which form it comes back, and that it always ends."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

import arc_workbench
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Hits, Workspace
from tests.requirements import requirement


def make(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def lines(hits: Hits) -> list[tuple[str, int, str]]:
    return [
        (block.path, line.number, line.text)
        for block in hits.blocks
        for line in block.lines
        if line.matched
    ]


def grep(workspace: Workspace, pattern: str, path: str = ".", **more: int) -> Hits:
    return workspace.search(
        workspace.anywhere(path),
        pattern,
        context=more.get("context", 0),
        limit=more.get("limit", 200),
    )


@requirement("S1-087", "S1-088")
def test_a_regular_expression_is_searched_in_all_files_in_order(
    workspace: Workspace, root: Path
) -> None:
    make(root, b_txt="x1\ny\r\nx22", a_txt="x333\n", sub__c_txt="no", git="x1")
    make(root / ".git", config="x1")
    make(root / "node_modules", m_js="x1")
    make(root, _hidden="x1")

    hits = grep(workspace, r"^x\d+$")

    assert lines(hits) == [
        (".hidden", 1, "x1"),
        ("a.txt", 1, "x333"),
        ("b.txt", 1, "x1"),
        ("b.txt", 3, "x22"),
        ("git", 1, "x1"),
    ]
    assert (hits.count, hits.files_searched, hits.truncated) == (5, 5, False)


def test_a_match_lies_within_its_line(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="foo\n\nbar\n")

    assert lines(grep(workspace, r"foo\s*bar")) == []
    assert lines(grep(workspace, r"\Abar\Z")) == [("a.txt", 3, "bar")]
    assert lines(grep(workspace, r"foo(?!\n)")) == [("a.txt", 1, "foo")]
    assert lines(grep(workspace, "^$")) == [("a.txt", 2, "")]


@requirement("S2-035")
@pytest.mark.parametrize("query", ["A.B(", "a.b(", "É", "straße"])
def test_a_literal_is_searched_as_it_is_and_without_case(
    workspace: Workspace, root: Path, query: str
) -> None:
    make(root, a_txt=f"axb\n-- {query.upper() if query != 'straße' else 'STRAßE'} --\n")

    hits = workspace.search(workspace.inside("."), query, literal=True, ignore_case=True)

    assert [number for _, number, _ in lines(hits)] == [2]


@requirement("J-22", "BUG-G6")
def test_the_path_may_be_a_file_or_a_link_to_one(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="needle\n", b_txt="needle\n")
    (root / "link").symlink_to("a.txt")
    (root / "sub").mkdir()
    (root / "to-sub").symlink_to("sub")
    make(root / "sub", c_txt="needle")

    assert lines(grep(workspace, "needle", "a.txt")) == [("a.txt", 1, "needle")]
    assert lines(grep(workspace, "needle", "link")) == [("a.txt", 1, "needle")]
    assert lines(grep(workspace, "needle", "to-sub")) == [("sub/c.txt", 1, "needle")]


@requirement("J-23")
def test_a_missing_path_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="nothing was searched"):
        grep(workspace, "x", "gone")


@requirement("BUG-G9")
@pytest.mark.parametrize("pattern", ["foo(", "[z-a]", "*x", "(?P<1>a)"])
def test_an_invalid_expression_is_an_error_with_its_place(
    workspace: Workspace, pattern: str
) -> None:
    with pytest.raises(ToolError, match=r"not a valid regular expression.*position \d"):
        grep(workspace, pattern)


@pytest.mark.parametrize("pattern", ["", "a\nb"])
def test_what_no_line_can_hold_is_refused(workspace: Workspace, pattern: str) -> None:
    with pytest.raises(ToolError):
        grep(workspace, pattern)


@requirement("BUG-G2", "S1-089", "BUG-G4", "BUG-G12", "REQ-F50")
def test_what_is_not_searched_is_named(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="needle\n", nul_txt="foo\0\nneedle", late_nul="x" * 9000 + "\0 needle")
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "pipe")

    hits = grep(workspace, "needle")

    assert [path for path, _, _ in lines(hits)] == ["a.txt", "late.nul"]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("dangling", "dangling link"),
        ("pipe", "not a regular file"),
        ("nul.txt", "binary"),
    ]


@requirement("S1-092", "S1-093")
def test_context_joins_neighbours_to_one_block(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="1\nx2\n3\n4\nx5\n6\n7\n8\nx9\nx10\n11\n")

    def blocks(context: int) -> list[list[int]]:
        hits = grep(workspace, "x", context=context)
        return [[line.number for line in block.lines] for block in hits.blocks]

    assert blocks(0) == [[2], [5], [9, 10]]
    assert blocks(1) == [[1, 2, 3, 4, 5, 6], [8, 9, 10, 11]]
    assert blocks(2) == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]


@requirement("S1-090")
def test_the_limit_is_over_all_files_and_truncated_means_there_is_more(
    workspace: Workspace, root: Path
) -> None:
    make(root, a_txt="x\n" * 3, b_txt="x\n" * 3)

    exact, short = grep(workspace, "x", limit=6), grep(workspace, "x", limit=4)

    assert (exact.count, exact.truncated) == (6, False)
    assert (short.count, short.truncated) == (4, True)
    assert [path for path, _, _ in lines(short)] == ["a.txt"] * 3 + ["b.txt"]


def test_a_long_line_is_shown_around_its_match(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="a" * 9000 + "needle" + "b" * 9000, b_txt="needle" + "c" * 2000)

    far, near = (block.lines[0] for block in grep(workspace, "needle").blocks)

    assert far.text == "…" + "a" * 200 + "needle" + "b" * 1794
    assert near.text == "needle" + "c" * 1994
    assert far.cut
    assert near.cut


def test_the_text_of_all_matches_is_bounded(workspace: Workspace, root: Path) -> None:
    make(root, a_txt=("x" * 3000 + "\n") * 500)

    hits = grep(workspace, "x", limit=100_000)

    assert hits.truncated
    assert sum(len(text) for _, _, text in lines(hits)) <= 202_000


@requirement("REQ-F46", "REQ-S65")
def test_a_file_with_very_long_lines_is_searched_in_part_and_named(
    workspace: Workspace, root: Path
) -> None:
    make(root, a_txt="needle 1\n" + "y" * (9 << 20) + "needle 2\nneedle 3\n")

    hits = grep(workspace, "needle")

    assert lines(hits) == [("a.txt", 1, "needle 1"), ("a.txt", 3, "needle 3")]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [("a.txt", "very long lines")]


def test_other_encodings_and_marks_do_not_hide_a_match(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_bytes("Straße needle".encode("latin-1"))
    (root / "b.txt").write_bytes(b"\xef\xbb\xbfneedle")

    assert lines(grep(workspace, "needle")) == [
        ("a.txt", 1, "Stra\ufffde needle"),
        ("b.txt", 1, "needle"),
    ]
    assert len(lines(grep(workspace, "^needle"))) == 1


def test_no_file_gets_lost_among_many(workspace: Workspace, root: Path) -> None:
    for number in range(2000):
        (root / f"{number:0200}").write_text("needle", encoding="utf-8")

    hits = grep(workspace, "need.e", limit=5000)

    assert (hits.count, hits.files_searched) == (2000, 2000)


def test_a_glob_narrows_the_files(workspace: Workspace, root: Path) -> None:
    make(root, a_py="x", sub__b_py="x", sub__c_txt="x")

    def paths(glob: str) -> list[str]:
        hits = workspace.search(workspace.anywhere("."), "x", glob=glob)
        return [path for path, _, _ in lines(hits)]

    assert paths("*.py") == ["a.py", "sub/b.py"]
    assert paths("sub/*") == ["sub/b.py", "sub/c.txt"]


ENDLESS = "(a+)+$"


@requirement("BUG-G10", "REQ-F53")
def test_a_pattern_that_never_ends_is_ended_at_the_deadline(
    workspace: Workspace, root: Path
) -> None:
    make(root, a_txt="a" * 35 + "!\n")

    with pytest.raises(ToolError, match=r"timed out after 0.3 s. Narrow it"):
        workspace.search(workspace.anywhere("."), ENDLESS, seconds=0.3)

    assert _children() == []


@requirement("BUG-G10")
def test_a_pattern_that_never_ends_is_ended_by_a_person(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="a" * 35 + "!\n")
    stop = threading.Event()
    said: list[str] = []

    def search() -> None:
        try:
            workspace.search(workspace.anywhere("."), ENDLESS, seconds=60, signal=stop)
        except ToolError as fault:
            said.append(str(fault))

    searching = threading.Thread(target=search)
    searching.start()
    stop.set()
    searching.join(timeout=5)

    assert not searching.is_alive()
    assert said[0].startswith("Aborted:")
    assert _children() == []


def _children() -> list[psutil.Process]:
    """Processes of ours that are still there, or not waited for."""
    return psutil.Process().children()


def test_searching_works_where_only_the_parent_can_import_the_package(
    tmp_path: Path, root: Path
) -> None:
    make(root, a_txt="needle\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pathlib\n"
        "from arc_workbench.workspace import Workspace\n"
        "w = Workspace(pathlib.Path(sys.argv[2]))\n"
        "print(w.search(w.anywhere('.'), 'n.*e').count)\n"
    )
    assert arc_workbench.__file__ is not None or arc_workbench.__path__
    package = Path(next(iter(arc_workbench.__path__))).parent

    done = subprocess.run(
        [sys.executable, "-c", program, str(package), str(root)],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0"},
        check=True,
    )

    assert done.stdout == "1\n"


@requirement("REQ-F68")
def test_names_that_are_no_text_are_searched_all_the_same(workspace: Workspace, root: Path) -> None:
    (root / os.fsdecode(b"bad\xff.txt")).write_text("needle", encoding="utf-8")

    assert lines(grep(workspace, "needle")) == [("bad\\xff.txt", 1, "needle")]
