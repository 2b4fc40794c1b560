"""Which jobs of the maintenance are due, by what the store remembers of their last runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

from retold.config import RetoldConfig
from retold.errors import StoreBusy
from retold.operations.maintenance import expire, retain, review_due
from retold.operations.maintenance.checkpoint import save_store
from retold.store import Store
from retold.store.job_runs import JobRun, JobRunRepository

ACTOR: Final = "maintenance"
"""Who the audit trail says did it."""

LARGE_LOG_BYTES: Final = 16 << 20
"""SQLite saves its log by itself at 4 MiB; one that has grown beyond this was held by a reader."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job: how often it is due, and how it is done."""

    every: timedelta
    run: Callable[[Store, RetoldConfig], object]


JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {
        # Searches ignore what has expired and what is due already: these follow for every look.
        expire.JOB: Job(
            timedelta(hours=1), lambda store, config: expire.expire_records(store, actor=ACTOR)
        ),
        review_due.JOB: Job(timedelta(hours=1), review_due.flag_due_reviews),
        # Its limits are days.
        retain.JOB: Job(
            timedelta(days=1), lambda store, config: retain.retain(store, config, actor=ACTOR)
        ),
    }
)


def is_due(run: JobRun, every: timedelta, now: datetime) -> bool:
    """Return whether a job's last complete run is too long ago, or in the future of this clock."""
    return run.last_ok is None or not timedelta(0) <= now - run.last_ok < every


def run_due_jobs(store: Store, config: RetoldConfig) -> tuple[str, ...]:
    """Do what is due and return the names of what was done; a job somebody else does is left to it.

    Doing it often costs one read. A job that fails keeps no other from its turn; raises what the
    first of them raised, when all had theirs.
    """
    done: list[str] = []
    failed: list[Exception] = []
    for name, job in JOBS.items():
        with store.read() as tx:
            due = is_due(JobRunRepository(tx).get(name), job.every, tx.now)
        if not due:
            continue
        try:
            job.run(store, config)
        except StoreBusy:
            continue
        except Exception as error:  # one row that cannot be read must not keep all words for ever
            failed.append(error)
            continue
        done.append(name)
    if _log_bytes(store) > LARGE_LOG_BYTES:
        save_store(store)
        done.append("checkpoint")
    if failed:
        raise failed[0]
    return tuple(done)


def _log_bytes(store: Store) -> int:
    log = Path(f"{os.fspath(store.path)}-wal")
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0
