"""What a program wrote for a terminal, as plain text: no control character but tab and newline.

Colours, titles and other sequences go. Within a line the cursor is followed, so that a progress
bar leaves its last state; what addresses other lines is dropped. What stands in the last column is
not lost to an erasure that follows it: what goes through a pipe was not wrapped by its writer. Time
is linear in the input.
"""

import re

COLUMNS = 80  # the row of a terminal: backspace stays in it, a vertical tab keeps its column

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # a string for the terminal, up to its end ...
    r"(?:[^\x07\x18\x1a\x1b\x80-\x9f]*(?:[\x07\x18\x1a\x9c]|\x1b\\)"
    r"|[^\n\x07\x18\x1a\x1b\x80-\x9f]*)"  # ... or, when that never comes, to the end of the line
    r"|(?:\x1b\[|\x9b)(?P<number>[0-9]*)(?P<more>[;:][0-9;:]*)?(?P<other>[ -?]*)(?P<final>[@-~]?)"
    r"|(?P<next_line>\x85|\x1bE)"
    r"|(?P<down>\x84|\x1bD)"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x07\x0e-\x1f\x7f-\x9f]"
)
"""Everything that is no text but the marks \\b, \\t, \\n, \\v, \\f and \\r, piece by piece."""

_MOVES = {"`": "G", "a": "C"} | {move: move for move in "KGCDXP@"}
_EDIT = re.compile(
    r"\x1b\[(?P<number>[0-9]*)(?P<move>[KGCDXP@])|[\x08\t\x0b-\x0d]|[^\x08\t\x0b-\x0d\x1b]+"
)
_UNFINISHED = re.compile(
    r"(?:\x1b(?:[\]PX^_][^\x07\x18\x1a\x1b\x80-\x9f]*\x1b?|\[[ -?]*|[ -/]*)"
    r"|[\x90\x98\x9d-\x9f][^\x07\x18\x1a\x1b\x80-\x9f]*\x1b?|\x9b[ -?]*|(?<!\r)\r+)\Z"
)
_LONGEST_UNFINISHED = 4096
_OVERWRITES = re.compile(r"[^\n]*?\r(?!\n)")


def plain(text: str) -> str:
    """`text` as a person would see it, without a control character but tab and newline."""
    if not _CONTROL.search(text):
        return text
    lines = SEQUENCE.sub(_keep_moves, text).split("\n")
    return "\n".join(_edited(line) if _CONTROL.search(line) else line for line in lines)


def _keep_moves(found: re.Match[str]) -> str:
    """Only what edits the current line stays, in one spelling; no other escape is left."""
    if found["next_line"]:
        return "\n"
    if found["down"]:
        return "\v"
    move = _MOVES.get(found["final"] or "")
    return f"\x1b[{found['number']}{move}" if move and not found["other"] else ""


def _edited(line: str) -> str:
    row = _Line()
    for found in _EDIT.finditer(line):
        row.apply(found)
    return row.text()


class _Line:
    """One line and the cursor in it. `_row` is where the terminal's row with the cursor begins."""

    def __init__(self) -> None:
        self._above: list[str] = []
        self._cells: list[str] = []
        self._column = 0
        self._row = 0

    def text(self) -> str:
        return "\n".join([*self._above, "".join(self._cells)])

    def apply(self, found: re.Match[str]) -> None:
        token = found[0]
        if found["move"]:
            self._move(found["move"], int(found["number"][:6] or 0))
        elif token == "\r":
            self._column = self._row = 0
        elif token == "\b":
            self._column = max(min(self._column, self._row + COLUMNS - 1) - 1, self._row)
        elif token in "\v\f":
            self._down()
        elif token == "\t" and self._column < len(self._cells):
            self._column = (self._column // 8 + 1) * 8
        else:
            self._print(token)

    def _print(self, token: str) -> None:
        missing = self._column - len(self._cells)
        self._cells += " " * max(0, missing)
        end = self._column + len(token)
        self._cells[self._column : end] = token
        self._column = end
        beyond = end - self._row - COLUMNS
        if beyond > 0:
            self._row += -(-beyond // COLUMNS) * COLUMNS

    def _move(self, move: str, number: int) -> None:
        last = self._row + COLUMNS - 1
        column, count = min(self._column, last), max(1, number)
        match move:
            case "K":
                self._erase(number)
            case "G":
                self._column = min(self._row + count - 1, last)
            case "C":
                self._column = min(column + count, last)
            case "D":
                self._column = max(column - count, self._row)
            case _:
                self._shift(move, min(count, COLUMNS))

    def _erase(self, number: int) -> None:
        if number == 0:
            del self._cells[self._column :]
        elif number == 1:
            end = min(self._column + 1, len(self._cells))
            self._cells[self._row : end] = " " * (end - self._row)
        elif number == 2:
            del self._cells[self._row :]

    def _shift(self, move: str, count: int) -> None:
        """Blank (X), take out (P) or put in (@) cells; nothing beyond the row moves."""
        end = self._row + COLUMNS
        before = self._cells[self._column : end]
        if not before:
            return
        if move == "X":
            after = [" "] * min(count, len(before)) + before[count:]
        elif move == "P":
            after = before[count:]
        else:
            after = ([" "] * count + before)[: end - self._column]
        gap = len(before) - len(after) if len(self._cells) > end else 0
        self._cells[self._column : end] = after + [" "] * gap

    def _down(self) -> None:
        """To the next line, in the same column."""
        self._above.append("".join(self._cells))
        self._column = min(self._column - self._row, COLUMNS - 1)
        self._cells = []
        self._row = 0


class Plain:
    """`plain` for text that arrives in pieces: what can only be judged later is held back.

    A line that is written over after a piece of it was handed out begins anew on the next line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._line_open = False

    def feed(self, piece: str) -> str:
        """The plain text that is certain by now."""
        text = self._held + piece
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_UNFINISHED))
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        return self._clean(text[:cut])

    def end(self) -> str:
        """The rest."""
        text, self._held = self._held, ""
        return self._clean(text)

    def _clean(self, text: str) -> str:
        clean = plain(text)
        if not clean:
            return ""
        lead = "\n" if self._line_open and _OVERWRITES.match(text) else ""
        self._line_open = not clean.endswith("\n")
        return lead + clean
