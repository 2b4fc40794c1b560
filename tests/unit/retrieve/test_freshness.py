"""The decay of episodic scores."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.config.retrieval import FreshnessConfig
from retold.retrieve.freshness import apply_freshness, freshness_multiplier
from tests.unit.retrieve.pool import NOW, candidate

CFG = FreshnessConfig()


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(0), 1.0),
        (timedelta(hours=23), 1.0),
        (timedelta(days=15), 0.5**0.5),
        (timedelta(days=30), 0.5),
        (timedelta(days=3000), 0.5),
        (timedelta(days=-10), 1.0),
    ],
    ids=["now", "same day", "half a half-life", "half-life", "floor", "future"],
)
def test_multiplier_halves_per_half_life_down_to_the_floor(age: timedelta, expected: float) -> None:
    assert freshness_multiplier(NOW - age, NOW, CFG) == pytest.approx(expected)


def test_freshness_lowers_old_episodic_records_only() -> None:
    old = NOW - timedelta(days=30)
    pool = [
        candidate(1, type="episodic", event_at=old, fused_score=0.03),
        candidate(2, type="semantic", event_at=old, fused_score=0.02),
        candidate(3, type="procedural", event_at=old, fused_score=0.01),
    ]

    fresh = apply_freshness(pool, NOW, CFG, windowed=False)

    assert [(c.seq, c.score, c.freshness_multiplier) for c in fresh] == [
        (2, 0.02, None),
        (1, 0.015, 0.5),
        (3, 0.01, None),
    ]


def test_freshness_is_skipped_when_the_caller_gave_a_window() -> None:
    old = candidate(1, type="episodic", event_at=NOW - timedelta(days=90), fused_score=0.03)

    (kept,) = apply_freshness([old], NOW, CFG, windowed=True)

    assert kept.score == 0.03
    assert kept.freshness_multiplier is None


def test_freshness_keeps_the_fused_order_among_equals() -> None:
    pool = [candidate(5, fused_rank=1), candidate(3, fused_rank=2)]

    assert [c.seq for c in apply_freshness(pool, NOW, CFG, windowed=False)] == [5, 3]
