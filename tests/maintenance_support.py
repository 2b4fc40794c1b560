"""Stores with rows that are due for maintenance, on real files, and a pace without waiting."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from retold.config import RetoldConfig
from retold.models import Principal
from retold.operations.maintenance.expire import expire_records
from retold.operations.maintenance.pace import Pace
from retold.operations.maintenance.retain import retain
from retold.operations.maintenance.review_due import flag_due_reviews
from retold.store import Store, Transaction
from retold.store.search_log import COLUMNS
from tests.store_support import MOMENT, prepare, remember

TODAY = MOMENT + timedelta(days=200)
LONG_AGO = MOMENT
RECENTLY = TODAY - timedelta(days=3)
ANA = Principal("helper", "ana")
CFG = RetoldConfig()


class Clock:
    """A clock that stands where a test puts it."""

    def __init__(self, now: datetime = TODAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def at_once(rows: int = 8) -> Pace:
    """Return a pace that never sleeps and takes so many rows a batch."""
    return Pace(ticks=lambda: 0.0, sleep=lambda _seconds: None, rows=rows)


def steady(rows: int, sleep: Callable[[float], None] = lambda _seconds: None) -> Pace:
    """Return a pace that keeps to a number of rows."""
    moments = iter(range(10**9))
    # Every batch seems to take 7 ms: too little to take fewer rows, too much to take more.
    return Pace(ticks=lambda: 0.007 * next(moments), sleep=sleep, rows=rows)


def open_at(path: Path, clock: Clock, **options: object) -> Store:
    """Open or make a store whose clock a test moves."""
    return Store.open(path, clock=clock, **options)


class StoreWithOthers(Store):
    """A store on which somebody else writes between the finding and the change of each batch."""

    @classmethod
    def between(cls, path: Path, others: Callable[[], None]) -> Self:
        """Open it; ``others`` is called before every write but the first, which takes the lease."""
        store = cls.open(path, clock=Clock())
        store._others = others
        store._is_leased = False
        return store

    def write(self) -> AbstractContextManager[Transaction]:
        if self._is_leased:
            self._others()
        self._is_leased = True
        return super().write()


def session(
    tx: Transaction, name: str, words: list[str], *, ended: datetime, extracted: bool = True
) -> str:
    """Store a conversation that ended at a moment, and say whether it was extracted."""
    started = tx.sessions.start(ANA, name)
    for number, text in enumerate(words):
        tx.sessions.append_turn(started.id, "user", text, external_key=f"{name} {number}")
    tx.run(
        "update sessions set ended_at = ?, ended_by = 'host', extracted_at = ? where id = ?",
        (
            ended.isoformat(timespec="microseconds"),
            ended.isoformat(timespec="microseconds") if extracted else None,
            started.id,
        ),
    )
    return started.id


def rejection(tx: Transaction, session_id: str, words: str) -> None:
    """Store a candidate that an extraction rejected."""
    tx.run(
        "insert into extraction_rejections(session_seq, reason, candidate, noted_at)"
        " values (?, 'evidence_not_found', ?, ?)",
        (
            tx.sessions.require_seq(session_id),
            json.dumps({"content": words}),
            MOMENT.isoformat(timespec="microseconds"),
        ),
    )


def search(tx: Transaction, words: str, at: datetime) -> None:
    """Log a search as a retriever does."""
    row = dict.fromkeys(COLUMNS, "[]") | {
        "id": tx.new_id(),
        "at": at.isoformat(timespec="microseconds"),
        "agent_id": "helper",
        "user_id": "ana",
        "session_id": None,
        "trigger": "tool",
        "detail": "full",
        "request": json.dumps({"queries": [words]}),
        "context": None,
        "rewrite_status": "disabled",
        "rerank_status": "disabled",
        "rerank_error": None,
        "empty_reason": None,
        "warm": 1,
    }
    tx.search_log.insert(row)


def decision(tx: Transaction, words: str, at: datetime) -> None:
    """Log a decision about a turn."""
    tx.run(
        "insert into turn_decisions(id, at, agent_id, user_id, disposition, shadow,"
        " profile_record_ids, inventory, gaps, gap_status, candidate_ids, verdicts, admitted_ids,"
        " admission_status, timings_ms, failures, config, bundle_hash, bundle_retrieval_verified,"
        " usage) values (?, ?, 'helper', 'ana', 'baseline_no_gaps', 1, '[]', '[]', ?, 'ok', '[]',"
        " '{}', '[]', 'skipped', '{}', '[]', '{}', 'h', 1, '{}')",
        (tx.new_id(), at.isoformat(timespec="microseconds"), json.dumps([words])),
    )


def event(tx: Transaction, words: str, at: datetime) -> None:
    """Append an event of a moment, with words of its own."""
    tx.events.append("record.status", "helper", payload={"reason": words}, at=at)


def full_store(path: Path, rows: int = 3) -> None:
    """Make a store with old and recent rows of every kind that ``retain`` knows.

    The words of old rows begin with ``old``; of recent, unextracted or remembered ones with
    ``kept``.
    """
    with open_at(path, Clock(LONG_AGO)) as store:
        prepare(store)
        for number in range(rows):
            with store.write() as tx:
                words = [f"oldturn{number}x{turn} " * 3 for turn in range(rows)]
                old = session(tx, f"old {number}", words, ended=LONG_AGO)
                rejection(tx, old, f"oldcandidate{number}")
                search(tx, f"oldsearch{number}", LONG_AGO)
                decision(tx, f"olddecision{number}", LONG_AGO)
                event(tx, f"oldreason{number}", LONG_AGO)
        with store.write() as tx:
            fresh = session(tx, "fresh", ["keptfresh"], ended=RECENTLY)
            rejection(tx, fresh, "keptcandidate")
            session(tx, "waiting", ["keptwaiting"], ended=LONG_AGO, extracted=False)
            search(tx, "keptsearch", RECENTLY)
            decision(tx, "keptdecision", RECENTLY)
            event(tx, "keptreason", RECENTLY)
            remember(tx, "keptrecord", evidence="keptquote")


def expiring_store(path: Path, rows: int = 20) -> None:
    """Make a store with so many records past their expiry, one that lives on and one for ever."""
    with open_at(path, Clock(LONG_AGO)) as store:
        prepare(store)
        with store.write() as tx:
            for number in range(rows):
                remember(
                    tx,
                    f"short-lived {number}",
                    status="provisional" if number % 2 else "confirmed",
                    expires_at=LONG_AGO + timedelta(days=1, seconds=number),
                )
            remember(tx, "lives on", expires_at=TODAY + timedelta(days=1), status="provisional")
            remember(tx, "for ever")


def reviewable_store(path: Path, rows: int = 5) -> None:
    """Make a store with so many records whose review is due, and one whose is not."""
    with open_at(path, Clock(LONG_AGO)) as store:
        prepare(store)
        with store.write() as tx:
            for number in range(rows):
                remember(tx, f"plan {number}", review_at=LONG_AGO + timedelta(days=1 + number))
            remember(tx, "later", review_at=TODAY + timedelta(days=1))


def dump(store: Store, *without: str) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every ordinary table but some."""
    with store.read() as tx:
        names = [
            row[0]
            for row in tx.run(
                "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
                " and name not like 'records_fts%'"
            )
        ]
        return {
            name: sorted(map(repr, tx.run(f"select * from {name}")))
            for name in names
            if name not in without
        }


JOBS: dict[str, Callable[[Store, Pace], object]] = {
    "expire": lambda store, pace: expire_records(store, actor="ops", pace=pace),
    "retain": lambda store, pace: retain(store, CFG, actor="ops", pace=pace),
    "review-due": lambda store, pace: flag_due_reviews(store, CFG, pace=pace),
}
MAKERS: dict[str, Callable[[Path], None]] = {
    "expire": expiring_store,
    "retain": full_store,
    "review-due": reviewable_store,
}


def run_slowly(path: Path, job: str) -> None:
    """Run a job in tiny batches; print a line after each and wait for one before the next."""

    def wait(_seconds: float) -> None:
        sys.stdout.write("batch\n")
        sys.stdout.flush()
        sys.stdin.readline()

    with open_at(path, Clock(), create=False) as store:
        JOBS[job](store, steady(2, wait))
    sys.stdout.write(f"done {os.getpid()}\n")


if __name__ == "__main__":
    run_slowly(Path(sys.argv[2]), sys.argv[1])
