"""What is added to fused scores for a date, a session, recency and a named entity; pure.

Amounts are on the scale of a convex fusion, whose scores reach from 0 to 1; ``unit`` fits them to
another one. All weights and limits come from settings (retrieval_quality.md 2.3 to 2.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from retold.config.levers import Levers
from retold.index.columns import NO_SESSION, Rows
from retold.models import Boost, BoostName
from retold.retrieve.query_dates import Interval, QueryDates
from retold.store.codec import to_us

Amounts = npt.NDArray[np.float64]
Micros = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]

OLDEST_PART: Final = 0.05
"""The eligible history begins at this quantile of event times: one birthday of 1990 among the
events of a month must not make everything else equally new."""
_LOOKED_AT: Final = 500
_LEAST: Final = 1e-6
"""An amount below this is none: it moves nothing and would only be explained."""
_BEST_SESSION: Final = "its conversation holds the best match"
_SESSION: Final = "its conversation holds a good match"
_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_TWO_DAYS: Final = 2 * _DAY_US


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What boosts need to know of the pool, one entry per candidate in its order.

    ``event_us`` are event times, ``sessions`` codes of sessions or ``NO_SESSION``,
    ``session_records`` how many eligible records that session has. ``about`` holds 1 for a record
    about an entity that the query names, 0.5 for one that mentions it, else 0.
    """

    event_us: Micros
    sessions: Codes
    session_records: Codes
    about: Amounts


@dataclass(frozen=True, slots=True)
class History:
    """When the search happens and where the eligible events begin, in microseconds."""

    now_us: int
    oldest_us: int


@dataclass(frozen=True, slots=True)
class Raised:
    """What one boost adds to each candidate, 0 where nothing, and why.

    ``which`` holds the place of each candidate's reason; None means the first for all.
    """

    name: BoostName
    amounts: Amounts
    reasons: tuple[str, ...]
    which: Places | None = None

    def at(self, places: Places) -> list[Boost | None]:
        """Return the boosts of the candidates at some places, None where nothing is added."""
        amounts = self.amounts[places].tolist()
        # What ``Boost(...)`` does, in half of its time; a pool has hundreds.
        new, name = tuple.__new__, self.name
        if self.which is None:
            reason = self.reasons[0]
            return [new(Boost, (name, one, reason)) if one else None for one in amounts]
        reasons = [self.reasons[at] for at in self.which[places].tolist()]
        pairs = zip(amounts, reasons, strict=True)
        return [new(Boost, (name, one, reason)) if one else None for one, reason in pairs]


