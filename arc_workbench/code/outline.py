"""The outline of a source file: what it declares, and where."""

from arc_workbench.code import python, tables, trees
from arc_workbench.code.languages import language_of
from arc_workbench.content import Declaration

MAX_CHARS = 8 << 20
LONG_LINE_CHARS = 1000


def outline_of(name: str, text: str) -> tuple[Declaration, ...] | None:
    """The declarations of a file in their order, classes with one nested level.

    `None` where there is no outline: the name is of no known language, the text is minified or
    over 8 MiB, or nothing is declared in it. Broken files have one, of what can be made out.
    """
    language = language_of(name, text)
    if language is None or len(text) > MAX_CHARS or _is_minified(text):
        return None
    # A line is what ends in a line feed, for the parsers as for those who then read some lines.
    code = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    parsed = (
        python.declarations(code) if language == "python" else trees.declarations(language, code)
    )
    return tuple(parsed or tables.declarations(language, code)) or None


def _is_minified(text: str) -> bool:
    """Whether more than half of the text is in very long lines."""
    if len(text) <= LONG_LINE_CHARS:
        return False
    lengths = map(len, text.split("\n"))
    return 2 * sum(length for length in lengths if length > LONG_LINE_CHARS) > len(text)
