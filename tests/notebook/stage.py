"""A run without a session: events are written by hand, the live view is the real one."""

# pyright: basic

import asyncio
import time
from collections.abc import Callable

from IPython.display import DisplayHandle, display

from arc_workbench.content import Command, Text, ToolCall, ToolResult, Usage
from arc_workbench.events import (
    AssistantMessage,
    Event,
    PermissionRequested,
    PermissionResolved,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from arc_workbench.frontends.notebook.codes import Verb
from arc_workbench.frontends.notebook.elements import to_html
from arc_workbench.frontends.notebook.live import Live
from arc_workbench.frontends.notebook.render import turn
from arc_workbench.views import TurnView, fold

TICK_SEC = 0.045
PATIENCE_SEC = 60.0


class Stage:
    """One turn of one step, drawn live."""

    def __init__(self) -> None:
        self.view = TurnView()
        self.pressed: list[Verb] = []
        self.live = Live(self.view, self.pressed.append)
        self.calls: list[ToolCall] = []
        shown = display(self.live.bundle(), raw=True, display_id=True)
        assert shown is not None
        self.handle: DisplayHandle = shown
        self.happen(_OPENED, TurnStarted(turn=1, prompt="Try it.", at=time.time()))
        self.happen(StepStarted(turn=1, step=1, model="stage"))

    def happen(self, *events: Event) -> None:
        """Let something have happened."""
        for event in events:
            self.live.touch(fold(self.view, event))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Draw on until something is so."""
        async with asyncio.timeout(PATIENCE_SEC):
            while not condition():
                self.live.flush()
                await asyncio.sleep(TICK_SEC)
        self.live.flush()

    async def stream(self, tokens: int, per_sec: float) -> None:
        """Say words one by one."""
        await self.until(lambda: self.live.arrived)
        began = time.monotonic()
        said = 0

        def say_more() -> bool:
            nonlocal said
            due = min(tokens, int((time.monotonic() - began) * per_sec))
            for number in range(said, due):
                self.happen(TextDelta(step=1, text=f"word{number} "))
            said = due
            return said == tokens

        await self.until(say_more)

    def open_question(self, prompt: str, command: str = "rm -rf build") -> None:
        """A call asks."""
        call = ToolCall(id=f"call-{prompt}", name="bash", arguments="{}")
        self.calls.append(call)
        message = AssistantMessage(
            step=1, model="stage", content=tuple(self.calls), stop_reason="tool_use"
        )
        self.happen(message, _asked(prompt, call.id, command))

    async def answer(self) -> Verb:
        """Wait for the next press and let it be what was decided."""
        known = len(self.pressed)
        await self.until(lambda: len(self.pressed) > known)
        verb = self.pressed[known]
        if verb.do != "stop":
            self.happen(*_decided(verb))
            self.live.flush()
        return verb

    async def ask(self, prompt: str, command: str = "rm -rf build") -> Verb:
        """Put one question and wait for its answer."""
        self.open_question(prompt, command)
        return await self.answer()

    def finish(self) -> None:
        """Swap the live view for what is kept."""
        self.happen(
            StepFinished(step=1, usage=Usage(input_tokens=10, output_tokens=5)),
            TurnFinished(turn=1, reason="completed", at=time.time()),
        )
        self.live.flush()
        self.handle.update(
            {"text/html": to_html(turn(self.view)), "text/plain": "finished"}, raw=True
        )
        self.live.close()


_OPENED = SessionOpened(
    session="s",
    name="main",
    project="project",
    toolset="arcturn",
    model="stage",
    mode="default",
    access="full",
)


def _asked(prompt: str, call: str, command: str) -> PermissionRequested:
    return PermissionRequested(
        prompt=prompt,
        step=1,
        call_id=call,
        tool="bash",
        effect="execute",
        subject=command,
        description="Clean up.",
        because="Mode default asks before every command.",
        display=(Command(command=command, cwd="project"),),
        input={"command": command},
        cwd="project",
        digest=f"digest-of-{prompt}",
    )


def _decided(verb: Verb) -> tuple[Event, ...]:
    allowed = verb.do == "allow"
    call = f"call-{verb.prompt}"
    decision = PermissionResolved(
        call_id=call,
        tool="bash",
        subject="rm",
        verdict="allow" if allowed else "deny",
        by="person",
        because="",
        digest=verb.digest,
        prompt=verb.prompt,
        scope=verb.scope,
        reason=verb.reason,
    )
    end = ToolCallFinished(
        step=1,
        call_id=call,
        name="bash",
        result=ToolResult(content=(Text(text="ran" if allowed else "denied"),)),
        ran=allowed,
        outcome="done" if allowed else "denied",
    )
    started = ToolCallStarted(step=1, call_id=call, name="bash", input={}, subject="rm")
    return (decision, started, end) if allowed else (decision, end)
