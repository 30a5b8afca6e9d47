"""Looking for text in files: a literal or a regular expression, line by line.

Whatever engine answers, it first names the files in which something matches, and then shows lines
of the first of them, which are opened here without following a link: only what was found in the
project can come back.
"""

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from arc_workbench.errors import ToolError
from arc_workbench.workspace import ripgrep, system
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.fallback import Python
from arc_workbench.workspace.findings import (
    MAX_CONTEXT_LINES,
    Block,
    Collected,
    Hits,
    Line,
    Query,
    RawLine,
)
from arc_workbench.workspace.globs import Glob
from arc_workbench.workspace.paths import Place, kind_of, printable, require_folder
from arc_workbench.workspace.ripgrep import Named, Ripgrep
from arc_workbench.workspace.walking import Level, PlainFolders, Skip, SkipReason, Walk

__all__ = ["Block", "Hits", "Line", "Query", "search"]

MAX_PATTERN_CHARS = 10_000
OPEN_AT_ONCE = 208
SNIFFED_BYTES = 8000

_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_REASONS: dict[str, SkipReason] = {
    "the pattern takes too long": "the pattern takes too long",
}


class Engine(Protocol):
    """Who matches: names files first, then shows lines of open ones."""

    cut: set[int]

    @property
    def name(self) -> str: ...

    def among(self, folder: Path, files: Sequence[str]) -> Named: ...

    def lines(self, opened: Sequence[int], most: int) -> dict[int, list[RawLine]]: ...


_LINE_BREAK = re.compile(r"(?<!\\)(?:\\\\)*\\n")


@dataclass
class _Matched:
    """Where something matches, and what is known of the others.

    `files` are the name to show, the place to open, and how many lines match there at least.
    """

    files: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    searched: int = 0
    skipped: list[Skip] = field(default_factory=list[Skip])
    stopped: str = ""


def search(
    place: Place,
    query: Query,
    glob: Glob | None,
    *,
    name: str,
    deadline: Deadline,
    plain: PlainFolders | None = None,
) -> Hits:
    """Matching lines in the file at `place`, called `name`, or in the files below it, in order.

    `plain` is what earlier searches remember of the folders.

    Raises `ToolError` for an invalid expression, at the deadline, and when a person interrupts.
    """
    query = _usable(query)
    run = _Run(place, query, glob, name, deadline, plain or PlainFolders())
    command = ripgrep.program()
    if command is not None:
        try:
            return run.by(Ripgrep(command, query, deadline))
        except ripgrep.Broken:
            pass  # the other engine answers, and says its name
    return run.by(Python(query, deadline))


