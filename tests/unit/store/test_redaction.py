"""What is taken for a secret, what is not, and that no way of cutting a text lets one through."""

import base64
import hashlib
import json
import random
import uuid
from urllib.parse import quote

import pytest

from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement

PEM = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *["MIIEowIBAAKCAQEA" + "Ab+/" * 12 for _ in range(12)],
        "-----END RSA PRIVATE KEY-----",
    ]
)
# Put together here, so that no scanner takes this file for a leak.
SHAPED = {
    "anthropic key": "sk-ant-" + "api03-" + "Ab3_-x" * 15,
    "openai key": "sk-" + "proj-" + "aB3" * 20,
    "github token": "ghp" + "_" + "a1B2" * 9,
    "gitlab token": "glpat" + "-" + "a1B2" * 5,
    "aws key id": "AKIA" + "IOSFODNN7EXAMPLE",
    "google key": "AIza" + "a1B2c" * 7,
    "slack token": "xoxb" + "-123456789012-abcdefghij",
    "hugging face token": "hf" + "_" + "aB" * 17,
    "npm token": "npm" + "_" + "a1B2" * 9,
    "pypi token": "pypi" + "-AgEI" + "a1B2c" * 12,
    "stripe key": "sk" + "_live_" + "a1" * 12,
    "web token": "eyJhbGciOiJIUzI1NiJ9"
    + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0"
    + ".dozjgNryP4J3jVmNHl0w5N",
    "private key": PEM,
}
IN_CONTEXT = [
    ("Authorization: Bearer {}", "abcdefgh"),
    ('"authorization": "Basic {}"', "dXNlcjpwYXNzd29yZA=="),
    ("curl -H 'x-api-key: {}'", "0123456789abcdef0123"),
    ("Bearer {}", "abcdefghijklmnopqr1234"),
    ("Basic {}", "dXNlcjpwYXNzd29yZDEyMw=="),
    ("postgres://user:{}@host/db", "s3cr3t"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("https://hooks.slack.com/services/{}", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
]
ENVIRONMENT = {
    "HOME": "/home/somebody",
    "SOME_API_KEY": "v@lue/of+the\"key'1",
    "DB_PASSWORD": "correct horse battery",
    "SHORT_TOKEN": "abc",
    "EMPTY_SECRET": "--------------",
    "CYCLIC_KEY": "abcdabcdabcd",
}


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(ENVIRONMENT)


@requirement("REQ-S133")
@pytest.mark.parametrize("label", SHAPED)
def test_what_has_the_shape_of_a_key_is_replaced(redactor: Redactor, label: str) -> None:
    assert redactor.text(f"use {SHAPED[label]} here") == f"use [secret: {label}] here"


@requirement("REQ-S133")
@pytest.mark.parametrize(("context", "secret"), IN_CONTEXT)
def test_what_stands_where_secrets_stand_is_replaced(
    redactor: Redactor, context: str, secret: str
) -> None:
    shown = redactor.text(context.format(secret))

    assert secret not in shown
    assert "[secret: " in shown


@requirement("REQ-S129", "REQ-S134")
@pytest.mark.parametrize("before", ["", "u", "us"])
def test_the_value_of_a_secret_variable_is_replaced_in_every_spelling(
    redactor: Redactor, before: str
) -> None:
    value = ENVIRONMENT["SOME_API_KEY"]
    encoded = base64.b64encode((before + value + "\n").encode()).decode()
    kept = base64.b64encode(value.encode()).decode()

    assert redactor.text(f"key={value}.") == "key=[secret: SOME_API_KEY]."
    assert redactor.text(json.dumps({"k": value})) == '{"k": "[secret: SOME_API_KEY]"}'
    assert redactor.text(quote(value, safe="")) == "[secret: SOME_API_KEY]"
    assert "[secret: SOME_API_KEY]" in redactor.text(encoded)
    assert kept[:12] not in redactor.text(encoded)


@requirement("REQ-S129")
def test_the_lines_of_a_secret_are_secret_each() -> None:
    redactor = Redactor({"SSH_KEY": PEM})

    assert redactor.text(f"  3  {PEM.splitlines()[3]}") == "  3  [secret: SSH_KEY]"


def test_what_tells_nothing_or_is_no_secret_stays(redactor: Redactor) -> None:
    text = "abc -------------- /home/somebody"

    assert redactor.text(text) == text


def test_the_longest_value_at_a_place_wins() -> None:
    redactor = Redactor({"A_KEY": "abcdefg1", "B_KEY": "abcdefg1-and-more"})

    assert redactor.text("abcdefg1-and-more abcdefg1") == "[secret: B_KEY] [secret: A_KEY]"


def test_a_key_block_without_an_end_is_replaced_as_far_as_it_goes(redactor: Redactor) -> None:
    cut = "\n".join(PEM.splitlines()[:5])

    assert redactor.text(f"{cut}\nand so on") == "[secret: private key]\nand so on"


@requirement("REQ-S133")
def test_a_key_block_ends_only_at_the_last_line_of_its_own_kind(redactor: Redactor) -> None:
    certificate = f"{PEM.splitlines()[1]}\n-----END CERTIFICATE-----"
    text = f"{PEM.splitlines()[0]}\nthe rest is missing\n{certificate}\n"

    assert redactor.text(text) == f"[secret: private key]\nthe rest is missing\n{certificate}\n"


def test_a_certificate_is_no_secret(redactor: Redactor) -> None:
    text = PEM.replace("RSA PRIVATE KEY", "CERTIFICATE")

    assert redactor.text(text) == text


@requirement("REQ-S135")
@pytest.mark.parametrize(
    "text",
    [
        "Basic understandingofthematter and Bearer authentication-for-everyone",
        "git@github.com:owner/repo.git https://host:8443/@scope/name ssh://git@host:22/x",
        "postgres://user:${PASSWORD}@host mysql://u:<password>@h redis://u:***@h",
        "disk-usage-of-all-the-folders-below task-runner-with-a-very-long-name-indeed",
        "sk-toggleable__content sk-estimator-doc-link hf_hub_download npm_config_registry",
        "AKIA and eyJ are beginnings; so are sk- and ghp_",
        'integrity = "sha512-Z2h4cQ3Jq0mVdEo8C4q5sQ8bq7y0S1cTgkq8Jm9rV0b7WmJ1pQ2eYJ3kAAA=="',
    ],
)
def test_what_only_looks_alike_stays(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


@requirement("REQ-S135")
def test_hashes_and_ids_stay(redactor: Redactor) -> None:
    dice = random.Random(3)
    for _ in range(2000):
        data = dice.randbytes(64)
        text = " ".join(
            [
                hashlib.sha1(data).hexdigest(),
                f"sha256:{hashlib.sha256(data).hexdigest()}",
                str(uuid.UUID(bytes=data[:16])),
                f'"sha512-{base64.b64encode(data).decode()}"',
                f"https://files.example/{data[:16].hex()}/a.whl#sha256={data[:32].hex()}",
                base64.urlsafe_b64encode(data).decode(),
            ]
        )
        assert redactor.text(text) == text


@requirement("REQ-S133")
def test_the_placeholder_is_stable(redactor: Redactor) -> None:
    texts = [*SHAPED.values(), *ENVIRONMENT.values()]
    once = redactor.text(" ".join(texts))

    assert redactor.text(once) == once


@requirement("REQ-S132")
def test_json_is_cleaned_in_depth(redactor: Redactor) -> None:
    secret = SHAPED["github token"]

    cleaned = redactor.value({"a": [1, None, True, {secret: f"x {secret}"}], "n": 1.5})

    hidden = "[secret: github token]"
    assert cleaned == {"a": [1, None, True, {hidden: f"x {hidden}"}], "n": 1.5}


@requirement("REQ-S134")
def test_no_way_of_cutting_changes_what_comes_out(redactor: Redactor) -> None:
    dice = random.Random(11)
    parts = [
        *SHAPED.values(),
        *ENVIRONMENT.values(),
        *(context.format(secret) for context, secret in IN_CONTEXT),
        *("-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
        *("correct", "horse", "Authorization:", "Bearer", "sk-ant-", "://", "@", "eyJ", "abcd"),
        *(" ", "\n", "\t", "  ", ".", "words", "é", "\u00a0", "A" * 64 + "\n"),
    ]
    for _ in range(1500):
        whole = "".join(dice.choice(parts) for _ in range(dice.randint(1, 14)))

        assert _in_pieces(redactor, whole, dice) == redactor.text(whole)


@requirement("REQ-S134")
@pytest.mark.parametrize("run", ["x", "sk-", "sk-ant-", "eyJ", "://a:", "Bearer a1", "AKIA", "\n"])
def test_long_runs_are_bounded_and_the_same_in_pieces(redactor: Redactor, run: str) -> None:
    whole = run * (60_000 // len(run)) + SHAPED["github token"]

    assert _in_pieces(redactor, whole, random.Random(5)) == redactor.text(whole)


@requirement("REQ-S134")
def test_an_open_key_block_is_held_back_only_so_far(redactor: Redactor) -> None:
    stream = redactor.stream()
    opening = PEM.splitlines()[0] + "\n"

    held = stream.feed(f"{opening}{'word ' * 2000}")
    released = stream.feed("word " * 20_000)

    assert held == ""
    assert released.startswith("[secret: private key]\nword")


def test_ordinary_text_is_handed_out_by_the_line_or_two_words_late(redactor: Redactor) -> None:
    stream = redactor.stream()

    assert stream.feed("one two three four") == "one "
    assert stream.feed(" five\n") == "two three four five\n"
    assert stream.feed("six") == ""
    assert stream.end() == "six"


def _in_pieces(redactor: Redactor, whole: str, dice: random.Random) -> str:
    stream = redactor.stream()
    shown: list[str] = []
    at = 0
    while at < len(whole):
        size = dice.choice([1, 2, 7, 40, 500, 9000])
        shown.append(stream.feed(whole[at : at + size]))
        at += size
    return "".join([*shown, stream.end()])
