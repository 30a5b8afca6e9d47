"""What a script can speak of: results of its calls, texts taken from them, and placeholders."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, cast

from pydantic import JsonValue

from arc_workbench.content import Answer, JsonObject, Text

BUILT_IN = ("prompt", "steering", "round")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)*"
_PLACEHOLDER = re.compile(r"\{\{(" + _REFERENCE + r")\}\}|\{(" + _REFERENCE + r")\}")
_EXIT_CODE = re.compile(r"\[Exit code: (-?\d+)\]")
_WORDY = ("output", "content", "text")
_QUOTED = 200


class ValueMissingError(Exception):
    """A script asks for a value that is not there; the text says which and why."""


@dataclass(frozen=True)
class Reference:
    """`tests.exit_code`: a name, and the way from there to a value inside it."""

    name: str
    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Reference | None":
        """The reference that `text` is, or None where it is none."""
        if not re.fullmatch(_REFERENCE, text):
            return None
        name, *path = text.split(".")
        return cls(name, tuple(path))

    def __str__(self) -> str:
        return ".".join((self.name, *self.path))


@dataclass(frozen=True)
class Template:
    """Text with placeholders; `{{name}}` is the literal `{name}`, other braces are themselves."""

    parts: tuple[str | Reference, ...]

    @classmethod
    def parse(cls, text: str) -> "Template":
        """Split text at its placeholders; every text is a template."""
        return cls(tuple(part for part in _split(text) if part))

    @property
    def references(self) -> tuple[Reference, ...]:
        """The values that the text speaks of."""
        return tuple(part for part in self.parts if isinstance(part, Reference))


def _split(text: str) -> Iterator[str | Reference]:
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        name, *path = (found[1] or found[2]).split(".")
        yield f"{{{found[1]}}}" if found[1] else Reference(name, tuple(path))
    yield text[end:]


Written: TypeAlias = "Template | bool | int | float | tuple[Written, ...] | WrittenFields | None"
WrittenFields: TypeAlias = "Mapping[str, Written]"


class Result:
    """A tool result as a script sees it.

    Fields are those of its JSON object, if it is one. Whatever it is, it has `text` (its words),
    `failed`, and where a command ran `exit_code`.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def get(self, path: tuple[str, ...]) -> JsonValue:
        """The value at `path`. Raises `KeyError` where there is none."""
        match path:
            case () | ("text",):
                return self.text
            case ("failed",):
                return self._answer.is_error
            case ("exit_code",) if "exit_code" not in self._fields:
                return self._written_exit_code()
            case _:
                return _descend(self._fields, path)

    @cached_property
    def text(self) -> str:
        """What was printed or read where the result is JSON, else all its text."""
        words = next((self._fields[key] for key in _WORDY if key in self._fields), None)
        return words if isinstance(words, str) else "\n".join(self._texts())

    @cached_property
    def _fields(self) -> JsonObject:
        first = next(self._texts(), "")
        if not first.startswith("{"):
            return {}
        try:
            value = cast("JsonValue", json.loads(first))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def _texts(self) -> Iterator[str]:
        return (block.text for block in self._answer.content if isinstance(block, Text))

    def _written_exit_code(self) -> int:
        codes = _EXIT_CODE.findall(self.text[-_QUOTED:])
        if not codes:
            raise KeyError("exit_code")
        return int(codes[-1])


def _descend(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    for key in path:
        if isinstance(value, dict):
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise KeyError(key)
    return value


class Values:
    """Everything that has a name in the turn that is going on; `round` counts in a repeat."""

    def __init__(self, prompt: str) -> None:
        self.round: int | None = None
        self._named: dict[str, Result | str] = {"prompt": prompt, "steering": ""}

    def keep(self, name: str, value: Result | str) -> None:
        """Give a value a name; the newest one of a name counts."""
        self._named[name] = value

    def drop(self, name: str) -> None:
        """Forget a name."""
        self._named.pop(name, None)

    def get(self, reference: Reference) -> JsonValue:
        """The value that is meant. Raises `ValueMissingError`."""
        named = self._find(reference.name)
        if named is None:
            raise ValueMissingError(f"{{{reference}}} has no value at this point.")
        try:
            return _inside(named, reference.path)
        except KeyError:
            seen = named.text if isinstance(named, Result) else str(named)
            raise ValueMissingError(
                f"{{{reference}}} is not in what came back, which was: {_shortened(seen)}"
            ) from None

    def _find(self, name: str) -> Result | str | int | None:
        return self.round if name == "round" else self._named.get(name)

    def has(self, reference: Reference) -> bool:
        """Whether there is such a value."""
        try:
            self.get(reference)
        except ValueMissingError:
            return False
        return True

    def fill(self, written: Written) -> JsonValue:
        """Put values in place of placeholders; a placeholder alone keeps its value's type."""
        if isinstance(written, Template):
            if len(written.parts) == 1 and isinstance(written.parts[0], Reference):
                return self.get(written.parts[0])
            return self.text(written)
        if isinstance(written, Mapping):
            return {key: self.fill(value) for key, value in written.items()}
        if isinstance(written, tuple):
            return [self.fill(value) for value in written]
        return written

    def text(self, template: Template) -> str:
        """The template with its values written out."""
        return "".join(
            part if isinstance(part, str) else spoken(self.get(part)) for part in template.parts
        )


def _inside(named: Result | str | int, path: tuple[str, ...]) -> JsonValue:
    if isinstance(named, Result):
        return named.get(path)
    if path in ((), ("text",)):
        return named
    raise KeyError(path[0])


def _shortened(text: str) -> str:
    return text.strip() if len(text) <= _QUOTED else text[:_QUOTED].strip() + "…"


def spoken(value: JsonValue) -> str:
    """A value as it stands in a text: text is itself, anything else is JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def whole_characters(text: str) -> str:
    """The text without halves of characters, which an escape in a JSON result can bring in."""
    return text.encode("utf-8", "replace").decode("utf-8")


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are equal to a reader: the text `0` taken from an output is the number."""
    if _is_number(one) and _is_number(other):
        return one == other
    return spoken(one) == spoken(other)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
