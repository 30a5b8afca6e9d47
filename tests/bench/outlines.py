"""How long an outline takes, the best of many rounds, against the bare parser under it."""

import ast
import importlib
import typing
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from arc_workbench.code.outline import outline_of

ROUNDS = 15
SOURCE_BYTES = 300_000
MAX_RATIO = 1.5  # to a bare tree-sitter parse; the parser of Python has a process of its own
MAX_MS = 80.0

C_PART = """
/* Part {n} of a table of rooms. */
struct room_{n} {{
    int doors[8];
    const char *name;
}};

static int room_{n}_find(const struct room_{n} *rooms, size_t count, const char *name)
{{
    for (size_t i = 0; i < count; i++) {{
        if (rooms[i].name && strcmp(rooms[i].name, name) == 0) {{
            return (int) i + rooms[i].doors[i % 8] * ({n} << 2);
        }}
    }}
    return -1;
}}

static int room_{n}_print(const struct room_{n} *room, FILE *out, int depth)
{{
    const char *indent = "                ";
    if (room == NULL || out == NULL) {{
        errno = EINVAL;
        return -1;
    }}
    fprintf(out, "%.*s%s (%d)\\n", depth, indent, room->name ? room->name : "?", {n});
    for (int door = 0; door < 8; door++) {{
        switch (room->doors[door]) {{
        case 0:
            continue;
        case 1:
            fprintf(out, "%.*sopen %d\\n", depth + 1, indent, door);
            break;
        default:
            fprintf(out, "%.*sto room %d\\n", depth + 1, indent, room->doors[door]);
        }}
    }}
    return ferror(out) ? -1 : 0;
}}
"""


def measure() -> bool:
    """Alternate between the outline and the bare parse in one run and compare the best of each."""
    python = Path(typing.__file__).read_text(encoding="utf-8")
    python = (python * (SOURCE_BYTES // len(python) + 1))[:SOURCE_BYTES].rpartition("\n\n\n")[0]
    parts = "".join(C_PART.format(n=n) for n in range(SOURCE_BYTES // len(C_PART) + 1))
    return all([  # both are measured, also if the first one misses its goal
        _compared("a.py", python, lambda: ast.parse(python), None),
        _compared("a.c", parts, _bare_tree(parts), MAX_RATIO),
    ])  # fmt: skip


def _bare_tree(text: str) -> Callable[[], object]:
    tree_sitter = importlib.import_module("tree_sitter")
    language = tree_sitter.Language(importlib.import_module("tree_sitter_c").language())
    source = text.encode()
    return lambda: tree_sitter.Parser(language).parse(source)


def _compared(name: str, text: str, bare: Callable[[], object], max_ratio: float | None) -> bool:
    found = outline_of(name, text)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        theirs.append(_milliseconds(bare))
        ours.append(_milliseconds(lambda: outline_of(name, text)))
    took, base = min(ours), min(theirs)
    print(
        f"outlines: {name} of {len(text) / 1000:.0f} KB, {len(found or ())} declarations: "
        f"{took:.1f} ms (goal {MAX_MS:.0f}), bare parse {base:.1f} ms, "
        f"ratio {took / base:.2f}" + (f" (goal {max_ratio})" if max_ratio else "")
    )
    near = max_ratio is None or took / base <= max_ratio
    return bool(found) and took <= MAX_MS and near


def _milliseconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return (perf_counter() - began) * 1000
