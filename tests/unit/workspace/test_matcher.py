"""The quick looks at a whole file never rule out a file in which a line matches."""

import itertools
import random
import re

import pytest

from arc_workbench.workspace.matcher import Search, needed_text

PATTERNS = [
    "a", "^a", "a$", "^$", "^ab?$", r"\ba\b", r"a\B", "a.b", "a.*b$", "(a|b)+$", "a{2,}", "a(?=b)",
    r"(?<=a)b", r"a\s*$", r"\Aa", r"a\Z", "a(?!b)", r"(?<!a)b", "[^a]b", "[^a]+$", r"\Sb?$",
    "(?i)A$", r"(?>a+\s*)$", r"a++b", r"a\s++$", r"(a)\1$", "(?P<x>a)(?P=x)", r"\x61$", "[ab] ?$",
    "(?s)a.$", "ab{0}", "a|b", "ab*?", "b+a", r"[\]b]a", "[]a]b", "(ab)?b", r"\u0061b", "a {1,2}b",
]  # fmt: skip


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_line_that_matches_is_never_ruled_out_with_its_file(
    pattern: str, ignore_case: bool
) -> None:
    search = Search(pattern, literal=False, ignore_case=ignore_case)
    chance = random.Random(pattern)
    for _ in range(400):
        lines = ["".join(chance.choices("aAb ", k=chance.randrange(4))) for _ in range(4)]
        matches = any(search.spans(line) is not None for line in lines)
        for first, second, third in itertools.product(["\n", "\r\n"], repeat=3):
            data = f"{lines[0]}{first}{lines[1]}{second}{lines[2]}{third}{lines[3]}\n".encode()
            assert search.is_in(data) == matches
            assert search.may_be_in(bytearray(data), len(data)) or not matches


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"static\s+int\s+\w+_probe\(", "_probe("),
        ("foo|bar", ""),
        ("colou?r", "colo"),
        ("ab{2}cde", "cde"),
        ("(maybe)?sure", "sure"),
        (r"\x61bc", ""),
        (r"[\]x]abc", ""),
    ],
)
def test_what_must_stand_in_a_file_is_told_from_the_expression(pattern: str, needed: str) -> None:
    assert needed_text(pattern) == needed


NAMED_SETS = [
    *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct"),
    *("space", "upper", "word", "xdigit"),
]


@pytest.mark.parametrize(
    ("pattern", "line", "place"),
    [
        ("[[:alpha:]]+", "12 ab: 3", (3, 5)),
        ("[^[:space:][:digit:]]+", "1 \tx-y 2", (3, 6)),
        ("[[:^alpha:]]+", "abé1-cd", (2, 5)),
        ("[][:digit:]]+", "a]1]b", (1, 4)),
        ("[^]:[:digit:]]+", "1]:a]", (3, 4)),
        (r"\[[[:digit:]]\]", "a[1]", (1, 4)),
        (r"[\][:digit:]x]+", "a]1x", (1, 4)),
        ("[:alpha:]+", "12 pal", (3, 6)),
        ("[[:xdigit:]]+z", "g0fz", (1, 4)),
    ],
)
def test_sets_of_characters_may_be_named(pattern: str, line: str, place: tuple[int, int]) -> None:
    search = Search(pattern, literal=False, ignore_case=False)

    assert search.spans(line) == [place]
    assert search.is_in(line.encode())


@pytest.mark.parametrize("name", NAMED_SETS)
def test_a_character_is_in_a_named_set_or_in_its_opposite(name: str) -> None:
    inside = Search(f"[[:{name}:]]", literal=False, ignore_case=False)
    outside = Search(f"[[:^{name}:]]", literal=False, ignore_case=False)
    for char in map(chr, [*range(256), 0x2028, 0x10FFFF]):
        assert (inside.spans(char) is None) == (outside.spans(char) is not None), (name, char)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("[[:letter:]]", r"\[:letter:\]"),
        ("[a-z&&[^b]]", "sets within sets"),
        ("[a-z--b]", "sets within sets"),
    ],
)
def test_sets_that_are_not_known_are_refused(pattern: str, said: str) -> None:
    with pytest.raises(re.error, match=said):
        Search(pattern, literal=False, ignore_case=False)


@pytest.mark.parametrize(
    ("wanted", "line", "place"),
    [
        ("straße", "die STRAßE", (4, 10)),
        ("\u017fet", "SET", (0, 3)),
        ("set", "\u017fET", (0, 3)),
        ("ΣΑΣ", "σας", (0, 3)),
        ("a.b", "axb", None),
    ],
)
def test_a_literal_is_compared_without_case(
    wanted: str, line: str, place: tuple[int, int] | None
) -> None:
    search = Search(wanted, literal=True, ignore_case=True)

    assert search.spans(line) == (None if place is None else [place])
    assert search.is_in(f"x\n{line}\ny".encode()) == (place is not None)
