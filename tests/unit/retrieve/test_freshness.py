"""The decay of episodic scores."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.config.retrieval import FreshnessConfig
from retold.models import MemoryType
from retold.retrieve.freshness import decay_of, freshness_multiplier
from retold.store.candidates import CandidateRow
from retold.store.codec import to_us
from tests.unit.retrieve.pool import NOW, candidate_row

CFG = FreshnessConfig()


def row(seq: int, kind: MemoryType, days: int) -> CandidateRow:
    return candidate_row(seq, type=kind, event_us=to_us(NOW - timedelta(days=days)))


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


def test_only_episodic_records_decay() -> None:
    old = [row(1, "episodic", 30), row(2, "semantic", 30), row(3, "procedural", 30)]

    assert decay_of(old, NOW, CFG, windowed=False) == {1: 0.5}


def test_nothing_decays_when_the_caller_gave_a_window() -> None:
    assert decay_of([row(1, "episodic", 90)], NOW, CFG, windowed=True) == {}
