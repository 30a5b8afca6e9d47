"""Arcturn's `read`."""

import base64
import hashlib
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from arc_workbench.content import Declaration, Image, Outline, Text, ToolResult
from arc_workbench.toolsets.arcturn.read import TOOL
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools


@requirement("S1-029", "S1-168")
def test_lines_are_numbered_like_cat_does(files: FileTools) -> None:
    files.write(a_txt="one\r\ntwo\n")

    result = files.call(TOOL, path="a.txt")

    assert result.text == "     1\tone\n     2\ttwo\n     3\t"
    assert result.details == {
        "path": "a.txt",
        "totalLines": 3,
        "startLine": 1,
        "endLine": 3,
        "truncated": False,
        "sha256": hashlib.sha256(b"one\r\ntwo\n").hexdigest(),
    }


def test_an_empty_file_has_one_line(files: FileTools) -> None:
    files.write(a_txt="")

    assert files.call(TOOL, path="a.txt").text == "     1\t"


@requirement("S1-030")
def test_a_line_is_cut_past_two_thousand_characters(files: FileTools) -> None:
    files.write(a_txt="é" * 2000 + "\n" + "é" * 2001)

    first, second = files.call(TOOL, path="a.txt").text.split("\n")

    assert first == "     1\t" + "é" * 2000
    assert second == "     2\t" + "é" * 2000 + "… [line truncated at 2000 chars]"


@requirement("S1-036")
def test_past_the_limit_a_note_says_how_to_go_on(files: FileTools) -> None:
    files.write(a_txt="".join(f"{n}\n" for n in range(1, 2501)))

    whole = files.call(TOOL, path="a.txt")
    part = files.call(TOOL, path="a.txt", offset=11, limit=5)
    rest = files.call(TOOL, path="a.txt", offset=2500)

    assert whole.text.endswith(
        "  2000\t2000\n\n[Showing lines 1-2000 of 2501. Use offset=2001 to continue reading.]"
    )
    assert part.text.startswith("    11\t11\n")
    assert part.text.endswith(
        "    15\t15\n\n[Showing lines 11-15 of 2501. Use offset=16 to continue reading.]"
    )
    assert (part.details["startLine"], part.details["endLine"]) == (11, 15)
    assert rest.text == "  2500\t2500\n  2501\t"


CODE = """\
import os


class Shelf(Base):
    '''A shelf.'''

    def put(
        self, book: str,
    ) -> None:
        self.books.append(book)


def main() -> int:
    return 0


"""


