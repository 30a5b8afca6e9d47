"""Changes as a table and the report of start-up as a card."""

import pytest

from arc_workbench.content import (
    Changes,
    Matches,
    MatchLine,
    Name,
    Names,
    Recovery,
    RecoveryEntry,
    ToolResult,
)
from arc_workbench.frontends import rows
from arc_workbench.frontends.notebook import history as drawn
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import text_of, to_html
from arc_workbench.frontends.notebook.found import matches, names
from tests.unit.frontends.turns import Telling, changed_row


def entry(number: int = 3, **more: str) -> RecoveryEntry:
    given = {
        "id": f"c{number}",
        "path": "clock.py",
        "op": "edit",
        "status": "ambiguous",
        "happened": "neither the old nor the new text",
        "next": "%agent recovery keep c3",
        **more,
    }
    return RecoveryEntry.model_validate(given)


def report(verdict: str, *entries: RecoveryEntry) -> Recovery:
    blocked = verdict in {"ambiguous", "tampered"}
    return Recovery.model_validate(
        {"verdict": verdict, "mutation_blocked": blocked, "entries": entries}
    )


def test_a_change_is_a_row_with_its_id_lines_and_what_became_of_it() -> None:
    rows = (changed_row("c4", op="undo", undoes="c3"), changed_row("c3", status="undone"))

    html = to_html(drawn.changes(Changes(changes=rows)))

    assert "undo of c3" in html
    assert '<td class="aw-num">+1 −1</td><td class="aw-soft">undone</td>' in html


def test_no_change_is_said_and_many_are_counted() -> None:
    many = tuple(changed_row(f"c{n}") for n in range(5_000))

    assert text_of(drawn.changes(Changes(changes=()))) == "No changes."
    assert "4,700 more changes not shown here." in text_of(drawn.changes(Changes(changes=many)))


@pytest.mark.parametrize(
    ("verdict", "entries", "title"),
    [
        ("clean", (), "Clean: every change is whole"),
        ("repaired", (entry(),), "Repaired: one change had been cut off"),
        ("repaired", (entry(1), entry(2)), "Repaired: two changes had been cut off"),
        ("ambiguous", (entry(),), "Ambiguous: one file needs you"),
        ("ambiguous", (entry(1), entry(2)), "Ambiguous: two files need you"),
        ("tampered", (), "Tampered: the journal does not add up"),
    ],
)
def test_the_verdict_is_the_title_and_says_what_still_works(
    verdict: str, entries: tuple[RecoveryEntry, ...], title: str
) -> None:
    words = text_of(drawn.recovery(report(verdict, *entries)))

    assert title in words
    assert ("writing is off, reading works" in words) == (verdict in {"ambiguous", "tampered"})


def test_what_was_found_and_what_to_do_stand_side_by_side() -> None:
    html = to_html(drawn.recovery(report("ambiguous", entry(), entry(4, next=""))))

    found = "neither the old nor the new text"
    cells = f'<td class="aw-whole">{found}</td><td class="aw-whole">%agent recovery keep c3</td>'
    assert cells in html
    assert '<td class="aw-whole">nothing</td>' in html


def test_a_report_that_blocks_writing_stands_open_in_its_row() -> None:
    telling = Telling().open().call("workspace_recovery_status", {})
    blocked = ToolResult.of_text("", display=(report("tampered"),))

    assert " open=" in to_html(render.turn(telling.finish(blocked).view))


def test_a_history_that_cannot_be_trusted_says_so_instead_of_nothing() -> None:
    note = "Journal tampered: writing blocked, reading works. See %agent recovery"
    block = Changes(changes=(), note=note)

    assert note in text_of(drawn.changes(block))
    assert "No changes" not in text_of(drawn.changes(block))
    assert list(rows.of(block)) == [note]
    assert list(rows.of(Changes(changes=()))) == ["No changes."]


def test_a_line_break_in_a_name_is_shown_as_what_it_is() -> None:
    block = Changes(changes=(changed_row("c1", path="a\nc9  undone"),))
    found = Matches(lines=(MatchLine(path="a\nb", line=1, text="x"),), count=1)
    listed = Names(names=(Name(path="a\nb", kind="file"),))

    chip = '<span class="aw-odd">LINE BREAK</span>'
    assert f"a{chip}c9  undone" in to_html(drawn.changes(block))
    assert f"a{chip}b" in to_html(matches(found))
    assert f"a{chip}b" in to_html(names(listed))


def test_only_a_long_name_may_break_in_its_middle() -> None:
    html = to_html(
        drawn.changes(Changes(changes=(changed_row("c1"), changed_row("c2", path="a" * 60))))
    )

    assert '<code class="aw-whole">calc.py</code>' in html
    assert f'<code class="aw-long">{"a" * 60}</code>' in html
