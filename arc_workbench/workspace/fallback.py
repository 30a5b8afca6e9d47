"""The engine that is always there: Python's expressions, in a few processes that can be killed."""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from arc_workbench.workspace import matcher
from arc_workbench.workspace.children import Child, Outcome
from arc_workbench.workspace.deadline import Deadline, TimedOut
from arc_workbench.workspace.findings import Query, RawLine
from arc_workbench.workspace.ripgrep import Named, invalid

WORKERS = 2
TOGETHER = 64  # files that lie near each other go to the same worker


class Python:
    """One query to `matcher.py`."""

    name = "python"

    def __init__(self, query: Query, deadline: Deadline) -> None:
        self._query = query
        self._deadline = deadline
        self.cut: set[int] = set()

    def among(self, folder: Path, files: Sequence[str]) -> Named:
        """Those of the files, named below `folder` or absolute, in which something matches."""
        shares: list[list[str]] = [[] for _ in range(min(WORKERS, 1 + len(files) // TOGETHER))]
        for number, start in enumerate(range(0, len(files), TOGETHER)):
            shares[number % len(shares)] += files[start : start + TOGETHER]
        matched: list[tuple[str, int]] = []
        unread: list[tuple[str, str]] = []
        with ExitStack() as stack:
            children = [stack.enter_context(self._child(share, folder)) for share in shares]
            for share, child in zip(shares, children, strict=True):
                answer = self._answer(child.outcome())
                matched += [(share[number], 1) for number in answer.get("matched", [])]
                unread += [(share[number], "unreadable") for number in answer.get("unread", [])]
        return Named(tuple(matched), tuple(unread))

    def lines(self, opened: Sequence[int], most: int) -> dict[int, list[RawLine]]:
        """The first `most` matching lines of the open files, in order, with their context."""
        with self._child([], Path("/"), opened=opened, most=most) as child:
            answer = self._answer(child.outcome())
        self.cut.update(answer.get("cut", []))
        return {
            int(number): [
                RawLine(at, text, None if spans is None else tuple((a, b) for a, b in spans))
                for at, text, spans in told
            ]
            for number, told in answer.get("lines", {}).items()
            if told
        }

    def _child(
        self, files: Sequence[str], folder: Path, *, opened: Sequence[int] = (), most: int = 0
    ) -> Child:
        query = self._query
        request: matcher.Request = {
            "pattern": query.text,
            "literal": query.literal,
            "ignore_case": query.ignore_case,
            "context": query.context,
            "most": most,
            "seconds": int(self._deadline.seconds) + 2,
            "opened": list(opened),
        }
        names = b"".join(os.fsencode(file) + b"\0" for file in files)
        return Child(
            [sys.executable, "-I", "-S", str(Path(matcher.__file__))],
            self._deadline,
            cwd=folder,
            question=json.dumps(request).encode("ascii") + b"\n" + names,
            lent=opened,
        )

    def _answer(self, outcome: Outcome) -> matcher.Answer:
        if outcome.code or not outcome.output:
            raise TimedOut(
                "The search ended early, without a result. Narrow the path or the pattern."
            )
        answer: matcher.Answer = json.loads(outcome.output)
        if "fault" in answer:
            raise invalid(self._query.text, answer["fault"], answer.get("position", -1))
        return answer
