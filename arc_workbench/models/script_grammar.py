"""The grammar of scripts: which words there are, where they stand, and what must stand beside them.

`docs/scripts.md` explains it to people. Whatever a text holds, reading it gives a `Script` or a
`ScriptError` that names the line.
"""

import re
from collections.abc import Iterable
from typing import get_args

from arc_workbench.errors import ProviderFault
from arc_workbench.models.provider import StopReason
from arc_workbench.models.script_reader import NodeReader, shortened
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
    Turn,
)
from arc_workbench.models.script_values import (
    BUILT_IN,
    NAME,
    Reference,
    Template,
    Written,
    WrittenFields,
)
from arc_workbench.models.script_yaml import Entry, Fields, Items, Leaf, Node, read_yaml

VERSION = 1
MAX_ROUNDS = 10_000

TOP = ("script", "title", "tools", "asked", "steps", "turns")
TURN = ("asked", "steps")
CALL = ("call", "with", "raw", "as")
TALK = ("think", "say", *CALL, "together", "stop_reason", "cut", "fail", "times")
WHEN = ("when", "then", "else")
REPEAT = ("repeat", "until", "steps")
TAKE = ("take", "from", "matching")
LOGIC = ("not", "any", "offered")
TESTS = ("is", "contains", "matches", "exists")
FAULTS: tuple[ProviderFault, ...] = get_args(ProviderFault)
STOP_REASONS: tuple[StopReason, ...] = get_args(StopReason)


def read_script(name: str, text: str) -> Script:
    """Read the text of a script. Raises `ScriptError` and nothing else."""
    return _Grammar(name).script(read_yaml(name, text))


