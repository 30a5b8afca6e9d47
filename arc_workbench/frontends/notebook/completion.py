"""Tab completion in `%%agent` cells and `%agent` lines: options, their values, sessions, files."""

# pyright: basic

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from arc_workbench.frontends.options import CELL_OPTIONS, SUBCOMMANDS

LINE = re.compile(r"\s*%agent\s+(?P<rest>.*)", re.DOTALL)
HEADER = re.compile(r"%%agent(\s|$)")
MENTION = re.compile(r"""(?:^|\s)@("[^"\n]*|[^\s"]*)$""")
MOST = 200
SKIPPED = frozenset({".git", "node_modules"})

Matcher = Callable[[CompletionContext], SimpleMatcherResult]


def register(shell: Any) -> None:
    """Complete agent cells from now on."""

    @context_matcher(identifier="arc_workbench", priority=1000)
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        return _complete(shell, context)

    shell.Completer.custom_matchers.append(matcher)
    shell.arc_workbench_matcher = matcher


def unregister(shell: Any) -> None:
    """Stop completing."""
    matcher: Any = shell.arc_workbench_matcher
    shell.Completer.custom_matchers.remove(matcher)
    del shell.arc_workbench_matcher


def _complete(shell: Any, context: CompletionContext) -> SimpleMatcherResult:
    lines = context.full_text.split("\n")
    before = context.text_until_cursor
    line = LINE.match(before)
    if line:
        return _found(_line_words(line["rest"]), _last_word(before))
    if not HEADER.match(lines[0]):
        return {"completions": []}
    if context.cursor_line == 0:
        return _found(_header_words(shell, before), _last_word(before))
    mention = MENTION.search(before)
    if mention is None:
        return {"completions": [], "suppress": True}
    return _found(_files(_folder(shell), mention[1].lstrip('"')), mention[1].lstrip('"'))


def _found(words: Iterable[str], fragment: str) -> SimpleMatcherResult:
    fitting = [word for word in words if word.startswith(fragment)]
    return {
        "completions": [SimpleCompletion(text=word, type="magic") for word in fitting[:MOST]],
        "matched_fragment": fragment,
        "suppress": True,
    }


def _last_word(before: str) -> str:
    return re.split(r"[\s=]", before)[-1]


def _header_words(shell: Any, before: str) -> Iterable[str]:
    words = re.split(r"[\s=]+", before.rstrip("\n"))
    previous = words[-2] if len(words) > 1 else ""
    options = {option.name: option for option in CELL_OPTIONS}
    if previous == "--session":
        return _sessions()
    if previous == "--model":
        return ("script:tour", *(f"script:{name}" for name in _scripts()))
    if previous == "--project":
        return _folders(_last_word(before))
    if previous in options and not options[previous].flag:
        return options[previous].values
    return options


def _line_words(rest: str) -> Iterable[str]:
    first, space, _ = rest.partition(" ")
    if not space:
        return (known.name for known in SUBCOMMANDS)
    for known in SUBCOMMANDS:
        if known.name == first:
            return known.values
    return ()


def _folder(shell: Any) -> Path:
    desk = shell.arc_workbench.desk
    session = desk.current
    return session.project if session is not None and session.project else Path.cwd()


def _files(folder: Path, fragment: str) -> Iterable[str]:
    """Files and folders one level at a time, as a shell completes them."""
    head, _, _ = fragment.rpartition("/")
    base = folder / head
    if not base.is_dir() or ".." in Path(head).parts or Path(head).is_absolute():
        return []
    prefix = f"{head}/" if head else ""
    with os.scandir(base) as entries:
        names = [(e.name, e.is_dir()) for e in entries if e.name not in SKIPPED]
    return [f"{prefix}{name}{'/' if is_folder else ''}" for name, is_folder in sorted(names)]


def _folders(fragment: str) -> Iterable[str]:
    return ["none", *(name for name in _files(Path.cwd(), fragment) if name.endswith("/"))]


def _scripts() -> Iterable[str]:
    return sorted(path.name for path in Path.cwd().glob("*.yaml"))


def _sessions() -> Iterable[str]:
    from arc_workbench.settings import load, sessions_folder
    from arc_workbench.store.session_dir import names

    return names(sessions_folder(load(os.environ), os.environ))
