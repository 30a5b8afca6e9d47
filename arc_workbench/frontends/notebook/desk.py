"""The sessions of one kernel: which one a cell continues, and what it changes for one turn."""

# pyright: basic

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from IPython.core.interactiveshell import InteractiveShell

from arc_workbench.agent.session import Session
from arc_workbench.errors import SettingsError
from arc_workbench.frontends.notebook.background import Background
from arc_workbench.frontends.notebook.clients import Client
from arc_workbench.frontends.notebook.config import ArcWorkbench
from arc_workbench.frontends.options import Parsed
from arc_workbench.models import make_provider
from arc_workbench.settings import DEFAULT_MODEL, DEFAULT_SESSION, Settings, load, project_folder
from arc_workbench.shell.environment import ChildEnvironment, child_environment
from arc_workbench.workbench import open_session

KEPT = ("mode", "access", "model", "sandbox")
ONE_TURN = (*KEPT, "dry_run")
NO_KEY = "No key, so a script answers; its tools are real. Others: %agent help model"
UNUSED_KEY = "This version has no use for the key that is set; a script answers, with real tools."


class Closable(Protocol):
    """What is let go when it can no longer be of use."""

    def close(self) -> None:
        """Let it go."""
        ...


@dataclass(frozen=True)
class Seat:
    """A session ready for one turn, and what the person must be told first."""

    session: Session
    background: Background
    notes: tuple[str, ...] = ()


