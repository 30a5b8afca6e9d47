"""The reference of tools and events, made from the code: `python -m tests.reference` writes it."""

import json
from collections.abc import Callable, Iterator
from typing import get_args

from pydantic import BaseModel

from arc_workbench.events import Event
from arc_workbench.toolsets import arc, arcturn
from tests.conftest import ROOT

ROOT_OF_PAGES = ROOT / "docs"


def tools_page() -> str:
    """Every tool: its effect, its description, its parameters."""
    lines = ["# Tools", "", "Made from the code by `python -m tests.reference`.", ""]
    for title, tools in (("Arc", arc.TOOLS), ("Arcturn", arcturn.TOOLS)):
        lines += [f"## {title}", ""]
        for tool in tools:
            told = tool.definition
            schema = json.dumps(told.input_schema, indent=2, sort_keys=True)
            lines += [f"### {told.name}", "", f"Effect: {tool.effect}.", "", told.description, ""]
            lines += ["```json", schema, "```", ""]
    return "\n".join(lines)


def events_page() -> str:
    """Every event: what it says, whether it is recorded, its fields."""
    lines = ["# Events", "", "Made from the code by `python -m tests.reference`.", ""]
    lines += ["Every event has `seq` and `at`. Transient ones are shown and not recorded.", ""]
    for event in _members():
        kept = "recorded" if getattr(event, "durable", True) else "transient"
        doc = " ".join((event.__doc__ or "").split())
        lines += [f"## {event.__name__}", "", f"{doc} ({kept})", ""]
        lines += [f"- `{name}`" for name in event.model_fields if name not in {"seq", "at", "type"}]
        lines += [""]
    return "\n".join(lines)


def _members() -> Iterator[type[BaseModel]]:
    union, *_ = get_args(Event)
    yield from get_args(union)


PAGES: dict[str, Callable[[], str]] = {"tools.md": tools_page, "events.md": events_page}


def main() -> None:
    """Write the pages."""
    for name, made in PAGES.items():
        (ROOT_OF_PAGES / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
