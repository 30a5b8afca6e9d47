"""The outline of Python files."""

import subprocess
import sys
import textwrap
import typing
import warnings
from pathlib import Path

import pytest

from arc_workbench.code import python, tables
from arc_workbench.code.outline import outline_of
from tests.requirements import requirement

TASKS = '''\
"""Tasks. def not_this(): ..."""
from __future__ import annotations

LIMIT: int = 10
_RETRIES = 3
lower = 1
PATTERN = "\\d+"

if LIMIT:
    def early(): return 1
elif lower:
    def late(): ...
else:
    try:
        import fast
    except ImportError:
        class Fallback: ...

@decorate(
    "class Hidden:",
)
class Task(Base, metaclass=Meta):
    """class AlsoHidden: ..."""
    name: str = "x"

    class Meta:
        def deeper(self): ...

    @property
    async def run(
        self,
        *args: dict[str, int],  # numbers: all of them
        sep: str = ":",
        key=lambda x: x,
    ) -> dict[str, "Task"]:
        def nested(): ...
        return {}

    if LIMIT:
        def conditional(self): ...

def last(a, /, b, *, c=")") -> None: pass
'''


def drawn(text: str) -> list[str]:
    found = outline_of("tasks.py", text)
    return [f"{each.line} {each.depth} {each.kind} {each.signature}" for each in found or ()]


@requirement("S1-033")
def test_classes_functions_and_constants_are_listed_with_one_nested_level() -> None:
    assert drawn(TASKS) == [
        "4 0 constant LIMIT: int = 10",
        "5 0 constant _RETRIES = 3",
        '7 0 constant PATTERN = "\\d+"',
        "10 0 function def early()",
        "12 0 function def late()",
        "17 0 class class Fallback",
        "22 0 class class Task(Base, metaclass=Meta)",
        "26 1 class class Meta",
        '30 1 method async def run(self, *args: dict[str, int], sep: str = ":", key=lambda x: x) '
        '-> dict[str, "Task"]',
        "40 1 method def conditional(self)",
        '42 0 function def last(a, /, b, *, c=")") -> None',
    ]


def test_a_broken_file_is_outlined_line_by_line() -> None:
    broken = TASKS + "\ndef unfinished(a, b\n    x = = 1\n"

    assert python.declarations(broken) is None
    assert "44 0 function def unfinished(a, b" in drawn(broken)
    names = {each.name for each in tables.declarations("python", broken)}
    assert names >= {"Task", "Meta", "run", "last", "LIMIT", "unfinished"}
    assert not names & {"not_this", "Hidden", "AlsoHidden", "nested", "deeper"}


def test_each_entry_of_a_real_file_names_the_line_that_declares_it() -> None:
    path = Path(typing.__file__)
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")

    found = outline_of(path.name, text)

    assert found is not None
    assert len(found) > 200
    assert {"Protocol", "cast", "NamedTuple", "Generic"} <= {each.name for each in found}
    assert all(each.name in lines[each.line - 1] for each in found)
    assert [each.line for each in found] == sorted(each.line for each in found)


def test_odd_escapes_make_the_parser_neither_warn_nor_fail() -> None:
    text = textwrap.dedent(
        r"""
        A1 = "\d \\ \" \N{EN DASH}"
        B1 = f"\w{'x'}\{A1}"
        C1 = r"\\" + "a\
        b"
        def after(sep="\."): ...
        """
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parsed = python.declarations(text)

    assert parsed is not None
    assert [each.name for each in parsed] == ["A1", "B1", "C1", "after"]


def test_nothing_that_the_parser_warns_of_is_printed() -> None:
    code = (
        "from arc_workbench.code import python\n"
        "text = 'x = 1if y else 2\\n1or 2\\ndef after(): ...\\n'\n"
        "print([each.name for each in python.declarations(text)])\n"
    )
    command = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr) == ("['after']\n", "")


def test_many_constants_on_a_long_line_have_short_signatures() -> None:
    text = "A1 = 1; " * 20_000 + "\n" + "# a line of words\n" * 20_000

    found = python.declarations(text)

    assert found is not None
    assert len(found) == 20_000
    assert {len(each.signature) for each in found} == {160}


@pytest.mark.parametrize("odd", ["a\0b\n", "\f\n", "x = '\udcff'\n", "\tif x\n", "é = 1\r\r\n"])
def test_odd_characters_never_lose_the_rest(odd: str) -> None:
    assert "2 0 function def after()" in drawn(odd + "def after(): ...\n")
