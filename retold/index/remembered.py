"""What searches read about records, remembered until the records change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, Generic, TypeVar

_Fact = TypeVar("_Fact")

MAX_REMEMBERED: Final = 20_000
"""Records remembered at once, under a kilobyte each; reading one again costs some 10 us."""


class Remembered(Generic[_Fact]):
    """One fact per record key, None is none, the oldest given up first.

    The owner serialises ``keep`` and ``forget``; ``known`` needs no lock.
    """

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._facts: dict[int, _Fact] = {}

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return f"Remembered(records={len(self)})"

    def known(self, seqs: Iterable[int]) -> dict[int, _Fact]:
        """Return what is remembered of these records, in their order."""
        # One lookup each: another thread may forget a record between two.
        known = self._facts.get
        return {seq: fact for seq in seqs if (fact := known(seq)) is not None}

    def keep(self, facts: Mapping[int, _Fact]) -> None:
        """Remember these facts, as far as there is room."""
        self._facts.update(islice(facts.items(), self._most))
        surplus = len(self._facts) - self._most
        for seq in list(islice(self._facts, max(0, surplus))):
            del self._facts[seq]

    def forget(self, seq: int) -> None:
        """Drop what is known of a record; an unknown one is fine."""
        self._facts.pop(seq, None)
