"""Placeholders for the secrets in a part of some output.

Half a secret does not look like one. So a part is judged together with what was printed before it
and behind it, and as it would read without colours.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from arc_workbench.secret_names import Find
from arc_workbench.shell.plain import SEQUENCE

BEFORE = 64 * 1024  # more than a key block has, written as base64 once more
BEHIND = 48 * 1024

_Span = tuple[int, int, str]


class Secrets(Protocol):
    """Knows secrets when it sees them."""

    def spans(self, text: str) -> Sequence[Find]:
        """Where the secrets of `text` stand, in order, none in another."""
        ...

    def settled(self, text: str) -> int:
        """Up to where `text` can be shown although it goes on."""
        ...


@dataclass(frozen=True)
class NoSecrets:
    """Takes nothing for a secret."""

    def spans(self, text: str) -> Sequence[Find]:
        """None."""
        del text
        return ()

    def settled(self, text: str) -> int:
        """All of it."""
        return len(text)


NO_SECRETS = NoSecrets()


def covered(data: bytes, first: int, end: int, secrets: Secrets) -> str:
    """The bytes from `first` to `end` as text: a placeholder stands for each part of a secret.

    The rest of `data` is there to judge by.
    """
    whole = data.decode("utf-8", "surrogateescape")
    parts: list[str] = []
    at = first
    for begin, behind, placeholder in _in_bytes(whole, _spans(whole, secrets)):
        if begin < end and behind > at:
            parts += (data[at : max(at, begin)].decode("utf-8", "replace"), placeholder)
            at = min(behind, end)
    parts.append(data[at:end].decode("utf-8", "replace"))
    return "".join(parts)


def settled_bytes(data: bytes, secrets: Secrets) -> int:
    """How many of these bytes can be shown although more will come."""
    whole = data.decode("utf-8", "surrogateescape")
    return _size(whole[: secrets.settled(whole)])


def _spans(whole: str, secrets: Secrets) -> Iterator[_Span]:
    """The secrets in it, with and without what is only for a terminal; those that touch are one."""
    found = [(find.start, find.end, find.placeholder) for find in secrets.spans(whole)]
    if SEQUENCE.search(whole):
        found += _between_sequences(whole, secrets)
    open_span: _Span | None = None
    for start, end, placeholder in sorted(found):
        if open_span and start < open_span[1]:
            open_span = (open_span[0], max(open_span[1], end), open_span[2])
            continue
        if open_span:
            yield open_span
        open_span = (start, end, placeholder)
    if open_span:
        yield open_span


def _between_sequences(whole: str, secrets: Secrets) -> Iterator[_Span]:
    """The secrets that are seen once every sequence for a terminal is taken out."""
    pieces: list[str] = []
    starts, places = [0], [0]
    at = 0
    for found in SEQUENCE.finditer(whole):
        pieces.append(whole[at : found.start()])
        at = found.end()
        starts.append(starts[-1] + len(pieces[-1]))
        places.append(at)
    text = "".join((*pieces, whole[at:]))

    def place(index: int) -> int:
        piece = bisect_right(starts, index) - 1
        return places[piece] + index - starts[piece]

    for find in secrets.spans(text):
        if find.end > find.start:
            yield place(find.start), place(find.end - 1) + 1, find.placeholder


def _in_bytes(whole: str, spans: Iterator[_Span]) -> Iterator[_Span]:
    """The same by bytes."""
    at = size = 0
    for start, end, placeholder in spans:
        begin = size + _size(whole[at:start])
        at, size = end, begin + _size(whole[start:end])
        yield begin, size, placeholder


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
