"""The published schemas of Arc's workspace tools."""

import json
import re
from pathlib import Path

import pytest

from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets.arc import (
    workspace_edit,
    workspace_list,
    workspace_read,
    workspace_search,
    workspace_write,
)
from tests.requirements import requirement

# Where each stands among the schemas of the page; two headings of the page are lost.
ORDER = {
    workspace_list.TOOL: 0,
    workspace_read.TOOL: 1,
    workspace_search.TOOL: 2,
    workspace_write.TOOL: 6,
    workspace_edit.TOOL: 7,
}


@requirement("S2-024", "S2-026", "S2-027", "S2-028", "S2-033", "S2-034", "S2-036", "S2-037")
@requirement("S2-038", "S2-067", "S2-068", "S2-069", "S2-074", "S2-075", "S2-076", "S2-077")
@requirement("S2-025", "S2-078")
@pytest.mark.parametrize("tool", ORDER, ids=lambda tool: tool.name)
def test_the_schema_is_the_published_one(spec: Path, tool: Tool) -> None:
    page = (spec / "arc-managed-runtime-tools.txt").read_text(encoding="utf-8")
    starts = [found.end() for found in re.finditer(r"\njson\n", page)]

    published, _ = json.JSONDecoder().raw_decode(page, starts[ORDER[tool]])

    assert tool.definition.input_schema == published
