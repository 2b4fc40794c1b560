"""Close records whose time is over, so that every look at the file says what searches say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retold.operations.maintenance.batches import Batches, Place, Report, Step
from retold.operations.maintenance.leases import leased
from retold.operations.maintenance.pace import Pace
from retold.store import Store, Transaction
from retold.store.codec import to_text
from retold.store.expiry import ExpiryRepository
from retold.store.retention import DueRow

JOB: Final = "expire"
_EARLIEST_US: Final = -(1 << 62)


@dataclass(frozen=True, slots=True)
class ExpireOutcome:
    """How many records were closed; ``resumed`` says that an interrupted run's are among them."""

    expired: int
    resumed: bool


def expire_records(
    store: Store, *, actor: str, pace: Pace | None = None, report: Report | None = None
) -> ExpireOutcome:
    """Give every active record past its expiry the status that searches treat it by already.

    Each leaves one event. Conflicts with an expired record count as settled, and nothing that it
    had replaced comes back. Running it again changes nothing. Raises StoreBusy while another
    process does it.
    """
    with store.read() as tx:
        before = tx.now
    with leased(store, JOB) as lease:
        batches = Batches(
            store, JOB, lease, (_step(before, actor),), pace=pace or Pace(), report=report
        )
        done = batches.run()
        with store.write() as tx:
            lease.finish(tx)
    return ExpireOutcome(done[JOB], batches.was_resumed)


def _step(before: datetime, actor: str) -> Step:
    def count(tx: Transaction) -> int:
        return ExpiryRepository(tx).count_due(before)

    def find(tx: Transaction, after: Place, limit: int) -> Sequence[DueRow]:
        due = ExpiryRepository(tx).due(before, (after[0], after[1]), limit)
        return [DueRow(place, 0) for place in due]

    def change(tx: Transaction, places: Sequence[Place]) -> int:
        closed = ExpiryRepository(tx).expire([seq for _, seq in places], before)
        for row in closed:
            payload: Mapping[str, str] = {
                "action": "expire",
                "from": row.status,
                "to": "expired",
                "reason": "its time was over",
                "expired_at": to_text(row.expired_at),
            }
            tx.events.append("record.status", actor, record_id=row.record_id, payload=payload)
        return len(closed)

    return Step(JOB, (_EARLIEST_US, 0), count, find, change)