class Desk:
    """Holds the kernel's sessions; one is current and each cell continues it (decision 30)."""

    def __init__(self, shell: InteractiveShell, config: ArcWorkbench) -> None:
        self.shell = shell
        self.config = config
        self.current: Session | None = None
        self._backgrounds: dict[str, Background] = {}
        self._environment: ChildEnvironment | None = None
        self._chosen: dict[str, object] = {}
        self._bars: dict[str, Closable] = {}
        self._access_given = False
        config.observe(self._config_changed, names=list(KEPT))

    def settings(self, options: Mapping[str, object]) -> Settings:
        """All sources merged; cell options come first. Raises `SettingsError`."""
        words = {key: value for key, value in options.items() if key != "o"}
        return load(os.environ, {**self.config.given(), **self._chosen, **words})

    async def seat(self, parsed: Parsed, client: Client) -> Seat:
        """The session this cell goes on with, or a new one where the options ask for it."""
        lasting = {key: value for key, value in parsed.options.items() if key not in ONE_TURN}
        settings = self.settings(lasting)
        self.settings(parsed.options)  # what lasts one turn is checked before anything begins
        access = settings.access or ("safe" if client == "policy" else "full")
        settings = settings.model_copy(update={"access": access})
        current = self.current
        named = parsed.text("session")
        if current is None or settings.new or (named and named != current.name):
            return await self._begin(settings, parsed, resume=bool(named) and not settings.new)
        if self._belongs_to_another(current, parsed, settings):
            return await self._begin(settings, parsed, resume=False)
        return Seat(current, self._backgrounds[current.id])

    @contextlib.contextmanager
    def for_one_turn(self, session: Session, parsed: Parsed) -> Iterator[None]:
        """`--mode`, `--access`, `--model`, `--sandbox` and `--dry-run` of a cell last one turn."""
        before = {"mode": session.mode, "access": session.access, "sandbox": session.sandbox}
        provider = session.provider
        settings = self.settings(parsed.options)
        try:
            for key in KEPT:
                value = parsed.text(key)
                if value is not None:
                    self._set(session, key, value, settings.pace)
            with _dry_run(session, on=bool(parsed.options.get("dry_run"))):
                yield
        finally:
            for key, value in before.items():
                if getattr(session, key) != value:
                    self._set(session, key, value, settings.pace)
            session.set_provider(provider)

    def change(self, key: str, value: str) -> str:
        """Set mode, access, model or sandbox until changed again; returns `old -> new`."""
        settings = Settings.of({**self.settings({}).model_dump(), key: value})
        old = self.value(key)
        if self.current is not None:
            self._set(self.current, key, value, settings.pace)
        elif key == "model":
            make_provider(value, pace=settings.pace)
        self._chosen[key] = value
        return f"{old} -> {value}"

    def choose(self, key: str, value: object) -> None:
        """What the next session begins with."""
        self._chosen[key] = value

    def keep(self, kind: str, bar: Closable) -> None:
        """Buttons stay alive until the next of their kind are shown."""
        self.settle(kind)
        self._bars[kind] = bar

    def settle(self, kind: str = "") -> None:
        """Let buttons of a kind go, or all; what they came to takes their place."""
        for each in [kind] if kind else [*self._bars]:
            bar = self._bars.pop(each, None)
            if bar is not None:
                bar.close()

    def value(self, key: str) -> str:
        """What is set now: of the current session, or what the next one would begin with."""
        if self.current is not None:
            return str(getattr(self.current, key))
        found = getattr(self.settings({}), key)
        return str(found) if found is not None else "full"

    @property
    def background(self) -> Background | None:
        """The background jobs of the current session."""
        return self._backgrounds[self.current.id] if self.current is not None else None

    @property
    def environment(self) -> ChildEnvironment:
        """What commands of the current session get, or would get if one began now."""
        return self._environment or child_environment(os.environ, os.name)

    def close(self) -> None:
        """Let the current session go, its jobs with it, and every button."""
        self.settle()
        if self.current is not None:
            self._close(self.current)
            self.current = self._environment = None
        with contextlib.suppress(ValueError):
            self.config.unobserve(self._config_changed, names=list(KEPT))

    def _close(self, session: Session) -> None:
        """Close a session; the cards of its jobs then say how they ended."""
        session.close()
        self._backgrounds.pop(session.id).close()

    async def _begin(self, settings: Settings, parsed: Parsed, *, resume: bool) -> Seat:
        fresh = settings.model_copy(update={"new": not resume})
        before = self.current
        if before is not None and before.name == (settings.session or DEFAULT_SESSION):
            self._close(before)
            self.current = None
        environment = child_environment(os.environ, os.name)
        session = await open_session(fresh)
        if self.current is not None:
            self._close(self.current)
        self.current, self._environment = session, environment
        background = self._backgrounds[session.id] = Background(session, self.shell)
        notes = [begun(session)] if before is not None else []
        if session.step:
            notes.append(
                f"Session {session.name} stands at step {session.step}; open prompts are void."
            )
        if before is None and not self._model_was_chosen(parsed):
            notes.append(UNUSED_KEY if os.environ.get("ANTHROPIC_API_KEY") else NO_KEY)
        return Seat(session, background, tuple(notes))

    def _model_was_chosen(self, parsed: Parsed) -> bool:
        sources = {**self.config.given(), **self._chosen, **parsed.options}
        return "model" in sources or self.settings({}).model != DEFAULT_MODEL

    def _belongs_to_another(self, current: Session, parsed: Parsed, settings: Settings) -> bool:
        if parsed.text("project") is not None and project_folder(settings) != current.project:
            return True
        return parsed.text("toolset") is not None and settings.toolset != current.toolset_name

    def _set(self, session: Session, key: str, value: str, pace: float) -> None:
        setters: dict[str, Callable[[Any], None]] = {
            "mode": session.set_mode,
            "access": session.set_access,
            "sandbox": session.set_sandbox,
            "model": lambda spec: session.set_provider(make_provider(spec, pace=pace)),
        }
        if key not in setters:
            raise SettingsError(f"{key} cannot be changed in a session; nothing ran.", key=key)
        setters[key](value)

    def _config_changed(self, change: Any) -> None:
        if self.current is not None and change["new"]:
            self.change(change["name"], change["new"])


@contextlib.contextmanager
def _dry_run(session: Session, *, on: bool) -> Iterator[None]:
    """Dry-run for one turn; it stays on while something differs that nobody decided about."""
    if not on or session.dry_run:
        yield
        return
    session.set_dry_run(True)
    try:
        yield
    finally:
        if not session.dry_run_diffs():
            session.set_dry_run(False)


def begun(session: Session) -> str:
    """Message 1: what a session that just began runs with; the folder by its own name."""
    place = session.project.name if session.project else "no project"
    return (
        f"Session {session.name}: {session.model}, {session.toolset_name}, mode {session.mode}, "
        f"access {session.access}, {place}."
    )
