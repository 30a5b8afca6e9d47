"""The `arc-workbench` command: run, tools, tool, doctor, purge (interface.md 4)."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from arc_workbench.errors import ArcError, SettingsError
from arc_workbench.frontends import options
from arc_workbench.frontends.exits import COMPLETED, DENIED, FAILED, USAGE
from arc_workbench.frontends.options import (
    ACCESS,
    MODES,
    POLICIES,
    SANDBOX,
    SHARED_OPTIONS,
    TOOLSETS,
    Option,
)

if TYPE_CHECKING:
    from arc_workbench.settings import Settings

JSON_FLAG = Option("--json", "", "print JSON")
TOOLSET = Option("--toolset", "NAME", "arc, arcturn or both (default both)", TOOLSETS)
PROJECT = Option("--project", "DIR", "the folder to work in (default: this one)")

RUN = (
    *SHARED_OPTIONS,
    Option("--dry-run", "", "no file changes; what would change is told on standard error"),
    Option("--prompt", "TEXT", "the task, or - for standard input"),
    Option(
        "--policy",
        "NAME",
        "rules denies what would ask, deny overrules the mode too, allow allows",
        POLICIES,
    ),
    Option("--events", "FORM", "jsonl: one event a line instead of the final text", ("jsonl",)),
)
TOOLS = (TOOLSET, JSON_FLAG)
TOOL = (
    Option("--input", "JSON", "the arguments, one JSON object"),
    Option("--batch", "", 'read {"name", "input"} lines, write one result a line'),
    PROJECT,
    Option("--access", "WHAT", "full or safe (default full)", ACCESS),
    Option("--mode", "MODE", "which calls run (default: default)", MODES),
    SANDBOX,
)
DOCTOR = (JSON_FLAG,)
PURGE = (
    Option("--older-than", "AGE", "what is older goes: 30d, 12h (needed)"),
    Option("--yes", "", "do not ask"),
)

COMMANDS: dict[str, tuple[str, tuple[Option, ...]]] = {
    "run": ("run one turn", RUN),
    "tools": ("[NAME] list tools as a model gets them", TOOLS),
    "tool": ("NAME --input JSON runs one tool", TOOL),
    "doctor": ("what works on this machine", DOCTOR),
    "purge": ("[DIR] forgets old changes of a folder; they cannot be undone then", PURGE),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 completed, 1 error, 2 usage, 3 denied or aborted.

    Results go to standard output as UTF-8, all else to standard error. Nothing heavy is imported
    before the words were understood, so that an interrupt is a line from the first moment on.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _write_utf8()
        code = _command(words)
        sys.stdout.flush()
        return code
    except SettingsError as fault:
        return _fail(str(fault), USAGE)
    except ArcError as fault:
        return _fail(str(fault), FAILED)
    except KeyboardInterrupt:
        return _fail("Interrupted; nothing runs on.", DENIED)
    except OSError as fault:
        _forget_output()
        return _fail(f"Standard output cannot be written ({fault.strerror}); stopped.", FAILED)


def _command(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        print(_usage())
        return COMPLETED if words else USAGE
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise SettingsError(f"{command} is no command; nothing ran. Known: {known}.")
    if rest and rest[0] in {"-h", "--help"}:
        print(_command_usage(command))
        return COMPLETED
    return _RUNNERS[command](options.parse(rest, COMMANDS[command][1]))


def _write_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        _reconfigure(stream, errors="backslashreplace")


def _reconfigure(stream: TextIO, errors: str) -> None:
    change = getattr(stream, "reconfigure", None)  # only real files have it
    if change is not None:
        change(encoding="utf-8", errors=errors)


def _forget_output() -> None:
    """What could not be written is not tried again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr)
    return code


def _run(parsed: options.Parsed) -> int:
    options.refuse_words(parsed, RUN)
    prompt = parsed.text("prompt")
    if prompt is None:
        raise SettingsError(
            "There is no task; nothing ran. Give it: --prompt TEXT, or - for standard input."
        )
    text = _standard_input().read() if prompt == "-" else prompt
    settings = _settings(parsed, access="safe")
    return asyncio.run(_run_turn(settings, text, jsonl=bool(parsed.text("events"))))


async def _run_turn(settings: "Settings", prompt: str, *, jsonl: bool) -> int:
    from arc_workbench.frontends import headless
    from arc_workbench.workbench import open_session

    async with await open_session(settings) as session:
        events = "jsonl" if jsonl else ""
        return await headless.run(session, prompt, policy=settings.policy, events=events)