def _usable(query: Query) -> Query:
    text = query.text
    if not text:
        raise ToolError("The pattern is empty; say what to look for.")
    if "\n" in text or (not query.literal and _LINE_BREAK.search(text) and "[" not in text):
        raise ToolError("The pattern holds a line break, but lines are searched one by one.")
    if "\0" in text or not _is_text(text):
        raise ToolError("The pattern holds characters that no text has; leave them out.")
    if len(text) > MAX_PATTERN_CHARS:
        raise ToolError(f"The pattern has over {MAX_PATTERN_CHARS} characters; give a shorter one.")
    return Query(
        text,
        query.literal or _SPECIAL.isdisjoint(text),
        query.ignore_case,
        min(query.context, MAX_CONTEXT_LINES),
        query.limit,
    )


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class _Run:
    """One search by one engine."""

    def __init__(
        self,
        place: Place,
        query: Query,
        glob: Glob | None,
        name: str,
        deadline: Deadline,
        plain: PlainFolders,
    ) -> None:
        self._place = place
        self._base = str(place.real).rstrip("/")
        self._query = query
        self._glob = glob
        self._name = name
        self._prefix = name if not name or name.endswith("/") else name + "/"
        self._deadline = deadline
        self._plain = plain

    def by(self, engine: Ripgrep | Python) -> Hits:
        kind = kind_of(self._place.real, self._place.shown)
        if kind == "file":
            matched = self._in_file(engine)
        elif kind == "other":
            raise ToolError(
                f"{self._place.shown} is not a regular file, so it is not opened; nothing was "
                "searched. Name a file or a folder."
            )
        else:
            require_folder(replace(self._place, shadow=None))
            matched = self._below(engine)
        matched.files.sort()
        collected = Collected(self._query)
        self._collect(engine, matched, collected)
        return Hits(
            tuple(collected.blocks),
            collected.count,
            matched.searched,
            collected.truncated,
            tuple(sorted(matched.skipped, key=lambda skip: skip.path)),
            engine.name,
            matched.stopped,
        )

    # ---- which files ----------------------------------------------------------------------------

    def _in_file(self, engine: Engine) -> _Matched:
        path = str(self._place.real)
        named = engine.among(Path("/"), [path])
        unread = [Skip(self._name, _reason(why)) for _, why in named.unread]
        return _Matched([(self._name, path, lines) for _, lines in named.paths], 1, unread)

    def _below(self, engine: Ripgrep | Python) -> _Matched:
        base = self._place.real
        walk = Walk(base, self._place.fence, self._deadline)
        if self._glob is None and isinstance(engine, Ripgrep):
            with engine.start(base) as child:
                plain = self._plain.files(base, self._deadline)
                files, linked = self._elsewhere(walk) if plain is None else (plain, {})
                named = [engine.finish(child, base)]
        else:
            names, linked = self._all(walk)
            files = len(names)
            named = [engine.among(base, names or [os.devnull])]
        if linked:
            named.append(engine.among(base, list(linked)))
        return self._matched(named, linked, files + len(linked), walk)

    def _elsewhere(self, walk: Walk) -> tuple[int, dict[str, str]]:
        """How many files lie below by their own names, and those that only links lead to."""
        files = 0
        linked: dict[str, str] = {}
        for level in walk.levels():
            if self._is_own(level):
                files += len(level.files)
            else:
                linked.update((f"{level.path}/{name}", level.prefix + name) for name in level.files)
            for name, path in level.links_to_files():
                if not walk.covers(path):
                    linked.setdefault(path, name)
        return files, linked

    def _all(self, walk: Walk) -> tuple[list[str], dict[str, str]]:
        """The files to look into by their own names, and those that only links lead to."""
        files: list[str] = []
        linked: dict[str, str] = {}
        glob, check = self._glob, self._deadline.check
        for level in walk.levels(self._leads):
            fits = glob.in_folder(level.prefix, check) if glob else None
            names = [name for name in level.files if fits is None or fits(name)]
            if self._is_own(level):
                files += [level.prefix + name for name in names]
            else:
                linked.update((f"{level.path}/{name}", level.prefix + name) for name in names)
            for name, path in level.links_to_files():
                if fits is None or fits(name.rpartition("/")[2]):
                    linked.setdefault(path, name)
        if linked:
            base = f"{self._base}/"
            own = {base + name for name in files}
            linked = {path: name for path, name in linked.items() if path not in own}
        return files, linked

    def _leads(self, folder: str) -> bool:
        return self._glob is None or self._glob.leads_into(folder, self._deadline.check)

    def _is_own(self, level: Level) -> bool:
        return f"{level.path}/" == f"{self._base}/{level.prefix}"

    def _matched(
        self, named: Sequence[Named], linked: dict[str, str], searched: int, walk: Walk
    ) -> _Matched:
        """Names as they are to be shown, with the place to open."""
        matched = _Matched(searched=searched, stopped=walk.stopped)
        matched.skipped += [Skip(self._prefix + skip.path, skip.reason) for skip in walk.skipped]
        known = {skip.path for skip in walk.skipped}
        for one in named:
            for path, lines in one.paths:
                shown = printable(self._prefix + linked.get(path, path))
                real = path if path in linked else f"{self._base}/{path}"
                matched.files.append((shown, real, lines))
            for path, why in one.unread:
                shown = printable(linked.get(path, path))
                if shown not in known:
                    matched.skipped.append(Skip(self._prefix + shown, _reason(why)))
        return matched

    # ---- which lines ----------------------------------------------------------------------------

    def _collect(self, engine: Engine, matched: _Matched, collected: Collected) -> None:
        """Lines of one file after the other, until there are enough."""
        waiting = deque(matched.files)
        while some := list(_enough(waiting, collected.left + 1)):
            with ExitStack() as stack:
                opened = dict(self._opened(some, matched.skipped, stack))
                if not opened:
                    continue
                found = engine.lines(list(opened), collected.left + 1)
            for number, shown in opened.items():
                collected.add(shown, found.get(number, []))
                if collected.truncated:
                    return
                if number in engine.cut:
                    matched.skipped.append(Skip(shown, "very long lines"))
            engine.cut.clear()

    def _opened(
        self, files: Sequence[tuple[str, str, int]], skipped: list[Skip], stack: ExitStack
    ) -> Iterator[tuple[int, str]]:
        for shown, path, _ in files:
            try:
                opened = system.open_without_links(Path(path), system.READING)
                stack.callback(os.close, opened)
                head = os.pread(opened, SNIFFED_BYTES, 0)
            except OSError:
                skipped.append(Skip(shown, "unreadable"))
                continue
            if b"\0" in head:
                skipped.append(Skip(shown, "binary file matches"))
            else:
                yield opened, shown


def _enough(waiting: deque[tuple[str, str, int]], wanted: int) -> Iterator[tuple[str, str, int]]:
    """The first files that have so many matching lines together, no more than may be open."""
    for _ in range(min(OPEN_AT_ONCE, len(waiting))):
        if wanted <= 0:
            return
        wanted -= waiting[0][2]
        yield waiting.popleft()


def _reason(why: str) -> SkipReason:
    return _REASONS.get(why, "unreadable")
