"""The environment of a command: no secrets, UTF-8, and nothing that waits for a person."""

from collections.abc import Mapping
from dataclasses import dataclass

from arc_workbench.secret_names import holds_secret, looks_secret

MARK = "ARC_WORKBENCH_COMMAND"
"""Names the commands a process belongs to, outermost first, so that a runaway can be recognised."""

_NO_EDITOR = (
    "echo 'No editor can be opened here: give the text as an argument "
    "(git commit -m ...) or set GIT_EDITOR=true to keep it.' >&2; false"
)
_ALWAYS = {
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "BAT_PAGER": "cat",
    "DELTA_PAGER": "cat",
    "PSQL_PAGER": "cat",
    "AWS_PAGER": "",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": _NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": _NO_EDITOR,
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
}
_UNLESS_SET = {"PYTHONUNBUFFERED": "1"}  # what was printed before a time-out is not lost
_NEVER = frozenset(
    {
        # They would change what a command means, or ask a person.
        *("BASH_ENV", "ENV", "CDPATH", "PROMPT_COMMAND", "SSH_ASKPASS"),
        # A kernel sets them for itself and its own output.
        *("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"),
        *("JPY_PARENT_PID", "JPY_INTERRUPT_EVENT", "JPY_SESSION_NAME"),
    }
)
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")


@dataclass(frozen=True)
class ChildEnvironment:
    """What a command finds in its environment, and the names of the secrets kept from it."""

    values: Mapping[str, str]
    left_out: tuple[str, ...]

    def marked(self, mark: str) -> dict[str, str]:
        """The variables of one command: `mark` is added to the commands around it."""
        outer = self.values.get(MARK)
        return {**self.values, MARK: f"{outer}:{mark}" if outer else mark}


def child_environment(snapshot: Mapping[str, str], os_name: str) -> ChildEnvironment:
    """The environment for commands, made from `snapshot`, which is not changed."""
    left_out = tuple(sorted(name for name in snapshot if _is_secret(name, snapshot[name])))
    kept = {
        name: value
        for name, value in snapshot.items()
        if name not in left_out and name not in _NEVER and not _is_kernel_backend(name, value)
    }
    utf8 = {"PYTHONIOENCODING": "utf-8"} if os_name == "nt" else _utf8_locale(kept)
    return ChildEnvironment({**_UNLESS_SET, **kept, **_ALWAYS, **utf8}, left_out)


def _is_secret(name: str, value: str) -> bool:
    return looks_secret(name, value) or holds_secret(value)


def _is_kernel_backend(name: str, value: str) -> bool:
    """A drawing back end that only the kernel around us can import."""
    return name == "MPLBACKEND" and value.startswith("module://")


def _utf8_locale(kept: Mapping[str, str]) -> dict[str, str]:
    """What makes the character set UTF-8, leaving language and formats as they are."""
    named = next(((name, kept[name]) for name in _LOCALE if kept.get(name)), ("LANG", ""))
    if "utf" in named[1].lower():
        return {}
    return {"LC_ALL" if named[0] == "LC_ALL" else "LC_CTYPE": "C.UTF-8"}
