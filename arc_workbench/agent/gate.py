"""Whether a frozen action may run: the engine decides, and where it must, a person.

A question is an event with a prompt id; its answer comes through `resolve`, from any thread. The
first answer counts. An answer is bound to the digest of the action that was shown.
"""

import asyncio
import threading
from dataclasses import dataclass

from arc_workbench.agent.log import EventLog
from arc_workbench.events import (
    Decider,
    PermissionRequested,
    PermissionResolved,
    RuleAdded,
    Scope,
)
from arc_workbench.permissions.action import ActionRecord
from arc_workbench.permissions.engine import Decision, decide
from arc_workbench.permissions.rules import Rule, can_be_granted


@dataclass(frozen=True)
class Ruling:
    """What came of an action: whether it may run, whose word that is, and the words given."""

    allowed: bool
    by: Decider
    because: str
    reason: str = ""
    asked: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What a command will run in: the `sandbox` as a question names it, and if it gets a copy."""

    sandbox: str = ""
    on_a_copy: bool = False


ANYWHERE = Surroundings()


@dataclass(frozen=True)
class _Reply:
    allow: bool
    by: Decider
    reason: str
    scope: Scope


@dataclass
class _Open:
    digest: str
    scopes: tuple[Scope, ...]
    loop: asyncio.AbstractEventLoop
    reply: "asyncio.Future[_Reply]"


class Gate:
    """Judges actions of one session and keeps what was granted until the kernel ends.

    While `capped`, no mode is looser than `default` and no grant counts.
    """

    def __init__(self, log: EventLog, mode: str, last_prompt: int = 0) -> None:
        self.mode = mode
        self.capped = False
        self._log = log
        self._grants: list[Rule] = []
        self._last_prompt = last_prompt
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()

    async def rule(self, record: ActionRecord, step: int, where: Surroundings = ANYWHERE) -> Ruling:
        """Decide about one action, asking at most once; emits exactly one `PermissionResolved`."""
        decision = self._judge(record)
        if decision.verdict != "ask":
            ruling = Ruling(decision.verdict == "allow", decision.by, decision.because)
            self._resolved(record, ruling)
            return ruling
        return await self._ask(record, step, decision.because, where)

    def judge_silently(self, record: ActionRecord) -> Decision:
        """What the engine says, without asking anybody and without an event."""
        return self._judge(record)

    def resolve(
        self,
        prompt: str,
        *,
        allow: bool,
        reason: str = "",
        scope: Scope = "once",
        by: Decider = "person",
        digest: str | None = None,
    ) -> bool:
        """Answer an open prompt; False if it is not open, was answered, or shows another action."""
        with self._lock:
            waiting = self._open.get(prompt)
            if waiting is None or (digest is not None and digest != waiting.digest):
                return False
            if allow and scope not in waiting.scopes:
                return False
            del self._open[prompt]
        answer = _Reply(allow, by, reason, scope)
        waiting.loop.call_soon_threadsafe(_settle, waiting.reply, answer)
        return True

    def open_prompts(self) -> tuple[str, ...]:
        """The prompts that wait for an answer, oldest first."""
        with self._lock:
            return tuple(self._open)

    def _judge(self, record: ActionRecord) -> Decision:
        looser = self.capped and self.mode != "plan"
        return decide(
            tool=record.tool,
            effect=record.effect,
            subject=record.subject,
            mode="default" if looser else self.mode,
            grants=() if self.capped else self._grants,
        )

    async def _ask(
        self, record: ActionRecord, step: int, because: str, where: Surroundings
    ) -> Ruling:
        self._last_prompt += 1
        prompt = f"p{self._last_prompt}"
        grantable = can_be_granted(record.effect, record.subject)
        scopes: tuple[Scope, ...] = ("once", "session") if grantable else ("once",)
        loop = asyncio.get_running_loop()
        waiting = _Open(record.digest, scopes, loop, loop.create_future())
        with self._lock:
            self._open[prompt] = waiting
        try:
            self._log.emit(_question(record, prompt, step, because, scopes, where))
            reply = await waiting.reply
        finally:
            with self._lock:
                self._open.pop(prompt, None)
        return self._ruled(record, prompt, because, reply)

    def _ruled(self, record: ActionRecord, prompt: str, because: str, reply: _Reply) -> Ruling:
        """A mode that came to deny meanwhile wins over the answer (REQ-S148)."""
        now = self._judge(record)
        if reply.allow and now.verdict == "deny":
            ruling = Ruling(False, now.by, now.because, asked=True)
        else:
            ruling = Ruling(reply.allow, reply.by, because, reply.reason, asked=True)
        self._resolved(record, ruling, prompt, reply.scope)
        if ruling.allowed and reply.scope == "session":
            self._grants.append(Rule(record.tool, record.subject))
            self._log.emit(RuleAdded(tool=record.tool, specifier=record.subject))
        return ruling

    def _resolved(
        self, record: ActionRecord, ruling: Ruling, prompt: str = "", scope: Scope = "once"
    ) -> None:
        self._log.emit(
            PermissionResolved(
                call_id=record.call_id,
                tool=record.tool,
                subject=record.subject,
                verdict="allow" if ruling.allowed else "deny",
                by=ruling.by,
                because=ruling.because,
                digest=record.digest,
                prompt=prompt,
                scope=scope,
                reason=ruling.reason,
            )
        )


def _settle(future: "asyncio.Future[_Reply]", reply: _Reply) -> None:
    if not future.done():
        future.set_result(reply)


def _question(
    record: ActionRecord,
    prompt: str,
    step: int,
    because: str,
    scopes: tuple[Scope, ...],
    where: Surroundings,
) -> PermissionRequested:
    return PermissionRequested(
        prompt=prompt,
        step=step,
        call_id=record.call_id,
        tool=record.tool,
        effect=record.effect,
        subject=record.subject,
        description=record.description,
        because=because,
        display=record.display,
        input=record.input,
        cwd=record.cwd,
        digest=record.digest,
        scopes=scopes,
        suggested_rule=record.suggested_rule,
        dry_run=where.on_a_copy or record.binds.get("dry_run") == "yes",
        sandbox=where.sandbox,
    )
