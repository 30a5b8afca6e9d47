"""How the house is built, where a machine can see it."""

import importlib
import pkgutil
from types import ModuleType

import pytest

from arc_workbench.content import JsonObject
from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets import arc, arcturn
from tests.reference import PAGES, ROOT_OF_PAGES

TOOL_FILES = [
    (package, info.name)
    for package in (arc, arcturn)
    for info in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize(("package", "name"), TOOL_FILES, ids=lambda value: str(value))
def test_a_tool_is_one_file_named_like_it_and_listed(package: ModuleType, name: str) -> None:
    tool = importlib.import_module(f"{package.__name__}.{name}").TOOL

    assert isinstance(tool, Tool)
    assert tool.name == name
    assert tool in package.TOOLS


@pytest.mark.parametrize("tool", [*arc.TOOLS, *arcturn.TOOLS], ids=lambda tool: tool.name)
def test_a_definition_says_what_the_tool_does_in_its_own_words(tool: Tool) -> None:
    told = tool.definition
    schema: JsonObject = told.input_schema

    assert len(told.description) > 40
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)


@pytest.mark.parametrize("tool", arcturn.TOOLS, ids=lambda tool: tool.name)
def test_arcturns_schemas_allow_no_other_property(tool: Tool) -> None:
    assert tool.definition.input_schema["additionalProperties"] is False


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_is_what_the_code_says(name: str) -> None:
    page = (ROOT_OF_PAGES / name).read_text(encoding="utf-8")

    assert page == PAGES[name](), "stale: run python -m tests.reference"
