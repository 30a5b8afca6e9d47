"""The grammar: which words stand where, and how a slip is named."""

import random
import re

import pytest

from arc_workbench.errors import ScriptError
from arc_workbench.models.script_grammar import read_script
from arc_workbench.models.scripted import BUNDLED
from tests.unit.models.talk import script

HEAD = "script: 1\ntitle: t\n"


def refusal(text: str) -> ScriptError:
    with pytest.raises(ScriptError) as refused:
        read_script("s.yaml", text)
    return refused.value


def test_an_unknown_word_is_named_with_its_line_and_those_there_are() -> None:
    fault = refusal(HEAD + "steps:\n  - say: hello\n    cal: ls\n")

    assert str(fault) == (
        "s.yaml line 5: cal is unknown; nothing ran. Known: think, say, call, with, raw, as, "
        "together, stop_reason, cut, fail, times"
    )
    assert fault.line == 5


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("just words", 1, "`word: value` is wanted here"),
        ("title: t\nsteps: [stop]", 1, "script is missing"),
        ("script: 2\ntitle: t\nsteps: [stop]", 1, "this version is not known"),
        ("script: [1]\ntitle: t\nsteps: [stop]", 1, "text is wanted here"),
        ("script: 1\nsteps: [stop]", 1, "title is missing"),
        ("script: 1\ntitle:\nsteps: [stop]", 2, "words are missing"),
        (HEAD, 1, "steps is missing"),
        (HEAD + "steps:", 3, "a list is wanted here"),
        (HEAD + "steps: []", 3, "a list is wanted here"),
        (HEAD + "step: [stop]", 3, "step is unknown; nothing ran. Known: script, title, tools"),
        (HEAD + "asked: []\nsteps: [stop]", 3, "a list is wanted here"),
        (HEAD + "asked: ''\nsteps: [stop]", 3, "words are missing"),
        (
            HEAD + "asked: {match: x}\nsteps: [stop]",
            3,
            "match is unknown; nothing ran. Known: mat",
        ),
        (HEAD + "asked: {matches: '('}\nsteps: [stop]", 3, "the pattern is not valid (missing )"),
        (HEAD + "turns: [{steps: [stop]}]\nasked: x", 3, "turns beside steps or asked"),
        (HEAD + "turns:\n  - asked: x\n", 4, "steps is missing"),
        (HEAD + "tools: {a: []}\nsteps: [stop]", 3, "a list is wanted here"),
        (HEAD + "tools:\n  a:\n    - {b: {}, c: {}}\nsteps: [stop]", 5, "a tool is one name"),
        (HEAD + "tools: {a: [{b: {x: [y]}}]}\nsteps: [stop]", 3, "text is wanted here"),
    ],
)
def test_the_head_of_a_script_is_checked(text: str, line: int, words: str) -> None:
    fault = refusal(text)

    assert fault.line == line
    assert words in str(fault)


