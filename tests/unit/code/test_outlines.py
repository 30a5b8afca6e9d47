"""Outlines of realistic sources of every language of the page, by grammar and by patterns."""

from pathlib import Path

import pytest

from arc_workbench.code import tables, trees
from arc_workbench.code.languages import LANGUAGES, language_of
from arc_workbench.code.outline import outline_of
from arc_workbench.code.patterns import PATTERNS
from arc_workbench.content import Declaration
from tests.requirements import requirement

SOURCES = Path(__file__).parent / "sources"
NAMES = sorted(path.name for path in SOURCES.iterdir() if path.suffix != ".outline")
# What the sources hold in comments, texts and bodies.
DECOYS = {
    "Fake", "Hidden", "InHeredoc", "Local", "No", "Raw", "Text", "also_hidden", "alsoHidden", "b",
    "commented", "hasNext", "hidden", "inComment", "in_heredoc", "inner", "it", "macro_hidden",
    "nested", "no", "not_this", "notThis", "text", "values",
}  # fmt: skip


def source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def drawn(found: tuple[Declaration, ...] | None) -> str:
    return "".join(
        f"{each.line:>3} {'  ' * each.depth}{each.kind} {each.name}: {each.signature}\n"
        for each in found or ()
    )


@requirement("S1-033")
@pytest.mark.parametrize("name", NAMES)
def test_a_source_of_each_language_is_outlined_as_written_beside_it(name: str) -> None:
    language = language_of(name, source(name))

    assert language is not None
    assert trees.installed(language)
    assert drawn(outline_of(name, source(name))) == source(f"{name}.outline")


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(name: str) -> None:
    text = "\ufeff" + source(name).replace("\n", "\r\n")

    assert drawn(outline_of(name, text)) == source(f"{name}.outline")


@pytest.mark.parametrize("name", NAMES)
def test_without_a_grammar_patterns_find_most_and_invent_nothing(name: str) -> None:
    text = source(name)
    full = outline_of(name, text)
    assert full is not None

    found = {each.name for each in tables.declarations(language_of(name, text) or "", text)}

    assert not found & DECOYS
    assert len(found & {each.name for each in full}) >= 0.45 * len(full)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_off_in_the_middle_still_has_most_of_its_first_declarations(name: str) -> None:
    text = source(name)
    cut = text[: 2 * len(text) // 3]

    whole, broken = outline_of(name, text), outline_of(name, cut)

    assert whole is not None
    assert broken is not None
    first = {each.name for each in whole[: len(whole) // 2]}
    assert 3 * len(first & {each.name for each in broken}) >= 2 * len(first)


@pytest.mark.parametrize("name", ["a.txt", "README", "a.py.bak", "data.json", ".py"])
def test_a_name_of_no_known_language_has_no_outline(name: str) -> None:
    assert outline_of(name, "class A: ...\n" * 100) is None


def test_a_header_is_c_unless_it_says_otherwise() -> None:
    assert language_of("a.h", "struct a { int b; };\n") == "c"
    assert language_of("a.h", "namespace a {}\n") == "cpp"


def test_every_file_suffix_leads_to_a_grammar_or_to_python() -> None:
    for language in set(LANGUAGES.values()):
        assert language in PATTERNS
        assert language == "python" or trees.installed(language)