def some_of(rows: Rows) -> Rows:
    """Return every n-th of many rows: enough to tell where their history begins."""
    return rows[:: max(1, len(rows) // _LOOKED_AT)]


def oldest_event(some: Micros) -> int:
    """Return where the history of these event times begins; 0 when there are none."""
    if len(some) == 0:
        return 0
    place = int(len(some) * OLDEST_PART)
    return int(some.min() if place == 0 else np.partition(some, place)[place])


def boosts_of(
    fused: Amounts,
    facts: PoolFacts,
    dates: QueryDates,
    history: History,
    levers: Levers,
    *,
    unit: float = 1.0,
) -> tuple[Raised, ...]:
    """Return what each boost that is on adds to the fused scores, in the order of adding.

    Nothing depends on the order of the pool, nor on records outside it but through
    ``session_records`` and ``history``.
    """
    if len(fused) == 0:
        return ()
    found = (
        raised_by_date(facts, dates, levers.boosts.date_interval * unit),
        raised_by_session(facts, fused, levers, unit),
        raised_by_recency(facts, dates, history, levers, unit),
        raised_by_entity(facts, levers, unit),
    )
    return tuple(one for one in found if one is not None)


def boosted_scores(fused: Amounts, raised: Sequence[Raised]) -> Amounts:
    """Return the sums of the fused scores and the amounts, added in their order."""
    scores = fused.copy()
    for one in raised:
        scores += one.amounts
    return scores


def boosts_at(raised: Sequence[Raised], places: Places) -> list[tuple[Boost, ...]]:
    """Return the boosts of the candidates at some places, each in the order of adding."""
    if not raised:
        return [()] * len(places)
    by_place = zip(*(one.at(places) for one in raised), strict=True)
    return [
        tuple([boost for boost in boosts if boost]) if None in boosts else boosts
        for boosts in by_place
    ]


def raised_by_date(facts: PoolFacts, dates: QueryDates, weight: float) -> Raised | None:
    """Raise records whose event lies in a time that the query names."""
    if not dates or weight < _LEAST:
        return None
    inside = np.zeros(len(facts.event_us), dtype=np.bool_)
    for interval in dates.intervals:
        inside |= _inside(facts.event_us, interval)
    amounts: Amounts = np.where(inside, weight, 0.0)
    return Raised("date_interval", amounts, ("its time lies in one that the query names",))


def _inside(event_us: Micros, interval: Interval) -> npt.NDArray[np.bool_]:
    inside = np.ones(len(event_us), dtype=np.bool_)
    if interval.since is not None:
        inside &= event_us >= to_us(interval.since)
    if interval.until is not None:
        inside &= event_us < to_us(interval.until)
    return inside


def raised_by_session(
    facts: PoolFacts, fused: Amounts, levers: Levers, unit: float
) -> Raised | None:
    """Raise records of sessions of a moderate size by the best score among each session's."""
    cfg = levers.boosts
    weight, best = cfg.session * unit, float(fused.max())
    counts = facts.session_records
    belongs = (facts.sessions != NO_SESSION) & (counts >= cfg.session_min_records)
    belongs &= counts <= cfg.session_max_records
    if weight < _LEAST or best <= 0.0 or not belongs.any():
        return None
    tops = np.zeros(int(facts.sessions.max()) + 1)
    codes = facts.sessions[belongs]
    # In this order the best one's part is the weight itself, whatever it is.
    np.maximum.at(tops, codes, fused[belongs] / best * weight)
    amounts = np.zeros(len(fused))
    amounts[belongs] = tops[codes]
    amounts[amounts <= _LEAST] = 0.0
    which = np.where(amounts >= weight, 0, 1)
    return Raised("session", amounts, (_BEST_SESSION, _SESSION), which)


def raised_by_recency(
    facts: PoolFacts, dates: QueryDates, history: History, levers: Levers, unit: float
) -> Raised | None:
    """Raise what happened lately, unless the query says which time it asks about."""
    cfg = levers.freshness
    weight = cfg.weight * unit
    half_life = (history.now_us - history.oldest_us) * cfg.half_life_part
    if cfg.kind != "additive" or dates or weight < _LEAST or half_life < _HOUR_US:
        return None
    ages = np.maximum(history.now_us - facts.event_us, 0)
    amounts: Amounts = weight * np.exp2(ages / -half_life)
    amounts[amounts < _LEAST] = 0.0
    reason = f"recent: this part halves every {_spoken(half_life)}"
    return Raised("recency", amounts, (reason,))


def _spoken(duration_us: float) -> str:
    if duration_us >= _TWO_DAYS:
        return f"{duration_us / _DAY_US:.0f} days"
    return f"{duration_us / _HOUR_US:.0f} hours"


def raised_by_entity(facts: PoolFacts, levers: Levers, unit: float) -> Raised | None:
    """Let records win a tie that are linked to an entity which the query names."""
    cfg = levers.entities
    weight = cfg.tie_break * unit
    if cfg.role != "tie_break" or weight < _LEAST or not facts.about.any():
        return None
    reasons = (f"{verb} somebody or something the query names" for verb in ("about", "mentions"))
    which = np.where(facts.about == 1.0, 0, 1)
    return Raised("entity", weight * facts.about, tuple(reasons), which)
