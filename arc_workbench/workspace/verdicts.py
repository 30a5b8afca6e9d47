"""What start-up and the changes since found in the journal, in words, and whether it blocks."""

from collections.abc import Iterable
from typing import Literal

from arc_workbench.content import Recovery, RecoveryEntry
from arc_workbench.workspace.journal import Damage, Journal
from arc_workbench.workspace.recovery import Settled

JOURNAL_ENTRY = "journal"

Verdict = Literal["clean", "repaired", "ambiguous", "tampered"]

_STATUS = {"in": "committed", "out": "rolled_back", "unclear": "ambiguous"}


class Findings:
    """What was found, as far as it still matters; `fault` is why the journal cannot be used."""

    def __init__(self, journal: Journal) -> None:
        self.fault = ""
        self._journal = journal
        self._mended: list[Settled] = []
        self._unclear: dict[str, Settled] = {}

    # ---- taking note ----------------------------------------------------------------------------

    def note(self, settled: Iterable[Settled]) -> None:
        """Remember what became of changes that had been left half done."""
        for one in settled:
            if one.where == "unclear":
                self._unclear[one.intent.id] = one
            else:
                self._mended.append(one)

    def knows(self, ids: Iterable[str]) -> bool:
        """Whether all of these changes are known to be unclear."""
        return all(id_ in self._unclear for id_ in ids)

    def drop_decided(self) -> None:
        """Forget what was unclear and is settled in the journal by now."""
        for id_ in [id_ for id_ in self._unclear if id_ not in self._journal.pending]:
            del self._unclear[id_]

    def clear(self) -> None:
        """Forget everything: another journal begins."""
        self._mended.clear()
        self._unclear.clear()

    # ---- the verdict ----------------------------------------------------------------------------

    @property
    def verdict(self) -> Verdict:
        """The worst of what was found."""
        if self.fault or self._journal.damage is not None:
            return "tampered"
        if self._unclear:
            return "ambiguous"
        return "repaired" if self._mended or self._journal.torn_bytes else "clean"

    @property
    def blocked(self) -> bool:
        """Whether nothing may be written."""
        return self.verdict in {"ambiguous", "tampered"}

    def report(self) -> Recovery:
        """The verdict, and what it rests on."""
        return Recovery(
            verdict=self.verdict, mutation_blocked=self.blocked, entries=tuple(self._entries())
        )

    def _entries(self) -> Iterable[RecoveryEntry]:
        if self.fault:
            return [_of_journal(self.fault, "Put it right, then try again.")]
        if (damage := self._journal.damage) is not None:
            return [_of_damage(damage)]
        if self._unclear:
            return map(_of_change, self._unclear.values())
        torn = self._journal.torn_bytes
        note = f"the last {torn} bytes were cut off in a crash; they were put aside"
        mended = [_of_change(one) for one in self._mended]
        return [*mended, _of_journal(note, "", "repaired")] if torn else mended


def _of_damage(damage: Damage) -> RecoveryEntry:
    where = f" (from record {damage.record} on)" if damage.record else ""
    next_ = "" if damage.newer else "%agent recovery keep journal"
    return _of_journal(damage.what + where, next_)


def _of_journal(happened: str, next_: str, status: str = "tampered") -> RecoveryEntry:
    return RecoveryEntry(
        id=JOURNAL_ENTRY, path="", op="", status=status, happened=happened, next=next_
    )


def _of_change(one: Settled) -> RecoveryEntry:
    intent = one.intent
    keep = f"%agent recovery keep {intent.id}, or: %agent recovery restore {intent.id}"
    return RecoveryEntry(
        id=intent.id,
        path=intent.shown,
        op=intent.verb,
        status=_STATUS[one.where],
        happened=one.happened,
        next=keep if one.where == "unclear" else "",
    )
