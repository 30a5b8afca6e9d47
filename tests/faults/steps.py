"""The calls of `workspace.system`, wrapped, so that a step can be counted, failed or made fatal.

A step is a call that changes something on the disk. Between two of them the disk is the same, so a
kill before each step is a kill anywhere. A write is two steps, so that torn files arise.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import cast

from arc_workbench.workspace import system

Call = Callable[..., object]

CHANGING = (
    "exchange",
    "link",
    "make_folder",
    "make_own_folder",
    "remove",
    "remove_folder",
    "remove_own",
    "rename_over",
    "rename_own",
    "cut",
    "dress",
    "set_mode",
)
OPENING = ("open_at", "open_own")
WRITING = ("write", "write_at")
SYNCING = ("sync", "sync_data")


def real(name: str) -> Call:
    """A function of `system` as it is now."""
    return cast("Call", getattr(system, name))


@contextmanager
def replaced(calls: dict[str, Call]) -> Generator[None]:
    """These functions of `system` instead of its own."""
    before = {name: real(name) for name in calls}
    for name, call in calls.items():
        setattr(system, name, call)
    try:
        yield
    finally:
        for name, call in before.items():
            setattr(system, name, call)


def older_system() -> dict[str, Call]:
    """One that can neither swap two names nor open a path without links in one step."""

    def cannot(*_: object) -> None:
        raise system.Cannot

    return {"_rename2": cannot, "has_openat2": lambda: False}


def renaming() -> tuple[str, ...]:
    """The step that gives a file a free name: one, or in an older system those that it calls."""
    return () if not system.has_openat2() else ("rename_to_free",)


def stepwise(step: Callable[[str], None], *, syncing: bool = False) -> dict[str, Call]:
    """Wrappers that call `step` with the name before each step; without `syncing` none waits."""
    calls = {name: _before(name, step) for name in (*CHANGING, *renaming())}
    calls |= {name: _opening(name, step) for name in OPENING}
    calls |= {name: _in_two(name, step) for name in WRITING}
    for name in SYNCING:
        calls[name] = _before(name, step) if syncing else _nothing
    return calls


def deadly(at: int) -> dict[str, Call]:
    """Wrappers that kill this process before the step of that number, the first being 1."""
    count = 0

    def step(_: str) -> None:
        nonlocal count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return stepwise(step)


def _nothing(opened: int) -> None:
    os.fstat(opened)


def _before(name: str, step: Callable[[str], None]) -> Call:
    call = real(name)

    @wraps(call)
    def wrapper(*args: object) -> object:
        step(name)
        return call(*args)

    return wrapper


def _opening(name: str, step: Callable[[str], None]) -> Call:
    call = real(name)

    @wraps(call)
    def wrapper(*args: object, **more: object) -> object:
        flags = args[1] if name == "open_own" else args[2]
        assert isinstance(flags, int)
        if flags & os.O_CREAT:
            step(name)
        return call(*args, **more)

    return wrapper


def _in_two(name: str, step: Callable[[str], None]) -> Call:
    call = cast("Callable[..., int]", real(name))

    @wraps(call)
    def wrapper(opened: int, data: bytes | memoryview, *at: int) -> int:
        half = len(data) // 2
        step(name)
        if not half:
            return call(opened, data, *at)
        call(opened, data[:half], *at)
        step(name)
        return half + call(opened, data[half:], *(place + half for place in at))

    return wrapper
