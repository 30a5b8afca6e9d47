"""What a command finds in its environment."""

import pytest

from arc_workbench.secret_names import looks_secret
from arc_workbench.shell.environment import MARK, child_environment
from tests.requirements import requirement


@requirement("REQ-S129", "REQ-S136")
@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "github_token",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "PGPASSWORD",
        "MYSQL_PWD",
        "apiKey",
        "dbPassword",
        "NPM_CONFIG__AUTHTOKEN",
        "DOCKER_AUTH",
        "JPY_API_TOKEN",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SIGNING-KEY",
        "key",
        "SSHPASS",
        "LDAP_BIND_PASS",
        "mysqlpass",
        "DOCKER_AUTH_CONFIG",
        "SENTRY_DSN",
        "MASTERKEY",
    ],
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "PWD",
        "OLDPWD",
        "HOME",
        "KEYBOARD",
        "MONKEY",
        "TOKENIZERS_PARALLELISM",
        "SSH_AUTH_SOCK",
        "XAUTHORITY",
        "AWS_SHARED_CREDENTIALS_FILE",
        "COMPASS",
        "GIT_ASKPASS",
        "SUDO_ASKPASS",
        "PGPASSFILE",
        "CACHE_BYPASS",
        "TURKEY",
        "GIT_CONFIG",
        "",
        "_",
    ],
)
def test_a_name_that_only_sounds_alike_is_no_secret(name: str) -> None:
    assert not looks_secret(name)


@requirement("REQ-S136")
@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        *(("sekrit", True), ("Zq8vT3xKp91L", True), ("a.bcdef" * 40 + "!", True)),
        *(("/run/secrets/token", False), ("~/.token:/etc/token", False), ("token.txt", False)),
        *(
            (r"C:\Users\me\token", False),
            ("secrets/token", False),
            ("unix:/run/x", False),
            ("", False),
        ),
    ],
)
def test_what_should_be_a_place_is_a_secret_when_it_is_none(value: str, *, is_secret: bool) -> None:
    assert looks_secret("MY_TOKEN_PATH", value) is is_secret
    assert child_environment({"MY_TOKEN_PATH": value}, "posix").left_out == (
        ("MY_TOKEN_PATH",) if is_secret else ()
    )


@requirement("REQ-S136")
def test_secrets_are_left_out_and_named() -> None:
    snapshot = {"HOME": "/h", "X_TOKEN": "t", "A_KEY": "k"}

    child = child_environment(snapshot, "posix")

    assert child.left_out == ("A_KEY", "X_TOKEN")
    assert child.values["HOME"] == "/h"
    assert not {"A_KEY", "X_TOKEN"} & child.values.keys()
    assert snapshot == {"HOME": "/h", "X_TOKEN": "t", "A_KEY": "k"}


@requirement("REQ-S129", "REQ-S136")
@pytest.mark.parametrize(
    "value",
    [
        "sk-ant-" + "api03-" + "Ab3_-x" * 15,
        "first=1;token=" + "ghp" + "_" + "a1B2" * 9,
        "postgres://u:pw@h/db",
        "-----BEGIN " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END PRIVATE KEY-----",
    ],
)
def test_a_secret_in_a_variable_with_a_harmless_name_is_left_out(value: str) -> None:
    child = child_environment({"FOO": value, "HOME": "/h"}, "posix")

    assert child.left_out == ("FOO",)
    assert value not in child.values.values()


@requirement("REQ-S136")
@pytest.mark.parametrize(
    "value", ["postgres://u@h/db", "http://localhost:8080", "/usr/bin:/bin", "a" * 40, "1.2.3"]
)
def test_a_value_that_is_no_secret_stays(value: str) -> None:
    assert child_environment({"FOO": value}, "posix").values["FOO"] == value


@requirement("BUG-B6", "BUG-B8", "REQ-S85")
def test_nothing_waits_for_a_person() -> None:
    values = child_environment({"PAGER": "less", "EDITOR": "vim", "TERM": "xterm"}, "posix").values

    assert values["PAGER"] == values["GIT_PAGER"] == "cat"
    assert values["EDITOR"] == "false"
    assert values["GIT_EDITOR"].endswith("false")
    assert values["GIT_TERMINAL_PROMPT"] == "0"
    assert values["DEBIAN_FRONTEND"] == "noninteractive"
    assert values["TERM"] == "dumb"


def test_what_a_kernel_sets_for_itself_is_left_out() -> None:
    backend = "module://matplotlib_inline.backend_inline"
    snapshot = {"MPLBACKEND": backend, "FORCE_COLOR": "1", "JPY_PARENT_PID": "1", "BASH_ENV": "x"}

    assert not snapshot.keys() & child_environment(snapshot, "posix").values.keys()


def test_a_drawing_backend_of_the_person_stays() -> None:
    assert child_environment({"MPLBACKEND": "Agg"}, "posix").values["MPLBACKEND"] == "Agg"


@pytest.mark.parametrize(
    ("snapshot", "added"),
    [
        ({}, {"LC_CTYPE": "C.UTF-8"}),
        ({"LANG": "de_DE.UTF-8"}, {}),
        ({"LANG": "de_DE.utf8", "LC_CTYPE": ""}, {}),
        ({"LANG": "de_DE.UTF-8", "LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}),
        ({"LANG": "de_DE"}, {"LANG": "de_DE", "LC_CTYPE": "C.UTF-8"}),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, {"LC_ALL": "C.UTF-8"}),
    ],
)
def test_the_character_set_is_utf8(snapshot: dict[str, str], added: dict[str, str]) -> None:
    values = child_environment(snapshot, "posix").values

    expected = {**snapshot, **added}
    assert {name: values[name] for name in expected} == expected
    assert not {"LC_ALL", "LC_CTYPE", "LANG"} & (values.keys() - expected.keys())


def test_a_mark_is_added_to_those_of_the_commands_around() -> None:
    assert child_environment({}, "posix").marked("b")[MARK] == "b"
    assert child_environment({MARK: "a"}, "posix").marked("b")[MARK] == "a:b"
