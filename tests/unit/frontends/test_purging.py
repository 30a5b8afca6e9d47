"""What `arc-workbench purge` takes and says."""

from pathlib import Path

import pytest

from arc_workbench.errors import SettingsError
from arc_workbench.frontends import purging
from arc_workbench.workbench import PurgePlan


@pytest.mark.parametrize(("word", "days"), [("30d", 30), ("0d", 0), ("12h", 0.5), ("36h", 1.5)])
def test_an_age_is_in_days_or_hours(word: str, days: float) -> None:
    assert purging.days_of(word) == days


@pytest.mark.parametrize("word", ["30", "d", "-1d", "1.5d", "30 d", "1w", "1d12h", "", "9999999d"])
def test_anything_else_is_no_age_and_says_which_there_are(word: str) -> None:
    with pytest.raises(SettingsError, match="30d for days or 12h for hours"):
        purging.days_of(word)


def test_an_age_is_needed() -> None:
    with pytest.raises(SettingsError, match="--older-than 30d"):
        purging.days_of(None)


def test_it_says_what_goes_and_what_stays() -> None:
    plan = PurgePlan(Path("pkg"), 0.0, changes=3, bytes=4_100, oldest="2026-03-01", kept=2)
    nothing = PurgePlan(Path("pkg"), 0.0, changes=0, bytes=0, oldest="", kept=2)

    assert purging.told("pkg", plan).split("\n") == [
        "Of pkg: 3 changes with 4.1 KB of old text, the oldest from 2026-03-01. They could not be "
        "undone any more.",
        "2 changes can still be undone.",
    ]
    assert "Nothing of pkg is that old" in purging.told("pkg", nothing)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No folder"):
        purging.place_of(str(tmp_path / "gone"))


def test_with_nobody_to_ask_it_wants_to_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(SettingsError, match="--yes"):
        purging.agreed()


def test_a_journal_that_was_put_aside_goes_by_its_own_age() -> None:
    both = PurgePlan(Path("pkg"), 0.0, changes=1, bytes=10, oldest="", kept=2, aside=1)
    aside = PurgePlan(Path("pkg"), 0.0, changes=0, bytes=10, oldest="", kept=2, aside=2)

    assert purging.told("pkg", both).split("\n")[0] == (
        "Of pkg: 1 change with 10 bytes of old text and 1 damaged journal that was put aside. "
        "They could not be undone any more."
    )
    assert purging.told("pkg", aside).split("\n") == [
        "Of pkg: 2 damaged journals that were put aside.",
        "2 changes can still be undone.",
    ]
    assert purging.goes(aside)
    assert purging.freed(aside) == (
        "2 damaged journals that were put aside forgotten, 10 bytes freed."
    )