def large(code: str = CODE) -> str:
    """The code, and comments up to the size from which on a file is outlined."""
    return code + "# nothing\n" * -(-(16_384 - len(code)) // 10)


def is_outline(result: ToolResult) -> bool:
    return result.details.get("outline") is True


@requirement("S1-028", "S1-032", "S1-033")
def test_a_large_file_is_outlined_with_line_kind_name_and_signature(files: FileTools) -> None:
    text = large()
    files.write(shelf_py=text)

    result = files.call(TOOL, path="shelf.py")

    total = text.count("\n") + 1
    declarations = (
        Declaration(line=4, kind="class", name="Shelf", signature="class Shelf(Base)"),
        Declaration(
            line=7, kind="method", name="put", signature="def put(self, book: str) -> None", depth=1
        ),
        Declaration(line=13, kind="function", name="main", signature="def main() -> int"),
    )
    header, *entries = result.text.split("\n")
    assert entries == [
        "",
        "     4\tclass Shelf: class Shelf(Base)",
        "     7\t  method put: def put(self, book: str) -> None",
        "    13\tfunction main: def main() -> int",
    ]
    assert header == (
        f"Outline of shelf.py: {len(text)} bytes, {total} lines, 3 declarations. This is an "
        "outline, not the text of the file: each entry is line, kind, name, signature. To read "
        "lines, give offset and limit, for example offset=7, limit=6 for put."
    )
    assert result.display == (
        Outline(path="shelf.py", size=len(text), total_lines=total, declarations=declarations),
    )
    assert result.note == "3 declarations"
    assert result.details == {
        "path": "shelf.py",
        "totalLines": total,
        "startLine": 1,
        "endLine": total,
        "truncated": False,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "outline": True,
        "declarationCount": 3,
    }


@requirement("S1-032")
def test_the_size_from_which_on_a_file_is_outlined_is_exact(files: FileTools) -> None:
    code = "def f(): ...\n#"
    files.write(
        at_py=code + "x" * 900 + "\n# y" * 3867 + "zzz"[: 16_384 - len(code) - 900 - 4 * 3867]
    )
    assert (files.root / "at.py").stat().st_size == 16_384
    files.write(below_py=(files.root / "at.py").read_text(encoding="utf-8")[:-1])

    assert is_outline(files.call(TOOL, path="at.py"))
    assert not is_outline(files.call(TOOL, path="below.py"))


@requirement("S1-034")
def test_lines_that_are_asked_for_come_before_an_outline_that_is_asked_for(
    files: FileTools,
) -> None:
    files.write(large_py=large(), small_py=CODE)

    asked = files.call(TOOL, path="small.py", outline=True)
    by_size = files.call(TOOL, path="large.py", outline=False)
    literal = files.call(TOOL, path="large.py", outline=True, limit=2)

    assert is_outline(asked)
    assert is_outline(by_size)
    assert literal.text.startswith("     1\timport os\n     2\t\n\n[Showing lines 1-2 of ")
    assert literal.display == ()


@requirement("S1-033")
@pytest.mark.parametrize(
    ("name", "code", "declared"),
    [
        ("a_ts", "export class A<T> {\n  get b(): T { return 1; }\n}\n", "get b(): T"),
        ("a_js", "const f = async (a) => {\n};\n", "const f = async (a) =>"),
        ("a_go", "func (s *S) F(a int) error {\n}\n", "func (s *S) F(a int) error"),
        ("a_rs", "impl<T> S<T> {\n    pub fn f(&self) -> T {}\n}\n", "pub fn f(&self) -> T"),
        ("a_java", "class A {\n  int f(int a) { return a; }\n}\n", "int f(int a)"),
        ("a_kt", "class A {\n  fun f(a: Int): Int = a\n}\n", "fun f(a: Int): Int"),
        ("a_cs", "namespace N { class A { int F(int a) => a; } }\n", "int F(int a)"),
        ("a_rb", "class A\n  def f(a, b: 1)\n  end\nend\n", "def f(a, b: 1)"),
        ("a_php", "<?php\nfunction f(int $a): int { return $a; }\n", "function f(int $a): int"),
        ("a_c", "static int\nf(int a)\n{\n}\n", "static int f(int a)"),
        (
            "a_cpp",
            "template <class T> T N::f(T a) { return a; }\n",
            "template <class T> T N::f(T a)",
        ),
    ],
)
def test_each_language_of_the_page_is_outlined(
    files: FileTools, name: str, code: str, declared: str
) -> None:
    files.write(**{name: code})

    result = files.call(TOOL, path=name.replace("_", "."), outline=True)

    assert result.text.split("\n")[-1].endswith(f": {declared}")


@requirement("S1-033")
def test_the_example_of_a_ranged_read_gives_the_lines_of_the_declaration(files: FileTools) -> None:
    files.write(shelf_py=large())
    outline = files.call(TOOL, path="shelf.py").text
    found = re.search(r"offset=(\d+), limit=(\d+) for (\w+)\.", outline)
    assert found

    lines = files.call(TOOL, path="shelf.py", offset=int(found[1]), limit=int(found[2]))

    assert lines.text.startswith(f"{found[1]:>6}\t    def {found[3]}(")


def test_a_crowded_outline_leaves_out_members_first_and_then_says_where_to_go_on(
    files: FileTools,
) -> None:
    members = "class A:\n" + "    def f(self): ...\n" * 1200
    crowd = members + "".join(f"def f{n}(): ...\n" for n in range(1100))
    files.write(members_py=members, crowd_py=crowd)

    outer = files.call(TOOL, path="members.py")
    cut = files.call(TOOL, path="crowd.py")

    assert outer.text.endswith(
        "\n     1\tclass A: class A\n\n"
        "[1 of 1201 declarations; those inside of classes are left out.]"
    )
    assert outer.note == "1201 declarations"
    assert outer.details["truncated"] is True
    said = re.search(r"The first (\d+) of 2301", cut.text)
    assert said
    count = int(said[1])
    assert len(cut.text) < 42_000
    assert cut.text.endswith(f"Use offset={1202 + count - 1} to read on from there.]")
    shown = cut.display[0]
    assert isinstance(shown, Outline)
    assert len(shown.declarations) == count
    assert all(a.line < b.line for a, b in pairwise(shown.declarations))


@requirement("REQ-S72")
def test_an_outline_of_a_file_that_is_not_utf_8_says_so(files: FileTools) -> None:
    (files.root / "a.c").write_bytes("/* Straße */\nint f(void) { }\n".encode("latin-1"))

    assert files.call(TOOL, path="a.c", outline=True).text.endswith(
        "\n     2\tfunction f: int f(void)\n\n"
        "[Not UTF-8, probably windows-1252: what could not be read is shown as \ufffd.]"
    )


@requirement("S1-035")
@pytest.mark.parametrize(
    "text",
    ["function a(){return 1}" * 2000, "// nothing is declared here\n" * 1000],
    ids=["minified", "no declarations"],
)
def test_what_has_no_declarations_to_show_falls_back_in_silence(
    files: FileTools, text: str
) -> None:
    files.write(a_js=text)

    result = files.call(TOOL, path="a.js")

    assert result.text.startswith(f"     1\t{text[:20]}")
    assert "utline" not in result.text
    assert result.display == ()
    assert result.details["outlineUnavailable"] is True
    assert "outline" not in result.details


@requirement("J-21", "REQ-S65")
def test_over_eight_mebibytes_there_is_a_window_and_no_outline(files: FileTools) -> None:
    line = "def f(): ...\n"
    files.write(a_py=line * (1 + (8 << 20) // len(line)))

    result = files.call(TOOL, path="a.py", outline=True)

    assert result.details["outlineUnavailable"] is True
    assert result.details["totalLines"] is None
    assert result.text.startswith("     1\tdef f(): ...\n")


SPARSE = """
import re, sys
from pathlib import Path
from arc_workbench.toolsets.arcturn.read import TOOL
from tests.unit.toolsets.filetools import FileTools

files = FileTools(Path(sys.argv[1]))
for arguments in ({"outline": True}, {}, {"limit": 1}, {"offset": 1, "limit": 3}):
    result = files.call(TOOL, path="a.py", **arguments)
    assert result.text.startswith("     1\\tdef f(): ..."), result.text[:200]
    assert "of a file of 5368709120 bytes" in result.text or len(result.text) < 20_000
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
print(int(peak[1]) // 1024)
"""


@requirement("REQ-S65")
@pytest.mark.timeout(60)
def test_a_sparse_file_of_five_gigabytes_that_starts_with_text_takes_little_memory(
    files: FileTools,
) -> None:
    with (files.root / "a.py").open("wb") as file:
        file.write(b"def f(): ...\n" * 5000)
        file.truncate(5 << 30)

    done = subprocess.run(
        [sys.executable, "-c", SPARSE, str(files.root)],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) < 100


@requirement("S1-034")
def test_lines_that_are_asked_for_are_literal_at_any_size(files: FileTools) -> None:
    files.write(a_py="def f(): ...\n" * 5000)

    for asked in ({"offset": 1}, {"limit": 2000}, {"offset": 1, "outline": True}):
        result = files.call(TOOL, path="a.py", **asked)
        assert result.text.startswith("     1\tdef f(): ...\n     2\t")
        assert "outlineUnavailable" not in result.details


@requirement("S1-035")
def test_without_an_outline_a_large_file_falls_back_to_its_body_in_silence(
    files: FileTools,
) -> None:
    files.write(a_dat="x\n" * 8192, b_dat="x\n" * 8191)

    large, small = files.call(TOOL, path="a.dat"), files.call(TOOL, path="b.dat")
    asked = files.call(TOOL, path="b.dat", outline=True)

    assert large.text.endswith(
        "\n  2000\tx\n\n[Showing lines 1-2000 of 8193. Use offset=2001 to continue reading.]"
    )
    assert "utline" not in large.text
    assert large.details["outlineUnavailable"] is True
    assert asked.details["outlineUnavailable"] is True
    assert "outlineUnavailable" not in small.details


@pytest.mark.parametrize("value", [0, -3, "x", None, True, [], 0.5])
def test_what_is_no_positive_number_stands_for_the_default(files: FileTools, value: object) -> None:
    files.write(a_txt="a\nb\n")

    assert files.call(TOOL, path="a.txt", offset=value, limit=value).details["endLine"] == 3


def test_fractions_are_cut_off(files: FileTools) -> None:
    files.write(a_txt="a\nb\nc\n")

    result = files.call(TOOL, path="a.txt", offset=2.9, limit=1.2)

    assert (result.details["startLine"], result.details["endLine"]) == (2, 2)


def test_a_start_past_the_end_names_the_total(files: FileTools) -> None:
    files.write(a_txt="a\nb")

    result = files.call(TOOL, path="a.txt", offset=3)

    assert result.is_error
    assert "has 2 lines" in result.text


@requirement("S1-170")
def test_a_missing_file_a_folder_and_no_name_are_errors(files: FileTools) -> None:
    missing = files.call(TOOL, path="gone.txt")
    folder = files.call(TOOL, path=".")
    nameless = files.call(TOOL, path="")

    assert str(files.root / "gone.txt") in missing.text
    assert "working directory" in missing.text
    assert "ls or glob" in folder.text
    assert missing.is_error
    assert folder.is_error
    assert nameless.is_error


@requirement("J-20")
def test_a_binary_file_is_called_binary(files: FileTools) -> None:
    files.write(a_bin="x\0y")

    result = files.call(TOOL, path="a.bin")

    assert "binary" in result.text
    assert result.details["binary"] is True


@requirement("REQ-S72")
def test_a_file_that_is_not_utf_8_is_shown_with_a_note(files: FileTools) -> None:
    (files.root / "a.txt").write_bytes("Straße".encode("latin-1"))

    assert files.call(TOOL, path="a.txt").text == (
        "     1\tStra\ufffde\n\n"
        "[Not UTF-8, probably windows-1252: what could not be read is shown as \ufffd.]"
    )


@requirement("J-21")
def test_of_a_very_large_file_the_note_names_its_bytes(files: FileTools) -> None:
    files.write(a_txt="x" * 99 + "\n")
    with (files.root / "a.txt").open("ab") as file:
        file.writelines([(b"x" * 99 + b"\n") * 10_000] * 9)

    result = files.call(TOOL, path="a.txt", limit=1)

    assert result.text.endswith(
        "\n\n[Showing lines 1-1 of a file of 9000100 bytes. Use offset=2 to continue reading.]"
    )
    assert result.details["totalLines"] is None


@requirement("S1-031")
@pytest.mark.parametrize("name", ["a.png", "b.JPG", "c.jpeg", "d.gif", "e.webp"])
def test_a_picture_comes_as_base64_instead_of_text(files: FileTools, name: str) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(50)
    (files.root / name).write_bytes(data)

    text, image = files.call(TOOL, path=name).content

    assert text == Text(text=f"Image {name} (image/png, 58 bytes)")
    assert image == Image(data=base64.b64encode(data).decode(), mime="image/png")


@requirement("S1-037", "S1-176", "J-10")
def test_reading_is_an_effect_that_needs_no_permission_and_its_subject_is_the_real_file(
    files: FileTools,
) -> None:
    files.write(a_txt="x")
    (files.root / "link").symlink_to("a.txt")

    prepared = files.prepare(TOOL, path="link")

    assert TOOL.effect == "read"
    assert prepared.subject == str(files.root / "a.txt")
    assert prepared.description == "Read a.txt (via link)"
