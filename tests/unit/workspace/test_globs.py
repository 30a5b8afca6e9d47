"""Which names a glob pattern fits."""

import fnmatch
import random
import re

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace.globs import compile_globs
from tests.requirements import requirement


@requirement("S1-095")
@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.py", ["a.py", ".a.py"], ["d/a.py", "a.pyc"]),
        ("**/*.py", ["a.py", "d/a.py", "d/e/.hidden.py"], ["a.txt"]),
        ("src/**", ["src/a", "src/b/c"], ["a", "lib/src/a"]),
        ("src/", ["src/a", "src/b/c"], ["lib/src/a"]),
        ("src/**/test_?.py", ["src/test_a.py", "src/x/y/test_b.py"], ["src/test_ab.py"]),
        ("**/a/**/b", ["a/b", "x/a/y/z/b"], ["b/a", "a/b/c"]),
        ("{a,b/*}.{c,h}", ["a.c", "b/x.h"], ["b.c", "a.x"]),
        ("{a,{b,c}}", ["a", "b", "c"], ["d"]),
        ("[!a]*.md", ["b.md"], ["a.md"]),
        ("[[]", ["["], ["a"]),
        ("a]", ["a]"], ["a"]),
        ("{a}", ["{a}"], ["a"]),
        ("a}", ["a}"], ["a"]),
        ("[{]a,b[}]", ["{a,b}"], ["a", "b"]),
        ("{[{],b}c", ["{c", "bc"], ["c"]),
        ("./x/./y", ["x/y"], ["y"]),
        ("weird\\name", ["weird\\name"], ["weirdname"]),
        ("**", ["a", "a/b"], []),
        ("***", ["a"], ["a/b"]),
    ],
)
def test_a_pattern_fits(pattern: str, fitting: list[str], others: list[str]) -> None:
    glob = compile_globs((pattern,))

    assert [name for name in [*fitting, *others] if glob.matches(name)] == fitting


def test_one_of_several_patterns_is_enough() -> None:
    glob = compile_globs(("*.py", "docs/**"))

    assert glob.matches("a.py")
    assert glob.matches("docs/x/y.md")
    assert not glob.matches("a.md")


def test_a_filter_without_a_slash_fits_in_any_folder() -> None:
    assert compile_globs(("*.py",), anywhere=True).matches("d/e/a.py")
    assert not compile_globs(("d/*.py",), anywhere=True).matches("x/d/a.py")


@pytest.mark.parametrize("pattern", ["", "/", ".", "/etc/*", "../*", "a/../../b", "{a,b}" * 12])
def test_a_pattern_that_leaves_the_folder_or_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(ToolError):
        compile_globs((pattern,))


@requirement("BUG-G9")
@pytest.mark.parametrize(
    ("pattern", "sign", "place"),
    [
        ("{a", "{", 0),
        ("src/{a,{b,c}/x", "{", 4),
        ("[a-", "[", 0),
        ("x/[!]/y]", "[", 2),
        ("[]", "[", 0),
        ("[", "[", 0),
        ("{" * 4096, "{", 0),
        ("[" * 4096, "[", 0),
        ("{[{]" * 1000, "{", 0),
    ],
)
def test_what_is_opened_and_not_closed_is_named_with_its_place(
    pattern: str, sign: str, place: int
) -> None:
    with pytest.raises(ToolError) as caught:
        compile_globs((pattern,))

    assert f"{pattern}: the {sign} at position {place} is not closed" in str(caught.value)
    assert f"[{sign}]" in str(caught.value)


def test_no_pattern_at_all_is_refused() -> None:
    with pytest.raises(ToolError):
        compile_globs(())


def test_a_part_longer_than_any_name_fits_nothing() -> None:
    assert compile_globs(("?" * 255,)).matches("a" * 255)
    assert not compile_globs(("?" * 256,)).matches("a" * 256)


@requirement("REQ-F53")
@pytest.mark.parametrize(
    "pattern", ["{" + "," * 30_000, "[" * 30_000, "[" * 100_000, "{" + "," * 4000 + "}" * 97]
)
def test_a_pattern_beyond_the_bounds_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(ToolError, match=r"4096|too many alternatives"):
        compile_globs((pattern,))


@requirement("REQ-F53")
def test_several_patterns_share_the_bound() -> None:
    with pytest.raises(ToolError, match="65536 characters in all"):
        compile_globs(tuple("a" * 4096 for _ in range(17)))
    with pytest.raises(ToolError, match="over 1000"):
        compile_globs(tuple(str(number) for number in range(1001)))


class StoppedError(Exception):
    """Ends the work in a test."""


@requirement("REQ-F53", "REQ-S65")
def test_reading_a_pattern_and_matching_it_look_whether_to_stop() -> None:
    looks: list[int] = []

    def check() -> None:
        looks.append(1)
        if len(looks) > 20:
            raise StoppedError

    with pytest.raises(StoppedError):
        compile_globs(("x/" * 100,), check=check)
    looks.clear()
    with pytest.raises(StoppedError):
        compile_globs(("**/a/" * 60 + "b",)).matches("a/" * 1000 + "a", check)


@requirement("S1-095")
def test_brackets_and_stars_mean_what_the_standard_library_takes_them_for() -> None:
    chance = random.Random(7)
    for _ in range(3000):
        pattern = "x" + "".join(chance.choices("ab*?[]!-^\\&~|.", k=chance.randint(1, 8)))
        name = "x" + "".join(chance.choices("ab[]!-\\^", k=chance.randint(0, 6)))

        if re.search(r"\[(?!!?+.[^\]]*\])", re.sub(r"\[!?+.[^\]]*\]", "", pattern)):
            continue  # a bracket that nothing closes is refused

        fits = compile_globs((pattern,)).matches(name)

        assert fits == fnmatch.fnmatchcase(name, pattern), (pattern, name)


@requirement("REQ-F53")
@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*a" * 60 + "*b", "a" * 255),
        ("**/a/" * 60 + "b", "a/" * 1000 + "a"),
        ("?*" * 60 + "x", "a" * 255),
        ("{x" + "," * 900 + "}y", "a" * 255),
        ("[[]" * 1365, "a" * 255),
        ("[!" * 2000 + "]", "a" * 255),
        ("[z-a" + "-a" * 2000 + "]", "b" * 255),
        ("*" * 4095 + "b", "a" * 255),
        ("*a" * 2000 + "b", "a" * 255),
    ],
)
def test_no_pattern_takes_long(pattern: str, name: str) -> None:
    assert not compile_globs((pattern,)).matches(name)


def test_looking_folder_by_folder_finds_what_looking_at_whole_names_finds() -> None:
    chance = random.Random(1)
    parts = ["**", "*", "a", "b", "a*", "?"]
    for _ in range(4000):
        glob = compile_globs(
            tuple(
                "/".join(chance.choices(parts, k=chance.randrange(1, 5)))
                for _ in range(chance.randrange(1, 3))
            )
        )
        *folders, name = chance.choices(["a", "b", "ab"], k=chance.randrange(1, 5))
        fits = glob.matches("/".join([*folders, name]))

        assert bool(glob.in_folder("".join(f"{folder}/" for folder in folders))(name)) == fits
        for depth in range(1, len(folders) + 1) if fits else ():
            assert glob.leads_into("/".join(folders[:depth]) + "/")
