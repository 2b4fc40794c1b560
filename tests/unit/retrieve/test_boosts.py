"""What is added to fused scores, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.config import parse_config, resolve_levers
from retold.index.columns import NO_SESSION
from retold.retrieve.boosts import (
    History,
    PoolFacts,
    boosted_scores,
    boosts_at,
    boosts_of,
    oldest_event,
)
from retold.retrieve.query_dates import QueryDates, query_dates
from retold.store.codec import to_us

NOW = datetime(2024, 3, 12, 9, tzinfo=UTC)
UNDATED = QueryDates()
AUGUST = query_dates(["in August 2023"], NOW)


def levers(**retrieval):
    settings = {"retrieval": {"preset": "measured", **retrieval}}
    return resolve_levers(parse_config(settings, profile="offline").retrieval)


MEASURED = levers()
ONLY_SESSIONS = levers(freshness={"kind": "off"})
ONLY_DATES = levers(freshness={"kind": "off"}, boosts={"session": 0})


def facts(days_ago=(), sessions=None, records=None, about=None):
    """Return the facts of a pool; a session has two records unless it is said otherwise."""
    size = len(days_ago)
    return PoolFacts(
        np.array([to_us(NOW - timedelta(days=days)) for days in days_ago], dtype=np.int64),
        np.array(sessions or [NO_SESSION] * size, dtype=np.int32),
        np.array(records or [2] * size, dtype=np.int32),
        np.array(about or [0.0] * size),
    )


def scored(fused, known, dates=UNDATED, cfg=MEASURED, days=400, **options):
    """Return the added amounts by name, one dict per candidate; they must sum to the scores."""
    history = History(to_us(NOW), to_us(NOW - timedelta(days=days)))
    base = np.array(fused, dtype=np.float64)
    raised = boosts_of(base, known, dates, history, cfg, **options)
    scores, boosts = boosted_scores(base, raised), boosts_at(raised, np.arange(len(base)))
    for score, start, added in zip(scores.tolist(), fused, boosts, strict=True):
        for boost in added:
            start += boost.amount
        assert score == start  # to the bit, as a log replays it
    return [{boost.name: pytest.approx(boost.amount) for boost in added} for added in boosts]


def test_an_event_inside_the_time_asked_for_is_raised_and_recency_is_off():
    known = facts([210, 1])  # 2023-08-15 and yesterday

    assert scored([0.5, 0.5], known, AUGUST) == [{"date_interval": 0.3}, {}]
    assert [*scored([0.5, 0.5], known)[1]] == ["recency"]


def test_a_session_of_moderate_size_is_raised_by_its_best_match():
    fused, sessions = [0.8, 0.2, 0.4, 0.1, 0.1], [1, 1, 2, 3, NO_SESSION]
    known = facts([0] * 5, sessions, [40, 40, 41, 1, 9])

    found = scored(fused, known, cfg=ONLY_SESSIONS)

    assert found == [{"session": 0.3}, {"session": 0.3}, {}, {}, {}]


@pytest.mark.parametrize("best", [0.285, 0.8, 1.0])
def test_the_best_match_lies_in_the_best_session_however_it_rounds(best):
    history, known = History(to_us(NOW), to_us(NOW)), facts([0, 0], [1, 2])
    (raised,) = boosts_of(np.array([best, 0.2]), known, UNDATED, history, ONLY_SESSIONS)

    first, second = raised.at(np.arange(2))

    assert first.amount == 0.3
    assert "the best match" in first.reason
    assert "a good match" in second.reason


def test_the_part_of_a_weaker_session_is_its_best_score_over_the_best_of_all():
    found = scored([0.8, 0.4, 0.2], facts([0] * 3, [1, 2, 2]), cfg=ONLY_SESSIONS)

    assert found == [{"session": 0.3}, {"session": 0.15}, {"session": 0.15}]


def test_recency_halves_with_every_quarter_of_the_eligible_history():
    found = scored([0.1] * 4, facts([0, 100, 200, -50]), days=400)

    assert [one["recency"] for one in found] == [
        pytest.approx(amount, abs=1e-9) for amount in (0.05, 0.025, 0.0125, 0.05)
    ]


def test_one_ancient_event_does_not_stretch_the_history():
    events = np.array([0, *range(1_000, 1_039)], dtype=np.int64)

    assert oldest_event(events) == 1_001
    assert oldest_event(events[:0]) == 0
    assert oldest_event(events[:3]) == 0


def test_a_named_entity_is_a_tie_break_and_no_more():
    found = scored([0.5, 0.5, 0.52], facts([9] * 3, about=[1.0, 0.5, 0.0]), AUGUST)

    assert found == [{"entity": 0.02}, {"entity": 0.01}, {}]


def test_the_designed_preset_adds_nothing():
    known = facts([210, 1], [1, 1], about=[1.0, 1.0])

    assert scored([0.5, 0.4], known, AUGUST, levers(preset="design")) == [{}, {}]


def test_amounts_follow_the_unit_of_another_fusion():
    assert scored([0.03], facts([210]), AUGUST, unit=0.05) == [{"date_interval": 0.015}]


def test_reasons_are_plain_words_that_name_no_content():
    known = facts([210, 3], [1, 2], about=[1.0, 0.5])
    history = History(to_us(NOW), to_us(NOW - timedelta(days=400)))
    fused = np.array([0.8, 0.4])
    reasons = {
        boost.reason
        for dates in (AUGUST, UNDATED)
        for one in boosts_of(fused, known, dates, history, MEASURED)
        for boost in one.at(np.arange(len(fused)))
        if boost
    }

    assert reasons == {
        "its time lies in one that the query names",
        "its conversation holds the best match",
        "its conversation holds a good match",
        "recent: this part halves every 100 days",
        "about somebody or something the query names",
        "mentions somebody or something the query names",
    }


SIZES = st.shared(st.integers(1, 12), key="size")


def columns(elements):
    return SIZES.flatmap(lambda size: st.lists(elements, min_size=size, max_size=size))


POOLS = st.tuples(
    columns(st.floats(0.0, 1.0)),
    columns(st.integers(-400, 800)),
    columns(st.integers(NO_SESSION, 3)),
    columns(st.integers(0, 50)),
    columns(st.sampled_from([0.0, 0.5, 1.0])),
)


@given(POOLS, st.sampled_from([UNDATED, AUGUST]), st.randoms())
def test_boosts_do_not_depend_on_the_order_of_the_pool(pool, dates, random):
    order = list(range(len(pool[0])))
    random.shuffle(order)
    shuffled = [[column[place] for place in order] for column in pool]
    straight = scored(pool[0], facts(*pool[1:]), dates)

    assert scored(shuffled[0], facts(*shuffled[1:]), dates) == [straight[at] for at in order]


@given(POOLS)
def test_a_date_never_reorders_equals_on_one_side_of_its_interval(pool):
    fused, known = pool[0], facts(pool[1])
    found = scored(fused, known, AUGUST, ONLY_DATES)
    amounts = [one.get("date_interval", 0.0) for one in found]
    (inside,) = AUGUST.intervals

    for at, amount in zip(known.event_us.tolist(), amounts, strict=True):
        assert amount == (0.3 if to_us(inside.since) <= at < to_us(inside.until) else 0.0)


@given(POOLS)
def test_a_session_boost_keeps_the_order_within_every_session(pool):
    fused, sessions = pool[0], pool[2]
    size = len(fused)
    found = scored(fused, facts([0] * size, sessions), cfg=ONLY_SESSIONS)

    for one in range(size):
        for other in range(size):
            if sessions[one] == sessions[other] != NO_SESSION:
                assert found[one] == found[other]
