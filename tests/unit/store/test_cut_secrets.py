"""What a tool cut off a secret, or what it kept of one, is replaced like the whole."""

import hashlib
import json
import random
import uuid
from base64 import b64encode

import pytest

from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement

VALUE = "Zq8" + "vT3xKp91LmWb" * 5 + "Rc4"
ENVIRONMENT = {
    "MY_API_KEY": VALUE,
    "DB_PASSWORD": "correct horse battery",
    "WORD_PASSWORD": "completed",
    "PLACE_KEY": "/srv/somebody/project",
    "DATABASE_URL": "postgres://user:pa55word-of-mine@host/db",
    "HEX_SECRET": hashlib.sha256(b"x").hexdigest(),
}
HIDDEN = "[secret: MY_API_KEY]"
CUTS = [
    "{}",
    "first line\nkey={}",
    "12\tkey={}… [line truncated at 2000 chars]",
    "src/a.py:3: …words and key={}…",
    '{{"output": "words\\nkey={}", "truncated": true}}',
    "{{'text': 'key={}...'}}",
    "key={} [cut here]",
    "key={}\n[… 9 bytes not shown …]\nmore",
]
CUTS_BEFORE = [
    "{} and more",
    "[… 9 bytes not shown …]\n{}&more=1",
    "src/a.py:3: …{} and more…",
    '{{"output": "{}\\nand more"}}',
    "...{};",
    '{{"content": "line\\n{} more"}}',
]


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(ENVIRONMENT)


def slices(secret: str) -> list[str]:
    return [secret[at : at + 6] for at in range(len(secret) - 5)]


@requirement("REQ-S129", "REQ-S133", "REQ-S134")
@pytest.mark.parametrize("around", CUTS)
@pytest.mark.parametrize("size", [6, 7, 11, 20, 44, 65])
def test_the_beginning_of_a_known_value_before_a_cut_is_replaced(
    redactor: Redactor, around: str, size: int
) -> None:
    assert redactor.text(around.format(VALUE[:size])) == around.format(HIDDEN)


@requirement("REQ-S129", "REQ-S133", "REQ-S134")
@pytest.mark.parametrize("around", CUTS_BEFORE)
@pytest.mark.parametrize("size", [6, 7, 11, 20, 44, 65])
def test_the_end_of_a_known_value_behind_a_cut_is_replaced(
    redactor: Redactor, around: str, size: int
) -> None:
    assert redactor.text(around.format(VALUE[-size:])) == around.format(HIDDEN)


@requirement("REQ-S129", "REQ-S134")
def test_no_slice_of_a_value_that_is_folded_is_left(redactor: Redactor) -> None:
    folded = "\n".join(VALUE[at : at + 16] for at in range(0, len(VALUE), 16))

    shown = redactor.text(f"a\n{folded}\nb")

    assert not [part for part in slices(VALUE) if part in shown]


@requirement("REQ-S129", "REQ-S134")
@pytest.mark.parametrize("end", range(2000 - 70, 2000, 7))
def test_no_place_to_cut_a_long_line_leaves_a_slice(redactor: Redactor, end: int) -> None:
    line = "x" * (end - 10) + " KEY=" + VALUE + " " + "y" * 100

    shown = redactor.text(json.dumps({"text": line[:2000] + "…"}))

    assert not [part for part in slices(VALUE) if part in shown]


@requirement("REQ-S133")
@pytest.mark.parametrize(
    "begun", ["sk-ant-" + "api03-Ab3xyz", "ghp" + "_a1B2c3D4", "AKIA" + "IOSF7ODN"]
)
@pytest.mark.parametrize("cut", ["", "…", "...", " [line truncated]"])
def test_the_beginning_of_a_key_before_a_cut_is_replaced(
    redactor: Redactor, begun: str, cut: str
) -> None:
    assert redactor.text(f"key={begun}{cut}") == f"key=[secret: cut key]{cut}"


@requirement("REQ-S133")
def test_a_password_whose_url_is_cut_is_replaced(redactor: Redactor) -> None:
    assert redactor.text("postgres://u:s3cret-pw…") == "postgres://u:[secret: cut url password]…"


@requirement("REQ-S129")
def test_a_secret_inside_a_variable_with_another_name_is_known(redactor: Redactor) -> None:
    assert redactor.text("the password pa55word-of-mine.") == "the password [secret: DATABASE_URL]."


@requirement("REQ-S135")
@pytest.mark.parametrize(
    "text",
    [
        "correct",
        "the battery\nis correct",
        "completed",
        '{"reason": "completed"}',
        "/srv/somebody/project/a.py",
        "sk-ant-",
        "keys look like `sk-ant-`, sk-ant-api03-... and ghp_…",
        "http://localhost:8080",
        "http://localhost:8080…",
        "use npm_config_registry… hf_hub_download",
        "Zq8 vT3",
    ],
)
def test_words_of_ours_and_of_others_stay(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


@requirement("REQ-S135")
def test_hashes_ids_and_paths_at_the_ends_of_lines_stay(redactor: Redactor) -> None:
    dice = random.Random(8)
    for _ in range(500):
        data = dice.randbytes(20)
        text = f"{data.hex()}\n{uuid.UUID(bytes=data[:16])}\n/usr/lib/{data[:6].hex()}/x…\n"
        assert redactor.text(text) == text


@requirement("REQ-S134")
def test_no_way_of_cutting_a_stream_changes_what_comes_out(redactor: Redactor) -> None:
    dice = random.Random(21)
    wrapped = b64encode(f"key = {VALUE}\n".encode()).decode()
    parts = [
        *ENVIRONMENT.values(),
        *(VALUE[:size] for size in (5, 6, 9, 30)),
        *(VALUE[-size:] for size in (5, 6, 9, 30)),
        *(VALUE[20:40], "correct horse ba", "attery", VALUE.encode().hex()),
        *(f"{wrapped[:60]}\n{wrapped[60:]}", wrapped[3:], wrapped[:40], "A" * 30, "b" * 9),
        *("sk-ant-" + "a1B2c3D4", "ghp_", "://u:pa55w0rd!", "=", "=="),
        *("…", "...", "[", " [line ", "]", '"', "'", "\\n", "\\", "\n", " ", "\t", "words", "é"),
    ]
    for _ in range(3000):
        whole = "".join(dice.choice(parts) for _ in range(dice.randint(1, 12)))
        stream = redactor.stream()
        shown: list[str] = []
        at = 0
        while at < len(whole):
            size = dice.choice([1, 2, 3, 7, 40, 90])
            shown.append(stream.feed(whole[at : at + size]))
            at += size

        assert "".join([*shown, stream.end()]) == redactor.text(whole)


@requirement("REQ-S133")
def test_what_was_cleaned_stays_as_it_is(redactor: Redactor) -> None:
    texts = [around.format(VALUE[:20]) for around in CUTS]

    for text in texts:
        once = redactor.text(text)
        assert redactor.text(once) == once
