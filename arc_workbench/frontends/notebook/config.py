"""`%config ArcWorkbench`: the settings a person may keep for the kernel."""

# pyright: basic

from typing import Any

from traitlets import Bool, Float, TraitError, Unicode, validate
from traitlets.config import Configurable

NAMES = (
    *("model", "toolset", "project", "ask", "mode", "access", "session_dir", "pace"),
    *("dry_run", "sandbox"),
)


class WrongValue(TraitError):
    """A value that a setting cannot have; shown as one line, and nothing is changed."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class ArcWorkbench(Configurable):
    """Settings of the agent workbench. An empty value means: not set here."""

    model = Unicode("", help="the model that answers, such as script:tour").tag(config=True)
    toolset = Unicode("", help="arc, arcturn or both").tag(config=True)
    project = Unicode("", help="the folder to work in, or none").tag(config=True)
    ask = Unicode("", help="auto, buttons, input or policy").tag(config=True)
    mode = Unicode("", help="default, acceptEdits, plan or yolo").tag(config=True)
    access = Unicode("", help="full or safe").tag(config=True)
    session_dir = Unicode("", help="the folder that holds sessions").tag(config=True)
    pace = Float(None, allow_none=True, help="tokens per second of scripts; 0 does not wait").tag(
        config=True
    )

    sandbox = Unicode("", help="off, workspace-write or required").tag(config=True)
    dry_run = Bool(False, help="let files change in a copy only").tag(config=True)

    @validate(*NAMES)
    def _check(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if _is_given(value):
            _require(name, value)
        return value

    def given(self) -> dict[str, object]:
        """What was set, by setting name."""
        values = {name: getattr(self, name) for name in NAMES}
        return {name: value for name, value in values.items() if _is_given(value)}


def _is_given(value: object) -> bool:
    """Nothing, an empty text and "off" are what stands there unless something is set."""
    return value is not None and value != "" and value is not False


def _require(name: str, value: Any) -> None:
    from arc_workbench.errors import ArcError
    from arc_workbench.models import make_provider
    from arc_workbench.settings import Settings

    try:
        settings = Settings.of({name: value})
        if name == "model":
            make_provider(value, pace=settings.pace)
    except ArcError as fault:
        raise WrongValue(str(fault)) from None
