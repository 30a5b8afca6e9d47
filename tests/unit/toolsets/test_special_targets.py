"""Targets that are no ordinary file, and names in odd forms: a typed error, and nothing is made."""

import fcntl
import os
import shutil
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import TOOLS, VOCABULARIES, Vocabulary, listing

SECRET = "a secret that lies outside"


@pytest.fixture(params=VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def tools(request: pytest.FixtureRequest) -> Vocabulary:
    """Each vocabulary in turn."""
    return request.param


def make(kind: str, path: Path) -> None:
    """Something at `path` that is no file."""
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "socket":
            os.mknod(path, stat.S_IFSOCK | 0o600)
        case "device":
            if os.getuid() != 0:
                pytest.skip("only root can make a device")
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        case "link to nowhere":
            path.symlink_to("gone/and/far")
            (path.parent / "gone").write_text("a file where a folder would be", encoding="utf-8")
        case "loop":
            path.symlink_to(path.name)
        case _:
            raise ValueError(kind)


KINDS = ["folder", "fifo", "socket", "device", "link to nowhere", "loop"]


@requirement("REQ-S63", "REQ-F50")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", ["read", "write", "edit"])
def test_what_is_no_file_is_neither_read_nor_changed(
    files: FileTools, tools: Vocabulary, kind: str, act: str
) -> None:
    make(kind, files.root / "special")
    before = listing(files.root)

    match act:
        case "read":
            result = tools.read(files, "special")
        case "write":
            result = tools.write(files, "special", "x")
        case _:
            result = tools.edit(files, "special", "a", "b")

    assert result.is_error
    assert result.text
    assert listing(files.root) == before


@requirement("REQ-S63", "REQ-F50")
@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "link to nowhere", "loop"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ls", {}),
        ("glob", {"pattern": "*"}),
        ("grep", {"pattern": "x"}),
        ("workspace_list", {}),
        ("workspace_search", {"query": "x"}),
    ],
)
def test_a_walk_passes_by_what_is_no_file_and_a_call_on_it_ends(
    files: FileTools, kind: str, tool: str, arguments: dict[str, str]
) -> None:
    make(kind, files.root / "special")
    files.write(a_txt="x\n")
    before = listing(files.root)

    around = files.call(TOOLS[tool], **arguments)
    upon = files.call(TOOLS[tool], path="special", **arguments)

    assert not around.is_error
    assert "a.txt" in around.text
    assert upon.is_error or "special" in upon.text
    assert listing(files.root) == before


SYSTEM = [
    *("/dev/stdin", "/dev/null", "/dev/fd/0", "/dev"),
    *("/proc/self/environ", "/proc/self/mem", "/proc/self/new", "/proc/1/cmdline", "/proc"),
]


