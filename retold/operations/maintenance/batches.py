"""Drive a job through its steps in short transactions, from where the last run stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retold.operations.maintenance.leases import Lease
from retold.operations.maintenance.pace import Pace, within_bytes
from retold.store import Store, Transaction
from retold.store.retention import DueRow

Place = tuple[Any, ...]
"""The key of a row in the order of its step, as JSON keeps it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of rows.

    ``count`` and ``find`` read: how many are due, and those after a place, in order. ``change``
    writes: it looks again at the places it is given and returns how many rows it changed.
    ``limit`` is the most rows of one run, None for all of them.
    """

    name: str
    start: Place
    count: Callable[[Transaction], int]
    find: Callable[[Transaction, Place, int], Sequence[DueRow]]
    change: Callable[[Transaction, Sequence[Place]], int]
    limit: int | None = None

    def room(self, done: int) -> int | None:
        """Return how many more rows this run may change; None for any number."""
        return None if self.limit is None else max(0, self.limit - done)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is. ``total`` was counted when it began."""

    job: str
    done: int
    total: int


Report = Callable[[JobProgress], None]


class Batches:
    """The steps of one held job; ``done`` counts what each changed, also before it was taken over.

    A job that was taken over goes on at its cursor, then looks at everything once more: rows may
    have become due, in places that it had passed. Both end when nothing is found, so a batch that
    is repeated changes nothing.
    """

    def __init__(
        self,
        store: Store,
        job: str,
        lease: Lease,
        steps: Sequence[Step],
        *,
        pace: Pace,
        report: Report | None = None,
    ) -> None:
        """Take the parts; ``run`` does the work."""
        self._store = store
        self._job = job
        self._lease = lease
        self._steps = {step.name: step for step in steps}
        self._pace = pace
        self._report = report
        self.done = {name: 0 for name in self._steps} | _known(lease.cursor, "done", self._steps)
        self._total = 0

    @property
    def was_resumed(self) -> bool:
        """Return whether an earlier run had stopped before its end."""
        return self._lease.cursor is not None

    def run(self) -> Mapping[str, int]:
        """Do everything that is due and return ``done``.

        Raises StoreBusy when the job was taken over; every batch before stays done.
        """
        with self._store.read() as tx:
            self._total = sum(self.done.values()) + sum(
                _least(step.count(tx), step.room(self.done[step.name]))
                for step in self._steps.values()
            )
        places = _known(self._lease.cursor, "places", self._steps)
        if places:
            self._pass({name: tuple(place) for name, place in places.items()})
        self._pass({})
        return self.done

    def _pass(self, places: dict[str, Place]) -> None:
        for step in self._steps.values():
            with self._store.read() as tx:
                left = step.count(tx)
            # Rows are found in an order that need not be that of their age: looking for one more
            # than there are would read a whole table.
            while left > 0 and (looked_at := self._batch(step, places)):
                left -= looked_at

    def _batch(self, step: Step, places: dict[str, Place]) -> int:
        """Do one batch after the step's place; return how many rows it took, 0 at the end."""
        rows = _least(self._pace.rows, step.room(self.done[step.name]))
        if not rows:
            return 0
        with self._store.read() as tx:
            after = places.get(step.name, step.start)
            found = within_bytes(step.find(tx, after, rows))
        if not found:
            return 0
        keys = [row.key for row in found]
        with self._store.write() as tx:
            # The time to wait for the lock is not the batch's own.
            begun = self._pace.ticks()
            changed = step.change(tx, keys)
            done = self.done | {step.name: self.done[step.name] + changed}
            places[step.name] = keys[-1]
            self._lease.advance(
                tx,
                cursor={"done": done, "places": places},
                done=sum(done.values()),
                total=max(self._total, sum(done.values())),
            )
        spent = self._pace.ticks() - begun
        self.done = done
        if self._report is not None:
            self._report(JobProgress(self._job, sum(done.values()), self._total))
        self._pace.note(spent)
        self._pace.rest(spent)
        return len(keys)


def _known(
    cursor: Mapping[str, Any] | None, part: str, steps: Mapping[str, Step]
) -> dict[str, Any]:
    """Return one part of a cursor for the steps there are; another release may have had others."""
    values = (cursor or {}).get(part, {})
    return {name: value for name, value in values.items() if name in steps}


def _least(count: int, room: int | None) -> int:
    return count if room is None else min(count, room)
