"""A part of some output is judged by what stands around it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.shell import Shell
from arc_workbench.shell.covering import covered
from arc_workbench.shell.spool import Output
from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement
from tests.unit.toolsets.jobs import within

KEY = "sk-ant" + "-api03-" + "AbCdEfGh12345678" * 3
VALUE = "grün-" + "horse-battery-staple"
LINES = [f"Zz{number:02d}" + "QWxhZGRpbjpvcGVuIHNlc2FtZQ" * 2 + "abcdefgh" for number in range(25)]
PEM = "\n".join(
    ("-----BEGIN RSA PRIVATE " + "KEY-----", *LINES, "-----END RSA PRIVATE " + "KEY-----")
)
REDACTOR = Redactor({"MY_PASSWORD": VALUE})


def output(tmp_path: Path, printed: str | bytes) -> Output:
    raw = printed.encode() if isinstance(printed, str) else printed
    (tmp_path / "output").write_bytes(raw)
    return Output(tmp_path / "output", REDACTOR)


def leaks(text: str) -> list[str]:
    """What of a secret stands in a text, by eight characters."""
    secrets = (KEY[7:], VALUE, *LINES)
    return [
        secret[at : at + 8]
        for secret in secrets
        for at in range(len(secret) - 7)
        if secret[at : at + 8] in text
    ]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, os.environ, secrets=REDACTOR)
    yield shell
    shell.close()


@requirement("REQ-S129", "REQ-S134")
@pytest.mark.parametrize("secret", [KEY, VALUE, PEM], ids=["key", "value", "block"])
def test_no_slice_of_a_secret_is_told_wherever_it_is_cut(tmp_path: Path, secret: str) -> None:
    printed = output(tmp_path, f"before\n{secret}\nafter\n")

    for size in (1, 8, 50):
        for at in range(0, printed.size, size):
            part = printed.text(at, at + size)
            assert not leaks(REDACTOR.text(part))
            assert not any(line in part for line in ("Zz", "AbCd", "horse"))
    assert printed.text(0, printed.size).startswith("before\n[secret: ")
    assert printed.text(0, printed.size).endswith("]\nafter\n")


@requirement("REQ-S134")
def test_the_bytes_around_a_secret_stay_exactly_as_they_are(tmp_path: Path) -> None:
    raw = b"\xff\xe2\x82\xac " + KEY.encode() + b" \xe2\x82\xac\xfe"
    printed = output(tmp_path, raw)

    assert printed.text(0, len(raw)) == "\ufffd€ [secret: anthropic key] €\ufffd"
    assert printed.text(1, 4) == "€"
    assert printed.text(len(raw) - 4, len(raw)) == "€\ufffd"


@requirement("REQ-S129")
def test_colours_inside_a_secret_do_not_hide_it() -> None:
    for printed in (f"{KEY[:9]}\x1b[31m{KEY[9:]}\x1b[0m.", f"\x1b]0;{KEY}\x07."):
        raw = printed.encode()
        for first in (0, 20):
            text = covered(raw, first, len(raw), REDACTOR)
            assert not leaks(text)
            assert "[secret: anthropic key]" in text
            assert text.endswith(".")


@requirement("REQ-S129", "S1-071")
def test_a_tail_that_begins_inside_a_key_block_shows_none_of_it(tmp_path: Path) -> None:
    fill = "line of filler text\n" * 60
    printed = output(tmp_path, f"head\n{PEM}\n{fill}")

    tail = printed.tail(len(fill) + 700)

    assert not leaks(tail.raw)
    assert tail.raw == f"[secret: private key]\n{fill}"
    assert tail.total_bytes == printed.size


@requirement("REQ-S129")
def test_a_locked_key_block_is_covered_before_its_end_was_printed(tmp_path: Path) -> None:
    begin, *lines = PEM.split("\n")[:6]
    locked = "\n".join([begin, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,A0", "", *lines])
    printed = output(tmp_path, f"{locked}\nAbcdef==\n")

    assert printed.text(0, printed.size) == "[secret: private key]"


@requirement("S2-107", "REQ-S129")
def test_ranges_go_on_byte_by_byte_past_a_key_block(shell: Shell) -> None:
    (shell.root / "pem").write_text(f"head\n{PEM}\ntail\n")
    done = shell.run("cat pem", timeout_sec=60)
    offset, texts, eof = 0, list[str](), False
    while not eof:
        piece = shell.piece(done.state.spool_id, offset, 200)
        assert piece.offset == offset
        texts.append(piece.text)
        offset, eof = offset + piece.size, piece.eof

    assert offset == len(f"head\n{PEM}\ntail\n")
    assert not leaks("".join(texts))
    assert (texts[0][:5], texts[-1][-6:]) == ("head\n", "\ntail\n")


@requirement("REQ-S129", "S2-094")
@pytest.mark.parametrize("cut", [3, 12, 30])
@pytest.mark.parametrize("secret", [KEY, VALUE, PEM], ids=["key", "value", "block"])
def test_a_secret_printed_in_two_parts_is_in_no_look_at_a_job(
    shell: Shell, secret: str, cut: int
) -> None:
    (shell.root / "one").write_text(secret[:cut])
    (shell.root / "two").write_text(f"{secret[cut:]}\nend\n")
    job = shell.start("cat one; touch said; while ! [ -e go ]; do sleep 0.01; done; cat two")
    begun = (shell.root / "one").stat().st_size
    within(lambda: (shell.root / "said").exists() and shell.job("j1").total_bytes >= begun)
    first = shell.news(job.job_id).raw + shell.tail(job.job_id).raw
    first += shell.piece(job.spool_id, 0, 100).text
    (shell.root / "go").touch()
    within(lambda: not shell.job(job.job_id).running)
    second = shell.news(job.job_id).raw

    assert not leaks(first + second)
    assert not any(part in second for part in ("Zz", "AbCd", "horse"))
    assert second.endswith("end\n")


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("done\n12 %", "done\n"),
        ("Password: ", "Password: "),
        ("key: ghp" + "_", "key: "),
        (f"pass {VALUE[:5]}", "pass "),
        (f"pass {VALUE}", f"pass {VALUE}"),
        ("x" * 5000, "x" * 5000),
        ("grün €", "grün €"),
        ("", ""),
    ],
)
def test_what_may_begin_a_secret_waits_but_a_question_does_not(
    tmp_path: Path, printed: str, told: str
) -> None:
    assert output(tmp_path, printed).settled(0) == len(told.encode())


@requirement("REQ-S129")
def test_the_open_line_is_in_a_tail_but_for_what_may_begin_a_secret(tmp_path: Path) -> None:
    assert output(tmp_path, f"done\nPassword: {VALUE[:4]}").unbegun() == len("done\nPassword: ")


def test_a_long_open_line_goes_on_however_it_looks(tmp_path: Path) -> None:
    printed = output(tmp_path, "ghp" + "_" + " \x1b[m" * 2000)

    assert printed.settled(0) == printed.size
