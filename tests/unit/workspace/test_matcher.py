"""The quick look at a whole file never rules out a file in which a line matches."""

import itertools
import random

import pytest

from arc_workbench.workspace.matcher import literal_search, pattern_search

PATTERNS = [
    "a", "^a", "a$", "^$", "^ab?$", r"\ba\b", r"a\B", "a.b", "a.*b$", "(a|b)+$", "a{2,}", "a(?=b)",
    r"(?<=a)b", r"a\s*$", r"\Aa", r"a\Z", "a(?!b)", r"(?<!a)b", "[^a]b", "[^a]+$", r"\Sb?$",
    "(?i)A$", r"(?>a+\s*)$", r"a++b", r"a\s++$", r"(a)\1$", "(?P<x>a)(?P=x)", r"\x61$", "[ab] ?$",
    "(?s)a.$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_line_that_matches_is_never_ruled_out_with_its_file(pattern: str) -> None:
    search, may_match = pattern_search(pattern, ignore_case=False)
    chance = random.Random(pattern)
    for _ in range(400):
        lines = ["".join(chance.choices("ab ", k=chance.randrange(4))) for _ in range(4)]
        if any(search(line) for line in lines):
            for first, second, third in itertools.product(["\n", "\r\n"], repeat=3):
                assert may_match(f"{lines[0]}{first}{lines[1]}{second}{lines[2]}{third}{lines[3]}")


@pytest.mark.parametrize(
    ("wanted", "line", "place"),
    [
        ("straße", "die STRASSE", (4, 11)),
        ("ſet", "SET", (0, 3)),
        ("ΣΑΣ", "σας", (0, 3)),
        ("a.b", "axb", None),
    ],
)
def test_a_literal_is_compared_without_case(
    wanted: str, line: str, place: tuple[int, int] | None
) -> None:
    search, may_match = literal_search(wanted, ignore_case=True)

    assert search(line) == place
    assert may_match(f"x\n{line}\ny") == (place is not None)
