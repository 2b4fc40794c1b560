"""Questions about records that wait for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from retold.store.codec import from_text, from_text_or_none, to_json, to_text, to_us
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("reviews")


@dataclass(frozen=True, slots=True)
class FlaggedRecord:
    """A record whose review was asked for just now, with the times that its source stated."""

    record_id: str
    review_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, slots=True)
class OpenReview:
    """One question that waits. ``payload`` holds codes and moments, never content."""

    id: str
    kind: str
    record_id: str
    payload: Mapping[str, Any]
    created_at: datetime


class ClosedReview(NamedTuple):
    """A question that was answered by what became of its record."""

    review_id: str
    record_seq: int
    resolution: str


class Backlog(NamedTuple):
    """How many questions are open; ``oldest`` is None when none is."""

    open: int
    oldest: datetime | None


class ReviewRepository:
    """Rows of ``reviews``, and the due ones of ``records`` that become such rows."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def due_records(
        self, now: datetime, after: tuple[str, int], limit: int
    ) -> list[tuple[str, int]]:
        """Return (moment as text, row key) of records to flag after such a pair, in order."""
        bindings = {"after_at": after[0], "after_seq": after[1], "limit": limit, **_at(now)}
        return [(row[0], row[1]) for row in self._tx.run(QUERIES["due_records"], bindings)]

    def count_due_records(self, now: datetime) -> int:
        """Return how many records there are to flag."""
        row = self._tx.one(QUERIES["count_due_records"], _at(now))
        return 0 if row is None else int(row[0])

    def flag(self, seq: int, now: datetime) -> FlaggedRecord | None:
        """Flag a record; None when somebody did, or when it is no longer due."""
        bindings = {"seq": seq, "flagged_at": to_text(self._tx.now), **_at(now)}
        row = self._tx.one(QUERIES["flag"], bindings)
        if row is None:
            return None
        return FlaggedRecord(
            row[0], from_text(row[1]), from_text_or_none(row[2]), from_text_or_none(row[3])
        )

    def open(
        self, kind: str, record_seq: int, *, reason: str, payload: Mapping[str, Any]
    ) -> str | None:
        """Ask one question about a record; None when one of its kind is open already."""
        review_id = self._tx.new_id()
        self._tx.run(
            QUERIES["open"],
            {
                "id": review_id,
                "kind": kind,
                "record_seq": record_seq,
                "payload": to_json(dict(payload)),
                "reason": reason,
                "created_at": to_text(self._tx.now),
            },
        )
        return review_id if self._tx.changes() else None

    def obsolete(self, kind: str, now: datetime, after: int, limit: int) -> list[int]:
        """Return keys of open questions about records that are history, in order."""
        bindings = {"kind": kind, "after_seq": after, "limit": limit, "now_us": to_us(now)}
        return [row[0] for row in self._tx.run(QUERIES["obsolete"], bindings)]

    def count_obsolete(self, kind: str, now: datetime) -> int:
        """Return how many open questions are about records that are history."""
        row = self._tx.one(QUERIES["count_obsolete"], {"kind": kind, "now_us": to_us(now)})
        return 0 if row is None else int(row[0])

    def close_obsolete(self, seq: int, now: datetime, *, resolver: str) -> ClosedReview | None:
        """Close a question about a record that is history; None when it is not so any more."""
        bindings = {
            "seq": seq,
            "now": to_text(self._tx.now),
            "now_us": to_us(now),
            "resolver": resolver,
        }
        row = self._tx.one(QUERIES["close_obsolete"], bindings)
        return None if row is None else ClosedReview(*row)

    def backlog(self, kind: str) -> Backlog:
        """Return how many questions of a kind are open, and since when the oldest is."""
        row = self._tx.one(QUERIES["backlog"], {"kind": kind})
        return Backlog(0, None) if row is None else Backlog(row[0], from_text_or_none(row[1]))

    def page(self, kind: str, *, after: str | None = None, limit: int = 100) -> list[OpenReview]:
        """Return open questions of a kind after the one with id ``after``, oldest first."""
        bindings = {"kind": kind, "after_id": after, "limit": limit}
        return [
            OpenReview(row[1], row[2], row[3], json.loads(row[4]), from_text(row[5]))
            for row in self._tx.run(QUERIES["page"], bindings)
        ]


def _at(now: datetime) -> dict[str, str | int]:
    return {"now": to_text(now), "now_us": to_us(now)}
