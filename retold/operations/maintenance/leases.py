"""One holder per job: a lease in the store that runs out when its holder dies."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from retold.errors import StoreBusy, StoreError
from retold.store import Store, Transaction
from retold.store.job_runs import JobRun, JobRunRepository

logger = logging.getLogger(__name__)

LEASE_SECONDS: Final = 60
"""Twice what a batch may wait for the write lock; each batch renews the lease."""


class Lease:
    """The right to do one job, which every batch renews in its own transaction.

    ``cursor`` is where an earlier holder stopped before the end, else None.
    """

    def __init__(self, job: str, token: str, cursor: Mapping[str, Any] | None) -> None:
        self._job = job
        self._token = token
        self.cursor = cursor
        self.is_finished = False

    def advance(self, tx: Transaction, *, cursor: Mapping[str, Any], done: int, total: int) -> None:
        """Note what the open transaction does. Raises StoreBusy when the job is someone else's.

        The transaction must roll back then: whoever took the job over does that part too.
        """
        kept = JobRunRepository(tx).advance(
            self._job,
            self._token,
            leased_until=_end_of_lease(tx.now),
            cursor=cursor,
            done=done,
            total=total,
        )
        if not kept:
            raise self._lost()

    def finish(self, tx: Transaction) -> None:
        """Give the job back as done, with the open transaction. Raises as ``advance``."""
        if not JobRunRepository(tx).finish(self._job, self._token):
            raise self._lost()
        tx.on_commit(lambda _version: self._note_finished())

    def leave(self, tx: Transaction) -> None:
        """Give the job back where it stands; somebody else's stays with them."""
        JobRunRepository(tx).leave(self._job, self._token)

    def _note_finished(self) -> None:
        self.is_finished = True

    def _lost(self) -> StoreBusy:
        return StoreBusy(
            f"{self._job} was taken over by another process while this one stood still; "
            "nothing is lost, run it again later"
        )


def is_held(run: JobRun, now: datetime) -> bool:
    """Return whether somebody holds a job at a moment.

    A lease that ends later than one taken now would comes from a clock that was set back since;
    it would keep everybody out until then, so it does not count.
    """
    if run.token is None or run.leased_until is None:
        return False
    return now < run.leased_until <= _end_of_lease(now)


@contextmanager
def leased(store: Store, job: str) -> Iterator[Lease]:
    """Hold a job inside. Raises StoreBusy, which says who holds it, when somebody else does.

    Leaving without ``finish``, by an exception too, gives the job back with its cursor, and the
    next holder goes on there. A process that is killed gives nothing back: its lease runs out.
    """
    with store.write() as tx:
        runs = JobRunRepository(tx)
        run = runs.get(job)
        if is_held(run, tx.now):
            raise StoreBusy(_holder(run), job=job, leased_until=run.leased_until)
        token = f"{os.getpid()}:{tx.new_id()}"
        runs.take(job, token, _end_of_lease(tx.now))
    lease = Lease(job, token, run.cursor)
    try:
        yield lease
    finally:
        if not lease.is_finished:
            _give_back(store, lease)


def _give_back(store: Store, lease: Lease) -> None:
    try:
        with store.write() as tx:
            lease.leave(tx)
    except StoreError as error:
        # The lease runs out by itself; what really happened must reach the caller instead.
        logger.warning("a lease could not be given back", extra={"error": type(error).__name__})


def _holder(run: JobRun) -> str:
    """Say who holds a job; the token begins with the number of its process."""
    process = (run.token or "").partition(":")[0]
    far = f", {run.done:,} of {run.total:,} done" if run.cursor and run.total else ""
    return (
        f"{run.job} is already running in process {process}{far}; "
        f"it holds the job until {run.leased_until:%H:%M:%S} UTC at least"
    )


def _end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=LEASE_SECONDS)
