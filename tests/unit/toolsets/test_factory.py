"""The built-in tools for other people's programs."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arc_workbench import DefaultTools, ToolContext, ToolResult, create_default_tools
from arc_workbench.content import JsonObject
from arc_workbench.errors import ToolError
from arc_workbench.shell.sandbox import probe
from arc_workbench.tools.foreign import PublicTool
from arc_workbench.tools.tool import PermissionAnswer
from tests.requirements import requirement
from tests.unit.toolsets.jobs import within


@dataclass
class Caller:
    """Another program: it allows or denies what it is asked, and keeps the questions."""

    folder: Path
    allow: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def call(self, tool: PublicTool, **given: str | bool) -> ToolResult:
        arguments: JsonObject = dict(given)
        result = tool.execute(arguments, self._context())
        return result if isinstance(result, ToolResult) else await result

    async def _answer(
        self, *, tool_name: str, tool_call_id: str, subject: str, description: str
    ) -> PermissionAnswer:
        del tool_call_id, description
        self.asked.append((tool_name, subject))
        return PermissionAnswer("allow") if self.allow else PermissionAnswer("deny", "keep it")

    def _context(self) -> ToolContext:
        return ToolContext(
            cwd=self.folder,
            signal=threading.Event(),
            session_id="s",
            tool_call_id="c",
            on_update=_pass_over,
            request_permission=self._answer,
            on_change=lambda plan, change: None,
            project=None,
            commands=None,
        )


def _pass_over(text: str = "", details: JsonObject | None = None) -> None:
    del text, details


@pytest.fixture
def box(tmp_path: Path) -> Iterator[DefaultTools]:
    made = create_default_tools(cwd=tmp_path)
    yield made
    made.close()


@requirement("S1-002")
def test_there_is_each_of_the_built_in_tools_by_name(box: DefaultTools) -> None:
    names = [tool.definition.name for tool in box.tools]

    assert names == ["read", "write", "edit", "bash", "grep", "glob", "ls"]
    assert all(getattr(box, name).definition.name == name for name in names)
    assert "path" in str(box.read.definition.parameters["properties"])


async def test_reading_asks_nobody_and_writing_asks_once(box: DefaultTools, tmp_path: Path) -> None:
    caller = Caller(tmp_path)

    written = await caller.call(box.write, path="a.txt", content="one\n")
    read = await caller.call(box.read, path="a.txt")

    assert not written.is_error
    assert "one" in read.text
    assert caller.asked == [("write", str(tmp_path.resolve() / "a.txt"))]


async def test_what_is_denied_does_not_happen(box: DefaultTools, tmp_path: Path) -> None:
    caller = Caller(tmp_path, allow=False)

    result = await caller.call(box.bash, command="touch made")

    assert result.is_error
    assert "denied; nothing ran. They said: keep it" in result.text
    assert not (tmp_path / "made").exists()


@requirement("S1-170")
async def test_an_expected_failure_is_a_result(box: DefaultTools, tmp_path: Path) -> None:
    caller = Caller(tmp_path)

    missing = await caller.call(box.read, path="missing.txt")
    wrong = await caller.call(box.bash, comand="ls")

    assert missing.is_error
    assert wrong.is_error
    assert "/command" in wrong.text


@requirement("S1-077", "S1-078", "S1-079", "S1-080", "S1-081", "S1-082")
async def test_background_tasks_are_polled_listed_killed_and_heard(
    box: DefaultTools, tmp_path: Path
) -> None:
    heard: list[tuple[str, JsonObject]] = []
    tasks = box.background_tasks
    stop = tasks.listen(lambda name, payload: heard.append((name, payload)))

    begun = await Caller(tmp_path).call(box.bash, command="echo out; sleep 600", background=True)
    task = str(begun.details["taskId"])
    within(lambda: len(heard) == 2)
    polled = tasks.poll(task)
    assert tasks.kill(task)
    within(lambda: len(heard) == 3)
    stop()

    assert polled is not None
    assert (polled["running"], polled["output"]) == (True, "out\n")
    assert polled["outputTruncated"] is False
    assert [(listed["taskId"], listed["running"]) for listed in tasks.list()] == [(task, False)]
    assert heard == [
        ("backgroundTaskStart", {"taskId": task, "command": "echo out; sleep 600"}),
        ("backgroundTaskOutput", {"taskId": task, "chunk": "out\n"}),
        ("backgroundTaskEnd", {"taskId": task, "exitCode": None}),
    ]


def test_an_unknown_task_is_nothing(box: DefaultTools) -> None:
    assert box.background_tasks.poll("j1") is None
    assert box.background_tasks.kill("j1") is False


@requirement("S1-016")
def test_each_call_has_tasks_of_its_own(tmp_path: Path, box: DefaultTools) -> None:
    other = create_default_tools(cwd=str(tmp_path))
    other.background_tasks.start("sleep 600")

    assert box.background_tasks.list() == []

    other.close()
    other.close()


@requirement("REQ-S77")
@pytest.mark.skipif(not probe().bubblewrap, reason=f"unavailable: {probe().why_not}")
async def test_state_that_is_made_after_the_tools_is_read_only_for_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("ARC_WORKBENCH_HOME", str(state))
    box = create_default_tools(cwd=tmp_path, sandbox="workspace-write")
    caller = Caller(tmp_path)
    script = (
        "mkdir -p state; echo {} > state/settings.json;"
        "for f in $(find state -type f); do echo x >> $f; done; echo tried"
    )

    first = await caller.call(box.bash, command=script)
    await caller.call(box.write, path="a.txt", content="one\n")
    ours = {file: file.read_bytes() for file in state.rglob("*") if file.is_file()}
    second = await caller.call(box.bash, command=script)
    box.close()

    assert "tried" in first.text
    assert "tried" in second.text
    assert {file: file.read_bytes() for file in state.rglob("*") if file.is_file()} == ours
    assert "journal.jsonl" in {file.name for file in ours}
    assert "settings.json" not in {file.name for file in ours}


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is no folder"):
        create_default_tools(cwd=tmp_path / "missing")
