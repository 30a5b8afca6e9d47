"""The tools as a model gets them, for people and programs."""

import json

from arc_workbench.agent.session import Session
from arc_workbench.settings import NO_PROJECT, Settings
from arc_workbench.tools.tool import Tool
from arc_workbench.tools.toolset import Toolset
from arc_workbench.workbench import tools_of


def offered_tools(session: Session | None, settings: Settings) -> list[Tool]:
    """What the session offers now, or what a session of these settings would offer."""
    if session is not None:
        return list(session.offered)
    toolset = Toolset(tools_of(settings.toolset))
    has_project = settings.project != NO_PROJECT
    return list(toolset.offered(settings.access or "full", has_project=has_project))


def described(tool: Tool) -> str:
    """Name, description and schema, as they are sent."""
    told = tool.definition
    return f"{told.name}\n{told.description}\n{json.dumps(told.input_schema, indent=2)}"
