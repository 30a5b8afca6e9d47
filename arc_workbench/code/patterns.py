"""Patterns of declarations on one line, by language; each is held against a bounded line."""

import re
from dataclasses import dataclass
from functools import cached_property

CONTAINERS = {"class", "enum", "impl", "interface", "object", "record", "struct", "trait"}
LEVEL = {"module", "namespace"}

ANYWHERE = frozenset({0, 1})
OUTSIDE = frozenset({0})
INSIDE = frozenset({1})


@dataclass(frozen=True)
class Pattern:
    """A line that declares something of this kind; `depths` 1 is inside a class."""

    kind: str
    source: str
    depths: frozenset[int] = ANYWHERE

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed; the group `name` is what is declared."""
        return re.compile(r"\s*" + self.source.replace("NAME", r"(?P<name>\w+)"))


def _patterns(*rows: tuple[str, str] | tuple[str, str, frozenset[int]]) -> tuple[Pattern, ...]:
    return tuple(Pattern(row[0], row[1], *row[2:]) for row in rows)


_WORDS = r"(?!(?:catch|else|for|foreach|if|new|return|switch|throw|using|while)\b)"
_JS = r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
_JS_PATTERNS = _patterns(
    ("class", _JS + r"class\s+NAME"),
    ("interface", _JS + r"interface\s+NAME", OUTSIDE),
    ("enum", _JS + r"(?:const\s+)?enum\s+NAME", OUTSIDE),
    ("type", _JS + r"type\s+NAME[^=]*=", OUTSIDE),
    ("namespace", _JS + r"(?:namespace|module)\s+NAME", OUTSIDE),
    ("function", _JS + r"function\s*\*?\s*NAME", OUTSIDE),
    (
        "function",
        _JS + r"(?:const|let|var)\s+NAME[^=]*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>)",
        OUTSIDE,
    ),
    ("const", _JS + r"const\s+NAME[^=]*=(?!\s*require\b)", OUTSIDE),
    (
        "method",
        _WORDS + r"(?:(?:async|get|override|private|protected|public|readonly|set|static)\s+)*"
        r"\*?(?P<name>\#?\w+)\s*(?:<[^>]*>)?\([^;]*$",
        INSIDE,
    ),
)
_MODIFIERS = (
    r"(?:(?:abstract|async|const|data|default|export|extern|final|inline|internal|native|open"
    r"|operator|override|partial|private|protected|public|readonly|sealed|static|strictfp|suspend"
    r"|synchronized|unsafe|virtual|volatile)\s+)*"
)
_TYPED_METHOD = (
    _WORDS + _MODIFIERS + r"(?:<[^>]*>\s*)?[\w.]+(?:<[^(]*>)?(?:\[\])*\??\s+NAME\s*\([^;]*;?\s*$"
)
_CONSTRUCTOR = _WORDS + _MODIFIERS + r"NAME\s*\([^;]*(?:\{|=>.*)\s*$"
_CPP_TYPE = r"[\w:<>,~*&\s]*?(?<![\w:~])"
_PUB = r"(?:pub(?:\([^)]*\))?\s+)?"

PATTERNS: dict[str, tuple[Pattern, ...]] = {
    "c": _patterns(
        ("macro", r"#\s*define\s+NAME\(", OUTSIDE),
        ("typedef", r"typedef\s[^;{]*?(?<!\w)(?P<name>\w++)\s*;", OUTSIDE),
        ("struct", r"(?:typedef\s+)?struct\s+NAME\s*(?:\{|$)", OUTSIDE),
        ("enum", r"(?:typedef\s+)?enum\s+NAME\s*(?:\{|$)", OUTSIDE),
        ("union", r"(?:typedef\s+)?union\s+NAME\s*(?:\{|$)", OUTSIDE),
        ("function", _WORDS + r"\w[\w\s*]*?\bNAME\s*\([^;=]*$", OUTSIDE),
    ),
    "cpp": _patterns(
        ("macro", r"#\s*define\s+NAME\(", OUTSIDE),
        ("namespace", r"(?:inline\s+)?namespace\s+(?P<name>[\w:]+)", OUTSIDE),
        ("class", r"(?:template\s*<.*>\s*)?class\s+NAME[^;(]*$"),
        ("struct", r"(?:template\s*<.*>\s*)?struct\s+NAME[^;(]*$"),
        ("enum", r"enum\s+(?:class\s+|struct\s+)?NAME[^;(]*$"),
        ("type", r"using\s+NAME\s*=", OUTSIDE),
        ("function", _WORDS + _CPP_TYPE + r"(?P<name>~?\w++(?:::~?\w++)*+)\s*\([^;=]*$", OUTSIDE),
        ("method", _WORDS + _CPP_TYPE + r"(?P<name>~?\w++)\s*\(.*$", INSIDE),
    ),
    "csharp": _patterns(
        ("namespace", r"namespace\s+(?P<name>[\w.]+)", OUTSIDE),
        ("class", _MODIFIERS + r"class\s+NAME"),
        ("interface", _MODIFIERS + r"interface\s+NAME"),
        ("struct", _MODIFIERS + r"(?:record\s+)?struct\s+NAME"),
        ("record", _MODIFIERS + r"record\s+(?:class\s+)?NAME"),
        ("enum", _MODIFIERS + r"enum\s+NAME"),
        ("constructor", _CONSTRUCTOR, INSIDE),
        ("method", _TYPED_METHOD, INSIDE),
        ("property", _MODIFIERS + r"[\w.<>,?\[\]]+\s+NAME\s*\{\s*(?:get|set|init)\b", INSIDE),
    ),
    "go": _patterns(
        ("function", r"func\s+NAME", OUTSIDE),
        ("method", r"func\s+\([^)]*\)\s*NAME", OUTSIDE),
        ("struct", r"type\s+NAME(?:\[[^\]]*\])?\s+struct\b", OUTSIDE),
        ("interface", r"type\s+NAME(?:\[[^\]]*\])?\s+interface\b", OUTSIDE),
        ("type", r"type\s+NAME", OUTSIDE),
        ("const", r"const\s+NAME", OUTSIDE),
        ("var", r"var\s+NAME", OUTSIDE),
    ),
    "java": _patterns(
        ("class", _MODIFIERS + r"class\s+NAME"),
        ("interface", _MODIFIERS + r"@?interface\s+NAME"),
        ("enum", _MODIFIERS + r"enum\s+NAME"),
        ("record", _MODIFIERS + r"record\s+NAME\s*[(<]"),
        ("constructor", _CONSTRUCTOR, INSIDE),
        ("method", _TYPED_METHOD, INSIDE),
    ),
    "kotlin": _patterns(
        ("class", _MODIFIERS + r"(?:(?:annotation|enum|inner|value)\s+)?class\s+NAME"),
        ("interface", _MODIFIERS + r"(?:fun\s+)?interface\s+NAME"),
        ("object", _MODIFIERS + r"object\s+NAME"),
        ("type", _MODIFIERS + r"typealias\s+NAME"),
        ("function", _MODIFIERS + r"fun\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?NAME\s*\(", OUTSIDE),
        ("method", _MODIFIERS + r"fun\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?NAME\s*\(", INSIDE),
        ("property", _MODIFIERS + r"(?:val|var)\s+NAME"),
    ),
    "php": _patterns(
        ("namespace", r"namespace\s+(?P<name>[\w\\]+)", OUTSIDE),
        ("class", r"(?:(?:abstract|final|readonly)\s+)*class\s+NAME", OUTSIDE),
        ("interface", r"interface\s+NAME", OUTSIDE),
        ("trait", r"trait\s+NAME", OUTSIDE),
        ("enum", r"enum\s+NAME", OUTSIDE),
        ("function", r"function\s+&?\s*NAME\s*\(", OUTSIDE),
        ("method", _MODIFIERS + r"function\s+&?\s*NAME\s*\(", INSIDE),
        ("const", r"const\s+NAME\s*=", OUTSIDE),
    ),
    "python": _patterns(
        ("class", r"class\s+NAME"),
        ("function", r"(?:async\s+)?def\s+NAME", OUTSIDE),
        ("method", r"(?:async\s+)?def\s+NAME", INSIDE),
        ("constant", r"(?P<name>_*[A-Z][A-Z0-9_]+)\s*(?::[^=]*)?=(?!=)", OUTSIDE),
    ),
    "ruby": _patterns(
        ("module", r"module\s+(?P<name>[\w:]+)"),
        ("class", r"class\s+(?P<name>[\w:]+)"),
        ("method", r"def\s+(?:self\.)?(?P<name>[\w]+[?!=]?|[^\s\w(]+)"),
        ("constant", r"(?P<name>[A-Z]\w*)\s*=(?![=~])", OUTSIDE),
    ),
    "rust": _patterns(
        ("module", _PUB + r"mod\s+NAME\s*\{", OUTSIDE),
        ("struct", _PUB + r"(?:struct|union)\s+NAME", OUTSIDE),
        ("enum", _PUB + r"enum\s+NAME", OUTSIDE),
        ("trait", _PUB + r"(?:unsafe\s+)?trait\s+NAME", OUTSIDE),
        ("impl", r"(?:unsafe\s+)?impl\b(?:<.*?>)?\s*(?P<name>[^{]*[^{\s])", OUTSIDE),
        ("type", _PUB + r"type\s+NAME"),
        ("const", _PUB + r"const\s+NAME\s*:"),
        ("static", _PUB + r"static\s+(?:mut\s+)?NAME\s*:", OUTSIDE),
        ("macro", r"macro_rules!\s*NAME", OUTSIDE),
        (
            "function",
            _PUB + r"(?:(?:async|const|extern|unsafe)\s+)*fn\s+NAME",
            OUTSIDE,
        ),
        (
            "method",
            _PUB + r"(?:(?:async|const|extern|unsafe)\s+)*fn\s+NAME",
            INSIDE,
        ),
    ),
}
PATTERNS["javascript"] = PATTERNS["typescript"] = PATTERNS["tsx"] = _JS_PATTERNS
