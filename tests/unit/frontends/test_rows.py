"""What was found, changed and recovered, as lines of plain text."""

from arc_workbench.content import (
    Changes,
    Declaration,
    Display,
    Matches,
    MatchLine,
    Name,
    Names,
    Outline,
    Recovery,
    RecoveryEntry,
    ToolResult,
)
from arc_workbench.frontends import plain, rows
from tests.requirements import requirement
from tests.unit.frontends.turns import Telling, changed_row, question

FOUND = Matches(
    lines=(
        MatchLine(path="a.py", line=11, text="def f():", spans=((4, 5),)),
        MatchLine(path="b.py", line=7, text="    f()", spans=((4, 5),)),
        MatchLine(path="b.py", line=8, text="    pass", context=True),
    ),
    count=2,
    note="1 binary file was passed over.",
)


def test_matches_stand_under_their_file_and_lines_around_them_have_a_dash() -> None:
    assert [*rows.of(FOUND)] == [
        "a.py",
        "  11: def f():",
        "b.py",
        "  7:     f()",
        "  8-     pass",
        "1 binary file was passed over.",
    ]


def test_names_come_without_sizes_so_that_equal_folders_give_equal_lines() -> None:
    block = Names(
        names=(Name(path="src", kind="folder"), Name(path="a.txt", kind="file", size=3)),
    )

    assert [*rows.of(block)] == ["src/", "a.txt"]


def test_an_outline_has_lines_kinds_and_one_nested_level() -> None:
    block = Outline(
        path="a.py",
        size=1,
        total_lines=20,
        declarations=(
            Declaration(line=3, kind="class", name="Sum", signature="class Sum(Base)"),
            Declaration(line=9, kind="method", name="add", signature="(self, n)", depth=1),
        ),
    )

    assert [*rows.of(block)] == ["3  class  class Sum(Base)", "9    method  add (self, n)"]


def test_a_change_is_one_line_with_what_became_of_it() -> None:
    block = Changes(
        changes=(
            changed_row("c4", op="undo", undoes="c3"),
            changed_row("c3", status="undone"),
            changed_row("c2"),
        )
    )

    assert plain.block(block).split("\n") == [
        "c4  undo of c3  calc.py  +1 -1",
        "c3  edit  calc.py  +1 -1  undone",
        "c2  edit  calc.py  +1 -1",
    ]


def test_a_report_says_what_happened_and_what_to_do() -> None:
    entry = RecoveryEntry(
        id="c3",
        path="calc.py",
        op="edit",
        status="ambiguous",
        happened="someone wrote in between",
        next="%agent recovery keep c3",
    )
    report = Recovery(verdict="ambiguous", mutation_blocked=True, entries=(entry,))

    assert [*rows.of(report)] == [
        "Ambiguous: one file needs you \u00b7 writing is off, reading works",
        "c3  calc.py  someone wrote in between  %agent recovery keep c3",
    ]


def test_of_many_rows_the_rest_is_counted() -> None:
    block = Names(names=tuple(Name(path=f"f{n}", kind="file") for n in range(10_000)))

    assert len([*rows.of(block)]) == rows.MOST + 1
    assert [*rows.of(block)][-1] == f"... {10_000 - rows.MOST:,} more names"


def in_a_turn(*blocks: Display) -> str:
    telling = Telling().open().call("grep", {"pattern": "f"}, "f")
    return plain.turn(telling.finish(ToolResult.of_text("raw", display=blocks)).view)


def test_what_was_found_stands_under_the_row_of_its_call() -> None:
    assert "     a.py\n       11: def f():" in in_a_turn(FOUND)


@requirement("REQ-S24")
def test_a_name_cannot_pass_for_another_line() -> None:
    names = Names(names=(Name(path="a\nFinished\x1b[2J", kind="file"),))

    said = in_a_turn(names)

    assert "\nFinished\x1b" not in said
    assert "a\\nFinished" in said


def test_what_is_found_is_part_of_a_question_that_is_typed() -> None:
    assert "11: def f():" in plain.question_text(question([FOUND], tool="grep"))
