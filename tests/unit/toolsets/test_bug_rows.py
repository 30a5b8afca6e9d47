"""Kinds of faults that editing tools are known for, one test for each row of the list.

A name holds the row's id. Every test goes through the tools of both vocabularies.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arc_workbench.content import Diff
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import VOCABULARIES, Vocabulary

BOM = b"\xef\xbb\xbf"
ROOT = Path(__file__).parents[3]


@pytest.fixture(params=VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def tools(request: pytest.FixtureRequest) -> Vocabulary:
    """Each vocabulary in turn."""
    return request.param


def put(files: FileTools, data: bytes, name: str = "a.txt") -> Path:
    path = files.root / name
    path.write_bytes(data)
    return path


@requirement("BUG-E1", "J-19")
def test_E1_text_with_lf_is_found_in_a_crlf_file(files: FileTools, tools: Vocabulary) -> None:
    path = put(files, b"a\r\nb\r\nc\r\n")

    assert not tools.edit(files, "a.txt", "a\nb", "a\nB").is_error

    assert path.read_bytes() == b"a\r\nB\r\nc\r\n"


@requirement("BUG-E2")
def test_E2_a_crlf_file_keeps_its_line_ends_and_the_diff_has_one_line(
    files: FileTools, tools: Vocabulary
) -> None:
    path = put(files, b"one\r\ntwo\r\nthree\r\n")

    (diff,) = tools.edit(files, "a.txt", "two", "2").display

    assert path.read_bytes() == b"one\r\n2\r\nthree\r\n"
    assert isinstance(diff, Diff)
    changed = [line for line in diff.unified.split("\n")[2:] if line[:1] in {"+", "-"}]
    assert changed == ["-two\r", "+2\r"]


@requirement("BUG-E3")
def test_E3_several_lines_with_tabs_are_found_in_a_crlf_file(
    files: FileTools, tools: Vocabulary
) -> None:
    path = put(files, b"\tif x:\r\n\t\ty\r\n")

    assert not tools.edit(files, "a.txt", "\tif x:\n\t\ty\n", "\tif z:\n\t\ty\n").is_error

    assert path.read_bytes() == b"\tif z:\r\n\t\ty\r\n"


@requirement("BUG-E4")
def test_E4_a_byte_order_mark_is_hidden_and_kept_once(files: FileTools, tools: Vocabulary) -> None:
    path = put(files, BOM + b"hello\n")

    assert "\ufeff" not in tools.read(files, "a.txt").text
    assert not tools.edit(files, "a.txt", "hello", "bye").is_error
    assert path.read_bytes() == BOM + b"bye\n"
    assert not tools.write(files, "a.txt", "\ufeffagain\n").is_error
    assert path.read_bytes() == BOM + b"again\n"
    assert not tools.write(files, "a.txt", "plain\n").is_error
    assert path.read_bytes() == BOM + b"plain\n"


@requirement("BUG-E5")
def test_E5_a_byte_order_mark_is_never_added(files: FileTools, tools: Vocabulary) -> None:
    path = put(files, "héllo\n".encode())

    assert not tools.write(files, "a.txt", "“bye”\n").is_error
    assert path.read_bytes() == "“bye”\n".encode()
    assert not tools.edit(files, "a.txt", "bye", "ciao").is_error
    assert path.read_bytes() == "“ciao”\n".encode()


@requirement("BUG-E7")
def test_E7_composed_text_is_found_in_a_decomposed_file_and_that_is_said(
    files: FileTools, tools: Vocabulary
) -> None:
    path = put(files, "cafe\u0301 ole\u0301\n".encode())

    result = tools.edit(files, "a.txt", "café", "thé")

    assert path.read_bytes() == "thé ole\u0301\n".encode()
    assert "Unicode spelling" in result.text


@requirement("BUG-E9")
def test_E9_quotes_and_escapes_of_the_new_text_are_exact_bytes(
    files: FileTools, tools: Vocabulary
) -> None:
    path = put(files, b"x = OLD\n")
    new = "[\"'(] \\1 \\g<0> $1 $& \\n “curly” \u00a0"

    assert not tools.edit(files, "a.txt", "OLD", new).is_error

    assert path.read_bytes() == f"x = {new}\n".encode()


@requirement("BUG-E11")
def test_E11_tabs_elsewhere_stay_tabs(files: FileTools, tools: Vocabulary) -> None:
    path = put(files, b"all: one\n\tcc -o one one.c\n\nclean:\n\trm -f one\n", "Makefile")

    assert not tools.edit(files, "Makefile", "rm -f one", "rm -f one two").is_error

    assert path.read_bytes() == b"all: one\n\tcc -o one one.c\n\nclean:\n\trm -f one two\n"


@requirement("BUG-E15")
def test_E15_overlapping_matches_are_refused(files: FileTools, tools: Vocabulary) -> None:
    path = put(files, b"foo\nfoo\nfoo\n")

    result = tools.edit(files, "a.txt", "foo\nfoo\n", "x")

    assert result.is_error
    assert "2 places, lines 1 and 2" in result.text
    assert path.read_bytes() == b"foo\nfoo\nfoo\n"


KILLED_AT_EVERY_STEP = """
import os, signal, sys
from pathlib import Path
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import VOCABULARIES
(tools,) = (each for each in VOCABULARIES if each.name == sys.argv[1])
root = Path(sys.argv[2])
target = root / "a.txt"
old, new = "old line\\n" * 5000, "new line\\n" * 5000
STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.chown", "os.utime"}
outcomes = []
for steps in range(1, 400):
    target.write_text(old)
    child = os.fork()
    if child == 0:
        left = steps
        def kill(event, _):
            global left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(kill)
        result = tools.write(FileTools(root), "a.txt", new)
        os._exit(7 if not result.is_error else 8)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    outcomes.append({old: "old", new: "new"}.get(target.read_text(), "torn"))
    if status != -signal.SIGKILL:
        break
print(status, *sorted(set(outcomes)), len(outcomes) > 5)
"""


@requirement("BUG-E18")
def test_E18_a_write_that_is_killed_at_any_step_leaves_the_old_or_the_new_file(
    files: FileTools, tools: Vocabulary
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, tools.name, str(files.root)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        timeout=9,
    )

    assert done.stderr == ""
    assert done.stdout == "7 new old True\n"
    names = [path.name for path in files.root.iterdir()]
    assert names == ["a.txt"]


@requirement("BUG-E19")
def test_E19_every_place_is_replaced_in_one_pass_without_growth(
    files: FileTools, tools: Vocabulary
) -> None:
    path = put(files, b"aaa")

    result = tools.edit(files, "a.txt", "a", "aa", every=True)

    assert path.read_bytes() == b"aaaaaa"
    assert result.details["replacements"] == 3


@requirement("BUG-G12")
@pytest.mark.parametrize("what", ["fifo", "/dev/zero", "/proc/self/environ"])
def test_G12_what_never_ends_is_never_read(files: FileTools, tools: Vocabulary, what: str) -> None:
    os.mkfifo(files.root / "fifo")

    assert tools.read(files, what).is_error
