"""How long `%load_ext` takes, against the extension that people load for the same purpose."""

import json
import statistics
import subprocess
import sys
import venv
from pathlib import Path

from tests.conftest import ROOT

PEER = "jupyter_ai_magics"
PEER_PACKAGES = ("ipython", "jupyter-ai-magics")
ROUNDS = 5
GOAL = 0.1
HEAVY = ("pydantic", "anthropic", "pypdf", "mss", "pyautogui", "PIL", "mcp")

TIMED = """
import json, sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
began = time.perf_counter()
shell.run_line_magic("load_ext", {name!r})
took = time.perf_counter() - began
print(json.dumps({{"sec": took, "heavy": [m for m in {heavy!r} if m in sys.modules]}}))
"""


def measure() -> bool:
    """Alternate between the two in one run and compare the medians."""
    peer = _peer_python()
    ours: list[float] = []
    theirs: list[float] = []
    heavy: set[str] = set()
    for _ in range(ROUNDS):
        sec, imported = _timed(Path(sys.executable), "arc_workbench")
        heavy.update(imported)
        ours.append(sec)
        theirs.append(_timed(peer, PEER)[0])
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(
        f"loading: arc_workbench {statistics.median(ours) * 1000:.0f} ms, "
        f"{PEER} {statistics.median(theirs) * 1000:.0f} ms, ratio {ratio:.3f} (goal {GOAL}); "
        f"heavy imports: {', '.join(sorted(heavy)) or 'none'}"
    )
    return ratio <= GOAL and not heavy


def _timed(python: Path, name: str) -> tuple[float, list[str]]:
    """Seconds of one load in a fresh process, and which heavy packages it brought in."""
    code = TIMED.format(name=name, heavy=HEAVY)
    done = subprocess.run(
        [str(python), "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return float(found["sec"]), list(found["heavy"])


def _peer_python() -> Path:
    """The peer lives in an environment of its own, so that it cannot change ours."""
    folder = ROOT / "build" / "bench-peer"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"loading: installing {PEER} into {folder.relative_to(ROOT)}", flush=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *PEER_PACKAGES]
        subprocess.run(pip, check=True)
    return python
