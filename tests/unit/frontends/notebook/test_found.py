"""Matches, names and outlines as tables, bounded."""

from time import perf_counter

import pytest

from arc_workbench.content import (
    Declaration,
    Matches,
    MatchLine,
    Name,
    Names,
    Outline,
    ToolResult,
)
from arc_workbench.frontends import found
from arc_workbench.frontends.notebook import found as drawn
from arc_workbench.frontends.notebook import render, tables
from arc_workbench.frontends.notebook.elements import text_of, to_html
from tests.requirements import requirement
from tests.unit.frontends.turns import Telling


def match(text: str, *spans: tuple[int, int], path: str = "a.py", line: int = 1) -> MatchLine:
    return MatchLine(path=path, line=line, text=text, spans=spans)


def test_matches_stand_under_the_file_they_are_in() -> None:
    around = MatchLine(path="b.py", line=8, text="    pass", context=True)
    block = Matches(
        lines=(match("def f():", (4, 5), line=11), match("f()", (0, 1), path="b.py"), around),
        count=2,
    )

    html = to_html(drawn.matches(block))

    assert '<code class="aw-strong">a.py</code> · 1 match' in html
    assert '<code class="aw-soft">11</code></td><td><code>def <mark>f</mark>():</code>' in html
    assert '<code class="aw-soft">    pass</code>' in html
    assert html.count('scope="rowgroup"') == 2


def test_a_file_whose_lines_go_on_in_the_fold_is_counted_once_and_named_again() -> None:
    lines = tuple(match("f()", (0, 1), line=n) for n in range(100))

    html = to_html(drawn.matches(Matches(lines=lines, count=100)))

    assert "a.py</code> \u00b7 100 matches" in html
    assert "a.py</code> \u00b7 continued" in html


def test_every_stretch_that_matched_is_marked() -> None:
    html = to_html(drawn.matches(Matches(lines=(match("aXbX", (1, 2), (3, 4)),), count=1)))

    assert "<code>a<mark>X</mark>b<mark>X</mark></code>" in html


@pytest.mark.parametrize("spans", [((5, 9),), ((-1, 2),), ((2, 2),), ((3, 1),)])
def test_a_stretch_that_is_not_in_the_line_is_passed_over(
    spans: tuple[tuple[int, int], ...],
) -> None:
    html = to_html(drawn.matches(Matches(lines=(match("abc", *spans),), count=1)))

    assert "<code>abc</code>" in html


def test_of_a_long_line_the_place_that_matched_is_shown() -> None:
    text = "x" * 5_000 + "needle" + "y" * 5_000

    html = to_html(drawn.matches(Matches(lines=(match(text, (5_000, 5_006)),), count=1)))

    assert "<mark>needle</mark>" in html
    assert "more characters" in html
    assert len(html) < 1_000


def test_a_space_at_the_end_of_a_match_does_not_pass_for_one_at_the_end_of_the_line() -> None:
    html = to_html(drawn.matches(Matches(lines=(match("ab cd", (0, 3)),), count=1)))

    assert "<mark>ab </mark>cd" in html


def test_no_match_is_said_with_what_was_left_out() -> None:
    block = Matches(lines=(), count=0, note="2 binary files were passed over.")

    assert text_of(drawn.matches(block)) == "No matches.2 binary files were passed over."


def test_names_have_sizes_and_a_folder_ends_in_a_slash() -> None:
    block = Names(
        names=(
            Name(path="src", kind="folder"),
            Name(path="a.txt", kind="file", size=1_100),
            Name(path="latest", kind="link"),
        ),
        note="1 more.",
    )

    html = to_html(drawn.names(block))

    assert "<code><b>src/</b></code>" in html
    assert '<code>a.txt</code></td><td class="aw-num">1.1 KB</td>' in html
    assert '<code>latest</code> <span class="aw-tag">link</span>' in html
    assert html.endswith('<p class="aw-soft">1 more.</p></div>')


def test_the_bold_name_is_the_one_that_is_declared() -> None:
    declared = Declaration(line=1, kind="function", name="f", signature="def f(elf)")
    block = Outline(path="a.py", size=1, total_lines=1, declarations=(declared,))

    assert "<code>def <b>f</b>(elf)</code>" in to_html(drawn.outline(block))


def test_an_empty_folder_is_said() -> None:
    assert text_of(drawn.names(Names(names=()))) == "Nothing is here."


def test_an_outline_has_lines_kinds_and_one_nested_level() -> None:
    block = Outline(
        path="calc.py",
        size=48_100,
        total_lines=1_204,
        declarations=(
            Declaration(line=3, kind="class", name="Sum", signature="class Sum(Base)"),
            Declaration(line=9, kind="method", name="add", signature="(self, n)", depth=1),
        ),
    )

    html = to_html(drawn.outline(block))

    assert "1,204 lines, 48.1 KB" in html
    assert "<code>class <b>Sum</b>(Base)</code>" in html
    assert '<code class="aw-in"><b>add</b> (self, n)</code>' in html


@requirement("REQ-S30")
@pytest.mark.parametrize("count", [41, 100_000])
def test_many_rows_are_in_a_fold_and_the_rest_is_counted(count: int) -> None:
    block = Names(names=tuple(Name(path=f"f{n}", kind="file", size=n) for n in range(count)))

    html = to_html(drawn.names(block))

    assert f"Show {min(count, tables.MOST) - tables.AT_ONCE} more name" in html
    assert (f"{count - tables.MOST:,} more names not shown here." in html) == (count > tables.MOST)
    assert len(html) < 40_000


@requirement("REQ-S30")
def test_long_lines_in_great_number_stay_within_bounds() -> None:
    line = match("word " * 10_000, *((n, n + 3) for n in range(0, 40_000, 5)))
    lines = tuple(line.model_copy(update={"line": n}) for n in range(5_000))

    began = perf_counter()
    html = to_html(drawn.matches(Matches(lines=lines, count=5_000)))

    assert len(html) < 600_000
    assert perf_counter() - began < 5


def test_what_was_found_is_drawn_in_the_row_of_its_call() -> None:
    shown = (Matches(lines=(match("def f():", (4, 5)),), count=1),)
    telling = Telling().open().call("grep", {"pattern": "f"}, "f")
    view = telling.finish(ToolResult.of_text("raw words", display=shown)).view

    html = to_html(render.turn(view))

    assert "<mark>f</mark>" in html
    assert "raw words" not in html


def test_a_cut_line_knows_what_is_missing_on_both_sides() -> None:
    cut = found.cut(match("a" * 100 + "b" * 100, (100, 101)), 80)

    assert cut.before + len(cut.text) + cut.after == 200
    (start, stop) = cut.spans[0]
    assert cut.text[start:stop] == "b"
