"""What the index knows of the pool and boosts go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from retold.config.levers import Levers
from retold.index.columns import NO_SESSION, Eligible, Rows
from retold.models import Boost
from retold.retrieve.boosts import (
    Amounts,
    Codes,
    History,
    PoolFacts,
    boosted_scores,
    boosts_of,
    oldest_event,
)
from retold.retrieve.query_dates import QueryDates


def boost_pool(
    seqs: Sequence[int],
    fused: Amounts,
    eligible: Eligible,
    *,
    named: Mapping[int, float],
    dates: QueryDates,
    now_us: int,
    levers: Levers,
    unit: float = 1.0,
) -> tuple[Amounts, list[tuple[Boost, ...]]]:
    """Return the boosted scores of pool members and each member's boosts, in the order of ``seqs``.

    ``named`` holds 1 for records about an entity that the query names and 0.5 for those that
    mention it. Sessions and history are those of ``eligible`` alone, which holds ``seqs``. ``unit``
    is the largest score of the fusion. A score is its fused score plus the amounts in order.
    """
    rows = eligible.rows_of(seqs)
    facts = PoolFacts(
        eligible.columns.event_us(rows),
        *_sessions(rows, eligible, levers),
        np.array([named.get(seq, 0.0) for seq in seqs]) if named else np.zeros(len(seqs)),
    )
    looks_at_age = levers.freshness.kind == "additive" and not dates
    oldest_us = oldest_event(eligible.event_us()) if looks_at_age else now_us
    raised = boosts_of(fused, facts, dates, History(now_us, oldest_us), levers, unit=unit)
    return boosted_scores(fused, raised)


def _sessions(rows: Rows, eligible: Eligible, levers: Levers) -> tuple[Codes, Codes]:
    """Return the sessions of some rows and how many eligible rows each has."""
    if levers.boosts.session <= 0.0:
        none = np.full(len(rows), NO_SESSION, dtype=np.int32)
        return none, np.zeros_like(none)
    codes = eligible.columns.sessions(rows)
    counts = np.bincount(eligible.sessions() + 1, minlength=int(codes.max(initial=0)) + 2)
    return codes, counts[codes + 1].astype(np.int32)
