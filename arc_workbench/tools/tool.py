"""The tool contract: arguments, context, and the two forms a tool is written in.

A tool of ours is a value at the foot of its file:

    TOOL = Tool("ls", Args, run, effect="read")                  # run(args, ctx) -> ToolResult
    TOOL = Tool.planned("edit", Args, plan, run, effect="write")  # run(args, ctx, plan.what)

`plan` works out what would happen, without any effect, before anybody is asked: what a person is
shown, and the facts that must still hold. What it returns is what `run` gets, so the approved plan
is the plan that runs (REQ-S2). A plan that cannot be made raises `ToolError` and nobody is asked.

A tool of somebody else is any object with `definition` and `execute(input, ctx)` (decision 18).
"""

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from arc_workbench.content import Display, JsonObject, ToolResult, ToolSpec
from arc_workbench.errors import ToolError
from arc_workbench.shell import Shell
from arc_workbench.tools.schema import published
from arc_workbench.workspace import Author, Change, FilePlan, Workspace

Effect = Literal["read", "write", "execute", "network", "desktop", "session"]

SUBJECT_KEYS = ("command", "file_path", "filePath", "path", "url", "pattern", "query", "target")


class ToolArgs(BaseModel):
    """Base of a tool's arguments: open (unknown keys are passed over), frozen, strictly typed.

    The docstring of a subclass is the tool's description; its fields are the published schema.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, populate_by_name=True)

    def subject(self) -> str:
        """The thing acted on: the first of the conventional keys that has text (S1-173)."""
        values = self.model_dump(by_alias=True)
        found = (values.get(key) for key in SUBJECT_KEYS)
        return next((text for text in found if isinstance(text, str) and text), "")


class ExactArgs(ToolArgs):
    """Arguments of a tool whose schema forbids additional properties."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


@dataclass(frozen=True)
class PermissionAnswer:
    """What came of a request for permission; `behavior` is the word tools test (S1-183)."""

    behavior: Literal["allow", "deny"]
    message: str = ""


class RequestPermission(Protocol):
    """Asks, once, whether an action may run; used by tools that ask for themselves."""

    def __call__(
        self, *, tool_name: str, tool_call_id: str, subject: str, description: str
    ) -> Awaitable[PermissionAnswer]:
        """Return the answer; a denial is an answer, not an exception."""
        ...


class OnUpdate(Protocol):
    """Takes progress of a running call; may be called from any thread."""

    def __call__(self, text: str = "", details: JsonObject | None = None) -> None:
        """Show `text` as the newest output; nothing of it reaches the model."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What every call is handed (S1-160 to S1-165), with the services behind our own tools.

    `signal` is set when the person interrupts: a tool that waits looks at it often. With
    `snapshots` the project is compared before and after a command.
    """

    cwd: Path
    signal: threading.Event
    session_id: str
    tool_call_id: str
    on_update: OnUpdate
    request_permission: RequestPermission
    on_change: Callable[[FilePlan, Change], None]
    project: Workspace | None
    commands: Shell | None
    snapshots: bool = False

    @property
    def workspace(self) -> Workspace:
        """The project folder; a session without one raises `ToolError`."""
        if self.project is None:
            raise ToolError("This session has no project folder, so there are no files to use.")
        return self.project

    def apply(self, plan: FilePlan) -> Change:
        """Write a planned change and tell the session of it; every tool that writes uses this."""
        change = self.workspace.apply(plan, Author(self.session_id, self.tool_call_id))
        self.on_change(plan, change)
        return change

    @property
    def shell(self) -> Shell:
        """The shell of the project; a session without one raises `ToolError`."""
        if self.commands is None:
            raise ToolError("This session has no project folder, so there is no shell to use.")
        return self.commands


P = TypeVar("P")
A = TypeVar("A", bound=ToolArgs)
Ran = ToolResult | Awaitable[ToolResult]


@dataclass(frozen=True)
class Planned(Generic[P]):
    """What a call would do.

    `what` is handed to `run`; `description` is the prompt's one line ("Overwrite file a.py");
    `subject` is the real thing acted on; `binds` are facts that must still hold when it runs and
    that the approval's digest covers; `suggested_rule` is the pattern a rule could have.
    """

    what: P
    subject: str
    description: str
    display: tuple[Display, ...] = ()
    binds: Mapping[str, str] = field(default_factory=dict[str, str])
    suggested_rule: str = ""


@dataclass(frozen=True)
class Prepared:
    """One call, ready to be judged and then run: what is shown is what `run` does."""

    subject: str
    description: str
    display: tuple[Display, ...]
    binds: Mapping[str, str]
    suggested_rule: str
    run: Callable[[], Ran]


class ArgumentsInvalid(ToolError):
    """The arguments are JSON but not what the tool's schema says; `details` lists the faults."""