def _standard_input() -> TextIO:
    """Standard input; raises `SettingsError` where it is closed."""
    stream: TextIO | None = sys.stdin
    if stream is None or stream.closed:
        raise SettingsError("Standard input is closed; nothing ran.")
    _reconfigure(stream, errors="replace")
    return stream


def _tools(parsed: options.Parsed) -> int:
    from arc_workbench.frontends.tool_list import described, offered_tools

    if len(parsed.words) > 1:
        raise SettingsError(f"{parsed.words[1]} is too much; name one tool, or none for all.")
    tools = offered_tools(None, _settings(parsed, toolset="both", access="full"))
    if parsed.words:
        name = parsed.words[0]
        tools = [tool for tool in tools if tool.name == name]
        if not tools:
            raise SettingsError(f"There is no tool {name}. See: arc-workbench tools")
    if parsed.options.get("json"):
        print(json.dumps([tool.definition.model_dump() for tool in tools], indent=2))
    elif parsed.words:
        print(described(tools[0]))
    else:
        for tool in tools:
            print(f"{tool.name}  {tool.definition.description.splitlines()[0]}")
    return 0


def _tool(parsed: options.Parsed) -> int:
    from arc_workbench.frontends import tool_runs

    settings = _settings(parsed, access="full", toolset="both")
    if parsed.options.get("batch"):
        if parsed.words or parsed.text("input"):
            raise SettingsError(
                "--batch reads calls from standard input; give no name and no --input."
            )
        return tool_runs.batch(settings, _standard_input())
    name, given = _one_call(parsed)
    return asyncio.run(tool_runs.one(settings, name, given))


def _one_call(parsed: options.Parsed) -> tuple[str, str]:
    given = parsed.text("input")
    if len(parsed.words) != 1 or given is None:
        raise SettingsError(
            "Type: arc-workbench tool NAME --input JSON, or tool --batch. Nothing ran."
        )
    return parsed.words[0], given


def _doctor(parsed: options.Parsed) -> int:
    from arc_workbench.frontends import doctor

    options.refuse_words(parsed, DOCTOR)
    found = doctor.examine(os.environ, kernel=False)
    if parsed.options.get("json"):
        print(json.dumps([item.as_json() for item in found], indent=2))
    else:
        print(doctor.as_table(found))
    return 0


def _purge(parsed: options.Parsed) -> int:
    """Print what goes, ask unless `--yes`, and forget it."""
    from arc_workbench.frontends import purging
    from arc_workbench.workbench import purge, purge_plan

    if len(parsed.words) > 1:
        raise SettingsError(f"{parsed.words[1]} is too much; name one folder, or none for this.")
    name = parsed.words[0] if parsed.words else "."
    days = purging.days_of(parsed.text("older_than"))
    plan = purge_plan(purging.place_of(name), days, os.environ)
    print(purging.told(name, plan), flush=True)
    if not purging.goes(plan):
        return COMPLETED
    if not parsed.options.get("yes") and not purging.agreed():
        return _fail("Nothing went.", DENIED)
    print(purging.freed(purge(plan)))
    return COMPLETED


def _settings(parsed: options.Parsed, **defaults: str) -> "Settings":
    """Options of the command, then all other sources, then what this command has as default."""
    from arc_workbench.settings import load

    names = (
        *("model", "toolset", "mode", "access", "project", "session", "new", "policy", "dry_run"),
        "sandbox",
    )
    given = {key: parsed.options[key] for key in names if key in parsed.options}
    return load(os.environ, given, defaults)


def _usage() -> str:
    lines = [f"  {name:<8}{text}" for name, (text, _) in COMMANDS.items()]
    return "\n".join(
        ["arc-workbench COMMAND [options]", *lines, "More: arc-workbench COMMAND --help"]
    )


def _command_usage(command: str) -> str:
    text, known = COMMANDS[command]
    lines = options.columns([(f"{o.name} {o.metavar}".strip(), o.help) for o in known])
    return "\n".join([f"arc-workbench {command}: {text}", *lines])


_RUNNERS = {"run": _run, "tools": _tools, "tool": _tool, "doctor": _doctor, "purge": _purge}

if __name__ == "__main__":
    sys.exit(main())
