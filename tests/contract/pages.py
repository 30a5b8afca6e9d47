"""Reads what the published pages say of each tool."""

import json
import re
from pathlib import Path

from arc_workbench.content import JsonObject

LOST = {
    "Search UTF-8 project files for literal text": "workspace_search",
    "Search a text-backed PDF locally": "workspace_document_search",
    "Search the web: up to 5 results": "web_search",
}
"""Three headings are missing from the page as captured (decision 2)."""


def arc_schemas(spec: Path) -> dict[str, JsonObject]:
    """The schema of each of Arc's 24 tools, by name."""
    text = (spec / "arc-managed-runtime-tools.txt").read_text(encoding="utf-8")
    found: dict[str, JsonObject] = {}
    for match in re.finditer(r"^json\n(\{.*?^\})", text, re.DOTALL | re.MULTILINE):
        found[_name_before(text[: match.start()])] = json.loads(match[1])
    return found


def _name_before(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        for beginning, name in LOST.items():
            if line.startswith(beginning):
                return name
        if re.fullmatch(r"[a-z]+(_[a-z]+)*", line):
            return line
    raise ValueError("a schema stands below no heading")
