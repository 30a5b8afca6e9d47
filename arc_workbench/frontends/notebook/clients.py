"""Who is there: somebody who can press buttons, somebody who can type, or nobody.

`who` climbs a ladder of facts. `buttons` still has to prove itself: the page says `ready` within
`ready_within(ask)` seconds, or the question is asked as text (message 17).
"""

import builtins
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from arc_workbench.events import Scope
from arc_workbench.settings import Ask

Client = Literal["buttons", "input", "policy"]

READY_SEC = 2.0
READY_WHEN_CHOSEN_SEC = 30.0
TRIES = 3
CHOICES: dict[Scope, str] = {
    "once": "y to allow once",
    "session": "s to allow for this session",
}


@dataclass(frozen=True)
class Facts:
    """What can be known before anything is shown.

    `allow_stdin` is what the running request says, `tty` whether standard input is a terminal,
    `awaited` whether the cell leaves the loop free, so that a click can arrive while it runs.
    """

    kernel: bool
    allow_stdin: bool
    tty: bool
    awaited: bool
    buttons_possible: bool


@dataclass(frozen=True)
class TypedAnswer:
    """What the person typed; `reason` only with a denial."""

    verdict: Literal["allow", "deny"]
    scope: Scope = "once"
    reason: str = ""


def decide(facts: Facts, ask: Ask) -> Client:
    """The best way to ask; never one that could wait for nobody."""
    can_type = facts.allow_stdin if facts.kernel else facts.tty
    if ask == "policy" or not can_type:
        return "policy"
    can_press = facts.kernel and facts.awaited and facts.buttons_possible
    return "buttons" if can_press and ask != "input" else "input"


def who(shell: object, ask: Ask, *, awaited: bool = True) -> Client:
    """`decide` for an IPython shell as it is now; call it inside the cell that will ask."""
    return decide(look(shell, awaited=awaited), ask)


def ready_within(ask: Ask) -> float:
    """How many seconds a page has to say that it drew the buttons."""
    return READY_WHEN_CHOSEN_SEC if ask == "buttons" else READY_SEC


class _Kernel(Protocol):
    implementation_version: str

    def get_parent(self, channel: str) -> dict[str, dict[str, object]]:
        """The request that runs."""
        ...


def look(shell: object, *, awaited: bool) -> Facts:
    """The facts about an IPython shell; imports nothing."""
    kernel = cast("_Kernel | None", getattr(shell, "kernel", None))
    return Facts(
        kernel=kernel is not None,
        allow_stdin=kernel is not None and _allows_stdin(kernel),
        tty=_has_tty(),
        awaited=awaited,
        buttons_possible=kernel is not None and _has_widgets(kernel),
    )


def _allows_stdin(kernel: _Kernel) -> bool:
    return bool(kernel.get_parent("shell").get("content", {}).get("allow_stdin", False))


def _has_tty() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _has_widgets(kernel: _Kernel) -> bool:
    # Before ipykernel 7 no click reaches a running cell.
    major = kernel.implementation_version.partition(".")[0]
    modern = not major.isdigit() or int(major) >= 7
    return modern and importlib.util.find_spec("anywidget") is not None


def typed_answer(
    question: str, scopes: tuple[Scope, ...] = ("once", "session")
) -> TypedAnswer | None:
    """Ask in words, on the main thread; None where the front end takes no input after all.

    Only `y`, `s` and `n` count; after three other lines, or when input ends, it is a denial.
    """
    offered = [CHOICES[scope] for scope in CHOICES if scope in scopes]
    prompt = f"{question}\nType n to deny (a reason may follow), {', '.join(offered)}: "
    try:
        return _ask(builtins.input, prompt, scopes)
    except EOFError:
        return TypedAnswer("deny", reason="input ended before an answer was typed")
    except RuntimeError as fault:
        if type(fault).__name__ != "StdinNotImplementedError":
            raise
        return None


def _ask(read: Callable[[str], str], prompt: str, scopes: tuple[Scope, ...]) -> TypedAnswer:
    for _ in range(TRIES):
        _forget_what_was_typed_ahead()
        answer = parse_answer(read(prompt), scopes)
        if answer is not None:
            return answer
        prompt = "Nothing ran. Type only n, or n and a reason, or one of the letters: "
    return TypedAnswer("deny", reason="no answer that could be understood")


def parse_answer(line: str, scopes: tuple[Scope, ...]) -> TypedAnswer | None:
    """What a typed line means; None where it is no answer. A yes has nothing after it."""
    word, _, rest = line.strip().partition(" ")
    match word.lower().rstrip(",:"):
        case "n" | "no":
            return TypedAnswer("deny", reason=rest.strip())
        case "y" | "yes" if not rest and "once" in scopes:
            return TypedAnswer("allow")
        case "s" | "session" if not rest and "session" in scopes:
            return TypedAnswer("allow", scope="session")
        case _:
            return None


def _forget_what_was_typed_ahead() -> None:
    """A yes that was typed before the question was there is none (REQ-S11)."""
    if not _has_tty():
        return
    try:
        import termios
    except ImportError:  # not a POSIX terminal
        return
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
