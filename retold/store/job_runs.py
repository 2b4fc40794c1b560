"""Who runs which job of the maintenance, and how far it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retold.store.codec import from_text_or_none, to_json, to_text
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("job_runs")


@dataclass(frozen=True, slots=True)
class JobRun:
    """One job as it stands.

    ``token`` and ``leased_until`` are None while nobody runs it. ``cursor`` is where the last
    holder stopped, None after a run that reached its end; ``last_ok`` is when one last did.
    ``done`` and ``total`` count rows of the latest run, None before the first.
    """

    job: str
    token: str | None = None
    leased_until: datetime | None = None
    last_ok: datetime | None = None
    cursor: Mapping[str, Any] | None = None
    done: int | None = None
    total: int | None = None


class JobRunRepository:
    """Rows of ``job_runs``. A token that is no longer the job's own changes nothing."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, job: str) -> JobRun:
        """Return the job; one that never ran has its name only."""
        row = self._tx.one(QUERIES["get"], {"job": job})
        if row is None:
            return JobRun(job)
        return JobRun(
            job=row[0],
            token=row[1],
            leased_until=from_text_or_none(row[2]),
            last_ok=from_text_or_none(row[3]),
            cursor=None if row[4] is None else json.loads(row[4]),
            done=row[5],
            total=row[6],
        )

    def take(self, job: str, token: str, leased_until: datetime) -> None:
        """Make ``token`` the job's holder, whoever held it; look at ``get`` first."""
        self._tx.run(
            QUERIES["take"], {"job": job, "token": token, "leased_until": to_text(leased_until)}
        )

    def advance(
        self,
        job: str,
        token: str,
        *,
        leased_until: datetime,
        cursor: Mapping[str, Any],
        done: int,
        total: int,
    ) -> bool:
        """Note the progress and lengthen the lease; False when somebody else holds the job."""
        self._tx.run(
            QUERIES["advance"],
            {
                "job": job,
                "token": token,
                "leased_until": to_text(leased_until),
                "cursor": to_json(dict(cursor)),
                "done": done,
                "total": total,
            },
        )
        return self._tx.changes() > 0

    def finish(self, job: str, token: str) -> bool:
        """Give the job back as done; False when somebody else holds it."""
        bindings = {"job": job, "token": token, "now": to_text(self._tx.now)}
        self._tx.run(QUERIES["finish"], bindings)
        return self._tx.changes() > 0

    def leave(self, job: str, token: str) -> bool:
        """Give the job back unfinished; False when somebody else holds it."""
        self._tx.run(QUERIES["leave"], {"job": job, "token": token})
        return self._tx.changes() > 0
