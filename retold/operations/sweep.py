"""Look after the to-do list: what a lost bell, a lost worker or a lost host left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from retold.config import RetoldConfig
from retold.ingest.segments import note_segment
from retold.operations.steps import claim_policy, free
from retold.store import Store

BATCH = 100
"""Rows of one transaction: a conversation beside it waits for some milliseconds."""

Ring = Callable[[Sequence[str]], int]
"""Announce sessions that are due, longest waiting first; return how many were announced now."""


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What one sweep did, in sessions.

    ``due`` counts what could be claimed when it looked, as far as ``queue.max_pending``.
    """

    closed: int
    freed: int
    set_aside: int
    due: int
    announced: int


class Sweep:
    """Close what went silent, free what was lost, and ring for what is due.

    It looks at the store alone, so doing it twice, at once or after any outage is harmless.
    """

    def __init__(self, store: Store, config: RetoldConfig, ring: Ring) -> None:
        """Take the store and whom to tell what is due."""
        self._store = store
        self._policy = claim_policy(config)
        self._silence = timedelta(minutes=config.ingestion.session_idle_timeout_minutes)
        self._asks_for_extraction = config.ingestion.extract_on_session_end
        self._max_pending = config.queue.max_pending
        self._ring = ring

    def run(self) -> SweepOutcome:
        """Do all of it once. Raises what the store raises; what was done until then stands."""
        closed = self._repeated(self._close_silent)
        set_aside = 0

        def free() -> int:
            nonlocal set_aside
            freed, buried = self._free_stale()
            set_aside += buried
            return freed + buried

        freed = self._repeated(free) - set_aside
        with self._store.read() as tx:
            limits = self._policy.limits(tx.now)
            due = tx.claims.list_due(limits, limit=self._max_pending)
        announced = self._ring(due) if due else 0
        return SweepOutcome(closed, freed, set_aside, len(due), announced)

    @staticmethod
    def _repeated(batch: Callable[[], int]) -> int:
        total = 0
        while done := batch():
            total += done
        return total

    def _close_silent(self) -> int:
        """End a batch of segments that heard nothing for too long; return how many."""
        with self._store.read() as tx:  # a look that finds nothing holds up no conversation
            if not tx.claims.list_idle(tx.now - self._silence, limit=1):
                return 0
        with self._store.write() as tx:
            silent = tx.claims.list_idle(tx.now - self._silence, limit=BATCH)
            for session_id in silent:
                tx.sessions.end(session_id, "idle")
                note_segment(tx, "session.split", tx.sessions.require(session_id))
                if self._asks_for_extraction:
                    tx.sessions.request_extraction(session_id)
        return len(silent)

    def _free_stale(self) -> tuple[int, int]:
        """Take a batch of claims away from lost workers; return those freed and those set aside."""
        with self._store.read() as tx:
            if not tx.claims.list_stale(self._policy.limits(tx.now), limit=1):
                return 0, 0
        with self._store.write() as tx:
            lost = tx.claims.list_stale(self._policy.limits(tx.now), limit=BATCH)
            freed = [free(tx, tx.claims.require(each), self._policy) for each in lost]
        return freed.count(True), freed.count(False)
