"""Tools of other people: any object with `definition` and `execute(input, ctx)` (decision 18)."""

import json
import re
from collections.abc import Awaitable
from typing import Protocol

from arc_workbench.content import JsonObject, ToolResult, ToolSpec, Value
from arc_workbench.errors import SettingsError
from arc_workbench.tools.tool import (
    Prepared,
    Tool,
    ToolArgs,
    ToolContext,
    invalid_arguments,
)
from arc_workbench.tools.toolset import BUILT_IN_TOOL_NAMES

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolDefinition(Value):
    """What a model is told of a tool: `parameters` is a JSON Schema (S1-158)."""

    name: str
    description: str
    parameters: JsonObject


class PublicTool(Protocol):
    """The shape every tool has for other people; `execute` may be `def` or `async def`."""

    @property
    def definition(self) -> ToolDefinition:
        """Name, description and parameters."""
        ...

    def execute(self, input: JsonObject, ctx: ToolContext) -> ToolResult | Awaitable[ToolResult]:
        """Run the call. Expected failures are results with `is_error` (S1-170)."""
        ...


class _AnyArgs(ToolArgs):
    """Arguments that only the tool itself can judge."""


class ForeignTool(Tool):
    """A public tool in our dispatch.

    It is asked about before it runs, since nobody can see what it does; only one that says
    `asks_itself = True` is left to its own, better worded question. A mode can deny either. Its
    input is checked against its own schema first.
    """

    def __init__(self, given: PublicTool) -> None:
        self.given = given
        _check_name(given.definition.name)
        super().__init__(given.definition.name, _AnyArgs, _never, effect="execute")
        self.asks_itself = getattr(given, "asks_itself", False) is True
        self.needs_project = False

    @property
    def definition(self) -> ToolSpec:
        """The definition in the words of a request."""
        told = self.given.definition
        return ToolSpec(name=told.name, description=told.description, input_schema=told.parameters)

    def passed_over(self, given: JsonObject) -> list[str]:
        """Nothing is passed over: the whole input goes to the tool."""
        return []

    def prepare(self, arguments: str, ctx: ToolContext) -> Prepared:
        """No plan: what it does is only known by running it."""
        given: JsonObject = json.loads(arguments)
        _check_input(given, self.given.definition.parameters)
        subject = self.subject_of(given)
        words = f"Use the tool {self.name}"
        return Prepared(subject, words, (), {}, "", lambda: self.given.execute(given, ctx))


def foreign(given: PublicTool) -> ForeignTool:
    """Take somebody's tool in; raises `SettingsError` for a name that it cannot have."""
    return ForeignTool(given)


def _check_name(name: str) -> None:
    if name in BUILT_IN_TOOL_NAMES:
        raise SettingsError(f"The tool name {name} is built in; nothing ran. Choose another.")
    if not NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} is no tool name; nothing ran. Use up to 64 letters, digits, _ and -."
        )


def _check_input(given: JsonObject, schema: JsonObject) -> None:
    from jsonschema.validators import validator_for

    checker = validator_for(schema)(schema)
    faults = [
        {"pointer": "/" + "/".join(map(str, fault.absolute_path)), "message": str(fault.message)}
        for fault in checker.iter_errors(given)
    ]
    if faults:
        raise invalid_arguments(faults)


def _never(args: _AnyArgs, ctx: ToolContext) -> ToolResult:
    raise AssertionError("a public tool runs through its own execute")
