"""Arc's schemas are the page's, key for key."""

from pathlib import Path

import pytest

from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets import arc
from tests.contract.pages import arc_schemas
from tests.requirements import requirement


@requirement("S2-001")
def test_the_page_has_twenty_four_tools_and_each_of_ours_is_one_of_them(spec: Path) -> None:
    published = arc_schemas(spec)

    assert len(published) == 24
    assert {tool.name for tool in arc.TOOLS} <= set(published)


@pytest.mark.parametrize("tool", arc.TOOLS, ids=lambda tool: tool.name)
def test_the_schema_that_a_model_gets_is_the_published_one(tool: Tool, spec: Path) -> None:
    assert tool.definition.input_schema == arc_schemas(spec)[tool.name]
