"""What the scripted model does in these tests, and the cells that let it."""

LOAD = "%load_ext arc_workbench"

ONE_CHANGE = """
script: 1
title: one change
tools:
  change: [edit]
steps:
  - say: I change the greeting.
    call: change
    with: {path: hello.txt, oldText: Hello, newText: Goodbye}
    as: changed
  - when: {changed.failed: true}
    then:
      - say: "I was told: {changed.text}"
    else:
      - say: The greeting is changed.
"""

TWO_CHANGES = """
script: 1
title: two changes
tools:
  change: [edit]
steps:
  - call: change
    with: {path: hello.txt, oldText: Hello, newText: Goodbye}
    as: first
  - call: change
    with: {path: hello.txt, oldText: Moon, newText: Mars}
    as: second
  - say: Both are asked.
"""

FLOOD = """
script: 1
title: a flood
tools:
  run: [bash]
steps:
  - call: run
    with: {command: "head -c 100000000 /dev/zero | tr '\\\\0' 'x' | fold -w 99"}
    as: flood
  - say: The flood is over.
"""

LINES = """
script: 1
title: many lines
tools:
  run: [bash]
steps:
  - call: run
    with: {command: "seq 1 50000"}
    as: flood
  - say: The flood is over.
"""

LOOK_AROUND = """
script: 1
title: looking around
tools:
  search: [grep]
  list: [ls]
  read: [read]
steps:
  - together:
      - {call: search, with: {pattern: 'def \\w+', path: ., contextLines: 1}, as: found}
      - {call: list, with: {path: .}, as: listed}
      - {call: read, with: {path: large.py}, as: outline}
  - say: That is what is here.
"""

FILES = {
    "lines.yaml": LINES,
    "hello.txt": "Hello, Moon.\n",
    "one.yaml": ONE_CHANGE,
    "two.yaml": TWO_CHANGES,
    "flood.yaml": FLOOD,
}
AROUND = {
    "around.yaml": LOOK_AROUND,
    "clock.py": "import time\n\n\ndef now():\n    return time.time()\n\n\ndef day():\n    pass\n",
    "large.py": "".join(
        f"class Sum{n}:\n    def add(self, more: int) -> int:\n        return {n} + more\n\n\n"
        for n in range(300)
    ),
    "<img src=x onerror=alert(1)>.txt": "one\n",
}


def agent(script: str = "one", task: str = "Change the greeting.", options: str = "") -> str:
    """An agent cell that is answered by one of the scripts."""
    return f"%%agent --toolset arcturn --model script:{script}.yaml {options}\n{task}"
