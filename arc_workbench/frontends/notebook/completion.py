"""Tab completion in `%%agent` cells and `%agent` lines: options, their values, sessions, files."""

# pyright: basic

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from arc_workbench.errors import ArcError
from arc_workbench.frontends.options import CELL_OPTIONS, SUBCOMMANDS, Subcommand, helped

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
        return _found(_line_words(shell, line["rest"]), _last_word(before), nothing_else=True)
    if not HEADER.match(lines[0]):
        return {"completions": []}
    if context.cursor_line == 0:
        return _found(_header_words(shell, before), _last_word(before))
    mention = MENTION.search(before)
    if mention is None:
        return {"completions": [], "suppress": True}
    return _found(_files(_folder(shell), mention[1].lstrip('"')), mention[1].lstrip('"'))


class _Nothing(tuple[SimpleCompletion, ...]):
    """No completion, and none of others: IPython heeds `suppress` only of what has a length."""

    def __len__(self) -> int:
        return 1


def _found(
    words: Iterable[str], fragment: str, *, nothing_else: bool = False
) -> SimpleMatcherResult:
    fitting = [word for word in words if word.startswith(fragment)]
    completions = [SimpleCompletion(text=word, type="magic") for word in fitting[:MOST]]
    return {
        "completions": completions or (_Nothing() if nothing_else else []),
        "matched_fragment": fragment,
        "suppress": True,
        "ordered": True,
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


def _line_words(shell: Any, rest: str) -> Iterable[str]:
    first, *words = re.split(r"[\s=]+", rest)
    if not words:
        return (known.name for known in SUBCOMMANDS)
    known = next((known for known in SUBCOMMANDS if known.name == first), None)
    if known is None:
        return ()
    if known.options and words[-1].startswith("-"):
        return (option.name for option in known.options)
    if known.options and words[-2:-1] == ["--project"]:
        return _folders(words[-1])
    return _first_words(shell, known, words)


def _first_words(shell: Any, known: Subcommand, words: Sequence[str]) -> Iterable[str]:
    """What may follow a subcommand; `words` stand there already, the last perhaps half."""
    match known.name, len(words):
        case "help", 1:
            return helped()
        case "changes" | "undo" as name, 1:
            return _changes(shell, standing=name == "undo")
        case "recovery", 2 if words[0] in known.values:
            return _open_questions(shell)
        case "jobs", 2 if words[0] in known.values:
            return _jobs(shell, running=words[0] == "kill")
        case _, 1:
            return known.values
        case _:
            return ()


def _changes(shell: Any, *, standing: bool) -> Iterable[str]:
    """The newest changes, or those of them that an undo could take back; then commands alike."""
    from arc_workbench.frontends import history
    from arc_workbench.frontends.notebook import journals

    with contextlib.suppress(ArcError, OSError):
        desk = shell.arc_workbench.desk
        rows = journals.find(desk).changes(MOST)
        found = [row.id for row in rows if history.can_be_undone(row) or not standing]
        session = desk.current
        commands = session.changing_commands(standing=standing) if session is not None else ()
        return [*found, *commands]
    return ()


def _open_questions(shell: Any) -> Iterable[str]:
    """The changes that need a person, or the journal itself."""
    from arc_workbench.frontends.notebook import journals

    with contextlib.suppress(ArcError, OSError):
        entries = journals.find(shell.arc_workbench.desk).recovery().entries
        return [each.id for each in entries if each.status in {"ambiguous", "tampered"}]
    return ()


def _jobs(shell: Any, *, running: bool) -> Iterable[str]:
    """The background jobs that are known, or those that can still be ended."""
    from arc_workbench.frontends.notebook import jobs

    with contextlib.suppress(ArcError, OSError):
        return list(dict.fromkeys(jobs.job_ids(shell.arc_workbench.desk, running=running)))
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
