"""What a script is made of, once its text has been read and found right."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from arc_workbench.errors import ProviderFault
from arc_workbench.models.provider import StopReason
from arc_workbench.models.script_patterns import search
from arc_workbench.models.script_values import Reference, Template, Written, WrittenFields

# ---- conditions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compare:
    """One thing that a value must be; a value that is missing only passes `exists: false`."""

    value: Reference
    kind: Literal["is", "contains", "exists"]
    wanted: Written


@dataclass(frozen=True)
class Matches:
    """A value that a pattern must be found in."""

    value: Reference
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Offered:
    """Every one of these tools can be called now."""

    tools: tuple[str, ...]


@dataclass(frozen=True)
class Both:
    """All conditions hold."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Either:
    """At least one condition holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Not:
    """The condition does not hold."""

    condition: "Condition"


Condition: TypeAlias = Compare | Matches | Offered | Both | Either | Not

# ---- steps --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A tool call: a name of the script's tool table or of a tool, and arguments.

    `raw` is the arguments' text as it is to be sent, valid or not. The result is kept as `name`.
    """

    tool: str
    arguments: WrittenFields = field(default_factory=dict[str, Written])
    raw: str | None = None
    name: str = ""


@dataclass(frozen=True)
class Ending:
    """How a reply ends when it does not end well.

    `fail` breaks before the first word, `cut` in the middle; a cut without a fault just stops.
    After `times` attempts at the same place both let the reply through.
    """

    stop_reason: StopReason | None = None
    fail: ProviderFault | None = None
    cut: bool = False
    cut_fault: ProviderFault | None = None
    times: int | None = None


@dataclass(frozen=True)
class Talk:
    """What the model thinks, says and calls; calls and a bad ending close the reply."""

    think: Template | None = None
    say: Template | None = None
    calls: tuple[Call, ...] = ()
    ending: Ending = Ending()

    @property
    def closes(self) -> bool:
        """Whether the reply is over after this step."""
        return bool(self.calls) or self.ending != Ending()


@dataclass(frozen=True)
class Branch:
    """Steps that depend on a condition."""

    condition: Condition
    then: tuple["Step", ...]
    otherwise: tuple["Step", ...]


@dataclass(frozen=True)
class Repeat:
    """Steps that are gone through `limit` times at most, until a condition holds."""

    limit: int
    until: Condition | None
    steps: tuple["Step", ...]


@dataclass(frozen=True)
class Take:
    """A piece of a text under a name: the pattern's first group, or all that it finds."""

    name: str
    source: Reference
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Stop:
    """The turn ends here."""


Step: TypeAlias = Talk | Branch | Repeat | Take | Stop

# ---- the whole ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alias:
    """One real tool behind a name; with `names`, only these arguments pass, under new names."""

    tool: str
    names: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Turn:
    """The answer to one kind of prompt; without `asked` to any."""

    asked: tuple[str | re.Pattern[str], ...]
    steps: tuple[Step, ...]

    def names_prompt(self, prompt: str) -> bool:
        """Whether the prompt holds one of the phrases or patterns that stand under `asked`."""
        folded = _folded(prompt)
        return any(
            _folded(words) in folded if isinstance(words, str) else search(words, prompt)
            for words in self.asked
        )


@dataclass(frozen=True)
class Script:
    """A whole script; `name` is how people see it (`tour.yaml`)."""

    name: str
    title: str
    tools: Mapping[str, tuple[Alias, ...]]
    turns: tuple[Turn, ...]

    def turn_named(self, prompt: str) -> Turn | None:
        """The first turn whose `asked` the prompt fits."""
        return next((turn for turn in self.turns if turn.names_prompt(prompt)), None)

    def turn_for(self, prompt: str) -> Turn | None:
        """The turn that answers the prompt: one that names it, else one that takes any."""
        anything = next((turn for turn in self.turns if not turn.asked), None)
        return self.turn_named(prompt) or anything


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
