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
from retold.index.columns import NO_SESSION
from retold.models import Boost, BoostName
from retold.retrieve.query_dates import Interval, QueryDates
from retold.store.codec import to_us

Amounts = npt.NDArray[np.float64]
Micros = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


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
    """What one boost adds to each candidate: an amount of 0 comes with None."""

    amounts: Amounts
    boosts: Sequence[Boost | None]


def oldest_event(event_us: Micros) -> int:
    """Return where the history of these event times begins; 0 when there are none.

    Of many times, every n-th is looked at.
    """
    if len(event_us) == 0:
        return 0
    some = event_us[:: max(1, len(event_us) // _LOOKED_AT)]
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


def boosted_scores(
    fused: Amounts, raised: Sequence[Raised]
) -> tuple[Amounts, list[tuple[Boost, ...]]]:
    """Return the sums of the fused scores and the amounts in their order, and the boosts."""
    scores = fused.copy()
    for one in raised:
        scores += one.amounts
    if not raised:
        return scores, [()] * len(fused)
    by_place = zip(*(one.boosts for one in raised), strict=True)
    return scores, [
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
    boost = Boost("date_interval", weight, "its time lies in one that the query names")
    amounts: Amounts = np.where(inside, weight, 0.0)
    return Raised(amounts, [boost if here else None for here in inside.tolist()])


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
    tops: dict[int, float] = {}
    codes = np.where(belongs, facts.sessions, NO_SESSION).tolist()
    for code, score in zip(codes, (fused * (weight / best)).tolist(), strict=True):
        if score > tops.get(code, _LEAST):
            tops[code] = score
    tops.pop(NO_SESSION, None)
    boosts = {
        code: Boost("session", top, _BEST_SESSION if top >= weight else _SESSION)
        for code, top in tops.items()
    }
    return _by_place([boosts.get(code) for code in codes])


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
    return Raised(amounts, boosts_of_amounts("recency", amounts, reason))


def boosts_of_amounts(name: BoostName, amounts: Amounts, reason: str) -> list[Boost | None]:
    """Return one boost per amount above 0, all for one reason."""
    # What ``Boost(...)`` does, in half of its time; a pool has hundreds.
    new = tuple.__new__
    return [new(Boost, (name, one, reason)) if one else None for one in amounts.tolist()]


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
    boosts = {
        share: Boost("entity", weight * share, f"{verb} somebody or something the query names")
        for share, verb in ((1.0, "about"), (0.5, "mentions"))
    }
    return _by_place([boosts.get(share) for share in facts.about.tolist()])


def _by_place(boosts: Sequence[Boost | None]) -> Raised:
    return Raised(np.array([boost.amount if boost else 0.0 for boost in boosts]), boosts)
