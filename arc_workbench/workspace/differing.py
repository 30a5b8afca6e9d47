"""What differs between a line of a file and the same line as somebody sent it, in words."""

import json
import unicodedata
from collections.abc import Callable
from itertools import groupby

SHOWN_CHARS = 160
_BEFORE = 60  # how many of them stand before the place that matters
_RUNS_NAMED = 3
_BLANKS_COUNTED = 1000
_WORD_CHARS = 12

_USUAL_BLANKS = {" ": "space", "\t": "tab"}
_CONTROLS = {
    "\0": "NULL",
    "\t": "TAB",
    "\n": "LINE FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
}


def differences(there: str, sent: str) -> str:
    """How `there`, a line or a part of one, differs from `sent`; "" where it does not."""
    body_there, body_sent = there.strip(), sent.strip()
    phrases = (
        _blanks_differ("is indented with", _lead(there), _lead(sent)),
        _inside(body_there, body_sent),
        _blanks_differ("ends with", _tail(there), _tail(sent)),
    )
    return " and ".join(phrase for phrase in phrases if phrase)


def quoted(line: str, at: int = 0) -> str:
    """A line as a JSON string, unseen characters as escapes; of a long one, what is near `at`."""
    start = max(0, at - _BEFORE) if len(line) > SHOWN_CHARS else 0
    shown = line[start : start + SHOWN_CHARS]
    safe = "".join(char if _is_plain(char) else json.dumps(char)[1:-1] for char in shown)
    return f'{"…" * (start > 0)}"{safe}"{"…" * (start + len(shown) < len(line))}'


def longest(limit: int, holds: Callable[[int], bool]) -> int:
    """The greatest size up to `limit` for which `holds` is true, as it is for all smaller ones."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def named(char: str) -> str:
    """A character that might be taken for another: `U+2019 RIGHT SINGLE QUOTATION MARK`."""
    name = unicodedata.name(char, _CONTROLS.get(char, ""))
    return f"U+{ord(char):04X} {name}".rstrip()


def _is_plain(char: str) -> bool:
    return char.isprintable() and char not in '"\\'


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _tail(line: str) -> str:
    return line[len(line.rstrip()) :] if line.strip() else ""


def _blanks_differ(how: str, there: str, sent: str) -> str:
    if there == sent:
        return ""
    return f"it {how} {_blanks(there)}, the text with {_blanks(sent)}"


def _blanks(text: str) -> str:
    runs = [(char, sum(1 for _ in run)) for char, run in groupby(text[:_BLANKS_COUNTED])]
    words = [_counted(char, count) for char, count in runs[:_RUNS_NAMED]]
    more = ["more"] if len(runs) > _RUNS_NAMED else []
    return " and ".join(words + more) or "no blank"


def _counted(char: str, count: int) -> str:
    usual = _USUAL_BLANKS.get(char)
    if usual:
        return f"{count} {usual}{'s' * (count != 1)}"
    return named(char) if count == 1 else f"{count} times {named(char)}"


def _inside(there: str, sent: str) -> str:
    """The first difference between two stretches that begin and end with a visible character."""
    there, sent = (unicodedata.normalize("NFC", text) for text in (there, sent))
    if there == sent:
        return ""
    same = longest(min(len(there), len(sent)), lambda size: there[:size] == sent[:size])
    here, meant = there[same : same + 1], sent[same : same + 1]
    if here and here.casefold() == meant.casefold():
        return "upper and lower case differ"
    if _is_invisible(here):
        return f"it holds {named(here)}, which cannot be seen and is not in the text"
    if _is_invisible(meant):
        return f"the text holds {named(meant)}, which cannot be seen and is not in the file"
    if {here, meant} & _USUAL_BLANKS.keys() and (here + meant).isascii():
        return _spacing(there, sent, same)
    return f"it has {_or_end(here)} where the text has {_or_end(meant)}"


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char or " ") in {"Cf", "Cc"} and not char.isspace()


def _spacing(there: str, sent: str, at: int) -> str:
    """Two stretches that differ in the blanks around `at`."""
    start = len(there[:at].rstrip())
    before = quoted(there[max(0, start - _WORD_CHARS) : start])
    here, meant = _blanks(_lead(there[start:])), _blanks(_lead(sent[start:]))
    return f"it has {here} after {before}, the text has {meant}"


def _or_end(char: str) -> str:
    return named(char) if char else "nothing more"
