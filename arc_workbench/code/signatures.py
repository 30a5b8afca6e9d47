"""Signatures: the head of a declaration on one bounded line."""

import re

SIGNATURE_CHARS = 160
NAME_CHARS = 80

LINE_COMMENT = re.compile(r"(?:^|(?<=[\s,(]))//[^\n]*")
PYTHON_TOKEN = re.compile(
    r"""\#[^\n]* | [()\[\]{}:]
    | \"{3}.*?(?:\"{3}|\Z) | '{3}.*?(?:'{3}|\Z)
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*"? | '[^'\\\n]*(?:\\.[^'\\\n]*)*'?""",
    re.VERBOSE | re.DOTALL,
)
PLAIN_PYTHON_HEAD = re.compile(
    r"""[^()\[\]{}:"'#]{1,200}(?:\([^()\[\]{}"'#]{0,400}\))?(?:[ ]->[ ][\w.]{1,80})?:[ ]*"""
)
PYTHON_HEAD_LINES = 20
PYTHON_HEAD_CHARS = 1000


def on_one_line(head: str) -> str:
    """The head of a declaration without its line breaks and the sign that opens its body."""
    bare = LINE_COMMENT.sub("", head) if "//" in head else head
    line = " ".join(bare.split()).rstrip(" ={;,\\")
    line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return line if len(line) <= SIGNATURE_CHARS else line[: SIGNATURE_CHARS - 1].rstrip() + "…"


def short_name(name: str) -> str:
    """A name as one word of bounded length."""
    line = " ".join(name.split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + "…"


def python_head(lines: list[str], index: int) -> str:
    """The lines from `index` on up to the colon that opens the body, comments left out."""
    if PLAIN_PYTHON_HEAD.fullmatch(lines[index]):
        return lines[index].rstrip(" :")
    head = "\n".join(lines[index : index + PYTHON_HEAD_LINES])[:PYTHON_HEAD_CHARS]
    kept: list[str] = []
    at = depth = 0
    for token in PYTHON_TOKEN.finditer(head):
        sign = token.group()
        if sign == ":" and depth <= 0:
            return "".join(kept) + head[at : token.start()]
        if sign.startswith("#"):
            kept.append(head[at : token.start()])
            at = token.end()
        depth += (sign in "([{") - (sign in ")]}")
    return "".join(kept) + head[at:].partition("\n")[0]
