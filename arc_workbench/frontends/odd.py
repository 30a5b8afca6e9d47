"""Characters that hide or pretend: found in a text, named, and printed as what they are."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Strictness = Literal["speech", "code", "action", "name"]
"""How much is pointed out.

`speech` is words and output: only what a screen would obey instead of showing. `code` is lines of
a file: everything that cannot be seen or looks like something else. `action` is what a person is
asked about: also tabs and long gaps. `name` is a name of the disk: also line breaks.
"""

LONG_GAP = 8
LONG_INDENT = 40

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NO_CHARACTERS = r"\ud800-\udfff\ufdd0-\ufdef" + "".join(
    rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(17)
)
_OBEYED = (
    rf"{_CONTROLS}{_NO_CHARACTERS}\u2028-\u202e\u2066-\u206f\U000e0000-\U000e007f\ufff9-\ufffb"
)
_UNSEEN = (
    _OBEYED
    + _BIDI
    + r"\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    + r"\u200b-\u200f\u2028-\u202e\u2060-\u2065\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    + r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    + r"\U000e0080-\U000e0fff"
)
_SPACES = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"

_NAMES = {
    "\0": "NULL",
    "\a": "BELL",
    "\b": "BACKSPACE",
    "\t": "TAB",
    "\n": "LINE BREAK",
    "\v": "VERTICAL TAB",
    "\f": "FORM FEED",
    "\r": "CR",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
}
_BARE = "\t\r\n"

_LOOK_LETTERS = dict(
    zip(
        # Cyrillic, Greek, Armenian and Latin letters that most fonts draw like an ASCII letter.
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u04cf"
        "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408"
        "\u050c\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
        "\u03b1\u03bf\u03bd\u03c1\u03ba\u0570\u0578\u057d\u0585\u0131\u0251\u0261\u217c\u2170\u212a",
        "aeopcyxsijhdqwlABEKMHOPCTYXSIJGABEZHIKMNOPTYXaovpkhnuoiagliK",
        strict=True,
    )
)
_LOOK_SIGNS = dict(
    zip(
        "\u037e\u2024\u2044\u2215\u29f8\u2010\u2011\u2212\u01c3\u2223\ua789\u2236\u201a\u02cb\uff3c",
        ";.///---!|::,`\\",
        strict=True,
    )
)
_WIDE = r"\uff01-\uff5e\U0001d400-\U0001d7ff"
_LOOKS = "".join(_LOOK_LETTERS) + "".join(re.escape(sign) for sign in _LOOK_SIGNS) + _WIDE

_WORD = re.compile(r"[^\W\d_]+")
_FAR_EAST = re.compile(r"[\u2e80-\uffef\U00020000-\U0003ffff]")


def _pattern(unseen: str, *, spaces: str = "", looks: str = "", tail: str = "") -> re.Pattern[str]:
    parts = [
        r"(?P<tags>[\U000e0020-\U000e007f]+)",
        rf"(?P<hidden>(?P<one>[{unseen}{spaces}])(?P=one)*)",
    ]
    if looks:
        parts.append(f"(?P<look>[{looks}])")
    if tail:
        parts.append(tail)
    return re.compile("|".join(parts))


_GAPS = rf"(?P<indent>(?m:^) {{{LONG_INDENT},}})|(?P<gap>(?<=[^ \n]) {{{LONG_GAP},}}(?=[^ \n]))"
_TRAIL = r"(?P<trail>(?<! ) +(?=[\n\t]|\Z))"
_PATTERNS: dict[Strictness, re.Pattern[str]] = {
    "speech": _pattern(_OBEYED),
    "code": _pattern(_UNSEEN, spaces=_SPACES, looks=_LOOKS, tail=_TRAIL),
    "action": _pattern(_UNSEEN + r"\t", spaces=_SPACES, looks=_LOOKS, tail=f"{_GAPS}|{_TRAIL}"),
    "name": _pattern(_UNSEEN + r"\t\n", spaces=_SPACES, looks=_LOOKS, tail=f"{_GAPS}|{_TRAIL}"),
}


@dataclass(frozen=True)
class Odd:
    """Characters of a text that are not what they seem, and what to print in their place.

    `kind` is `hidden` (print `label`), `look` (print `text`, marked), `gap` (print `label`) or
    `trail` (spaces at the end of a line). `code` is the short name, `why` what it does.
    """

    text: str
    kind: Literal["hidden", "look", "gap", "trail"]
    label: str
    code: str
    why: str

    @property
    def count(self) -> int:
        """How many characters this is in the sum of the strip; spaces are what they seem."""
        return len(self.text) if self.kind in {"hidden", "look"} else 0


Piece = str | Odd


def pieces(text: str, strictness: Strictness) -> Iterator[Piece]:
    """The text in order: stretches that are as they seem, and what is not."""
    end = 0
    for match in _PATTERNS[strictness].finditer(text):
        odd = _odd(match)
        if odd is None:
            continue
        if match.start() > end:
            yield text[end : match.start()]
        yield odd
        end = match.end()
    if end < len(text):
        yield text[end:]


@dataclass(frozen=True)
class Findings:
    """What in an action is not what it seems: each kind once, in order, and how many in all."""

    kinds: tuple[Odd, ...]
    count: int

    @property
    def headline(self) -> str:
        """The bold words over the kinds; empty where everything is as it seems."""
        if self.count == 1:
            return "1 character is not what it seems."
        if self.count:
            return f"{self.count:,} characters are not what they seem."
        return "A long gap could hide what follows." if self.kinds else ""


def look_through(texts: Iterable[tuple[str, Strictness]]) -> Findings:
    """Look through all that a person is asked about, each text as strictly as it says."""
    kinds: dict[str, Odd] = {}
    count = 0
    for text, strictness in texts:
        for piece in pieces(text, strictness):
            if isinstance(piece, Odd) and piece.kind != "trail":
                kinds.setdefault(piece.code, piece)
                count += piece.count
    return Findings(tuple(kinds.values()), count)


def escaped(text: str, strictness: Strictness = "speech") -> str:
    """The text with every odd character written as an escape, for a plain screen."""
    return "".join(
        piece if isinstance(piece, str) else _escape(piece) for piece in pieces(text, strictness)
    )


def strip_line(odd: Odd) -> str:
    """One line about a finding, for a plain screen."""
    subject = _escape(odd) if odd.kind == "look" else odd.code
    return f"{subject} {odd.why}"


def _escape(odd: Odd) -> str:
    match odd.kind:
        case "gap":
            return f"[{odd.label.lower()}]"
        case "trail":
            return odd.text
        case "hidden" | "look":
            return "".join(_escape_one(char) for char in odd.text)


def _escape_one(char: str) -> str:
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}" if char not in _BARE else repr(char)[1:-1]
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _odd(match: re.Match[str]) -> Odd | None:
    text = match.group()
    match match.lastgroup:
        case "tags":
            return _tags(text)
        case "look":
            return _look(match)
        case "trail" if len(text) <= LONG_GAP:
            return Odd(text, "trail", "\u00b7" * len(text), "SPACE", "at the end of the line")
        case "gap" | "indent" | "trail":
            label = f"{len(text):,} SPACES"
            return Odd(text, "gap", label, label, "push what follows out of sight")
        case _:
            return _hidden(text)


def _hidden(text: str) -> Odd:
    char = text[0]
    code = _NAMES[char] if char in _BARE else f"U+{ord(char):04X}"
    label = code if char in _BARE else f"{code} {_name(char)}"
    times = f" \u00d7 {len(text):,}" if len(text) > 1 else ""
    return Odd(text, "hidden", label + times, code, _effect(char))


def _tags(text: str) -> Odd:
    """Tag characters spell ASCII that no screen shows; say what they spell."""
    spelt = "".join(chr(ord(char) - 0xE0000) for char in text if ord(char) < 0xE007F)
    label = f'{len(text):,} TAG CHARACTERS "{spelt}"'
    return Odd(text, "hidden", label, "TAG CHARACTERS", f'spell out of sight: "{spelt}"')


def _look(match: re.Match[str]) -> Odd | None:
    char = match.group()
    twin = _LOOK_LETTERS.get(char) or _LOOK_SIGNS.get(char) or unicodedata.normalize("NFKC", char)
    if not twin.isascii() or _at_home(match, char):
        return None
    code = f"U+{ord(char):04X} {_name(char)}"
    kind = "letter" if twin.isalpha() else "digit" if twin.isdigit() else "character"
    return Odd(char, "look", char, code, f"is {code}, not the {kind} {twin}")


def _at_home(match: re.Match[str], char: str) -> bool:
    """Whether a look-alike stands among its own kind, so that nobody is misled."""
    text, at = match.string, match.start()
    if char in _LOOK_LETTERS:
        return _among_its_own(text, at)
    if "\uff01" <= char <= "\uff5e":
        return any(_FAR_EAST.match(text[i : i + 1]) for i in (at - 1, at + 1) if i >= 0)
    return False


def _among_its_own(text: str, at: int) -> bool:
    """A letter is at home in a word without ASCII in which some letter has no ASCII twin."""
    start = at
    while start > max(0, at - 40) and _WORD.match(text[start - 1]):
        start -= 1
    word = _WORD.match(text[start : at + 40])
    letters = word.group() if word else text[at]
    return not any(c.isascii() for c in letters) and not all(c in _LOOK_LETTERS for c in letters)


def _name(char: str) -> str:
    fallback = "SURROGATE" if "\ud800" <= char <= "\udfff" else "CONTROL"
    fallback = "NO CHARACTER" if ord(char) & 0xFFFE == 0xFFFE else fallback
    return _NAMES.get(char) or unicodedata.name(char, fallback)


def _effect(char: str) -> str:
    if char == "\n":
        return "begins a new line in the middle of a name"
    if char == "\t":
        return "moves what follows out of sight"
    if char in "\r\b":
        return "goes back and writes over what stands before it"
    if re.match(f"[{_BIDI}]", char):
        return "turns the text around it on most screens"
    if re.match(f"[{_SPACES}]", char):
        return "looks like a space and is none"
    return "is obeyed by a screen, not shown" if char < "\xa0" else "cannot be seen"
