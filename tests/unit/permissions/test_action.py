"""No two different actions have the same digest."""

import random
from dataclasses import replace

from pydantic import JsonValue

from arc_workbench.content import Command
from arc_workbench.permissions.action import ActionRecord, encode
from tests.requirements import requirement

RECORD = ActionRecord(
    session="s",
    call_id="c",
    tool="bash",
    effect="execute",
    arguments='{"command": "ls"}',
    input={"command": "ls"},
    subject="ls",
    description="Run a command",
    cwd="/p",
    display=(Command(command="ls", cwd="/p"),),
    binds={"environment": "e"},
)


@requirement("REQ-S3")
def test_every_part_of_an_action_changes_its_digest() -> None:
    others = [
        replace(RECORD, session="t"),
        replace(RECORD, call_id="d"),
        replace(RECORD, tool="shell_exec"),
        replace(RECORD, effect="read"),
        replace(RECORD, arguments='{"command": "ls "}'),
        replace(RECORD, subject="ls "),
        replace(RECORD, description="Run another"),
        replace(RECORD, cwd="/q"),
        replace(RECORD, display=()),
        replace(RECORD, binds={"environment": "f"}),
    ]

    digests = {record.digest for record in [RECORD, *others]}

    assert len(digests) == len(others) + 1


@requirement("REQ-S3")
def test_boundaries_and_types_cannot_be_confused() -> None:
    look_alikes: list[JsonValue] = [
        ["ab", "c"],
        ["a", "bc"],
        ["abc"],
        "abc",
        ["a", "b", "c"],
        [["a", "b"], "c"],
        ["a", ["b", "c"]],
        {"a": "bc"},
        {"ab": "c"},
        [{"a": "b"}, "c"],
        ["1"],
        [1],
        [1.0],
        [True],
        [None],
        [],
        {},
        "",
        ["s1:a"],
        "s1:a",
    ]

    assert len({encode(value) for value in look_alikes}) == len(look_alikes)


@requirement("REQ-S3")
def test_random_pairs_of_values_collide_only_when_they_are_equal() -> None:
    dice = random.Random(7)
    seen: dict[bytes, JsonValue] = {}
    for _ in range(20_000):
        value = _value(dice, 3)
        other = seen.setdefault(encode(value), value)
        assert repr(other) == repr(value)


def _value(dice: random.Random, depth: int) -> JsonValue:
    kind = dice.randrange(7 if depth else 5)
    match kind:
        case 0:
            return None
        case 1:
            return dice.random() < 0.5
        case 2:
            return dice.randrange(-3, 3)
        case 3:
            return dice.randrange(-3, 3) / 2
        case 4:
            return "".join(dice.choice("ab:1sl") for _ in range(dice.randrange(4)))
        case 5:
            return [_value(dice, depth - 1) for _ in range(dice.randrange(3))]
        case _:
            return {
                k: _value(dice, depth - 1) for k in sorted(dice.sample("abc", dice.randrange(3)))
            }