@requirement("REQ-S63", "REQ-F50", "BUG-G12")
@pytest.mark.parametrize("path", SYSTEM)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {}),
        ("write", {"content": "x"}),
        ("edit", {"oldText": "a", "newText": "b"}),
        ("workspace_read", {}),
        ("workspace_write", {"content": "x"}),
        ("workspace_edit", {"old_string": "a", "new_string": "b"}),
    ],
)
def test_devices_and_windows_on_processes_are_refused_before_anybody_is_asked(
    files: FileTools, path: str, tool: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(ToolError):
        files.prepare(TOOLS[tool], path=path, **arguments).run()
    (files.root / "link").symlink_to(path)
    if tool in {"read", "workspace_read"}:
        assert files.call(TOOLS[tool], path="link", **arguments).is_error
    else:
        with pytest.raises(ToolError):
            files.prepare(TOOLS[tool], path="link", **arguments)


@pytest.fixture
def immutable(files: FileTools) -> Iterator[Path]:
    """A file that even root cannot change."""
    path = files.root / "a.txt"
    path.write_text("fixed", encoding="utf-8")
    if not _set_immutable(path, on=True):
        pytest.skip("this file system or user cannot make a file immutable")
    yield path
    _set_immutable(path, on=False)


def _set_immutable(path: Path, *, on: bool) -> bool:
    get_flags, set_flags, immutable = 0x80086601, 0x40086602, 0x10
    descriptor = os.open(path, os.O_RDONLY)
    try:
        raw = fcntl.ioctl(descriptor, get_flags, bytes(8))
        (flags,) = struct.unpack("l", raw)
        flags = flags | immutable if on else flags & ~immutable
        fcntl.ioctl(descriptor, set_flags, struct.pack("l", flags))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


@requirement("REQ-S63")
@pytest.mark.parametrize("act", ["write", "edit"])
def test_an_immutable_file_stays_and_leaves_nothing_beside_it(
    files: FileTools, tools: Vocabulary, immutable: Path, act: str
) -> None:
    if act == "write":
        result = tools.write(files, "a.txt", "other")
    else:
        result = tools.edit(files, "a.txt", "fixed", "other")

    assert result.is_error
    assert immutable.read_text(encoding="utf-8") == "fixed"
    assert [path.name for path in files.root.iterdir()] == ["a.txt"]
    assert tools.read(files, "a.txt").text.count("fixed") == 1


MOUNTED = """
set -e
mount --bind "$1/other.txt" "$1/a.txt"
exec "$2" -c '
import sys
from pathlib import Path
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import VOCABULARIES
files = FileTools(Path(sys.argv[1]))
for tools in VOCABULARIES:
    print(tools.write(files, "a.txt", "new").is_error)
    print(tools.edit(files, "a.txt", "fixed", "new").is_error)
' "$1"
"""


@requirement("REQ-S63")
def test_a_mount_point_stays(files: FileTools) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    files.write(a_txt="below", other_txt="fixed")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", MOUNTED, "sh", str(files.root), sys.executable],
        capture_output=True,
        check=False,
        cwd=Path(__file__).parents[3],
        encoding="utf-8",
        timeout=9,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("mounting is not allowed here")

    assert done.stdout.split() == ["True"] * 4, done.stderr
    assert (files.root / "a.txt").read_text(encoding="utf-8") == "below"
    assert (files.root / "other.txt").read_text(encoding="utf-8") == "fixed"
    assert sorted(path.name for path in files.root.iterdir()) == ["a.txt", "other.txt"]


# ---- odd forms of names -------------------------------------------------------------------------

ESCAPES = [
    *("../proj_evil/secret.txt", "x/../../proj_evil/secret.txt", "./../proj_evil/secret.txt"),
    *("..", "../proj_evil", "/etc/passwd", "//etc/passwd", "/./etc/passwd"),
    *("proj/../../proj_evil/secret.txt", "..//proj_evil//secret.txt"),
]
IMPOSSIBLE = ["", "a\0b", "a/" * 2100, "n" * 256, "\ud800", "a.txt\0.png"]
UNREAL = [
    *("~", "~/x", "~root/x", "%2e%2e/proj_evil/secret.txt", "..%2fproj_evil%2fsecret.txt"),
    *("..\\proj_evil\\secret.txt", "C:\\x", "\\\\?\\C:\\x", "//?/C:/x/y", "..;/x", "file:///x"),
]


@requirement("REQ-S58")
@pytest.mark.parametrize("path", ESCAPES + IMPOSSIBLE)
def test_a_confined_tool_answers_a_name_that_leads_out_or_cannot_be_with_an_error(
    files: FileTools, tmp_path: Path, path: str
) -> None:
    evil = tmp_path / "proj_evil"
    evil.mkdir()
    (evil / "secret.txt").write_text(SECRET, encoding="utf-8")
    before = listing(tmp_path)

    for tool, arguments in (
        ("workspace_read", {}),
        ("workspace_write", {"content": "x"}),
        ("workspace_edit", {"old_string": "secret", "new_string": "x"}),
        ("workspace_list", {}),
        ("workspace_search", {"query": "secret"}),
    ):
        if path == "" and tool in {"workspace_list", "workspace_search"}:
            continue
        result = files.call(TOOLS[tool], path=path, **arguments)
        assert result.is_error, tool
        assert SECRET not in result.text

    assert {name: state for name, state in listing(tmp_path).items() if b"/state" not in name} == {
        name: state for name, state in before.items() if b"/state" not in name
    }


@requirement("REQ-S58", "REQ-S57")
@pytest.mark.parametrize("path", UNREAL)
def test_a_form_that_means_something_elsewhere_is_only_a_name_here(
    files: FileTools, tmp_path: Path, path: str
) -> None:
    evil = tmp_path / "proj_evil"
    evil.mkdir()
    (evil / "secret.txt").write_text(SECRET, encoding="utf-8")

    read = files.call(TOOLS["workspace_read"], path=path)
    written = files.call(TOOLS["workspace_write"], path=path, content="x")

    assert read.is_error
    assert written.is_error or (files.root / path).read_text(encoding="utf-8") == "x"
    assert (evil / "secret.txt").read_text(encoding="utf-8") == SECRET
    assert [name.name for name in evil.iterdir()] == ["secret.txt"]