class Tool:
    """A tool of ours: name, arguments, effect, and how a call of it is prepared.

    `direct` tools are in the model's first list; the others are found by search (S2-008). What only
    looks after the work of another tool is `offered_as` that one: where it is hidden, so is this.
    """

    def __init__(
        self,
        name: str,
        args: type[A],
        run: Callable[[A, ToolContext], Ran],
        *,
        effect: Effect,
        offered_as: Effect | None = None,
        direct: bool = True,
        describe: Callable[[], str] | None = None,
    ) -> None:
        def prepare(given: A, ctx: ToolContext) -> Prepared:
            return Prepared(given.subject(), "", (), {}, "", lambda: run(given, ctx))

        self._init(name, args, effect, direct, describe, _parsing(args, prepare))
        self.offered_as = offered_as or effect

    @classmethod
    def planned(
        cls,
        name: str,
        args: type[A],
        plan: Callable[[A, ToolContext], Planned[P]],
        run: Callable[[A, ToolContext, P], Ran],
        *,
        effect: Effect,
        direct: bool = True,
        held_back: bool = False,
        describe: Callable[[], str] | None = None,
    ) -> "Tool":
        """A tool that works out its action before anybody is asked.

        `held_back` when it keeps to a dry run by itself, whatever its effect.
        """

        def prepare(given: A, ctx: ToolContext) -> Prepared:
            found = plan(given, ctx)
            return Prepared(
                found.subject,
                found.description,
                found.display,
                found.binds,
                found.suggested_rule,
                lambda: run(given, ctx, found.what),
            )

        tool = cls.__new__(cls)
        tool._init(name, args, effect, direct, describe, _parsing(args, prepare))
        tool.held_back = held_back
        return tool

    def _init(
        self,
        name: str,
        args: type[ToolArgs],
        effect: Effect,
        direct: bool,
        describe: Callable[[], str] | None,
        prepare: Callable[[str, ToolContext], Prepared],
    ) -> None:
        self.name = name
        self.args = args
        self.effect: Effect = effect
        self.offered_as: Effect = effect
        self.direct = direct
        self.held_back = False
        self.asks_itself = False
        self.needs_project = True
        self._describe = describe
        self._prepare = prepare

    @property
    def definition(self) -> ToolSpec:
        """The tool as a model is told of it; the description may name facts of this host."""
        text = self._describe() if self._describe else cleandoc(self.args.__doc__ or "")
        return ToolSpec(name=self.name, description=text, input_schema=published(self.args))

    def subject_of(self, given: JsonObject) -> str:
        """The subject as the model spelled it, for the row; nothing is resolved or judged by it."""
        found = (given.get(key) for key in SUBJECT_KEYS)
        named = next((text for text in found if isinstance(text, str) and text), "")
        return named or self._own_subject(given)

    def _own_subject(self, given: JsonObject) -> str:
        try:
            return self.args.model_validate(given).subject()
        except ValidationError:
            return ""

    def passed_over(self, given: JsonObject) -> list[str]:
        """The keys of `given` that an open schema does not name."""
        if self.args.model_config.get("extra") != "ignore":
            return []
        fields = self.args.model_fields.items()
        known = {name for name, _ in fields} | {info.alias for _, info in fields if info.alias}
        return sorted(given.keys() - known)

    def prepare(self, arguments: str, ctx: ToolContext) -> Prepared:
        """Parse `arguments` (JSON text of one object) and plan the call; no side effect.

        Raises `ArgumentsInvalid` where the schema is not met, `ToolError` where the plan fails.
        """
        return self._prepare(arguments, ctx)


def _parsing(
    args: type[A], prepare: Callable[[A, ToolContext], Prepared]
) -> Callable[[str, ToolContext], Prepared]:
    def parse_and_prepare(arguments: str, ctx: ToolContext) -> Prepared:
        try:
            given = args.model_validate_json(arguments)
        except ValidationError as fault:
            raise _invalid(fault) from None
        return prepare(given, ctx)

    return parse_and_prepare


def _invalid(fault: ValidationError) -> ArgumentsInvalid:
    faults = [
        {"pointer": "/" + "/".join(map(str, error["loc"])), "message": error["msg"]}
        for error in fault.errors(include_url=False, include_context=False, include_input=False)
    ]
    return invalid_arguments(faults)


def invalid_arguments(faults: list[dict[str, str]]) -> ArgumentsInvalid:
    """The error that lists each fault by its place in the input (behaviour E.3)."""
    lines = "\n".join(f"{item['pointer']}: {item['message']}" for item in faults)
    return ArgumentsInvalid(
        f"The arguments do not fit the tool's schema; nothing ran.\n{lines}",
        details={"validationErrors": faults},
    )
