"""Small tools in the public form, for tests of the engine around them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

from arc_workbench.content import JsonObject, Text, ToolResult
from arc_workbench.tools.foreign import ToolDefinition
from arc_workbench.tools.tool import ToolContext

Body = Callable[[JsonObject, ToolContext], ToolResult | Awaitable[ToolResult]]


class FakeTool:
    """A public tool of one function."""

    def __init__(self, name: str, body: Body, *, asks_itself: bool = False) -> None:
        self.asks_itself = asks_itself
        self.definition = ToolDefinition(
            name=name,
            description=f"A tool for tests: {name}.",
            parameters={
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "additionalProperties": False,
            },
        )
        self._body = body

    def execute(self, input: JsonObject, ctx: ToolContext) -> ToolResult | Awaitable[ToolResult]:
        """Run the function."""
        return self._body(input, ctx)


def echo() -> FakeTool:
    """Answers with what it was given."""
    return FakeTool("echo", lambda given, _: ToolResult.of_text(str(given.get("text", ""))))


def breaks() -> FakeTool:
    """Has a bug."""

    def body(given: JsonObject, ctx: ToolContext) -> ToolResult:
        raise ZeroDivisionError("division by zero in the tool")

    return FakeTool("breaks", body)


def waits(began: threading.Event) -> FakeTool:
    """Says that it began, then waits for the interrupt and says what it had."""

    def body(given: JsonObject, ctx: ToolContext) -> ToolResult:
        ctx.on_update("half way\n")
        began.set()
        assert ctx.signal.wait(10)
        return ToolResult.error("Aborted: half of it was done.")

    return FakeTool("waits", body)


def asks(done: list[str]) -> FakeTool:
    """Asks for itself, and notes what it did."""

    async def body(given: JsonObject, ctx: ToolContext) -> ToolResult:
        await asyncio.sleep(0)
        answer = await ctx.request_permission(
            tool_name="deploy",
            tool_call_id=ctx.tool_call_id,
            subject="staging",
            description="Deploy to staging",
        )
        if answer.behavior != "allow":
            return ToolResult(content=(Text(text=f"denied: {answer.message}"),), is_error=True)
        done.append("staging")
        return ToolResult.of_text("deployed")

    return FakeTool("deploy", body, asks_itself=True)
