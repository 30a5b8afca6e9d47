"""A script at work on source that nobody here wrote: a copy of an installed library.

It searches the library, reads what it found, edits it, and proves the change by running it.
"""

import importlib.util
import shutil
from pathlib import Path

import pytest

from arc_workbench.events import Event, PermissionRequested
from arc_workbench.workbench import open_session
from tests.requirements import requirement

SCRIPT = """script: 1
title: a deeper markdown parser

tools:
  search:
    - workspace_search: {text: query}
    - grep: {text: pattern}
  read: [workspace_read, read]
  run: [shell_exec, bash]
  change:
    - workspace_edit: {file: path, old: old_string, new: new_string, seen: expected_sha256}
    - edit: {file: path, old: oldText, new: newText}

steps:
  - say: Where is the depth of nesting limited?
    call: search
    with: {text: '"maxNesting": 20'}
    as: hits
  - take: file
    from: hits
    matching: '(markdown_it/[a-z/]*commonmark\\.py)'
  - say: In {file}. I read it.
    call: read
    with: {path: "{file}"}
    as: source
  - take: old
    from: source.text
    matching: '"maxNesting": \\d+'
  - say: It says {old}. I double it.
    call: change
    with: {file: "{file}", old: "{old},", new: '"maxNesting": 40,', seen: "{source.sha256}"}
    as: changed
  - say: I ask the library itself.
    call: run
    with:
      command: >-
        python3 -c "from markdown_it import MarkdownIt;
        print('limit', MarkdownIt('commonmark').options['maxNesting'],
        'deep', MarkdownIt('commonmark').render('> ' * 30 + 'x').count('<blockquote>'))"
    as: proof
  - take: said
    from: proof.text
    matching: 'limit \\d+ deep \\d+'
  - say: "The library says: {said}"
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the markdown parser's source, in a project of its own."""
    found = importlib.util.find_spec("markdown_it")
    assert found is not None
    assert found.submodule_search_locations is not None
    source = Path(found.submodule_search_locations[0])
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, tmp_path / "project" / "markdown_it", ignore=ignored)
    (tmp_path / "deeper.yaml").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "project"


@requirement("CARD-001", "CARD-022")
@pytest.mark.parametrize("toolset", ["arc", "arcturn"])
async def test_a_script_changes_a_real_library_and_proves_it(library: Path, toolset: str) -> None:
    lines = sum(len(file.read_bytes().splitlines()) for file in library.rglob("*.py"))
    before = {file: file.read_bytes() for file in library.rglob("*.py")}
    asked: list[str] = []

    async with await open_session(
        project=str(library),
        toolset=toolset,
        model=f"script:{library.parent / 'deeper.yaml'}",
        pace=0,
    ) as session:

        def allow(event: Event) -> None:
            if isinstance(event, PermissionRequested):
                asked.append(event.tool)
                session.resolve(event.prompt, allow=True, digest=event.digest)

        session.listen(allow)
        turn = await session.send("Allow deeper nesting")

    changed = [file for file, old in before.items() if file.read_bytes() != old]
    assert lines > 3_000
    assert turn.text == "The library says: limit 40 deep 30"
    assert [file.name for file in changed] == ["commonmark.py"]
    assert len(asked) == 2
    assert [row["state"] for row in turn.rows()] == ["done"] * 4
    assert turn.rows()[2]["step"] == 3
