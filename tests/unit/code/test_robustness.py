"""Outlines of what was never meant to be read: deep, long, broken and hostile text."""

import random
import subprocess
import sys

import pytest

from arc_workbench.code import python, tables, trees
from arc_workbench.code.languages import LANGUAGES
from arc_workbench.code.outline import outline_of
from tests.requirements import requirement

SUFFIXES = {language: suffix for suffix, language in LANGUAGES.items()}
MANY = 100_000
FEWER = 10_000
DEEP = {
    "parentheses": "x = " + "(\n" * MANY,
    "closed parentheses": "x = " + "(\n" * FEWER + "1" + ")\n" * FEWER,
    "braces": "{\n" * FEWER,
    "classes": "class A {\n" * FEWER,
    "namespaces": "namespace a {\n" * FEWER,
    "minus signs": "x = " + "-\n" * FEWER,
    "chains": "x = (a" + ".b\n" * FEWER + ")",
    "pointers": "int " + "*\n" * FEWER + "p;\n",
}


@requirement("S1-035")
def test_minified_text_has_no_outline() -> None:
    minified = "function a(){return 1}" * 2000

    assert outline_of("a.min.js", minified) is None
    assert outline_of("a.js", "// licence\n" * 20 + minified + "\n") is None
    assert outline_of("a.py", "x = 1;" * 5000) is None


def test_one_long_line_among_much_code_is_no_reason_to_give_up() -> None:
    code = "def f(): ...\n" * 1000 + f"DATA = '{'x' * 9000}'\n"

    found = outline_of("a.py", code)

    assert found is not None
    assert len(found) == 1001
    assert len(found[-1].signature) <= 160


def test_text_over_eight_mebibytes_has_no_outline() -> None:
    line = "def f(): ...\n"
    assert outline_of("a.py", line * (1 + (8 << 20) // len(line))) is None


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting_neither_crashes_nor_hangs(kind: str) -> None:
    code = (
        "import sys, threading\n"
        "from tests.unit.code.test_robustness import outline_all\n"
        "thread = threading.Thread(target=outline_all, args=(sys.argv[1],))\n"
        "thread.start(); thread.join(); print('alive')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, kind], capture_output=True, text=True, timeout=100, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def outline_all(kind: str) -> None:
    """Outline a deep text as each language in turn; runs in a process and a thread of its own."""
    for suffix in SUFFIXES.values():
        outline_of("a" + suffix, DEEP[kind])


SLOW = {
    "import chain": ("import a\\\n", ".a\\\n", ""),
    "unfinished decorators": ("", "@a\n", "=\n"),
    "nested brackets": ("x = [", "[" * 150 + "]" * 150 + ",\n", "]"),
    "formatted text": ('x = f"""', "{a!r:{b}}\n", '"""'),
    "statements on a line": ("", "a;a\n", ""),
    "continued lines": ("x = 1", "\\\n", ""),
    "conditions": ("x = (1\n", "if 1 else 1\n", ")"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", SLOW)
def test_the_parser_of_python_is_stopped_when_code_is_made_to_be_slow(kind: str) -> None:
    head, unit, end = SLOW[kind]
    end += "\ndef after(): ...\n"
    code = head + unit * ((python.MAX_CHARS - len(head + end)) // len(unit)) + end

    found = outline_of("a.py", code)

    assert found is not None
    assert [each.name for each in found] == ["after"]


def test_python_that_is_not_parsed_in_time_is_given_up_for_the_patterns() -> None:
    assert python.declarations("def f(): ...\n", seconds=0.0) is None


@pytest.mark.parametrize("language", sorted(set(SUFFIXES) - {"python"}))
def test_a_parse_that_takes_too_long_is_given_up_for_the_patterns(language: str) -> None:
    text = "\"'`/*\n" * MANY

    assert trees.declarations(language, text, seconds=0.0) is None
    assert trees.declarations(language, "", seconds=30.0) == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("language", sorted(SUFFIXES))
def test_patterns_stand_any_noise(language: str) -> None:
    chance = random.Random(language)
    words = [
        "class", "def", "fn", "function", "struct", "template", "<", ">", "(", ")", "{", "}", "::",
        "public", " ", " ", "a", "a" * 90, "=", ";", ",", "*", "/*", "*/", '"', "'", "`", "\\", "#",
        "\n", "\n", "\t", "~", "&", '"""', "//",
    ]  # fmt: skip
    noise = "".join(chance.choices(words, k=20_000))
    for text in (noise, "a " * 150 + "\n" + "a::" * 100_000, ("a" * 399 + "\n") * 200):
        for each in tables.declarations(language, text):
            assert 1 <= each.line <= text.count("\n") + 1
            assert each.name
            assert len(each.signature) <= 160
