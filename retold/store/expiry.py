"""Active records whose time is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from retold.models import RecordStatus
from retold.store.codec import from_text, to_json, to_us
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("expiry")


class ExpiredRow(NamedTuple):
    """A row that was closed: what it was before, and since when it was past its time."""

    record_id: str
    status: RecordStatus
    expired_at: datetime


class ExpiryRepository:
    """Rows of ``records`` past ``expires_at`` that still have an active status."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def count_due(self, before: datetime) -> int:
        """Return how many active rows expired at a moment or before."""
        row = self._tx.one(QUERIES["count_due"], {"before_us": to_us(before)})
        return 0 if row is None else int(row[0])

    def due(self, before: datetime, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        """Return (expiry in microseconds, row key) of due rows after such a pair, in order."""
        bindings = {
            "before_us": to_us(before),
            "after_us": after[0],
            "after_seq": after[1],
            "limit": limit,
        }
        return [(row[0], row[1]) for row in self._tx.run(QUERIES["due"], bindings)]

    def expire(self, seqs: Sequence[int], before: datetime) -> list[ExpiredRow]:
        """Close those of the rows that are due still, and return them.

        A row that was confirmed, renewed or replaced since it was found is left alone.
        """
        bindings = {"seqs": to_json(list(seqs)), "before_us": to_us(before)}
        found = list(self._tx.run(QUERIES["still_due"], bindings))
        for seq, *_ in found:
            self._tx.run(QUERIES["expire"], {"seq": seq, "index_version": self._tx.version()})
        return [ExpiredRow(id_, status, from_text(at)) for _, id_, status, at in found]
