"""Where settings come from, and what is said about a wrong one."""

import json
from pathlib import Path

import pytest

from arc_workbench.errors import SettingsError
from arc_workbench.frontends import options
from arc_workbench.settings import Settings, allowed_values, load, project_folder


def test_a_keyword_counts_before_the_environment_and_that_before_the_file(home: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"mode": "plan", "toolset": "arcturn"}), "utf-8")
    environment = {"ARC_WORKBENCH_HOME": str(home), "ARC_WORKBENCH_MODE": "acceptEdits"}

    assert load({"ARC_WORKBENCH_HOME": str(home)}).mode == "plan"
    assert load(environment).mode == "acceptEdits"
    assert load(environment, {"mode": "yolo"}).mode == "yolo"
    assert load(environment, {"mode": None}).toolset == "arcturn"


def test_an_unknown_key_of_the_file_warns_and_changes_nothing(home: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"modell": "x", "maxSteps": 7}), "utf-8")

    with pytest.warns(UserWarning, match="modell is no setting here"):
        settings = load({"ARC_WORKBENCH_HOME": str(home)})

    assert settings.max_steps == 7


def test_a_policy_in_the_file_is_passed_over_because_policy_is_set_outside(home: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"policy": "allow"}), "utf-8")

    with pytest.warns(UserWarning, match="policy"):
        settings = load({"ARC_WORKBENCH_HOME": str(home)})

    assert settings.policy == "rules"


def test_a_file_that_is_no_json_is_one_clear_line(home: Path) -> None:
    (home / "settings.json").write_text("{", "utf-8")

    with pytest.raises(SettingsError, match=r"settings\.json cannot be read"):
        load({"ARC_WORKBENCH_HOME": str(home)})


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"modle is no setting.* Nearest: mode") as caught:
        Settings.of({"modle": "x"})

    assert caught.value.key == "modle"


def test_a_wrong_value_names_the_allowed_ones() -> None:
    with pytest.raises(SettingsError, match="Known: arc, arcturn, both") as caught:
        Settings.of({"toolset": "arq"})

    assert caught.value.allowed == ("arc", "arcturn", "both")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mode", options.MODES),
        ("access", options.ACCESS),
        ("toolset", options.TOOLSETS),
        ("ask", options.ASK),
        ("policy", options.POLICIES),
    ],
)
def test_the_words_that_can_be_typed_are_the_words_a_setting_takes(
    name: str, words: tuple[str, ...]
) -> None:
    assert allowed_values(name) == words


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"No folder .*gone; nothing ran"):
        project_folder(Settings(project=str(tmp_path / "gone")))


def test_no_project_means_chat_only() -> None:
    assert project_folder(Settings(project="none")) is None
