"""One parser for everything that is typed."""

import pytest

from arc_workbench.errors import SettingsError
from arc_workbench.frontends.options import (
    CELL_OPTIONS,
    SUBCOMMANDS,
    help_for,
    parse,
    refuse_words,
    split,
    subcommand,
    usage,
)
from tests.requirements import requirement


@requirement("BUG-N13")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('--project "a b" # note', ["--project", "a b"]),
        (
            "--model compatible:http://127.0.0.1:1/v1#name",
            ["--model", "compatible:http://127.0.0.1:1/v1#name"],
        ),
        ("# all of it", []),
        ("--project 'it#s' --new", ["--project", "it#s", "--new"]),
        ('--project "a # b"', ["--project", "a # b"]),
        ("", []),
    ],
)
def test_a_line_is_split_like_a_shell_and_a_comment_needs_white_space(
    line: str, words: list[str]
) -> None:
    assert split(line) == words


def test_a_quote_that_is_not_closed_is_said_in_one_line() -> None:
    with pytest.raises(SettingsError, match="A quote is not closed; nothing ran"):
        split('--project "a b')


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [("--modle", "--model"), ("--acess", "--access"), ("--projct", "--project"), ("hello", "--")],
)
def test_an_unknown_word_names_the_nearest_option(typed: str, nearest: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _parse([typed, "x"])

    assert str(caught.value).startswith(f"{typed} is no option; nothing ran. Nearest: {nearest}")


def _parse(words: list[str]) -> None:
    refuse_words(parse(words, CELL_OPTIONS), CELL_OPTIONS)


def test_nothing_is_abbreviated() -> None:
    with pytest.raises(SettingsError):
        parse(["--mod", "plan"], CELL_OPTIONS)


def test_both_spellings_of_a_value_are_the_same() -> None:
    assert parse(["--mode=plan"], CELL_OPTIONS) == parse(["--mode", "plan"], CELL_OPTIONS)


def test_a_value_that_is_missing_is_said() -> None:
    with pytest.raises(SettingsError, match="--mode needs a value"):
        parse(["--mode", "--new"], CELL_OPTIONS)


def test_a_value_out_of_range_names_the_words_there_are() -> None:
    with pytest.raises(SettingsError, match=r"Nearest: plan\. Known: default, acceptEdits"):
        parse(["--mode", "plam"], CELL_OPTIONS)


@requirement("BUG-N13")
def test_a_variable_is_filled_in_after_splitting_so_that_spaces_survive() -> None:
    parsed = parse(["--project", "{folder}/x"], CELL_OPTIONS, {"folder": "/a b"})

    assert parsed.text("project") == "/a b/x"


def test_a_variable_that_is_not_there_is_said() -> None:
    with pytest.raises(SettingsError, match="There is no variable folder"):
        parse(["--project", "{folder}"], CELL_OPTIONS, {})


@pytest.mark.parametrize("name", ["1x", "a-b", "class", ""])
def test_o_takes_only_what_can_be_a_variable(name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be a variable"):
        parse(["-o", name], CELL_OPTIONS)


def test_usage_lists_every_option_and_subcommand_and_each_has_help() -> None:
    text = usage()

    for option in CELL_OPTIONS:
        assert option.name in text
        assert option.help in help_for(option.name)
    for known in SUBCOMMANDS:
        assert known.help in text
        assert known.help in help_for(known.name)


def test_an_unknown_subcommand_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match="Nearest: doctor"):
        subcommand(["docter"])
