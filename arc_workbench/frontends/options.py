"""Everything a person may type, as data, and the one parser of it.

Help, completion, the notebook and the command line all read these tables, so a word that is
listed is a word that works. Nothing heavy is imported here: the extension loads it at once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from keyword import iskeyword

from arc_workbench.errors import SettingsError


@dataclass(frozen=True)
class Option:
    """One option of a cell or of the command line; `values` are the words it is limited to."""

    name: str
    metavar: str
    help: str
    values: tuple[str, ...] = ()

    @property
    def flag(self) -> bool:
        """Whether it takes no value."""
        return not self.metavar

    @property
    def key(self) -> str:
        """Its name in Python: `--dry-run` is `dry_run`."""
        return self.name.lstrip("-").replace("-", "_")


@dataclass(frozen=True)
class Subcommand:
    """One word after `%agent`: what it takes, what it does, what it prints.

    `values` are what its first word is limited to; at most so many words may follow, and only
    these `options`.
    """

    name: str
    usage: str
    help: str
    values: tuple[str, ...] = ()
    most: int = 1
    options: tuple[Option, ...] = ()


MODES = ("default", "acceptEdits", "plan", "yolo")
ACCESS = ("full", "safe")
TOOLSETS = ("arc", "arcturn", "both")
ASK = ("auto", "buttons", "input", "policy")
POLICIES = ("deny", "rules", "allow")
SANDBOXES = ("off", "workspace-write", "required")

PROJECT = Option("--project", "DIR", "of another folder than the session's, or without a session")

SANDBOX = Option(
    "--sandbox", "MODE", "what confines the commands of this turn (default off)", SANDBOXES
)

SHARED_OPTIONS = (
    Option("--model", "SPEC", "script:FILE.yaml or script:tour (the model that answers)"),
    Option("--toolset", "NAME", "the vocabulary of tools (default arc)", TOOLSETS),
    Option("--mode", "MODE", "which calls run, ask or are denied (default: default)", MODES),
    Option(
        "--access",
        "WHAT",
        "which tools are offered (default full where somebody can answer)",
        ACCESS,
    ),
    Option("--project", "DIR", "the folder to work in, or none for chat only (default: this one)"),
    Option("--session", "NAME", "continue or begin the session of this name"),
    Option("--new", "", "begin a new session"),
    SANDBOX,
)

CELL_OPTIONS = (
    *SHARED_OPTIONS,
    Option("--dry-run", "", "files change in a copy only, until %agent dryrun apply or discard"),
    Option("--ask", "HOW", "how questions reach you (default auto)", ASK),
    Option("-o", "NAME", "put the turn into this variable, too"),
)

SUBCOMMANDS = (
    Subcommand("status", "", "the session as it stands"),
    Subcommand("help", "[WORD]", "what can be typed, or one word of it"),
    Subcommand("tools", "[NAME]", "the tools as the model gets them"),
    Subcommand("transcript", "[PLACE]", "draw again: t2 a turn, 7 a step, nothing the last turn"),
    Subcommand("doctor", "", "what works on this machine"),
    Subcommand("mode", "[VALUE]", "show or set the mode", MODES),
    Subcommand("access", "[VALUE]", "show or set which tools are offered", ACCESS),
    Subcommand("model", "[SPEC]", "show or set the model"),
    Subcommand(
        "changes",
        "[CHANGE]",
        "changes of files, newest first, the diff of one (c3), or those of a command (s3)",
        options=(PROJECT,),
    ),
    Subcommand(
        "undo",
        "[CHANGE]",
        "take a change back: the last one of this session, c3, or all of a command: s3",
        options=(PROJECT,),
    ),
    Subcommand(
        "recovery",
        "[keep|restore CHANGE]",
        "what start-up found in the journal; keep a file as it is, or put its old text back",
        ("keep", "restore"),
        most=2,
        options=(PROJECT,),
    ),
    Subcommand(
        "dryrun",
        "[on|diff|apply|discard]",
        "let files change in a copy only; show, write or drop what differs",
        ("on", "diff", "apply", "discard"),
    ),
    Subcommand(
        "jobs",
        "[tail|kill JOB]",
        "commands in the background, newest first; the end of what one printed, or stop it",
        ("tail", "kill"),
        most=2,
    ),
)

_NAME = re.compile(r"[A-Za-z_]\w*")
_FILLED = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class Parsed:
    """Options by their Python names, and the words that were none."""

    options: Mapping[str, str | bool] = field(default_factory=dict[str, str | bool])
    words: tuple[str, ...] = ()

    def text(self, key: str) -> str | None:
        """An option's value, or None where it was not given."""
        value = self.options.get(key)
        return value if isinstance(value, str) else None


