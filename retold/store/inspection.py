"""Reading many rows at once, for whoever lists or dumps what some scopes hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from retold.models import MemoryType, RecordStatus
from retold.store.codec import to_json, to_us
from retold.store.overview import ScopeCount
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("inspection")


class InspectionRepository:
    """Read side only; which scopes a caller may read is decided above."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def scope_codes(self) -> tuple[int, ...]:
        """Return the code of every scope."""
        return tuple(row[0] for row in self._tx.run(QUERIES["scope_codes"]))

    def walk(
        self,
        scope_codes: Collection[int],
        *,
        types: Collection[MemoryType] | None,
        statuses: Collection[RecordStatus],
        batch: int,
    ) -> Iterator[list[int]]:
        """Yield the keys of all rows in the order they were stored, ``batch`` at a time.

        An active row whose expiry has come is among the expired ones.
        """
        bindings: dict[str, str | int | None] = {
            "scope_codes": to_json(list(scope_codes)),
            "types": None if types is None else to_json(list(types)),
            "statuses": to_json(list(statuses)),
            "now_us": to_us(self._tx.now),
            "limit": batch,
        }
        last = 0
        while seqs := [
            row[0] for row in self._tx.run(QUERIES["walk"], bindings | {"after_seq": last})
        ]:
            yield seqs
            last = seqs[-1]

    def count_by_status(
        self, scope_codes: Collection[int], types: Collection[MemoryType] | None
    ) -> dict[RecordStatus, int]:
        """Return how many rows have each status; statuses without rows are left out."""
        bindings = {
            "scope_codes": to_json(list(scope_codes)),
            "types": None if types is None else to_json(list(types)),
            "now_us": to_us(self._tx.now),
        }
        return dict(self._tx.run(QUERIES["count_by_status"], bindings))

    def count_by_scope(self, scope_codes: Collection[int]) -> tuple[ScopeCount, ...]:
        """Return how many rows each scope holds, in the order of kind, then id."""
        bindings = {"scope_codes": to_json(list(scope_codes)), "now_us": to_us(self._tx.now)}
        return tuple(
            ScopeCount(f"{kind}:{name}", active, total)
            for kind, name, active, total in self._tx.run(QUERIES["count_by_scope"], bindings)
        )
