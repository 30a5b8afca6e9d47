"""YAML without its surprises: what is read, and what is refused with the line."""

import pytest

from arc_workbench.errors import ScriptError
from arc_workbench.models.script_yaml import Fields, Items, Leaf, Node, read_yaml


def value(text: str) -> object:
    return plain(read_yaml("s.yaml", text))


def plain(node: Node) -> object:
    match node:
        case Leaf():
            return node.value
        case Items():
            return [plain(item) for item in node.items]
        case Fields():
            return {key: plain(entry.node) for key, entry in node.entries.items()}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-12", -12),
        ("1.5", 1.5),
        ("2e3", 2000.0),
        ('"true"', "true"),
        ("'12'", "12"),
    ],
)
def test_only_what_json_knows_is_more_than_text(written: str, meant: object) -> None:
    assert value(f"a: {written}") == {"a": meant}


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "no",
        "on",
        "off",
        "True",
        "014",
        "0x1f",
        "1_000",
        "12:30:45",
        "2024-01-01",
        ".inf",
        ".nan",
        "=",
    ],
)
def test_what_yaml_1_1_would_turn_into_something_else_stays_text(text: str) -> None:
    assert value(f"a: {text}") == {"a": text}


def test_a_number_too_long_to_be_exact_stays_text() -> None:
    digits = "9" * 5_000

    assert value(f"a: {digits}") == {"a": digits}


def test_a_key_is_the_text_that_is_written() -> None:
    assert value("on: 1\n2: 3\n") == {"on": 1, "2": 3}


def test_every_node_knows_its_line() -> None:
    node = read_yaml("s.yaml", "a:\n  - one\n  - b: two\n")

    assert isinstance(node, Fields)
    items = node.entries["a"].node
    assert isinstance(items, Items)
    assert [item.line for item in items.items] == [2, 3]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the script is empty"),
        ("# only a remark\n", 1, "the script is empty"),
        ("a: 1\nb: 2\na: 3\n", 3, "a stands twice, first in line 1"),
        ("a: {x: 1, x: 2}\n", 1, "x stands twice"),
        ("a: 1\n'a': 2\n", 2, "a stands twice"),
        ("a: &x 1\nb: *x\n", 1, "(&x)"),
        ("a: 1\nb: *x\n", 2, "(*x)"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tags are not part"),
        ("a: !!str 1\n", 1, "tags are not part"),
        ("a: ! 1\n", 1, "tags are not part"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("a: 1\n? [x]\n: 2\n", 2, "a key is no single word"),
        ("a: 1\n b: 2\n", 2, "this is no YAML (mapping values are not allowed here)"),
        ("a: 1\nb: 'open\n", 3, "this is no YAML"),
        ("a: [1, 2\nb: 3\n", 2, "this is no YAML"),
        ("a: 1\n\tb: 2\n", 2, "this is no YAML"),
        ("a: 'x\u2028y\u2029z\x85'\nb: !x\n", 2, "tags are not part"),
        ("a: 'x\u2028y'\nb: 'open\n", 3, "this is no YAML"),
        ("a: x\u2028y\nb: \x07\n", 2, "a character that YAML does not allow"),
        ("a: 1\r\nb: 2\rc: !x\r\n", 3, "tags are not part"),
        ("a: 1\rb: 2\r\nc: \x07\n", 3, "a character that YAML does not allow"),
        ("a: 1\nb: \x07\n", 2, "a character that YAML does not allow"),
        ("a: 1\nb: '\x00'\n", 2, "a character that YAML does not allow"),
        ('a: 1\nb: "\\ud800"\n', 2, "half of a character"),
        ('a: "\\UFFFFFFFF"\n', 1, "too large"),
        (f"a: {'[' * 100}\n", 1, "more than 40 levels"),
        (f"a: 1\nb: {'{x: ' * 100}\n", 2, "more than 40 levels"),
    ],
)
def test_a_fault_is_one_line_that_names_the_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ScriptError) as refused:
        read_yaml("s.yaml", text)

    assert refused.value.line == line
    message = str(refused.value)
    assert message.startswith(f"s.yaml line {line}: ")
    assert words in message
    assert "; nothing ran. " in message
    assert "\n" not in message


def test_aliases_cannot_grow_into_a_bomb() -> None:
    rows = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]

    with pytest.raises(ScriptError, match="line 1: anchors, aliases and tags"):
        read_yaml("s.yaml", "\n".join(["l0: &l0 lol", *rows]))
