"""Scripts whose commands go to the background, and the cells that let them."""

import json

from tests.browser.scripts import LOAD

__all__ = ["JOBS", "LOAD", "work"]


def _script(title: str, *commands: str, budget: float = 0.1) -> str:
    steps = "".join(
        f"""
  - call: run
    with: {{command: {json.dumps(command)}, block_budget_sec: {budget}, timeout_sec: 60}}
    as: job{number}"""
        for number, command in enumerate(commands, 1)
    )
    return f"""script: 1
title: {title}
tools:
  run: [shell_exec]
steps:{steps}
  - say: Begun.
"""


# Each ends by itself, also where a test fails: a writer after thirty seconds.
_COUNT = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.9; done"
_WAIT = "echo begun; sleep 30.0417"
_FLOOD = "timeout 30 yes a-line-that-is-written-again-and-again"

JOBS = {
    "count.yaml": _script("a job that counts", _COUNT),
    "wait.yaml": _script("a job that waits", _WAIT),
    "fail.yaml": _script("a job that fails", "sleep 0.6; echo no; exit 3"),
    "flood.yaml": _script("four jobs at full speed", *[_FLOOD] * 4),
    "two.yaml": _script("two jobs", _WAIT, _COUNT),
    "long.yaml": _script("much output", "seq 1 20000; sleep 30.0417"),
    "quick.yaml": _script("a job that is soon over", "sleep 0.3; echo done; exit 0"),
    "markup.yaml": _script(
        "a job that prints markup", "sleep 0.3; echo '<img src=x onerror=alert(1)>'"
    ),
}


def work(script: str, options: str = "") -> str:
    """An agent cell whose commands go to the background."""
    mode = "--mode yolo --access full"
    return f"%%agent --model script:{script}.yaml {mode} {options}\nBegin."
