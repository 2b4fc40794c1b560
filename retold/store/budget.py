"""What hosted models were used for, by provider and day."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("budget")


class ProviderUse(NamedTuple):
    """Tokens and requests of one provider on one day, those that are set aside included."""

    provider: str
    tokens: int
    calls: int


class BudgetRepository:
    """Counters only: whether more may be used is decided by who adds. Days are those of UTC."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def used(self, day: date) -> int:
        """Return the tokens of a day over all providers."""
        row = self._tx.one(QUERIES["used"], {"day": day.isoformat()})
        return 0 if row is None else int(row[0])

    def list_for(self, day: date) -> list[ProviderUse]:
        """Return what each provider was used for on a day, by its name."""
        rows = self._tx.run(QUERIES["list_for"], {"day": day.isoformat()})
        return [ProviderUse(*row) for row in rows]

    def add(self, provider: str, day: date, *, tokens: int, calls: int) -> None:
        """Add to the counters of a provider and day; a negative number takes away."""
        bindings = {"provider": provider, "day": day.isoformat(), "tokens": tokens, "calls": calls}
        self._tx.run(QUERIES["add"], bindings)