class _Grammar(NodeReader):
    """Turns nodes into a script; `_names` and `_used` are those of the turn being read."""

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self._names: set[str] = set()
        self._used: list[tuple[int, Reference]] = []

    # ---- the whole ----

    def script(self, node: Node) -> Script:
        fields = self.fields(node, TOP)
        self._check_version(self.needed(fields, "script", node))
        title = self.words(self.needed(fields, "title", node))
        tools = self._tools(fields["tools"].node) if "tools" in fields else {}
        return Script(self.script_name, title, tools, self._turns(fields, node))

    def _check_version(self, entry: Entry) -> None:
        if self.text(entry.node) != str(VERSION):
            self.refuse(entry.line, "this version is not known", f"Write `script: {VERSION}`.")

    def _turns(self, fields: dict[str, Entry], node: Node) -> tuple[Turn, ...]:
        own = {word: fields[word] for word in TURN if word in fields}
        if "turns" not in fields:
            return (self._turn(Fields(node.line, own)),)
        if own:
            self.refuse(fields["turns"].line, "turns beside steps or asked", "Keep one form.")
        return self.list_of(fields["turns"], self._turn)

    def _turn(self, node: Node) -> Turn:
        fields = self.fields(node, TURN)
        self._names, self._used = set(BUILT_IN), []
        asked = self.one_or_more(fields["asked"].node, self._phrase) if "asked" in fields else ()
        steps = self._steps(self.needed(fields, "steps", node))
        self._check_names()
        return Turn(asked, steps)

    def _check_names(self) -> None:
        for line, reference in self._used:
            if reference.name not in self._names:
                self.unknown(reference.name, line, sorted(self._names))

    def _phrase(self, node: Node) -> str | re.Pattern[str]:
        if isinstance(node, Leaf):
            return self.words(Entry(node.line, node))
        return self.pattern(self.needed(self.fields(node, ("matches",)), "matches", node))

    def _tools(self, node: Node) -> dict[str, tuple[Alias, ...]]:
        rows = self.any_fields(node).items()
        return {name: self.one_or_more(row.node, self._alias) for name, row in rows}

    def _alias(self, node: Node) -> Alias:
        if isinstance(node, Leaf):
            return Alias(self.words(Entry(node.line, node)))
        fields = self.any_fields(node)
        if len(fields) != 1:
            self.refuse(node.line, "a tool is one name", "Write `tool: {mine: its}` for each.")
        [(tool, entry)] = fields.items()
        renamed = self.any_fields(entry.node)
        return Alias(tool, {mine: self.words(its) for mine, its in renamed.items()})

    # ---- steps ----

    def _steps(self, entry: Entry) -> tuple[Step, ...]:
        return self.list_of(entry, self._step)

    def _step(self, node: Node) -> Step:
        if isinstance(node, Leaf):
            if node.text != "stop":
                self.unknown(node.text, node.line, ("stop",))
            return Stop()
        fields = self.any_fields(node)
        if "when" in fields:
            return self._branch(self.fields(node, WHEN), node)
        if "repeat" in fields:
            return self._repeat(self.fields(node, REPEAT), node)
        if "take" in fields:
            return self._take(self.fields(node, TAKE), node)
        self._check_partners(fields)
        return self._talk(self.fields(node, TALK), node)

    def _check_partners(self, fields: dict[str, Entry]) -> None:
        for lead, *followers in (WHEN, REPEAT, TAKE):
            for word in followers:
                if word in fields:
                    line = fields[word].line
                    self.refuse(line, f"{word} stands alone", f"It belongs beside `{lead}`.")

    def _branch(self, fields: dict[str, Entry], node: Node) -> Branch:
        return Branch(
            self._condition(fields["when"].node),
            self._steps(self.needed(fields, "then", node)),
            self._steps(fields["else"]) if "else" in fields else (),
        )

    def _repeat(self, fields: dict[str, Entry], node: Node) -> Repeat:
        limit = self.count(fields["repeat"], MAX_ROUNDS)
        until = self._condition(fields["until"].node) if "until" in fields else None
        return Repeat(limit, until, self._steps(self.needed(fields, "steps", node)))

    def _take(self, fields: dict[str, Entry], node: Node) -> Take:
        source = self._reference(self.needed(fields, "from", node))
        pattern = self.pattern(self.needed(fields, "matching", node))
        return Take(self._new_name(fields["take"].node), source, pattern)

    def _talk(self, fields: dict[str, Entry], node: Node) -> Talk:
        if not fields:
            self.refuse(node.line, "the step is empty", "Begin with `say` or `call`.")
        return Talk(
            self._template(fields["think"].node) if "think" in fields else None,
            self._template(fields["say"].node) if "say" in fields else None,
            self._calls(fields, node),
            self._ending(fields),
        )

    def _calls(self, fields: dict[str, Entry], node: Node) -> tuple[Call, ...]:
        own = [word for word in CALL if word in fields]
        if "together" not in fields:
            return (self._call_of(fields, node),) if own else ()
        if own:
            self.refuse(fields[own[0]].line, f"{own[0]} beside together", "Keep one form.")
        return self.list_of(fields["together"], self._call)

    def _call(self, node: Node) -> Call:
        return self._call_of(self.fields(node, CALL), node)

    def _call_of(self, fields: dict[str, Entry], node: Node) -> Call:
        tool = self.words(self.needed(fields, "call", node))
        if "raw" in fields and "with" in fields:
            self.refuse(fields["raw"].line, "raw beside with", "Keep one of them.")
        return Call(
            tool,
            self._arguments(fields["with"].node) if "with" in fields else {},
            self.text(fields["raw"].node) if "raw" in fields else None,
            self._new_name(fields["as"].node) if "as" in fields else "",
        )

    def _ending(self, fields: dict[str, Entry]) -> Ending:
        stop, fail, times = fields.get("stop_reason"), fields.get("fail"), fields.get("times")
        cut, cut_fault = self._cut(fields)
        if times and not (fail or cut):
            self.refuse(times.line, "times without fail or cut", "Leave it out.")
        return Ending(
            stop_reason=self.choice(stop, STOP_REASONS) if stop else None,
            fail=self.choice(fail, FAULTS) if fail else None,
            cut=cut,
            cut_fault=cut_fault,
            times=self.count(times, MAX_ROUNDS) if times else None,
        )

    def _cut(self, fields: dict[str, Entry]) -> tuple[bool, ProviderFault | None]:
        entry = fields.get("cut")
        if entry is None:
            return False, None
        if isinstance(entry.node, Leaf) and entry.node.value is True:
            return True, None
        return True, self.choice(entry, FAULTS, "true")

    # ---- conditions ----

    def _condition(self, node: Node) -> Condition:
        fields = self.any_fields(node)
        if not fields:
            self.refuse(node.line, "the condition is empty", "Write `name: value`.")
        return Both(
            tuple(one for word, entry in fields.items() for one in self._tests(word, entry))
        )

    def _tests(self, word: str, entry: Entry) -> Iterable[Condition]:
        match word:
            case "not":
                return (Not(self._condition(entry.node)),)
            case "any":
                return (Either(self.list_of(entry, self._condition)),)
            case "offered":
                return (Offered(self.one_or_more(entry.node, self.text)),)
            case _:
                return self._tests_of(self._reference_of(word, entry.line), entry)

    def _tests_of(self, value: Reference, entry: Entry) -> Iterable[Condition]:
        if not isinstance(entry.node, Fields):
            return (Compare(value, "is", self._written(entry.node)),)
        fields = self.fields(entry.node, TESTS)
        if not fields:
            self.refuse(entry.line, "the test is empty", f"Known: {', '.join(TESTS)}")
        return [self._test(value, kind, wanted) for kind, wanted in fields.items()]

    def _test(self, value: Reference, kind: str, entry: Entry) -> Condition:
        match kind:
            case "matches":
                return Matches(value, self.pattern(entry))
            case "exists":
                return Compare(value, "exists", self.yes_or_no(entry))
            case "contains":
                return Compare(value, "contains", self._template(entry.node))
            case _:
                return Compare(value, "is", self._written(entry.node))

    # ---- values ----

    def _arguments(self, node: Node) -> WrittenFields:
        return {key: self._written(entry.node) for key, entry in self.any_fields(node).items()}

    def _written(self, node: Node) -> Written:
        if isinstance(node, Fields):
            return self._arguments(node)
        if isinstance(node, Items):
            return tuple(self._written(item) for item in node.items)
        return self._template(node) if isinstance(node.value, str) else node.value

    def _template(self, node: Node) -> Template:
        template = Template.parse(self.text(node))
        self._used.extend((node.line, reference) for reference in template.references)
        return template

    def _reference(self, entry: Entry) -> Reference:
        return self._reference_of(self.text(entry.node), entry.line)

    def _reference_of(self, text: str, line: int) -> Reference:
        reference = Reference.parse(text)
        if reference is None:
            problem = f"{shortened(text)} is no name of a value"
            self.refuse(line, problem, "Write `name` or `name.field`.")
        self._used.append((line, reference))
        return reference

    def _new_name(self, node: Node) -> str:
        name = self.text(node)
        if not NAME.fullmatch(name) or name in (*BUILT_IN, *LOGIC):
            self.refuse(node.line, f"{shortened(name)} cannot be a name", "Take another word.")
        self._names.add(name)
        return name
