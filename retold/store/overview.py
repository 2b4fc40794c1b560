"""Counts over the whole store, for the operator; no principal may see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from retold.store.codec import from_text, to_us
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("overview")


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """How many records one scope holds; ``active`` counts those not closed or expired."""

    scope: str
    active: int
    total: int


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """How many sessions there are; ``waiting`` ones are on the extractor's list, reruns too."""

    total: int
    open: int
    waiting: int
    last_turn_at: datetime | None


@dataclass(frozen=True, slots=True)
class EventLine:
    """One audit event without its payload."""

    seq: int
    at: datetime
    kind: str
    actor: str
    record_id: str | None
    entity_id: str | None


class OverviewRepository:
    """Read-only counts; every method runs one statement."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def records(self) -> dict[str, dict[str, int]]:
        """Return the number of records by type, then by status; empty ones are left out."""
        counts: dict[str, dict[str, int]] = {}
        for type_, status, count in self._tx.run(
            QUERIES["records"], {"now_us": to_us(self._tx.now)}
        ):
            counts.setdefault(type_, {})[status] = count
        return counts

    def scopes(self, limit: int) -> tuple[ScopeCount, ...]:
        """Return the scopes with most active records, at most ``limit``."""
        bindings = {"limit": limit, "now_us": to_us(self._tx.now)}
        rows = self._tx.run(QUERIES["scopes"], bindings)
        return tuple(
            ScopeCount(f"{kind}:{name}", active, total) for kind, name, active, total in rows
        )

    def sessions(self) -> SessionCounts:
        """Return the counts of sessions."""
        total, open_, waiting, last = self._tx.one(QUERIES["sessions"]) or (0, 0, 0, None)
        return SessionCounts(total, open_, waiting, None if last is None else from_text(last))

    def last_search_at(self) -> datetime | None:
        """Return when the last search was logged; None when none was."""
        row = self._tx.one(QUERIES["last_search"])
        return None if row is None else from_text(row[0])

    def last_events(self, limit: int) -> tuple[EventLine, ...]:
        """Return the newest events, newest first."""
        return tuple(
            EventLine(seq, from_text(at), kind, actor or "", record_id, entity_id)
            for seq, at, kind, actor, record_id, entity_id in self._tx.run(
                QUERIES["last_events"], {"limit": limit}
            )
        )
