"""What other people's code may rely on."""

import subprocess
import sys
from pathlib import Path

import arc_workbench
from arc_workbench import open_session
from arc_workbench.events import EVENT, Event
from tests.requirements import requirement

HEAVY = [
    "pydantic",
    "anthropic",
    "pypdf",
    "mss",
    "pyautogui",
    "PIL",
    "mcp",
    "ipywidgets",
    "anywidget",
]


def test_the_public_names_are_sorted_and_all_there() -> None:
    assert list(arc_workbench.__all__) == sorted(arc_workbench.__all__)
    assert all(getattr(arc_workbench, name) is not None for name in arc_workbench.__all__)


@requirement("REQ-S18")
def test_importing_the_package_imports_nothing_heavy_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, os; import arc_workbench; home = os.environ['ARC_WORKBENCH_HOME']; "
        f"print([m for m in {HEAVY!r} if m in sys.modules], os.listdir(home))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[] []"


@requirement("BUG-N19")
async def test_a_session_is_opened_used_and_let_go(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with await open_session(project=str(tmp_path), pace=0) as session:
        stop = session.listen(seen.append)
        turn = await session.send("Sing a song")
        stop()

    assert turn.reason == "completed"
    assert turn.cost is None
    assert repr(turn) == "t1  1 steps  completed  Sing a song"
    assert seen[-1].type == "TurnFinished"


async def test_a_session_without_a_project_offers_no_file_and_no_shell() -> None:
    async with await open_session(project="none") as session:
        assert list(session.offered) == []


def test_every_event_is_in_the_union_under_its_own_name() -> None:
    schema = EVENT.json_schema()
    mapping = schema["discriminator"]["mapping"]

    for name, reference in mapping.items():
        assert reference.endswith(f"/{name}")
