"""Take away what was to be kept for a while only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retold.config import RetoldConfig
from retold.operations.maintenance.batches import Batches, Place, Report, Step
from retold.operations.maintenance.checkpoint import save_store
from retold.operations.maintenance.leases import leased
from retold.operations.maintenance.moments import days_before
from retold.operations.maintenance.pace import Pace
from retold.store import Store, Transaction
from retold.store.checkpoint import Checkpoint
from retold.store.codec import to_text
from retold.store.retention import DueRow, RetainedTable, RetentionRepository

JOB: Final = "retain"
TURNS: Final = "turns"
_TABLES: Final[tuple[RetainedTable, ...]] = ("rejections", "searches", "decisions", "payloads")


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """What lies before these moments has been kept long enough.

    ``transcripts`` counts for the ends of extracted sessions, ``logs`` for the moments of logged
    searches, decisions and events.
    """

    transcripts: datetime
    logs: datetime


@dataclass(frozen=True, slots=True)
class Removed:
    """How many turns lost their words, and how many of the other rows went.

    Of events (``payloads``) the rows stay, and so does their chain of hashes.
    """

    turns: int
    rejections: int
    searches: int
    decisions: int
    payloads: int

    @property
    def anything(self) -> bool:
        """Return whether any of them is more than none."""
        return any((self.turns, self.rejections, self.searches, self.decisions, self.payloads))


@dataclass(frozen=True, slots=True)
class RetainOutcome:
    """What was removed, or what would be when ``dry_run``.

    ``waiting_sessions`` ended before the cutoff too, and keep their words because nobody extracted
    them. ``resumed`` says that what an interrupted run removed is counted too. ``log`` says whether
    the write-ahead log still holds what was removed; None after a dry run.
    """

    dry_run: bool
    cutoffs: Cutoffs
    removed: Removed
    waiting_sessions: int
    resumed: bool
    log: Checkpoint | None


def retain(
    store: Store,
    cfg: RetoldConfig,
    *,
    actor: str,
    pace: Pace | None = None,
    report: Report | None = None,
) -> RetainOutcome:
    """Blank old transcripts and event payloads, remove old rows of the logs, overwriting them.

    Records, the quotes behind them and everything that a search looks at stay as they are. A
    session loses its words ``sessions.retain_days`` after its end when it was extracted, never
    before it was nor while it is to be extracted again, and with them the candidates that its
    extraction rejected; the logs go after ``logs.retain_days``. One event says how much was
    removed; a run without work leaves none. Raises StoreBusy while another process does it.
    """
    with store.read() as tx:
        cutoffs = _cutoffs(tx.now, cfg)
    with leased(store, JOB) as lease:
        batches = Batches(store, JOB, lease, _steps(cutoffs), pace=pace or Pace(), report=report)
        removed = Removed(**batches.run())
        with store.read() as tx:
            waiting = RetentionRepository(tx).count_waiting(cutoffs.transcripts)
        with store.write() as tx:
            if removed.anything:
                _note(tx, removed, cutoffs, actor)
            lease.finish(tx)
    log = save_store(store)
    return RetainOutcome(
        dry_run=False,
        cutoffs=cutoffs,
        removed=removed,
        waiting_sessions=waiting,
        resumed=batches.was_resumed,
        log=log,
    )


def preview_retain(store: Store, cfg: RetoldConfig) -> RetainOutcome:
    """Return what ``retain`` would remove at this moment, and change nothing."""
    with store.read() as tx:
        cutoffs = _cutoffs(tx.now, cfg)
        counts = {step.name: step.count(tx) for step in _steps(cutoffs)}
        return RetainOutcome(
            dry_run=True,
            cutoffs=cutoffs,
            removed=Removed(**counts),
            waiting_sessions=RetentionRepository(tx).count_waiting(cutoffs.transcripts),
            resumed=False,
            log=None,
        )


def _cutoffs(now: datetime, cfg: RetoldConfig) -> Cutoffs:
    return Cutoffs(
        transcripts=days_before(now, cfg.sessions.retain_days),
        logs=days_before(now, cfg.logs.retain_days),
    )


def _note(tx: Transaction, removed: Removed, cutoffs: Cutoffs, actor: str) -> None:
    tx.events.append(
        "store.retained",
        actor,
        payload={
            "turns": removed.turns,
            "rejections": removed.rejections,
            "searches": removed.searches,
            "decisions": removed.decisions,
            "payloads": removed.payloads,
            "transcripts_before": to_text(cutoffs.transcripts),
            "logs_before": to_text(cutoffs.logs),
        },
    )


def _steps(cutoffs: Cutoffs) -> tuple[Step, ...]:
    tables = [
        _table(table, cutoffs.transcripts if table == "rejections" else cutoffs.logs)
        for table in _TABLES
    ]
    return (_turns(cutoffs.transcripts), *tables)


def _turns(before: datetime) -> Step:
    def count(tx: Transaction) -> int:
        return RetentionRepository(tx).count_turns(before).turns

    def find(tx: Transaction, after: Place, limit: int) -> Sequence[DueRow]:
        return RetentionRepository(tx).due_turns(before, (after[0], after[1]), limit)

    def change(tx: Transaction, places: Sequence[Place]) -> int:
        return RetentionRepository(tx).blank_turns(places, before)

    return Step(TURNS, (0, 0), count, find, change)


def _table(table: RetainedTable, before: datetime) -> Step:
    def count(tx: Transaction) -> int:
        return RetentionRepository(tx).count(table, before)

    def find(tx: Transaction, after: Place, limit: int) -> Sequence[DueRow]:
        return RetentionRepository(tx).due(table, before, after[0], limit)

    def change(tx: Transaction, places: Sequence[Place]) -> int:
        return RetentionRepository(tx).remove(table, [seq for (seq,) in places], before)

    return Step(table, (0,), count, find, change)
