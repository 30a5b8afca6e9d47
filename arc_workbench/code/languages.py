"""Which language a file is written in, told by its name."""

import re
from pathlib import PurePath

SUFFIXES = {
    "c": ".c",
    "cpp": ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp",
    "csharp": ".cs",
    "go": ".go",
    "java": ".java",
    "javascript": ".cjs .js .jsx .mjs",
    "kotlin": ".kt .kts",
    "php": ".php .phtml",
    "python": ".py .pyi .pyw",
    "ruby": ".gemspec .rake .rb",
    "rust": ".rs",
    "tsx": ".tsx",
    "typescript": ".cts .mts .ts",
}
LANGUAGES = {suffix: language for language, all_ in SUFFIXES.items() for suffix in all_.split()}

CPP_IN_A_HEADER = re.compile(r"^[ \t]*(?:class|namespace|template|using)\b", re.MULTILINE)


def language_of(name: str, text: str) -> str | None:
    """The language of a file, `None` for one that has no outline; `.h` may be C or C++."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".h":
        return "cpp" if CPP_IN_A_HEADER.search(text) else "c"
    return LANGUAGES.get(suffix)
