"""Background jobs in a real kernel: their cards outlive the cell, can stop them, and never lie."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import nbformat
import pexpect
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT
from tests.notebook.job_scripts import JOBS, LOAD, work
from tests.notebook.kernel import WIDGET, Json, Kernel, PagePart, Run
from tests.requirements import requirement

BLOCKING = "import threading; threading.Event().wait(3)"


@pytest.fixture(autouse=True)
def scripts(project: Path) -> None:
    for name, text in JOBS.items():
        (project / name).write_text(text, encoding="utf-8")


@pytest.fixture
def loaded(kernel: Kernel) -> Kernel:
    assert kernel.run(LOAD).status == "ok"
    return kernel


class JobPage(PagePart):
    """The page of a front end as far as the live card of one job is concerned."""

    def __init__(self, kernel: Kernel, run: Run, number: int = 0) -> None:
        views = [bundle[WIDGET]["model_id"] for bundle in run.shown if WIDGET in bundle]
        self.kernel = kernel
        self.comm = str(views[number])
        self.subshell = kernel.open_subshell()
        self.name = "load1-place1"

    def press(self, name: str) -> None:
        """Press a button with the newest code that it has."""
        self.send({"do": "job", "prompt": name, "nonce": self.code(name)})

    def hear(self, wanted: Callable[[Json], bool]) -> Json:
        """The first drawing operation that is wanted."""
        found: list[Json] = []

        def has(message: Json) -> bool:
            found[:] = [operation for operation in self.ops_of(message) if wanted(operation)]
            return bool(found)

        self.kernel.hear(has)
        return found[0]

    def see(self, words: str) -> None:
        """Wait until something with these words is drawn."""
        self.hear(lambda operation: words in json.dumps(operation))


def cards(run: Run) -> list[str]:
    """The names of the places in which a cell keeps the cards of its jobs."""
    places: list[str] = []
    for output in run.outputs:
        data = cast("Json", output.get("data") or {})
        if output["_type"] == "display_data" and "aw-job--saved" in str(data.get("text/html")):
            places.append(str(output["transient"]["display_id"]))
    return places


def kept(kernel: Kernel, place: str, words: str) -> Json:
    """Wait until the card in a place says something; the bundle that does."""

    def is_it(message: Json) -> bool:
        content = cast("Json", message["content"])
        transient = cast("Json", content.get("transient") or {})
        if transient.get("display_id") != place:
            return False
        return words in str(content["data"]["text/plain"])

    return cast("Json", kernel.hear(is_it)["content"]["data"])


# ---- a card -------------------------------------------------------------------------------------


@requirement("BUG-N5", "CARD-018")
def test_a_card_goes_on_after_its_cell_and_nothing_lands_in_a_newer_one(loaded: Kernel) -> None:
    begun = loaded.run(work("count"), allow_stdin=True)
    (card,) = cards(begun)
    assert begun.status == "ok"
    assert kept(loaded, card, "j1  running")

    newer = [loaded.run(f"print({number})") for number in range(3)]
    ended = kept(loaded, card, "j1  exit 0")

    assert "line 6" in ended["text/html"]
    assert [run.printed for run in newer] == ["0\n", "1\n", "2\n"]
    assert [run.shown for run in newer] == [[], [], []]
    display = [m for m in loaded.drain() if m["msg_type"] == "display_data"]
    newer_cells = {m["parent_header"]["msg_id"] for m in display}
    assert len(newer_cells) == 1, "something was displayed in a later cell"


@requirement("BUG-N5")
def test_the_jobs_of_two_cells_are_drawn_each_in_its_own(loaded: Kernel) -> None:
    first = loaded.run(work("quick"), allow_stdin=True)
    second = loaded.run(work("fail"), allow_stdin=True)

    (one,), (two,) = cards(first), cards(second)

    assert "done" in kept(loaded, one, "j1  exit 0")["text/html"]
    assert "exit 3" in kept(loaded, two, "j2  exit 3")["text/html"]


@requirement("BUG-N4", "BUG-N21")
def test_what_is_kept_needs_no_kernel_and_says_what_to_type(loaded: Kernel) -> None:
    begun = loaded.run(work("fail"), allow_stdin=True)
    (card,) = cards(begun)

    running = kept(loaded, card, "running")
    assert "Job 1, running when this was kept" in running["text/html"]
    assert "%agent jobs" in running["text/html"]

    ended = kept(loaded, card, "j1  exit 3")
    assert ended["text/plain"] == "j1  exit 3  sleep 0.6; echo no; exit 3"
    assert "Job 1, ended: exit 3" in ended["text/html"]
    assert "%agent jobs tail j1" in ended["text/html"]
    assert "<button" not in ended["text/html"]


@requirement("REQ-S19")
def test_what_a_job_prints_is_never_markup(loaded: Kernel) -> None:
    begun = loaded.run(work("markup"), allow_stdin=True)

    html = kept(loaded, cards(begun)[0], "exit 0")["text/html"]

    assert "<img" not in html
    assert "&lt;img src=x" in html


# ---- a click ------------------------------------------------------------------------------------


@requirement("BUG-N1", "REQ-S84")
def test_a_click_stops_a_job_while_another_cell_blocks_the_kernel(loaded: Kernel) -> None:
    begun = loaded.run(work("wait"), allow_stdin=True)
    page = JobPage(loaded, begun)
    page.ready()
    page.see("Job 1, running")
    request = loaded.start(BLOCKING)

    page.press("stop")

    page.see("Job 1, stopping")
    ended = kept(loaded, cards(begun)[0], "j1  stopped")
    assert "Job 1, stopped" in ended["text/html"]
    busy = [m for m in loaded.heard if m["parent_header"].get("msg_id") == request]
    assert [m for m in busy if m["msg_type"] == "status"][-1]["content"] == {
        "execution_state": "busy"
    }
    assert loaded.finish(request).status == "ok"


@requirement("REQ-S31", "REQ-S6")
def test_a_message_without_the_code_of_the_button_stops_nothing(loaded: Kernel) -> None:
    begun = loaded.run(work("wait"), allow_stdin=True)
    page = JobPage(loaded, begun)
    page.ready()
    code = page.code("stop")
    for message in (
        {"do": "job", "prompt": "stop"},
        {"do": "job", "prompt": "stop", "nonce": "x" * 32},
        {"do": "job", "prompt": "whole", "nonce": code},
        {"do": "undo", "prompt": "j1", "nonce": code},
        {"do": "kill", "prompt": "stop", "nonce": code},
    ):
        page.send(message)
    loaded.run("pass")

    assert "j1  running" in loaded.value("get_ipython().run_line_magic('agent', 'jobs').text")
    page.press("stop")
    kept(loaded, cards(begun)[0], "j1  stopped")


def test_the_whole_output_is_given_a_page_at_a_time(loaded: Kernel) -> None:
    begun = loaded.run(work("long"), allow_stdin=True)
    page = JobPage(loaded, begun)
    page.ready()
    page.see("20000")

    page.press("whole")
    page.see("Bytes 0 to ")
    first = page.hear(lambda o: o.get("key") == "whole" and "aw-job__page" in json.dumps(o))
    assert "1\\n2\\n3\\n4" in json.dumps(first)
    assert len(json.dumps(first)) < 40_000

    page.press("end")
    page.hear(lambda o: o.get("key") == "whole" and "19999\\n20000" in json.dumps(o))
    page.press("stop")
    kept(loaded, cards(begun)[0], "j1  stopped")


@requirement("CARD-018")
def test_jobs_that_write_at_full_speed_do_not_flood_the_page(loaded: Kernel) -> None:
    begun = loaded.run(work("flood"), allow_stdin=True)
    pages = [JobPage(loaded, begun, number) for number in range(4)]
    for page in pages:
        page.ready()
    for page in pages:
        page.see("again-and-again")
    loaded.run("import threading; threading.Event().wait(4)")
    for page in pages:
        page.press("stop")
        page.see("stopping")
    for number, card in enumerate(cards(begun), 1):
        kept(loaded, card, f"j{number}  stopped")

    for page in pages:
        sent = [m for m in loaded.heard if page.ops_of(m)]
        spans = (sent[-1]["header"]["date"] - sent[0]["header"]["date"]).total_seconds()
        assert len(sent) <= 5 * spans + 12
        assert max(len(json.dumps(m["content"]["data"])) for m in sent) < 20_000
    total = sum(
        len(json.dumps(m["content"]))
        for m in loaded.heard
        if m["msg_type"] in {"comm_msg", "update_display_data"}
    )
    assert total < 4_000_000


# ---- typed --------------------------------------------------------------------------------------


def text_of(run: Run) -> str:
    return "\n".join(str(bundle.get("text/plain", "")) for bundle in run.shown)


@requirement("CARD-018", "S2-104")
def test_jobs_are_listed_shown_and_ended_by_what_is_typed(loaded: Kernel) -> None:
    assert "No jobs." in text_of(loaded.run("%agent jobs"))
    loaded.run(work("two"))

    listed = text_of(loaded.run("%agent jobs")).split("\n")
    assert [line.split("  ")[:2] for line in listed] == [["j2", "running"], ["j1", "running"]]
    assert "j1  running  echo begun; sleep 30.0417\nbegun" in text_of(
        loaded.run("%agent jobs tail j1")
    )
    assert text_of(loaded.run("%agent jobs kill j1")).startswith("j1  stopped")
    assert text_of(loaded.run("%agent jobs kill j1")).endswith("already over")
    wrong = loaded.run("%agent jobs kill j7")
    assert wrong.reply["traceback"] == ["There is no job j7. Known: j2, j1."]
    bare = loaded.run("%agent jobs tail")
    assert bare.reply["traceback"] == ["Which job? Type: %agent jobs tail j1. Known: j2, j1."]


@requirement("REQ-S83")
@pytest.mark.parametrize("how", ["restart", "kill"])
def test_a_restarted_kernel_shows_how_the_jobs_of_the_one_before_ended(
    loaded: Kernel, how: str
) -> None:
    loaded.run(work("wait"))
    if how == "kill":
        loaded.manager.signal_kernel(9)
    loaded.manager.restart_kernel(now=how == "kill")
    loaded.client.wait_for_ready(timeout=60)
    loaded.run(LOAD)

    said = text_of(loaded.run("%agent jobs"))

    assert re.fullmatch(r"j1  \S+  echo begun; sleep 30\.0417  of an earlier kernel", said)
    assert "running" not in said
    assert text_of(loaded.run("%agent jobs tail j1")).endswith("\nbegun")
    ended = loaded.run("%agent jobs kill j1")
    assert ended.reply["traceback"] == ["j1 ended with an earlier kernel; nothing of it runs."]


def test_the_status_says_what_commands_find_in_their_environment(loaded: Kernel) -> None:
    loaded.run("import os; os.environ['MY_API_KEY'] = 'not to be passed'")

    (bundle,) = loaded.run("%agent status").shown
    row = loaded.value("get_ipython().run_line_magic('agent', 'status').rows[0]")

    assert "variable" not in bundle["text/plain"]
    assert "left out as secret: MY_API_KEY" in bundle["text/html"]
    assert "not to be passed" not in bundle["text/html"]
    assert "'left_out': 'MY_API_KEY'" in row


# ---- nobody there -------------------------------------------------------------------------------


def executed(project: Path, *cells: str) -> list[Json]:
    """The outputs of the last cell of a notebook that a program runs."""
    new = cast("Any", nbformat.v4)
    book = new.new_notebook(cells=[new.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(project)}}).execute()
    return cast("list[Json]", book.cells[-1].outputs)


@requirement("BUG-N8", "BUG-N21")
@pytest.mark.parametrize(
    ("script", "said"),
    [("wait", "j1  running  echo begun; sleep 30.0417"), ("two", "j1  running  echo begun")],
)
def test_an_executed_notebook_holds_a_card_and_no_widget(
    project: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    outputs = executed(project, LOAD, work(script))

    assert all(sorted(output["data"]) == ["text/html", "text/plain"] for output in outputs)
    assert outputs[1]["data"]["text/plain"].startswith(said)


# ---- a terminal ---------------------------------------------------------------------------------


def test_a_terminal_is_told_when_a_job_begins_and_at_once_when_it_ends(project: Path) -> None:
    settings = ["TERM=dumb", "NO_COLOR=1", "ARC_WORKBENCH_PACE=0", f"IPYTHONDIR={project}/.ip"]
    ipython = [
        sys.executable,
        "-m",
        "IPython",
        "--simple-prompt",
        "--no-banner",
        "--colors=NoColor",
    ]
    child: pexpect.spawn[str] = pexpect.spawn(
        "/usr/bin/env",
        [*settings, f"PYTHONPATH={ROOT}", *ipython],
        cwd=str(project),
        encoding="utf-8",
        timeout=30,
        dimensions=(60, 200),
    )
    try:
        child.expect(r"In \[1\]: ")
        child.sendline(LOAD)
        child.expect(r"In \[2\]: ")
        for line in [*work("quick").split("\n"), "", ""]:
            child.sendline(line)
        child.expect(r"j1 runs in the background: sleep 0\.3; echo done; exit 0\r\n")
        child.expect(r"j1 exit 0: sleep 0\.3; echo done; exit 0\r\n")
    finally:
        child.close(force=True)
