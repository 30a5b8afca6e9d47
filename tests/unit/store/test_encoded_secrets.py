"""A secret in base64 or hexadecimal is still a secret."""

import random
import textwrap
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable

import pytest

from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement

VALUE = "Zq8" + "vT3xKp91LmWb" * 5 + "Rc4"
SHAPE = "sk-ant-" + "api03-" + "Ab3_-x" * 15
HIDDEN = "[secret: MY_API_KEY]"


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor({"MY_API_KEY": VALUE})


@requirement("REQ-S134")
@pytest.mark.parametrize("before", ["", "a", "KEY=", "export MY_API_KEY='", "x" * 200])
@pytest.mark.parametrize("width", [60, 64, 76])
def test_a_known_value_in_wrapped_base64_is_replaced(
    redactor: Redactor, before: str, width: int
) -> None:
    encoded = b64encode(f"{before}{VALUE}\n".encode()).decode()

    shown = redactor.text("\n".join(["$ base64 key.txt", *textwrap.wrap(encoded, width), "done"]))

    assert shown == f"$ base64 key.txt\n{HIDDEN}\ndone"


@requirement("REQ-S134")
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", "\n    "])
def test_line_ends_inside_base64_hide_nothing(redactor: Redactor, line_end: str) -> None:
    encoded = encodebytes(f"key: {VALUE}".encode()).decode().strip().replace("\n", line_end)

    assert redactor.text(f"data: {encoded}.") == f"data: {HIDDEN}."


@requirement("REQ-S134")
@pytest.mark.parametrize("before", ["", "=", "a=", "ANTHROPIC_API_KEY="])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_key_in_base64_is_known_by_its_shape(
    redactor: Redactor, before: str, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode(f"{before}{SHAPE}\n".encode()).decode()

    assert redactor.text(f"{encoded}\n$") == "[secret: anthropic key]\n$"


@requirement("REQ-S134")
@pytest.mark.parametrize("at", [0, 9_000, 12_200, 12_250, 30_000, 100_000])
def test_a_key_in_a_large_encoded_file_is_found_wherever_it_stands(
    redactor: Redactor, at: int
) -> None:
    text = "word " * (at // 5) + VALUE + " " + "word " * 4000
    encoded = b64encode(text.encode()).decode()
    core = b64encode(text.encode()[at // 3 * 3 :]).decode()[8:80]

    assert core in encoded
    shown = redactor.text(encoded)

    assert HIDDEN in shown
    assert not any(core[place : place + 12] in shown for place in range(len(core) - 12))


@requirement("REQ-S134")
def test_a_known_value_in_hexadecimal_is_replaced(redactor: Redactor) -> None:
    assert redactor.text(f"0x{VALUE.encode().hex()}") == f"0x{HIDDEN}"
    assert redactor.text(VALUE.encode().hex().upper()) == HIDDEN


@requirement("REQ-S135")
def test_base64_of_anything_else_stays(redactor: Redactor) -> None:
    dice = random.Random(4)
    for size in (30, 300, 5000, 50_000):
        text = encodebytes(dice.randbytes(size)).decode()
        assert redactor.text(text) == text
        assert redactor.text(text.replace("\n", "")) == text.replace("\n", "")


@requirement("REQ-S134")
def test_a_long_run_is_the_same_in_small_pieces(redactor: Redactor) -> None:
    words = b64encode(("word " * 5000 + VALUE + " word" * 3000).encode()).decode()
    whole = f"{words} {words[:20_001]}\nend"
    stream = redactor.stream()

    shown = "".join(stream.feed(whole[at : at + 97]) for at in range(0, len(whole), 97))

    assert shown + stream.end() == redactor.text(whole)
