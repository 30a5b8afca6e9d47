"""The words of decisions, the same in every front end."""

from arc_workbench.content import Recovery, RecoveryEntry
from arc_workbench.frontends import history
from tests.unit.frontends.turns import changed_row


def report(*open_: str) -> Recovery:
    entries = tuple(entry(name) for name in open_)
    verdict = "ambiguous" if open_ else "clean"
    return Recovery(verdict=verdict, mutation_blocked=bool(open_), entries=entries)


def entry(name: str) -> RecoveryEntry:
    return RecoveryEntry(id=name, path="recipe.txt", op="edit", status="ambiguous", happened="")


def test_a_decision_says_what_was_done_and_how_many_are_left() -> None:
    assert history.kept("c1", report("c5")) == "c1 kept as it is; 1 more needs you"
    assert history.kept("c1", report("c5", "c6")) == "c1 kept as it is; 2 more need you"
    assert history.kept("c1", report()) == "c1 kept as it is; writing works"


def test_what_was_put_back_names_the_way_back() -> None:
    by = changed_row("c6", op="restore")

    assert history.restored(entry("c5"), by, report()) == (
        "c5: recipe.txt is what it was before; what stood there is kept: undo with "
        "%agent undo c6; writing works"
    )
    assert history.restored(entry("c5"), None, report()) == (
        "c5: recipe.txt is what it was before; writing works"
    )
