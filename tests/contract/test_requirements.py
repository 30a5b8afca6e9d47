"""The requirements, both ways: what a test claims exists, what a tool promises has a test."""

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from arc_workbench.toolsets import arc, arcturn

TESTS = Path(__file__).parent.parent


def page(number: int, first: int, last: int) -> frozenset[str]:
    """The rows of one published page from `first` to `last`."""
    return frozenset(f"S{number}-{row:03}" for row in range(first, last + 1))


# The statements about each tool, by the order of the pages. Statements about no single tool (the
# engine, the permission rules, the tool contract) are left to the tests of those parts.
ROWS = {
    # Arcturn
    "read": page(1, 28, 37),
    "write": page(1, 38, 49),
    "edit": page(1, 56, 63),
    "bash": page(1, 64, 86) | page(1, 141, 147),
    "grep": page(1, 87, 94),
    "glob": page(1, 95, 99),
    "ls": page(1, 100, 105),
    "fetch": page(1, 106, 112),
    "websearch": page(1, 113, 138),
    # Arc
    "workspace_list": page(2, 22, 29),
    "workspace_read": page(2, 30, 34),
    "workspace_search": page(2, 35, 38),
    "workspace_document_inspect": page(2, 39, 45),
    "workspace_document_read": page(2, 46, 55),
    "workspace_document_search": page(2, 56, 63),
    "workspace_write": page(2, 64, 69),
    "workspace_edit": page(2, 70, 78),
    "workspace_history": page(2, 79, 81),
    "workspace_recovery_status": page(2, 82, 86),
    "workspace_undo": page(2, 87, 91),
    "shell_exec": page(2, 92, 106),
    "shell_output": page(2, 107, 117),
    "shell_job": page(2, 118, 128),
    "finish": page(2, 129, 133),
    "remind": page(2, 134, 142),
    "wait": page(2, 143, 157),
    "save_notes": page(2, 158, 163),
    "web_fetch": page(2, 164, 173),
    "web_search": page(2, 174, 181),
    "mcp_output": page(2, 182, 194),
    "submit_plan": page(2, 195, 204),
    "answer_user": page(2, 205, 209),
    "computer": page(2, 210, 234),
}

# Tools that the pages name without saying what a call does, and `bash_job`, which is ours.
WITHOUT_ROWS = {
    "bash_job", "brain", "find_references", "memory", "plan", "search_code", "skill", "subagent",
    "symbols", "todo", "tool_search",
}  # fmt: skip

# Rows of tools that exist already, whose part is not built yet. A row leaves this table with the
# commit that builds its part: a test that carries one fails here until it does.
LATER = {
    "streaming of what is being written": page(1, 44, 49),
    "web search by the model's own service": page(1, 120, 138),
}


def claims() -> Iterator[tuple[str, str]]:
    """Every id given to `requirement(...)` under tests/, with its place; "" if it is computed."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "requirement":
                place = f"{path.relative_to(TESTS)}:{node.lineno}"
                for id_ in node.args:
                    yield str(id_.value) if isinstance(id_, ast.Constant) else "", place


CLAIMS = list(claims())
CLAIMED = {id_ for id_, _ in CLAIMS}
BUILT = sorted({tool.name for tool in (*arc.TOOLS, *arcturn.TOOLS)})
POSTPONED = frozenset[str]().union(*LATER.values())


@pytest.fixture(scope="module")
def known(spec: Path) -> set[str]:
    """Every id that the specification, the threat model and the bug lists define."""
    shared = spec.parent
    with (spec / "coverage.tsv").open(encoding="utf-8", newline="") as table:
        rows = {row["id"] for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)}
    threats = (shared / "design/security.md").read_text(encoding="utf-8")
    bugs = (shared / "cases/bugs.md").read_text(encoding="utf-8")
    reference = (spec / "behaviour.md").read_text(encoding="utf-8").split("\n# J.")[1]
    return {
        *rows,
        *("REQ-" + id_ for id_ in re.findall(r"^- (S\d+) ", threats, re.MULTILINE)),
        *("REQ-" + id_ for id_ in re.findall(r"^\| (F\d+) \|", threats, re.MULTILINE)),
        *("BUG-" + id_ for id_ in re.findall(r"^\| ([A-Z]\d+) ", bugs, re.MULTILINE)),
        *("J-" + id_ for id_ in re.findall(r"^(\d+)\.", reference.split("\n# ")[0], re.MULTILINE)),
    }


def test_ids_are_written_out_so_that_a_search_finds_them() -> None:
    assert [place for id_, place in CLAIMS if not id_] == []


def test_what_a_test_claims_to_prove_exists(known: set[str]) -> None:
    assert [f"{place}: {id_}" for id_, place in CLAIMS if id_ not in known] == []


def test_the_rows_of_the_tools_exist(known: set[str]) -> None:
    assert frozenset[str]().union(*ROWS.values()) <= known
    assert known >= POSTPONED


@pytest.mark.parametrize("tool", BUILT)
def test_every_statement_about_a_tool_has_a_test(tool: str) -> None:
    assert tool in ROWS or tool in WITHOUT_ROWS, f"Say in ROWS which rows are about {tool}."
    unproved = sorted(ROWS.get(tool, frozenset()) - CLAIMED - POSTPONED)
    assert not unproved, f"No test carries {', '.join(unproved)} of {tool}."


def test_a_postponed_row_has_no_test_yet() -> None:
    assert [f"{place}: {id_}" for id_, place in CLAIMS if id_ in POSTPONED] == []
