"""Thousands of hostile strings as names of files: a typed error or success, and never an escape."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from arc_workbench.content import ToolResult
from arc_workbench.errors import ToolError
from tests.requirements import requirement
from tests.unit.toolsets.filetools import FileTools
from tests.unit.toolsets.vocabularies import TOOLS, VOCABULARIES, Vocabulary, listing, sha256

CONTENT = "needle\n"
CLOSED = {"/etc": ("passwd", "shadow", "hosts"), "/": ("etc", "boot.ini", "windows")}


def traversals(corpora: Path) -> Iterator[str]:
    """Each text as it is and decoded once and twice, alone and below a folder."""
    for line in _lines(corpora / "paths" / "traversal.jsonl"):
        text = line.replace("{FILE}", "etc/passwd")
        for spelling in dict.fromkeys((text, unquote(text), unquote(unquote(text)))):
            yield spelling
            yield f"sub/{spelling}"


def payloads(corpora: Path) -> Iterator[str]:
    """Texts that would run in a page."""
    return _lines(corpora / "xss" / "payloads" / "strings.jsonl")


def naughty(corpora: Path) -> Iterator[str]:
    """Texts that break programs."""
    file = corpora / "xss" / "naughty-strings" / "blns.json"
    return iter(json.loads(file.read_text(encoding="utf-8")))


def _lines(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["text"]


SETS: dict[str, Callable[[Path], Iterator[str]]] = {
    "paths": traversals,
    "xss": payloads,
    "naughty": naughty,
}


@pytest.fixture(params=SETS)
def names(request: pytest.FixtureRequest, corpora: Path) -> list[str]:
    """Each set of strings in turn."""
    found = list(dict.fromkeys(SETS[request.param](corpora)))
    assert len(found) > 500
    return found


@pytest.fixture(params=VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def tools(request: pytest.FixtureRequest) -> Vocabulary:
    """Each vocabulary in turn."""
    return request.param


@pytest.fixture
def files(tmp_path: Path) -> FileTools:
    """A project deep in a folder of its own, and something beside it to fall upon."""
    root = tmp_path / "outer" / "proj"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "outer" / "etc").mkdir()
    (tmp_path / "outer" / "etc" / "passwd").write_text("outside", encoding="utf-8")
    return FileTools(root)


def outside(files: FileTools) -> object:
    """What lies beside the project, and what the strings of the sets aim at."""
    beside = listing(files.root.parent)
    below = os.fsencode(files.root) + b"/"
    aimed = [
        Path(folder, name).lstat()
        for folder, targets in CLOSED.items()
        for name in targets
        if Path(folder, name).exists()
    ]
    return (
        {name: state for name, state in beside.items() if not name.startswith(below)},
        [(status.st_ino, status.st_size, status.st_mtime_ns) for status in aimed],
        sorted(Path("/").iterdir()),
    )


def stays_inside(files: FileTools, path: str) -> bool:
    """Whether a call may be run: nothing that leads out of the project is, whatever is allowed."""
    try:
        real = files.workspace.anywhere(path).real
    except ToolError:
        return True
    return Path(os.path.realpath(real)).is_relative_to(files.root)


@requirement("REQ-S57", "REQ-S58", "REQ-S25", "J-63")
def test_every_string_as_a_name_is_refused_or_works_and_nothing_escapes(
    files: FileTools, tools: Vocabulary, names: list[str]
) -> None:
    before = outside(files)
    escaping = [name for name in names if not stays_inside(files, name)]
    created = 0
    for name in names:
        if name in escaping:
            _expect_refused_or_shown(files, tools, name)
        else:
            created += _create_change_and_read(files, tools, name)

    assert created > len(names) / 20
    assert outside(files) == before


def _expect_refused_or_shown(files: FileTools, tools: Vocabulary, name: str) -> None:
    """Without running it: Arc refuses a way out, Arcturn names the real destination."""
    if tools.name == "arc":
        with pytest.raises(ToolError, match=r"outside the project|relative to the project"):
            files.prepare(TOOLS["workspace_write"], path=name, content="x")
        return
    try:
        prepared = files.prepare(TOOLS["write"], path=name, content="x")
    except ToolError:
        return
    assert prepared.subject == os.path.realpath(files.root / name)


def _create_change_and_read(files: FileTools, tools: Vocabulary, name: str) -> bool:
    """Create a file, edit it and read it; whether a file stands there now."""
    written = tools.write(files, name, CONTENT)
    edited = tools.edit(files, name, "needle", "thread")
    seen = tools.read(files, name)

    assert written.is_error == edited.is_error == seen.is_error, (name, written.text, edited.text)
    for result in (written, edited, seen):
        assert result.text
        result.model_dump_json().encode("utf-8")
    if not written.is_error:
        real = files.workspace.anywhere(name).real
        assert real.read_text(encoding="utf-8") == "thread\n"
        assert "thread" in seen.text
    return not written.is_error


WALKS: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "arc": [
        ("workspace_list", "path", {}),
        ("workspace_search", "path", {"query": "needle"}),
        ("workspace_search", "query", {}),
    ],
    "arcturn": [
        ("ls", "path", {}),
        ("glob", "path", {"pattern": "*"}),
        ("glob", "pattern", {}),
        ("grep", "path", {"pattern": "needle"}),
        ("grep", "glob", {"pattern": "needle"}),
    ],
}

QUICK = {"ls", "workspace_list"}
SEARCHED_EVERY = 20  # a search may start a process


@requirement("REQ-S57", "REQ-S58", "REQ-S25")
def test_every_string_as_a_place_to_look_is_refused_or_works(
    files: FileTools, tools: Vocabulary, names: list[str]
) -> None:
    (files.root / "sub" / "a.txt").write_text(CONTENT, encoding="utf-8")
    before = outside(files)
    for number, name in enumerate(names):
        for tool, key, others in WALKS[tools.name]:
            if tool not in QUICK and number % SEARCHED_EVERY:
                continue
            if key != "path" or stays_inside(files, name):
                result = files.call(TOOLS[tool], **{key: name, **others})
                _expect_sound(result)

    assert outside(files) == before


def _expect_sound(result: ToolResult) -> None:
    assert result.text
    assert "outside" not in result.text or result.is_error
    result.model_dump_json().encode("utf-8")


@requirement("REQ-S25", "REQ-F68")
def test_files_that_have_such_names_already_are_listed_found_read_and_edited(
    files: FileTools, tools: Vocabulary, names: list[str]
) -> None:
    here = [name for name in names if _put(files.root / "sub", name)]
    assert here

    for tool, key, others in WALKS[tools.name]:
        if key == "path":
            _expect_sound(files.call(TOOLS[tool], path="sub", **others))
    for name in here:
        path = f"sub/{name}"
        before = sha256(files.root / path)
        seen = tools.read(files, path)
        assert "needle" in seen.text, (name, seen.text)
        assert not tools.edit(files, path, "needle", "thread").is_error
        assert sha256(files.root / path) != before


def _put(folder: Path, name: str) -> bool:
    """A file with the name exactly as it is, where a file can have it."""
    usable = name.strip("/") == name and "/" not in name and name not in {"", ".", ".."}
    if not usable or "\0" in name or len(os.fsencode(name)) > 255:
        return False
    (folder / name).write_text(CONTENT, encoding="utf-8")
    return True
