"""Convex fusion: laws over pools."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.fusion import Unrelated, convex_fusion

NONE = float("nan")
COSINES = st.one_of(st.just(NONE), st.floats(-1, 1, width=32))
POOLS = st.lists(st.tuples(COSINES, st.floats(0, 60)), min_size=1, max_size=12)
ALPHA = st.floats(0, 1)
UNRELATED = st.none() | st.builds(Unrelated, st.floats(-0.2, 0.9), st.floats(0, 0.3))


def fused(cosines, bm25, alpha=0.6, unrelated=None):
    return convex_fusion(np.array(cosines, float), np.array(bm25, float), alpha, unrelated).tolist()


@pytest.mark.parametrize(
    ("cosines", "bm25", "unrelated", "expected"),
    [
        ([0.8, 0.5, 0.2], [0, 4, 2], None, [0.6, 0.3 + 0.4, 0.2]),
        ([0.8, 0.6], [0, 0], None, [0.6, 0.0]),
        ([0.8, 0.6], [0, 0], Unrelated(0.1, 0.05), [0.6, 0.6 * 0.5 / 0.7]),
        ([0.8, 0.0], [0, 0], Unrelated(0.1, 0.05), [0.6, 0.0]),
        ([0.02, 0.01], [0, 3], Unrelated(0.1, 0.05), [0.6 * 0.01 / 0.05, 0.4]),
        ([0.02, 0.02], [0, 3], Unrelated(0.1, 0.05), [0.0, 0.4]),
        ([0.1, 0.1], [0, 0], Unrelated(0.1, 0.0), [0.6, 0.6]),
        ([0.5], [0], None, [0.6]),
        ([0.5, 0.5], [3, 3], None, [1.0, 1.0]),
        ([NONE, 0.5], [2, 1], None, [0.4, 0.6 + 0.2]),
        ([NONE, NONE], [2, 1], None, [0.4, 0.2]),
        ([NONE, NONE], [0.25, 0.1], None, [0.2, 0.08]),
        ([], [], None, []),
    ],
)
def test_scores_are_the_weighted_sum_of_both_scales(cosines, bm25, unrelated, expected):
    assert fused(cosines, bm25, unrelated=unrelated) == pytest.approx(expected)


@given(POOLS, ALPHA, UNRELATED)
def test_scores_lie_between_nothing_and_one_and_never_nan(pool, alpha, unrelated):
    scores = fused(*zip(*pool, strict=True), alpha, unrelated)

    assert all(0.0 <= score <= 1.0 + 1e-12 for score in scores)


@given(POOLS, ALPHA, UNRELATED, st.randoms(use_true_random=False))
def test_scores_follow_the_members_whatever_their_order(pool, alpha, unrelated, random):
    order = list(range(len(pool)))
    random.shuffle(order)
    straight = fused(*zip(*pool, strict=True), alpha, unrelated)
    shuffled = fused(*zip(*(pool[at] for at in order), strict=True), alpha, unrelated)

    assert shuffled == [straight[at] for at in order]


@given(POOLS, ALPHA, UNRELATED)
def test_a_member_that_is_better_in_both_channels_never_scores_less(pool, alpha, unrelated):
    scores = fused(*zip(*pool, strict=True), alpha, unrelated)
    for one, its in zip(pool, scores, strict=True):
        for other, theirs in zip(pool, scores, strict=True):
            if one[0] >= other[0] and one[1] >= other[1]:
                assert its >= theirs
