"""What of a turn must be drawn again: events come in one by one, operations go out in one go."""

from dataclasses import dataclass

from pydantic import JsonValue

from arc_workbench.content import JsonObject
from arc_workbench.frontends import words
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import Element, to_json
from arc_workbench.frontends.notebook.markdown import MAX_PLAIN
from arc_workbench.views import (
    CallState,
    CallView,
    Part,
    SayView,
    StepView,
    Touched,
    TurnView,
)

TAIL_SEC = 0.25
"""Between two drawings of a call that runs on: its tail is read, not watched."""

_ENDS: dict[CallState, str] = {
    "done": "done",
    "failed": "failed",
    "denied": "denied",
    "stopped": "stopped",
}


@dataclass(frozen=True, order=True)
class Place:
    """Where a part stands; step 0 is what comes before the first step."""

    step: int
    index: int


class Changes:
    """Takes note of what was touched, and turns it into as few operations as will do.

    A part that is drawn again takes the text with it that was appended meanwhile, and a step takes
    its parts.
    """

    def __init__(self, view: TurnView) -> None:
        self._view = view
        self._steps: set[int] = set()
        self._parts: set[Place] = set()
        self._texts: dict[Place, list[str]] = {}
        self._drawn: dict[str, JsonValue] = {}
        self._tail_drawn: dict[Place, float] = {}
        self._told: dict[str, str] = {}
        self.only_text = True

    def note(self, touched: Touched) -> None:
        """Remember what one event touched; cheap, whatever the size of the turn."""
        place = Place(touched.step or 0, touched.index)
        self.only_text = self.only_text and touched.what in {"append", "nothing"}
        match touched.what:
            case "part":
                self._parts.add(place)
            case "append" if not self._is_long(place):
                self._texts.setdefault(place, []).append(touched.text)
            case "step":
                self._steps.add(place.step)
            case _:
                pass

    def take(self, now: float) -> list[JsonObject]:
        """The operations that bring a drawing up to date; `now` is any steady clock."""
        ready = {place for place in self._parts if not self._may_wait(place, now)}
        drawn = {place for place in ready if place.step not in self._steps and self._part(place)}
        operations = [
            *(self._put_step(number) for number in sorted(self._steps)),
            *(self._put_part(place) for place in sorted(drawn)),
            *(self._append(place) for place in self._texts if not self._covers(place)),
        ]
        if not self.only_text:
            operations += [*self._frame(), *self._news()]
        self._parts -= ready
        self._steps.clear()
        self._texts.clear()
        self.only_text = not self._parts
        return operations

    # ---- operations -------------------------------------------------------------------------

    def _is_long(self, place: Place) -> bool:
        """Whether a text has grown past what is drawn: the rest is only said, at its end."""
        part = self._part(place)
        return isinstance(part, SayView) and len(part.text) > MAX_PLAIN

    def _covers(self, place: Place) -> bool:
        return place in self._parts or place.step in self._steps

    def _put_step(self, number: int) -> JsonObject:
        step = self._step(number)
        assert step is not None
        return put(render.step(self._view, step), into="steps")

    def _put_part(self, place: Place) -> JsonObject:
        step = self._step(place.step)
        into = "lead" if step is None else f"s{step.number}-body"
        return put(render.part(self._view, step, place.index), into=into)

    def _append(self, place: Place) -> JsonObject:
        key = render.part_key(self._step(place.step), place.index)
        return {"op": "append", "key": key, "text": to_json("".join(self._texts[place]))}

    def _frame(self) -> list[JsonObject]:
        """The header and the last lines, where they are not what was sent before."""
        operations: list[JsonObject] = []
        for part in (render.head(self._view), render.end(self._view)):
            tree = to_json(part)
            if self._drawn.get(part.key) != tree:
                self._drawn[part.key] = tree
                operations.append(put(part))
        return operations

    def _news(self) -> list[JsonObject]:
        """What a screen reader is told: how calls ended, and the run."""
        told: list[str] = []
        for step in self._view.steps[-1:]:
            for call in step.calls:
                end = _ENDS.get(call.state)
                if end and self._told.get(call.id) != end:
                    self._told[call.id] = end
                    told.append(f"{call.name}: {end}.")
        if self._view.reason and self._told.get("") != self._view.reason:
            self._told[""] = self._view.reason
            told.append(f"{words.STATES[self._view.state]}.")
        return [{"op": "say", "text": " ".join(told)}] if told else []

    # ---- places -----------------------------------------------------------------------------

    def _may_wait(self, place: Place, now: float) -> bool:
        """Whether only the tail of a running call can have changed, and it was drawn just now."""
        part = self._part(place)
        if not isinstance(part, CallView) or part.state != "running" or not part.tail:
            self._tail_drawn.pop(place, None)
            return False
        if now - self._tail_drawn.get(place, float("-inf")) < TAIL_SEC:
            return True
        self._tail_drawn[place] = now
        return False

    def _step(self, number: int) -> StepView | None:
        for step in reversed(self._view.steps):
            if step.number == number:
                return step
        return None

    def _part(self, place: Place) -> Part | None:
        step = self._step(place.step)
        parts = self._view.lead if step is None else step.parts
        return parts[place.index] if place.index < len(parts) else None


def put(part: Element, into: str = "") -> JsonObject:
    """Draw a part in the place of the one with its key, or as the last one in `into`."""
    return {"op": "put", "key": part.key, "into": into, "tree": to_json(part)}
