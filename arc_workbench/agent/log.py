"""The one way a fact takes: stamped, cleared of secrets, on disk, then to every listener."""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Literal, get_origin

from pydantic import BaseModel, JsonValue

from arc_workbench.events import EVENT, Event
from arc_workbench.store.redaction import Redactor
from arc_workbench.store.transcript import Transcript

Sink = Callable[[Event], None]

_IDS = frozenset({"call_id", "change_id", "digest", "sha256", "session", "name", "project"})

_log = logging.getLogger(__name__)


def _with_kinds(before: JsonValue, after: JsonValue) -> JsonValue:
    """`after`, where every `type` of a block is what it was, even if that looks like a secret."""
    match before, after:
        case dict(), dict():
            inside = {key: _with_kinds(before.get(key), item) for key, item in after.items()}
            return {**inside, "type": before["type"]} if "type" in before else inside
        case list(), list():
            return [_with_kinds(old, new) for old, new in zip(before, after, strict=True)]
        case _:
            return after


@cache
def _words_of(event: type[BaseModel]) -> frozenset[str]:
    """The fields of an event that can hold what somebody wrote."""
    fields = event.model_fields.items()
    open_ended = {name for name, info in fields if get_origin(info.annotation) is not Literal}
    return frozenset(open_ended - _IDS)


class EventLog:
    """Orders events and hands them on; may be used from any thread.

    A durable event is in the transcript before any listener sees it. A listener that raises is
    logged and does not disturb the others (REQ-F29). `fold` is the session's own bookkeeping: it
    comes first, and what it raises is a bug and surfaces.
    """

    def __init__(
        self, transcript: Transcript, redactor: Redactor, fold: Sink, last_seq: int
    ) -> None:
        self.redactor = redactor
        self._transcript = transcript
        self._fold = fold
        self._seq = last_seq
        self._sinks: list[Sink] = []
        self._lock = threading.RLock()

    def listen(self, sink: Sink) -> Callable[[], None]:
        """Every event from now on, in order; the returned function ends it."""
        with self._lock:
            self._sinks = [*self._sinks, sink]

        def stop() -> None:
            with self._lock:
                self._sinks = [kept for kept in self._sinks if kept is not sink]

        return stop

    def emit(self, event: Event) -> Event:
        """Record and show one event; raises `TranscriptError` where it cannot be recorded."""
        with self._lock:
            stamped = self._stamp(self._cleared(event))
            if stamped.durable:
                self._transcript.append(stamped)
                self._seq = stamped.seq
            self._fold(stamped)
            self._tell(stamped)
            return stamped

    def tell_unrecorded(self, event: Event) -> None:
        """Show an event that could not be written: the last resort when the disk refuses."""
        with self._lock:
            stamped = self._stamp(self._cleared(event))
            self._fold(stamped)
            self._tell(stamped)

    def _stamp(self, event: Event) -> Event:
        seq = self._seq + 1 if event.durable else self._seq
        return event.model_copy(update={"seq": seq, "at": time.time()})

    def _cleared(self, event: Event) -> Event:
        """The event with secrets taken out of its words; ids and closed sets are not words."""
        data = event.model_dump(mode="json", include=set(_words_of(type(event))))
        clear = self.redactor.value(data)
        if clear == data:
            return event
        assert isinstance(clear, dict)
        kept = _with_kinds(data, clear)
        assert isinstance(kept, dict)
        return EVENT.validate_python({**event.model_dump(mode="json"), **kept})

    def _tell(self, event: Event) -> None:
        for sink in self._sinks:
            try:
                sink(event)
            except Exception:
                _log.exception("A listener failed on %s", event.type)
