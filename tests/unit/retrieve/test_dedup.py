"""Collapse of near-identical candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retold.retrieve.dedup import Cosines, collapse_duplicates, holds_near
from tests.unit.retrieve.pool import candidate


def cosines(size: int, *pairs: tuple[int, int, float], rest: float = 0.0) -> Cosines:
    matrix = np.full((size, size), rest, dtype=np.float32)
    for one, two, cosine in pairs:
        matrix[one, two] = matrix[two, one] = cosine
    return matrix


def test_dedup_keeps_the_higher_ranked_of_two() -> None:
    pool = [candidate(1), candidate(2), candidate(3)]

    outcome = collapse_duplicates(pool, cosines(3, (0, 2, 0.95), (0, 1, 0.5)), 0.92)

    assert [c.seq for c in outcome.kept] == [1, 2]
    assert [(d.dropped.seq, d.kept.seq, d.cosine) for d in outcome.dropped] == [
        (3, 1, pytest.approx(0.95))
    ]


def test_dedup_compares_with_kept_records_only() -> None:
    pool = [candidate(1), candidate(2), candidate(3)]

    outcome = collapse_duplicates(pool, cosines(3, (0, 1, 0.95), (1, 2, 0.95)), 0.92)

    assert [c.seq for c in outcome.kept] == [1, 3]


def test_dedup_never_merges_a_pair_that_is_held_apart() -> None:
    outcome = collapse_duplicates(
        [candidate(2), candidate(1)],
        cosines(2, rest=0.99),
        0.92,
        apart={(1, 2)},
    )

    assert len(outcome.kept) == 2


def test_dedup_never_drops_a_current_record_for_its_history() -> None:
    pool = [candidate(1, status="superseded"), candidate(2)]

    assert len(collapse_duplicates(pool, cosines(2, rest=0.99), 0.92).kept) == 2


def test_dedup_keeps_a_record_without_a_vector() -> None:
    assert (
        len(collapse_duplicates([candidate(1), candidate(2)], cosines(2, rest=math.nan), 0.92).kept)
        == 2
    )


@pytest.mark.parametrize(
    ("between", "near"),
    [(cosines(3, rest=0.5), False), (cosines(3, (0, 2, 0.95)), True), (cosines(1), False)],
    ids=["apart", "two near", "alone"],
)
def test_only_another_candidate_is_near(between: Cosines, near: bool) -> None:
    assert holds_near(between, 0.92) is near


def test_a_candidate_without_a_vector_is_near_none() -> None:
    assert not holds_near(cosines(2, rest=math.nan), 0.92)
