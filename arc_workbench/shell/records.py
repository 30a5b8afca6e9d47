"""What is written down of each command, and what it says when nobody watches over it any more."""

import json
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast, get_args

from arc_workbench.shell.states import JobState, Limit, Status, Survivor
from arc_workbench.supervisor.order import RECORD, began, write_record

NAMELESS = "signal "
_TEXTS = ("spool_id", "job_id", "call_id", "command", "cwd", "backend", "unconfined", "note")
_ABOUT = (*_TEXTS, "limit_sec")


def recorded(folder: Path) -> tuple[JobState, ...]:
    """The commands that were written down in the shell folder of a session, oldest first.

    One that is said to run, but whose supervisor is gone, has ended with it.
    """
    found: list[JobState] = []
    with suppress(OSError):
        for place in folder.iterdir():
            state = read(place)
            if state is not None:
                found.append(state)
    return tuple(sorted(found, key=lambda state: number_of(state.spool_id)))


def number_of(name: str) -> int:
    """The number in an id such as `s12`; 0 for none."""
    return int(name[1:]) if name[1:].isdecimal() else 0


def read(folder: Path) -> JobState | None:
    """The record of one command; None where there is none that can be read."""
    try:
        given: object = json.loads((folder / RECORD).read_text(encoding="ascii"))
        record = cast("dict[str, object]", given)
        state = state_of(record)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    supervisor = record.get("supervisor")
    alive = isinstance(supervisor, int) and began(supervisor) == record.get("supervisor_began")
    return state if alive or not state.running else lost(state)


def lost(state: JobState) -> JobState:
    """A command whose supervisor was killed."""
    return replace(state, status="limited", limit="supervisor")


def write(folder: Path, state: JobState) -> None:
    """Write a record that no supervisor writes any more."""
    record = asdict(state)
    record["signal"] = None
    write_record(str(folder), record)


def about(state: JobState) -> dict[str, object]:
    """What is known of a command before it runs, as a supervisor takes it over."""
    return {name: getattr(state, name) for name in _ABOUT}


def state_of(record: Mapping[str, object]) -> JobState:
    """A record as a state; raises `KeyError`, `TypeError` or `ValueError` for what is none."""
    status, limit = str(record["status"]), str(record["limit"])
    if status not in get_args(Status) or limit not in get_args(Limit):
        raise ValueError(status)
    return JobState(
        spool_id=str(record["spool_id"]),
        command=str(record["command"]),
        cwd=str(record["cwd"]),
        status=cast("Status", status),
        job_id=str(record["job_id"]),
        call_id=str(record["call_id"]),
        exit_code=_number(record["exit_code"]),
        signal_name=_signal(record),
        limit=cast("Limit", limit),
        started_at=float(str(record.get("started_at", 0.0))),
        duration_sec=float(str(record["duration_sec"])),
        total_bytes=_number(record["total_bytes"]) or 0,
        lost_from=_number(record["lost_from"]),
        lost_why=str(record["lost_why"]),
        lingering=_survivors(record["lingering"]),
        killed=_survivors(record["killed"]),
        limit_sec=_seconds(record["limit_sec"]),
        backend=str(record["backend"]),
        unconfined=str(record["unconfined"]),
        note=str(record["note"]),
    )


def signal_name(number: int) -> str:
    """`SIGKILL`, or `signal 40` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"{NAMELESS}{number}"


def signal_number(name: str) -> int:
    """The number of a name that `signal_name` gave."""
    if name.startswith(NAMELESS):
        return int(name.removeprefix(NAMELESS))
    return signal.Signals[name].value


def _signal(record: Mapping[str, object]) -> str | None:
    number = _number(record.get("signal"))
    if number is not None:
        return signal_name(number)
    name = record.get("signal_name")
    return name if isinstance(name, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _survivors(given: object) -> tuple[Survivor, ...]:
    pairs = cast("list[tuple[int, str] | dict[str, object]]", given)
    found: list[Survivor] = []
    for pair in pairs:
        if isinstance(pair, dict):
            found.append(Survivor(int(str(pair["pid"])), str(pair["name"])))
        else:
            found.append(Survivor(int(pair[0]), str(pair[1])))
    return tuple(found)