@pytest.mark.parametrize(
    ("steps", "line", "words"),
    [
        ("- halt", 4, "halt is unknown; nothing ran. Known: stop"),
        ("- [stop]", 4, "`word: value` is wanted here"),
        ("- {}", 4, "the step is empty"),
        ("- say: [a]", 4, "text is wanted here"),
        ("- say: a\n  as: b", 4, "call is missing"),
        ("- say: a\n  with: {x: 1}", 4, "call is missing"),
        ("- call: a\n  with: x", 5, "`word: value` is wanted here"),
        ("- call: a\n  with: {}\n  raw: x", 6, "raw beside with"),
        ("- call: a\n  together: [{call: b}]", 4, "call beside together"),
        ("- together: {call: b}", 4, "a list is wanted here"),
        ("- together: [{call: b, say: c}]", 4, "say is unknown; nothing ran. Known: call, with"),
        ("- call: a\n  as: 1b", 5, "1b cannot be a name"),
        ("- call: a\n  as: prompt", 5, "prompt cannot be a name"),
        ("- call: a\n  as: not", 5, "not cannot be a name"),
        ("- then: [stop]", 4, "then stands alone; nothing ran. It belongs beside `when`."),
        ("- until: {a: 1}\n  steps: [stop]", 4, "until stands alone"),
        ("- from: a\n  say: b", 4, "from stands alone"),
        ("- when: {prompt: x}", 4, "then is missing"),
        (
            "- when: {prompt: x}\n  then: [stop]\n  say: b",
            6,
            "say is unknown; nothing ran. Known: w",
        ),
        ("- when: {}\n  then: [stop]", 4, "the condition is empty"),
        ("- when: prompt\n  then: [stop]", 4, "`word: value` is wanted here"),
        ("- when: {prompt: {}}\n  then: [stop]", 4, "the test is empty"),
        (
            "- when: {prompt: {has: x}}\n  then: [stop]",
            4,
            "has is unknown; nothing ran. Known: is",
        ),
        ("- when: {prompt: {matches: '*'}}\n  then: [stop]", 4, "the pattern is not valid"),
        ("- when: {prompt: {exists: yes}}\n  then: [stop]", 4, "neither true nor false"),
        ("- when: {a b: 1}\n  then: [stop]", 4, "a b is no name of a value"),
        ("- when: {any: {prompt: x}}\n  then: [stop]", 4, "a list is wanted here"),
        (
            "- when: {nothing: 1}\n  then: [stop]",
            4,
            "nothing is unknown; nothing ran. Known: pro",
        ),
        ("- say: a {gap} here", 4, "gap is unknown"),
        ("- call: a\n  with:\n    b:\n      - c: '{gap.x}'", 7, "gap is unknown"),
        (
            "- repeat: 0\n  steps: [stop]",
            4,
            "no whole number in range; nothing ran. Write 1 to",
        ),
        ("- repeat: true\n  steps: [stop]", 4, "no whole number"),
        ("- repeat: many\n  steps: [stop]", 4, "no whole number"),
        ("- repeat: 10001\n  steps: [stop]", 4, "no whole number"),
        ("- repeat: 2", 4, "steps is missing"),
        ("- take: a\n  from: prompt", 4, "matching is missing"),
        (
            "- take: a\n  from: gap\n  matching: x",
            5,
            "gap is unknown; nothing ran. Known: a, p",
        ),
        ("- take: a\n  from: prompt\n  matching: '[[a]'", 6, "the pattern is not valid"),
        ("- take: a\n  from: prompt\n  matching: 'a{99999999999}'", 6, "the pattern is not valid"),
        ("- say: a\n  stop_reason: tired", 5, "tired is unknown; nothing ran. Known: end_turn,"),
        ("- fail: badly", 4, "badly is unknown; nothing ran. Known: auth, rate_limit, overloaded"),
        ("- cut: maybe", 4, "maybe is unknown; nothing ran. Known: true, auth"),
        ("- say: a\n  times: 2", 5, "times without fail or cut"),
    ],
)
def test_a_step_is_checked_down_to_its_last_word(steps: str, line: int, words: str) -> None:
    fault = refusal(script(steps))

    assert fault.line == line
    assert words in str(fault)
    assert "\n" not in str(fault)


def test_names_belong_to_their_turn() -> None:
    text = HEAD + (
        "turns:\n"
        "  - asked: one\n"
        "    steps: [{call: ls, as: folder}]\n"
        "  - asked: two\n"
        "    steps: [{say: '{folder}'}]\n"
    )

    assert str(refusal(text)).startswith("s.yaml line 7: folder is unknown")


def test_a_name_may_be_used_above_the_step_that_gives_it() -> None:
    read_script("s.yaml", script("- repeat: 2\n  until: {log: x}\n  steps: [{call: ls, as: log}]"))


def test_placeholders_of_other_languages_are_just_braces() -> None:
    read_script("s.yaml", script("""- say: 'a {} b {"c": 1} {{free}} ${HOME }'"""))


SEED = 20_240
PIECES = (
    *("when:", "then:", "else:", "until:", "call:", "{", "}", "[", "]", "{a}", "yes", "1e999"),
    *("&a", "*a", "!!int", "|", ">", "'", '"', "#", "@", "`", "?", "-"),
    *("repeat: 3", "take: x", "from: y", "matching: '('", "- stop", "as: not", "with: [1]", "<<: "),
    *("%YAML 9.9\n", "%TAG ! x\n", "---\n", "...\n", "script: 1\n", ": ", "- ", "\n", "\n  "),
    *("\t", "\r", "\x00", "\ufeff", "\u2028", '"\\x4"', '"\\UFFFFFFFF"', '"\\ud800"', "9" * 400),
)


def mutated(text: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice([0, 0, 1, 3, 20]))
        text = text[:at] + dice.choice([*PIECES, "", text[at:end] * 2]) + text[end:]
    return text


@pytest.mark.parametrize("name", ["greeting", "hello", "tour"])
def test_whatever_a_text_holds_only_a_script_error_comes_out(name: str) -> None:
    dice = random.Random(SEED)
    text = (BUNDLED / f"{name}.yaml").read_text(encoding="utf-8")
    messages: list[str] = []
    for _ in range(150):
        try:
            read_script("s.yaml", mutated(text, dice))
        except ScriptError as fault:
            messages.append(str(fault))

    assert len(messages) > 50
    form = re.compile(r"s\.yaml line \d+: .+; nothing ran\. .+")
    assert [message for message in messages if not form.fullmatch(message)] == []


def test_noise_is_refused_too() -> None:
    dice = random.Random(SEED)
    for _ in range(300):
        noise = "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 12)))
        with pytest.raises(ScriptError):
            read_script("s.yaml", noise)
