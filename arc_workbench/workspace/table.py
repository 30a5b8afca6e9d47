"""What a journal says of its changes, by number: where each stands, and what became of it."""

from array import array
from typing import Literal

Settlement = Literal["done", "void", "kept"]
STATES: tuple[str, ...] = ("prepared", "done", "void", "kept")
HASH = 64


class Table:
    """The changes of one journal, in constant space each; `first` is the number of the first."""

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self.pending: dict[str, None] = {}
        self._places = array("Q")
        self._hashes = bytearray()
        self._states = bytearray()
        self._undone: dict[str, str] = {}

    @property
    def numbers(self) -> range:
        """The numbers of the changes that are recorded."""
        return range(self.first, self.first + len(self._places))

    def begun(self, id_: str, undoes: str, at: int, hashes: tuple[bytes, bytes]) -> None:
        """Take in the next change: its record stands at `at`.

        `hashes` are those of the record before and of its own.
        """
        self._places.append(at)
        self._hashes += hashes[0] + hashes[1]
        self._states.append(0)
        self.pending[id_] = None
        if undoes:
            self._undone[undoes] = id_

    def settled(self, id_: str, how: str) -> None:
        """Take in what became of a change."""
        self._states[int(id_[1:]) - self.first] = STATES.index(how)
        self.pending.pop(id_, None)

    def place(self, number: int) -> int:
        """Where the record of a change stands, in bytes."""
        return self._places[number - self.first]

    def hashes(self, number: int) -> tuple[bytes, bytes]:
        """The hash of the record before a change, and that of its own."""
        at = 2 * HASH * (number - self.first)
        middle = at + HASH
        return bytes(self._hashes[at:middle]), bytes(self._hashes[middle : middle + HASH])

    def state(self, number: int) -> str:
        """What became of a change: prepared, done, void or kept."""
        return STATES[self._states[number - self.first]]

    def undone_by(self, id_: str) -> str:
        """The change that took this one back and was itself not taken back; "" for none."""
        by = self._undone.get(id_, "")
        if by and self.state(int(by[1:])) in {"done", "prepared"} and not self.undone_by(by):
            return by
        return ""
