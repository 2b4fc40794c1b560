"""Ask for a second look at records whose source said when it would be due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retold.config import RetoldConfig, ReviewsConfig
from retold.operations.maintenance.batches import Batches, Place, Report, Step
from retold.operations.maintenance.leases import leased
from retold.operations.maintenance.moments import days_before
from retold.operations.maintenance.pace import Pace
from retold.store import Store, Transaction
from retold.store.codec import to_text, to_text_or_none
from retold.store.retention import DueRow
from retold.store.reviews import Backlog, FlaggedRecord, OpenReview, ReviewRepository

JOB: Final = "review-due"
KIND: Final = "review_due"
ACTOR: Final = "temporal_reviewer"
"""Who flags, whoever asked for it (LLD 8.4)."""


@dataclass(frozen=True, slots=True)
class BacklogState:
    """What waits for a person: how many, since when the oldest does, and whether it is too much.

    ``reasons`` say which limits of ``reviews`` are passed, empty within them.
    """

    open: int
    oldest: datetime | None
    reasons: tuple[str, ...]

    @property
    def is_breached(self) -> bool:
        """Return whether any limit is passed."""
        return bool(self.reasons)


@dataclass(frozen=True, slots=True)
class ReviewDueOutcome:
    """The records flagged by this run and how many questions were closed, with the backlog after.

    ``closed`` questions were about records that are history by now. ``waiting`` records are due
    too and come with the next runs.
    """

    flagged: tuple[FlaggedRecord, ...]
    closed: int
    waiting: int
    backlog: BacklogState


def flag_due_reviews(
    store: Store, cfg: RetoldConfig, *, pace: Pace | None = None, report: Report | None = None
) -> ReviewDueOutcome:
    """Flag up to ``ingestion.temporal_review_batch_size`` due records, each once for ever.

    A flagged record gets one event and one open question; what it says, what backs it and its
    status stay. That a planned time came is no evidence that the plan was kept. Raises StoreBusy
    while another process does it.
    """
    with store.read() as tx:
        now = tx.now
    flagged: list[FlaggedRecord] = []
    steps = (
        _closing(now),
        _flagging(now, cfg.ingestion.temporal_review_batch_size, flagged),
    )
    with leased(store, JOB) as lease:
        done = Batches(store, JOB, lease, steps, pace=pace or Pace(), report=report).run()
        with store.read() as tx:
            reviews = ReviewRepository(tx)
            waiting = reviews.count_due_records(now)
            backlog = backlog_state(reviews.backlog(KIND), tx.now, cfg.reviews)
        with store.write() as tx:
            lease.finish(tx)
    return ReviewDueOutcome(tuple(flagged), done["close"], waiting, backlog)


def list_due_reviews(
    store: Store, cfg: RetoldConfig, *, after: str | None = None, limit: int = 100
) -> tuple[tuple[OpenReview, ...], BacklogState]:
    """Return a page of the open questions, oldest first, and the state of the backlog."""
    with store.read() as tx:
        reviews = ReviewRepository(tx)
        page = tuple(reviews.page(KIND, after=after, limit=limit))
        return page, backlog_state(reviews.backlog(KIND), tx.now, cfg.reviews)


def backlog_state(backlog: Backlog, now: datetime, limits: ReviewsConfig) -> BacklogState:
    """Return the backlog with the limits that it passes."""
    reasons = []
    if backlog.open > limits.max_open:
        reasons.append(f"{backlog.open:,} are open, more than {limits.max_open:,}")
    days = limits.max_age_days
    if backlog.oldest is not None and backlog.oldest < days_before(now, days):
        reasons.append(f"the oldest waits since {backlog.oldest:%Y-%m-%d}, over {days:,} days")
    return BacklogState(backlog.open, backlog.oldest, tuple(reasons))


def _flagging(now: datetime, limit: int, flagged: list[FlaggedRecord]) -> Step:
    def count(tx: Transaction) -> int:
        return ReviewRepository(tx).count_due_records(now)

    def find(tx: Transaction, after: Place, rows: int) -> Sequence[DueRow]:
        due = ReviewRepository(tx).due_records(now, (after[0], after[1]), rows)
        return [DueRow(place, 0) for place in due]

    def change(tx: Transaction, places: Sequence[Place]) -> int:
        reviews = ReviewRepository(tx)
        batch = [one for _, seq in places if (one := _flag(tx, reviews, seq, now)) is not None]
        tx.on_commit(lambda _version: flagged.extend(batch))
        return len(batch)

    return Step("flag", ("", 0), count, find, change, limit)


def _flag(
    tx: Transaction, reviews: ReviewRepository, seq: int, now: datetime
) -> FlaggedRecord | None:
    record = reviews.flag(seq, now)
    if record is None:
        return None
    times = {
        "review_at": to_text(record.review_at),
        "valid_from": to_text_or_none(record.valid_from),
        "valid_until": to_text_or_none(record.valid_until),
    }
    reviews.open(KIND, seq, reason="review_at_reached", payload=times)
    tx.events.append("record.review_due", ACTOR, record_id=record.record_id, payload=times)
    return record


def _closing(now: datetime) -> Step:
    def count(tx: Transaction) -> int:
        return ReviewRepository(tx).count_obsolete(KIND, now)

    def find(tx: Transaction, after: Place, rows: int) -> Sequence[DueRow]:
        found = ReviewRepository(tx).obsolete(KIND, now, after[0], rows)
        return [DueRow((seq,), 0) for seq in found]

    def change(tx: Transaction, places: Sequence[Place]) -> int:
        reviews = ReviewRepository(tx)
        closed = [reviews.close_obsolete(seq, now, resolver=ACTOR) for (seq,) in places]
        for one in closed:
            if one is not None:
                record = tx.records.by_seqs([one.record_seq])[one.record_seq]
                tx.events.append(
                    "review.closed",
                    ACTOR,
                    record_id=record.id,
                    payload={"review": one.review_id, "resolution": one.resolution},
                )
        return sum(one is not None for one in closed)

    return Step("close", (0,), count, find, change)
