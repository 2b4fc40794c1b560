"""What the index knows of the pool and boosts go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from retold.config.levers import BoostLever, Levers
from retold.index.bm25 import EligibleWords, Phrase
from retold.index.columns import NO_SESSION, Eligible, Rows, Seqs
from retold.index.session_text import SessionTotals, session_scores
from retold.retrieve.boosts import (
    Amounts,
    Codes,
    History,
    PoolFacts,
    Raised,
    boosted_scores,
    boosts_of,
    oldest_event,
    some_of,
)
from retold.retrieve.query_dates import QueryDates
from retold.retrieve.turns import Turns, raised_by_neighbour, raised_by_session_text


@dataclass(frozen=True, slots=True)
class Spoken:
    """What raw transcripts are ranked by besides: the turns in order, the words and who asks.

    ``phrases`` are those of each query; ``totals`` outlive the search.
    """

    turns: Turns = field(repr=False)
    words: EligibleWords = field(repr=False)
    phrases: Sequence[Sequence[Phrase]] = field(repr=False)
    totals: SessionTotals = field(default_factory=SessionTotals, repr=False)


def boost_pool(
    seqs: Seqs,
    fused: Amounts,
    eligible: Eligible,
    *,
    named: Mapping[int, float],
    dates: QueryDates,
    now_us: int,
    levers: Levers,
    unit: float = 1.0,
    spoken: Spoken | None = None,
) -> tuple[Amounts, tuple[Raised, ...]]:
    """Return the boosted scores of pool members and what each boost adds, in the order of ``seqs``.

    ``named`` holds 1 for records about an entity that the query names and 0.5 for those that
    mention it. Sessions and history are those of ``eligible`` alone, which holds ``seqs``. ``unit``
    is the largest score of the fusion. With ``spoken``, the context of turns, neighbours and the
    text of sessions take the place of the best match in a session. A score is its fused score plus
    the amounts in order.
    """
    if spoken is not None:
        levers = replace(levers, boosts=replace(levers.boosts, session=0.0))
    rows = eligible.rows_of(seqs)
    facts = PoolFacts(
        eligible.columns.event_us(rows),
        *_sessions(rows, eligible, levers),
        _named(seqs, named),
    )
    looks_at_age = levers.freshness.kind == "additive" and not dates
    oldest_us = now_us
    if looks_at_age:
        oldest_us = oldest_event(eligible.columns.event_us(some_of(eligible.rows())))
    raised = boosts_of(fused, facts, dates, History(now_us, oldest_us), levers, unit=unit)
    if spoken is not None:
        weight = levers.boosts.session_text * unit
        raised += _raised_by_turns(
            seqs, fused, rows, eligible, spoken, replace(levers.boosts, session_text=weight)
        )
    return boosted_scores(fused, raised), raised


def _named(seqs: Seqs, named: Mapping[int, float]) -> Amounts:
    if not named:
        return np.zeros(len(seqs))
    return np.array([named.get(seq, 0.0) for seq in seqs.tolist()])


def _raised_by_turns(  # noqa: PLR0917
    seqs: Seqs,
    fused: Amounts,
    rows: Rows,
    eligible: Eligible,
    spoken: Spoken,
    boosts: BoostLever,
) -> tuple[Raised, ...]:
    found = [raised_by_neighbour(fused, rows, spoken.turns, boosts.neighbour)]
    if boosts.session_text > 0.0:
        # The words may have been loaded anew since; they know the same rows by other numbers.
        most, words, among = boosts.session_max_records, spoken.words.snapshot, spoken.words.rows
        totals = spoken.totals
        scores = [session_scores(words, among, one, most, totals) for one in spoken.phrases if one]
        if scores:
            places = rows if among is eligible else among.rows_of(seqs)
            codes = among.columns.sessions(places)
            if places.min() < 0:
                codes = np.where(places >= 0, codes, NO_SESSION)
            best = scores[0] if len(scores) == 1 else np.maximum.reduce(scores)
            found.append(raised_by_session_text(codes, best, boosts.session_text))
    return tuple(one for one in found if one is not None)


def _sessions(rows: Rows, eligible: Eligible, levers: Levers) -> tuple[Codes, Codes]:
    """Return the sessions of some rows and how many eligible rows each has."""
    if levers.boosts.session <= 0.0:
        none = np.full(len(rows), NO_SESSION, dtype=np.int32)
        return none, np.zeros_like(none)
    codes = eligible.columns.sessions(rows)
    counts = np.bincount(eligible.sessions() + 1, minlength=int(codes.max(initial=0)) + 2)
    return codes, counts[codes + 1].astype(np.int32)
