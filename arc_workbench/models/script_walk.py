"""The walk through one turn of a script: which reply comes next, given what really came back.

A walk knows nothing of streams or requests. It is told what the conversation holds, reply by reply
and result by result, and says what the model's next reply is.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Literal, assert_never

from arc_workbench.content import Answer, ModelMessage, ToolCall
from arc_workbench.models.script_patterns import search
from arc_workbench.models.script_steps import (
    Alias,
    Both,
    Branch,
    Call,
    Compare,
    Condition,
    Either,
    Ending,
    Matches,
    Not,
    Offered,
    Repeat,
    Script,
    Step,
    Stop,
    Take,
    Talk,
)
from arc_workbench.models.script_values import (
    Result,
    Template,
    ValueMissingError,
    Values,
    Written,
    same,
    spoken,
    whole_characters,
)

MAX_MOVES = 10_000
"""How many steps of a script may pass without a call or a bad ending between them."""

UNKNOWN_PROMPT = "I am a script and know only {title}. For other tasks: %agent help model"
NOTHING_LEFT = "The script ends here."


class _Stopped(Exception):
    """The script says that the turn ends."""


class _AstrayError(Exception):
    """The script cannot go on; the text says why, for the person who reads the conversation."""


@dataclass(frozen=True)
class Passage:
    """Some words of a reply."""

    kind: Literal["think", "say"]
    text: str


@dataclass(frozen=True)
class CallMade:
    """One call of a reply as it is sent; its result is kept as `name`."""

    tool: str
    arguments: str
    name: str


@dataclass(frozen=True)
class Reply:
    """One reply of the scripted model."""

    passages: tuple[Passage, ...] = ()
    calls: tuple[CallMade, ...] = ()
    ending: Ending = field(default_factory=Ending)


class Walk:
    """One turn of a script, from its prompt on."""

    def __init__(self, script: Script, prompt: str) -> None:
        self._script = script
        self._values = Values(prompt)
        self._offered: Collection[str] = ()
        self._kept_as: dict[str, str] = {}
        self._passages: list[Passage] = []
        self._moves = 0
        self._current: Reply | None = None
        self._replies: Iterator[Reply] = self._play(prompt)

    def reply(self, offered: Collection[str]) -> Reply:
        """What the model says next; the same until the conversation goes on."""
        if self._current is None:
            self._offered = offered
            self._current = next(self._replies)
        return self._current

    def replied(self, message: ModelMessage, offered: Collection[str]) -> None:
        """The conversation holds this reply; remember which call is which.

        What it calls was offered then, whatever is offered now.
        """
        made = [block for block in message.content if isinstance(block, ToolCall)]
        expected = iter(self.reply({*offered, *(call.name for call in made)}).calls)
        for call in made:
            name = next((one.name for one in expected if one.tool == call.name), None)
            if name is None:
                self._replies = repeat(_astray(self._script.name, call.name))
                break
            self._kept_as[call.id] = name
        self._current = None

    def answered(self, answer: Answer) -> None:
        """A call of the conversation came back."""
        name = self._kept_as.pop(answer.call_id, "")
        if name:
            self._values.keep(name, Result(answer))

    def steered(self, words: str) -> None:
        """The person said something in the middle of the turn."""
        self._values.keep("steering", words)

    # ---- playing the steps ----

    def _play(self, prompt: str) -> Iterator[Reply]:
        turn = self._script.turn_for(prompt)
        if turn is None:
            yield _plain(UNKNOWN_PROMPT.format(title=self._script.title))
        else:
            yield from self._play_steps(turn.steps)
        while True:
            yield _plain(NOTHING_LEFT)

    def _play_steps(self, steps: tuple[Step, ...]) -> Iterator[Reply]:
        try:
            yield from self._run(steps)
        except _Stopped:
            pass
        except (ValueMissingError, _AstrayError) as fault:
            self._passages.append(Passage("say", f"The script cannot go on: {fault}"))
        yield self._closed() if self._passages else _plain(NOTHING_LEFT)

    def _run(self, steps: tuple[Step, ...]) -> Iterator[Reply]:
        for step in steps:
            self._count_move()
            match step:
                case Talk():
                    yield from self._talk(step)
                case Branch():
                    holds = self._holds(step.condition)
                    yield from self._run(step.then if holds else step.otherwise)
                case Repeat():
                    yield from self._repeat(step)
                case Take():
                    self._take(step)
                case Stop():
                    raise _Stopped
                case _:
                    assert_never(step)

    def _count_move(self) -> None:
        self._moves += 1
        if self._moves > MAX_MOVES:
            raise _AstrayError(f"it went through {MAX_MOVES} steps without a call.")

    def _talk(self, step: Talk) -> Iterator[Reply]:
        if step.think is not None:
            self._passages.append(Passage("think", self._words(step.think)))
        if step.say is not None:
            self._passages.append(Passage("say", self._words(step.say)))
        if step.closes:
            calls = tuple(self._call(call) for call in step.calls)
            yield self._closed(calls, step.ending)

    def _words(self, template: Template) -> str:
        return whole_characters(self._values.text(template)).rstrip("\n")

    def _closed(self, calls: tuple[CallMade, ...] = (), ending: Ending | None = None) -> Reply:
        reply = Reply(tuple(self._passages), calls, ending or Ending())
        self._passages, self._moves = [], 0
        return reply

    def _repeat(self, step: Repeat) -> Iterator[Reply]:
        outer = self._values.round
        for number in range(1, step.limit + 1):
            if step.until is not None and self._holds(step.until):
                break
            self._count_move()
            self._values.round = number
            yield from self._run(step.steps)
        self._values.round = outer

    def _take(self, step: Take) -> None:
        self._values.drop(step.name)
        if not self._values.has(step.source):
            return
        found = search(step.pattern, spoken(self._values.get(step.source)))
        if found is not None:
            self._values.keep(step.name, found[1] or "" if found.re.groups else found[0])

    # ---- calls ----

    def _call(self, call: Call) -> CallMade:
        alias = self._alias(call.tool)
        if call.raw is not None:
            return CallMade(alias.tool, call.raw, call.name)
        filled = self._values.fill(_renamed(call, alias))
        arguments = whole_characters(json.dumps(filled, ensure_ascii=False))
        return CallMade(alias.tool, arguments, call.name)

    def _alias(self, name: str) -> Alias:
        """The first offered tool behind the name; a name the table lacks is the tool's own."""
        choices = self._script.tools.get(name)
        if choices is None:
            return Alias(name)
        for alias in choices:
            if alias.tool in self._offered:
                return alias
        tools = " nor ".join(alias.tool for alias in choices)
        raise _AstrayError(f"to {name} it needs a tool that is not offered here ({tools}).")

    # ---- conditions ----

    def _holds(self, condition: Condition) -> bool:
        match condition:
            case Compare():
                return self._compare(condition)
            case Matches():
                text = self._text_of(condition)
                return text is not None and search(condition.pattern, text) is not None
            case Offered():
                return all(self._is_offered(name) for name in condition.tools)
            case Both():
                return all(self._holds(one) for one in condition.conditions)
            case Either():
                return any(self._holds(one) for one in condition.conditions)
            case Not():
                return not self._holds(condition.condition)
            case _:
                assert_never(condition)

    def _compare(self, test: Compare) -> bool:
        there = self._values.has(test.value)
        if test.kind == "exists" or not there:
            return test.kind == "exists" and there == test.wanted
        value, wanted = self._values.get(test.value), self._values.fill(test.wanted)
        return same(value, wanted) if test.kind == "is" else spoken(wanted) in spoken(value)

    def _text_of(self, test: Matches) -> str | None:
        there = self._values.has(test.value)
        return spoken(self._values.get(test.value)) if there else None

    def _is_offered(self, name: str) -> bool:
        choices = self._script.tools.get(name, (Alias(name),))
        return any(alias.tool in self._offered for alias in choices)


def _renamed(call: Call, alias: Alias) -> dict[str, Written]:
    """The arguments under the tool's own names; those that its row leaves out are left out."""
    if alias.names is None:
        return dict(call.arguments)
    return {
        alias.names[mine]: value for mine, value in call.arguments.items() if mine in alias.names
    }


def _astray(script: str, tool: str) -> Reply:
    return _plain(
        f"This conversation did not go the way of {script}: it holds a call of {tool} that the "
        "script does not make there. The script ends here."
    )


def _plain(words: str) -> Reply:
    return Reply((Passage("say", words),))