def split(line: str) -> list[str]:
    """Split a line like a shell: quotes, and `#` as a comment only after white space.

    Raises `SettingsError` for a quote that is not closed.
    """
    import shlex

    lexer = shlex.shlex(_without_comment(line), posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        raise SettingsError(
            "A quote is not closed; nothing ran. Close it on the first line."
        ) from None


IN_A_CELL = " The task goes below the first line."


def parse(
    words: Sequence[str],
    options: Sequence[Option],
    names: Mapping[str, object] | None = None,
    hint: str = "",
) -> Parsed:
    """Sort words into options and others; `{name}` in a value is filled in from `names`.

    Raises `SettingsError` (message 6) with the nearest known word, then `hint`; nothing is
    abbreviated.
    """
    known = {option.name: option for option in options}
    given: dict[str, str | bool] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, joined, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            rest.append(word)
        elif name not in known:
            raise SettingsError(_unknown(name, known) + hint, key=name, allowed=tuple(known))
        else:
            _take(known[name], value if joined else None, queue, given, names)
    return Parsed(given, tuple(rest))


def refuse_words(parsed: Parsed, options: Sequence[Option], hint: str = "") -> None:
    """Raises `SettingsError` where anything but options was typed."""
    if parsed.words:
        known = {option.name: option for option in options}
        raise SettingsError(_unknown(parsed.words[0], known) + hint, allowed=tuple(known))


def _take(
    option: Option,
    joined: str | None,
    queue: list[str],
    given: dict[str, str | bool],
    names: Mapping[str, object] | None,
) -> None:
    if option.flag:
        if joined is not None:
            raise SettingsError(f"{option.name} takes no value; nothing ran.", key=option.key)
        given[option.key] = True
        return
    if joined is None and (not queue or queue[0].startswith("--")):
        raise SettingsError(
            f"{option.name} needs a value ({option.metavar}); nothing ran.", key=option.key
        )
    value = _fill(joined if joined is not None else queue.pop(0), names or {})
    _check(option, value)
    given[option.key] = value


def _check(option: Option, value: str) -> None:
    if option.values and value not in option.values:
        near = get_close_matches(value, option.values, n=1)
        hint = f" Nearest: {near[0]}." if near else ""
        raise SettingsError(
            f"{value} is no {option.key}; nothing ran.{hint} Known: {', '.join(option.values)}.",
            key=option.key,
            allowed=option.values,
        )
    if option.name == "-o" and (not _NAME.fullmatch(value) or iskeyword(value)):
        raise SettingsError(f"{value} cannot be a variable's name; nothing ran.", key="o")


def _fill(value: str, names: Mapping[str, object]) -> str:
    """`{folder}` becomes the variable's text, after splitting, so that spaces survive."""

    def filled(match: re.Match[str]) -> str:
        if match[1] not in names:
            raise SettingsError(f"There is no variable {match[1]}; nothing ran.", key=match[1])
        return str(names[match[1]])

    return _FILLED.sub(filled, value)


def _unknown(word: str, known: Mapping[str, Option]) -> str:
    return f"{word} is no option; nothing ran. Nearest: {_nearest(word, known)}."


def _nearest(word: str, known: Mapping[str, Option]) -> str:
    """The likeliest option: two letters swapped (`--modle`) are nearer than one left out."""
    near = get_close_matches(word, known, n=3, cutoff=0.3)
    swapped = [name for name in near if sorted(name) == sorted(word)]
    return next(iter(swapped or near), ", ".join(known))


def _without_comment(line: str) -> str:
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def subcommand(words: Sequence[str]) -> tuple[Subcommand, tuple[str, ...]]:
    """The subcommand a line names (none means `status`) and the words after it.

    Raises `SettingsError` with the nearest known word.
    """
    first, *rest = words or ["status"]
    for known in SUBCOMMANDS:
        if known.name == first:
            return known, tuple(rest)
    names = [known.name for known in SUBCOMMANDS]
    near = get_close_matches(first, names, n=1)
    hint = f"Nearest: {near[0]}." if near else f"Known: {', '.join(names)}."
    raise SettingsError(f"{first} is no subcommand; nothing ran. {hint}", allowed=tuple(names))


# ---- help ---------------------------------------------------------------------------------------

MODEL_FORMS = (
    ("script:tour", "the tour that ships with this package: no key, no network"),
    ("script:FILE.yaml", "your own script; see docs/scripts.md"),
    ("", "not in this version: claude-..., compatible:URL#MODEL, replay:FILE, human:"),
)
CHANGES_FORMS = (
    ("c3", "what this change did, and what became of its file since"),
    ("s3", "what the command whose output is s3 changed in the project"),
)
UNDO_FORMS = (
    ("c3", "take this change back, unless its file was altered since"),
    ("s3", "take back all that this command changed, or nothing where a file was altered since"),
)
RECOVERY_FORMS = (
    ("keep c3", "what lies on disk is right, whatever the journal says of c3"),
    ("restore c3", "the text from before c3 is put back"),
    ("keep journal", "the damaged journal is put aside and a new one begins"),
)
JOB_FORMS = (
    ("tail j1", "the last lines that j1 printed, and where all of it lies"),
    ("kill j1", "end j1 and all that it started: first asked to, after two seconds made to"),
)
SANDBOX_FORMS = (
    ("off", "commands run with your rights"),
    ("workspace-write", "files change only in the project and in temporary folders"),
    ("required", "the same, no network and no sockets; where that cannot be, nothing runs"),
)
DRY_RUN_FORMS = (
    ("on", "from now on files change in a copy only"),
    ("diff", "what differs from the folder"),
    ("apply", "write all of it, or nothing where a file was changed meanwhile"),
    ("discard", "drop it and write to the folder again"),
)


def usage() -> str:
    """What `%%agent?` and `%agent help` show."""
    lines = ["%%agent [options]", "Your task, word for word, below the first line.", "", "Options:"]
    lines += columns([_option_row(option) for option in CELL_OPTIONS])
    lines += ["", "%agent SUBCOMMAND:"]
    lines += columns([(_head(known.name, known.usage), known.help) for known in SUBCOMMANDS])
    return "\n".join(lines)


def help_for(word: str) -> str:
    """Help on one option or subcommand; raises `SettingsError` for a word that is neither."""
    for known in SUBCOMMANDS:
        if known.name == word:
            rows = [*map(_option_row, known.options), *_more(word)]
            return "\n".join(
                [f"%agent {_head(known.name, known.usage)}", known.help, *columns(rows)]
            )
    for option in CELL_OPTIONS:
        if option.name == word or option.key == word:
            rows = SANDBOX_FORMS if option is SANDBOX else ()
            return "\n".join([columns([_option_row(option)])[0].strip(), *columns(rows)])
    words = helped()
    near = get_close_matches(word, words, n=1, cutoff=0.3)
    hint = f" Nearest: {near[0]}." if near else ""
    raise SettingsError(f"There is no help on {word}.{hint}", allowed=tuple(words))


def helped() -> list[str]:
    """Every word that there is help on."""
    return [known.name for known in SUBCOMMANDS] + [option.name for option in CELL_OPTIONS]


def _more(word: str) -> Sequence[tuple[str, str]]:
    match word:
        case "model":
            return MODEL_FORMS
        case "mode":
            return [(mode, "") for mode in MODES]
        case "changes":
            return CHANGES_FORMS
        case "undo":
            return UNDO_FORMS
        case "recovery":
            return RECOVERY_FORMS
        case "dryrun":
            return DRY_RUN_FORMS
        case "jobs":
            return JOB_FORMS
        case _:
            return ()


def columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Words and what they mean, in two columns that none of them runs out of."""
    width = max([20, *(len(head) for head, _ in rows)])
    return [f"  {head:<{width}}  {help_}".rstrip() for head, help_ in rows]


def _option_row(option: Option) -> tuple[str, str]:
    words = f" ({' '.join(option.values)})" if option.values else ""
    return _head(option.name, option.metavar), f"{option.help}{words}"


def _head(name: str, rest: str) -> str:
    return f"{name} {rest}".strip()
