"""What a session runs with: one frozen value, and where its parts come from.

Precedence (decision 30): keywords (cell option or Python), `%config` (given as keywords by the
notebook), `ARC_WORKBENCH_*` of the environment, the user's `settings.json`, the default. What a
project brings along is read only once a person has trusted it, which this version cannot ask for
yet, so nothing of a project is read.
"""

import json
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from platformdirs import user_state_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from arc_workbench.errors import SettingsError

ToolsetName = Literal["arc", "arcturn", "both"]
Ask = Literal["auto", "buttons", "input", "policy"]
Policy = Literal["deny", "rules", "allow"]
Sandbox = Literal["off", "workspace-write", "required"]

PREFIX = "ARC_WORKBENCH_"
NO_PROJECT = "none"
DEFAULT_MODEL = "script:tour"
DEFAULT_SESSION = "main"
NOTHING: Mapping[str, object] = MappingProxyType({})
NOT_IN_FILES = frozenset({"policy", "session", "new"})
"""Policy comes from outside any file a session could write; sessions are named per run."""


class Settings(BaseModel):
    """Everything a session is opened with.

    `project` is a folder, or `none` for chat only. `access` None means: full if a person can
    answer, else safe (decision 19). `session` names the session that is to be continued, or begun
    where there is none of that name over the same folder and tools; without a name, and with
    `new`, another one begins.
    With `dry_run` changes of files are kept beside the project until they are applied. `sandbox`
    confines commands: `workspace-write` where this machine can, `required` or they do not run.
    With `snapshots` the project is compared before and after each command.
    `pace` is in tokens per second and counts for scripts only. `session_dir` is the folder that
    holds sessions (default: the state folder of the platform).
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, alias_generator=to_camel
    )

    model: str = DEFAULT_MODEL
    toolset: ToolsetName = "arc"
    mode: Literal["default", "acceptEdits", "plan", "yolo"] = "default"
    access: Literal["full", "safe"] | None = None
    project: str = "."
    session: str = ""
    new: bool = False
    ask: Ask = "auto"
    policy: Policy = "rules"
    session_dir: str = ""
    pace: float = Field(default=40.0, ge=0, allow_inf_nan=False)
    max_steps: int = Field(default=200, ge=1)
    dry_run: bool = False
    snapshots: bool = True
    sandbox: Sandbox = "off"

    @classmethod
    def of(cls, given: Mapping[str, object]) -> "Settings":
        """Check `given` (Python or JSON names); raises `SettingsError` with one line."""
        known = _names()
        for key in given:
            if key not in known:
                near = get_close_matches(key, sorted(known), n=1)
                hint = f" Nearest: {near[0]}." if near else f" Known: {', '.join(sorted(known))}."
                raise SettingsError(
                    f"{key} is no setting; nothing ran.{hint}",
                    key=key,
                    allowed=tuple(sorted(known)),
                )
        try:
            return cls.model_validate(dict(given))
        except ValidationError as fault:
            raise _wrong_value(fault, given) from None


def load(
    environment: Mapping[str, str],
    given: Mapping[str, object] = NOTHING,
    defaults: Mapping[str, object] = NOTHING,
) -> Settings:
    """Merge all sources into one `Settings`; what is given as None counts as not given.

    `defaults` stand in for the built-in ones and count last. Raises `SettingsError`. An unknown
    key of `settings.json` warns and changes nothing.
    """
    typed = {key: value for key, value in given.items() if value is not None}
    outside = {**_from_user_file(environment), **_from_environment(environment)}
    return Settings.of({**defaults, **outside, **typed})


def home(environment: Mapping[str, str]) -> Path:
    """The folder of our own state: `ARC_WORKBENCH_HOME`, else the platform's state folder."""
    given = environment.get(PREFIX + "HOME", "")
    return Path(given) if given else user_state_path("arc_workbench", appauthor=False)


def sessions_folder(settings: Settings, environment: Mapping[str, str]) -> Path:
    """Where session folders are kept."""
    return Path(settings.session_dir) if settings.session_dir else home(environment) / "sessions"


def project_folder(settings: Settings) -> Path | None:
    """The project's folder, or None for chat only; raises `SettingsError` (message 10)."""
    if settings.project == NO_PROJECT:
        return None
    try:
        folder = Path(settings.project).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # gone, a user that is not there, a NUL
        folder = None
    if folder is None or not folder.is_dir():
        raise SettingsError(
            f"No folder {settings.project}; nothing ran. Check --project, or --project none.",
            key="project",
        )
    return folder


def allowed_values(key: str) -> tuple[str, ...]:
    """The words a closed setting takes, in order; empty for open ones."""
    schema = Settings.model_json_schema(by_alias=False)["properties"][key]
    options = [schema, *schema.get("anyOf", [])]
    return tuple(word for option in options for word in option.get("enum", ()))


def _names() -> frozenset[str]:
    return frozenset(Settings.model_fields) | {to_camel(name) for name in Settings.model_fields}


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in Settings.model_fields:
        value = environment.get(PREFIX + name.upper(), "")
        if value and name not in {"session", "new"}:
            found[name] = value
    return found


def _from_user_file(environment: Mapping[str, str]) -> dict[str, object]:
    file = home(environment) / "settings.json"
    if not file.is_file():
        return {}
    try:
        data: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SettingsError(
            f"settings.json cannot be read ({fault}); nothing ran. Mend or remove it."
        ) from None
    if not isinstance(data, dict):
        raise SettingsError("settings.json is no JSON object; nothing ran. Mend or remove it.")
    given = cast("dict[str, object]", data)
    by_name = {to_camel(name): name for name in Settings.model_fields if name not in NOT_IN_FILES}
    for key in sorted(given.keys() - by_name.keys()):
        warnings.warn(f"settings.json: {key} is no setting here; it was passed over.", stacklevel=2)
    return {by_name[key]: value for key, value in given.items() if key in by_name}


def _wrong_value(fault: ValidationError, given: Mapping[str, object]) -> SettingsError:
    error = fault.errors(include_url=False)[0]
    key = str(error["loc"][0]) if error["loc"] else "settings"
    snake = next((name for name in Settings.model_fields if key in {name, to_camel(name)}), key)
    words = allowed_values(snake) if snake in Settings.model_fields else ()
    value = given.get(key, given.get(snake))
    if words:
        near = get_close_matches(str(value), words, n=1, cutoff=0.5)
        hint = (
            f"Nearest: {near[0]}. Known: {', '.join(words)}."
            if near
            else f"Known: {', '.join(words)}."
        )
        return SettingsError(
            f"{value} is no {snake}; nothing ran. {hint}", key=snake, allowed=words
        )
    return SettingsError(f"{snake} cannot be {value!r}: {error['msg']}; nothing ran.", key=snake)
