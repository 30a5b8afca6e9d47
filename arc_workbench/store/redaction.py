"""Secrets out of everything that is shown, kept or exported.

Three filters follow each other: base64 text with a secret in it, the values of the environment's
secret variables, what has the shape of a known kind of key. A find becomes a placeholder that is
the same every time. Time is linear in the text; a text without a trace of a secret costs some
searches for words.

What a tool cut off is still found by its beginning before the cut; behind one only a known value
is, since the end of an unknown key looks like nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Protocol

from pydantic import JsonValue

from arc_workbench.secret_names import LONGEST_SHAPE, Find, pem_begun, shape_begun, shape_finds
from arc_workbench.store.encoded import Encoded
from arc_workbench.store.known_values import KnownValues


class _Filter(Protocol):
    @property
    def context(self) -> int:
        """How much of the text before a place decides what is found there."""
        ...

    def finds(self, text: str, start: int) -> Iterator[Find]:
        """The finds from `start` on, in order, none in another."""
        ...

    def certain(self, text: str, start: int) -> int:
        """Up to where more text behind `text` can change nothing; all is before `start`."""
        ...


class Redactor:
    """Takes secrets out of text: those of `environment`, and anything shaped like a key."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = KnownValues(environment)
        self._values = values
        self._filters: tuple[_Filter, ...] = (Encoded(values.raw), values, _Shapes())

    def text(self, text: str) -> str:
        """`text` with every secret replaced by its placeholder."""
        for each in self._filters:
            text, _ = _replaced(each, text, 0, len(text))
        return text

    def spans(self, text: str) -> Sequence[Find]:
        """Where the secrets of `text` stand, in order, none touching another's characters."""
        finds = [find for each in self._filters for find in each.finds(text, 0)]
        apart: list[Find] = []
        for find in sorted(finds, key=attrgetter("start")):
            if apart and find.start < apart[-1].end:
                apart[-1] = replace(apart[-1], end=max(apart[-1].end, find.end))
            else:
                apart.append(find)
        return apart

    def settled(self, text: str) -> int:
        """Up to where `text` can be shown although it goes on: behind it a secret may have begun.

        A secret that is known as one by now counts as shown: a placeholder stands for it.
        """
        words = _words_begun(text)
        begun = min(self._values.certain(text, 0), words + shape_begun(text[words:]))
        for find in self.spans(text):
            if find.start <= begun < find.end:
                begun = find.end
        return begun

    def value(self, value: JsonValue) -> JsonValue:
        """The same JSON with secrets out of every text in it, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return value

    def stream(self) -> "Stream":
        """The same for text that arrives in pieces."""
        return Stream(self._filters)


class Stream:
    """What it hands out, put together, is `Redactor.text` of all that went in.

    It holds back what a later piece could turn out to complete: the last words of an open line, an
    open key block; never more than the longest secrets there can be.
    """

    def __init__(self, filters: tuple[_Filter, ...]) -> None:
        self._stages = [_Stage(each) for each in filters]

    def feed(self, piece: str) -> str:
        """The text that is certain by now."""
        for stage in self._stages:
            piece = stage.feed(piece, final=False)
        return piece

    def end(self) -> str:
        """The rest; the next piece begins a new text."""
        piece = ""
        for stage in self._stages:
            piece = stage.feed(piece, final=True)
        return piece


class _Stage:
    """One filter over a stream. `_text` is what is held back, behind some context."""

    def __init__(self, each: _Filter) -> None:
        self._filter = each
        self._text = ""
        self._done = 0

    def feed(self, piece: str, *, final: bool) -> str:
        self._text += piece
        limit = len(self._text) if final else self._filter.certain(self._text, self._done)
        if final or limit > self._done:
            clean, done = _replaced(self._filter, self._text, self._done, limit)
            self._keep_from(len(self._text) if final else done, final=final)
            return clean
        return ""

    def _keep_from(self, done: int, *, final: bool) -> None:
        context = 0 if final else min(self._filter.context, done)
        self._text = self._text[done - context :]
        self._done = context


def _replaced(each: _Filter, text: str, start: int, limit: int) -> tuple[str, int]:
    """The text from `start` to `limit`, or to the end of a secret there; and where that is."""
    parts: list[str] = []
    position = start
    for find in each.finds(text, start):
        if find.at >= limit:
            break
        parts += (text[position : find.start], find.placeholder)
        position = find.end
    end = max(position, limit)
    parts.append(text[position:end])
    return "".join(parts), end


class _Shapes:
    """Finds what looks like a key. All but the PEM block lie within three words of a line."""

    context = 1

    def finds(self, text: str, start: int) -> Iterator[Find]:
        return shape_finds(text, start)

    def certain(self, text: str, start: int) -> int:
        del start
        return min(_words_begun(text), pem_begun(text))


_THREE_WORDS = re.compile(r"\S*(?:[ \t]+\S+){0,2}", re.ASCII)


def _words_begun(text: str) -> int:
    """Where the last three words of the last line begin.

    Of words longer than two keys all but the length of one is certain: by that much at once, so
    that a long run in many small pieces is not searched again for each.
    """
    found = _THREE_WORDS.match(text[: -2 * LONGEST_SHAPE - 2 : -1])
    held = found.end() if found else 0
    return len(text) - (held if held <= 2 * LONGEST_SHAPE else LONGEST_SHAPE)
