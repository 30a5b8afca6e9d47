"""Which patterns a script may hold, and how much text they are held against."""

import re

import pytest

from arc_workbench.errors import ScriptError
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.script_patterns import MAX_SEARCHED_CHARS, may_take_for_ever, search
from tests.requirements import requirement
from tests.unit.models.talk import script

ENDLESS = [
    r"(a+)+$",
    r"(a*)*",
    r"(a|a)*$",
    r"(?:a|ab)+$",
    r"(.*a){20}",
    r"(?:,a*a*)*$",
    r"((a|a)b?)*",
    r"(?:\w+\s?)*$",
    r"(?i:(a+)+)",
    r"(?P<n>a+)+",
    r"(?:(?:a|a)c)*",
    r"(a?){50}",
    r"(a+)\1*(b+)+",
    r"(.|\n)*x",
    r"(?:\s*,\s*\w+)*",
    r"(?:[,a]+,)*",
    r"(a{1,3})+",
    r"(?:(a+)?b)*x",
    r"(?i)(?:A+a)*",
    "(?x)(a+ # all\n)+",
]
BOUNDED = [
    r"\d+ (?:failed|passed|error)s?(?:, \d+ \w+)*",
    r"Hello, (\w+)\.",
    r"/ \(len\((\w+)\) - 1\)",
    r"^def \w+",
    r"(?:a|b)*",
    r"(ab)+",
    r"[(+)]+",
    r"\(a+\)+",
    r"(?:/\w+)+",
    r"(?:\w+\.)*\w+",
    r"(a+)?",
    r"(?:, \d+ (?:failed|passed))*",
    r"{a+}+",
    r"(?#(a+)b",
]


@requirement("REQ-F53")
@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_could_take_for_ever_is_refused_with_its_line(pattern: str) -> None:
    re.compile(pattern)
    quoted = "'" + pattern.replace("\n", "\n\n") + "'"
    text = f"script: 1\ntitle: t\nasked: {{matches: {quoted}}}\nsteps: [stop]\n"

    with pytest.raises(ScriptError, match=r"s\.yaml line 3: the pattern could take for ever"):
        read_script("s.yaml", text)


@pytest.mark.parametrize("pattern", BOUNDED)
def test_a_pattern_whose_next_character_says_how_to_go_on_is_taken(pattern: str) -> None:
    re.compile(pattern)

    assert not may_take_for_ever(pattern)


@requirement("REQ-F53")
@pytest.mark.parametrize(
    "step",
    [
        "- {take: a, from: prompt, matching: '(a+)+$'}",
        "- {when: {prompt: {matches: '(a+)+$'}}, then: [stop]}",
        "- {repeat: 2, until: {prompt: {matches: '(a+)+$'}}, steps: [stop]}",
    ],
)
def test_it_is_refused_wherever_a_pattern_stands(step: str) -> None:
    with pytest.raises(ScriptError, match="could take for ever"):
        read_script("s.yaml", script(step))


@requirement("REQ-F53")
def test_of_a_very_long_text_both_ends_are_looked_at() -> None:
    filling = "x" * MAX_SEARCHED_CHARS
    needle = re.compile("needle")

    assert search(needle, "needle" + filling)
    assert search(needle, filling + "needle")
    assert search(needle, filling[: MAX_SEARCHED_CHARS // 2] + "needle")
    assert search(needle, filling + "needle" + filling) is None
