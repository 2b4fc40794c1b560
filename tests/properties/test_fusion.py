"""Laws of reciprocal rank fusion."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.fusion import ScoredList, reciprocal_rank_fusion

SEQS = st.lists(st.integers(1, 40), unique=True, max_size=20)
LISTS = st.lists(SEQS, min_size=1, max_size=4).map(
    lambda lists: [ScoredList("dense", tuple((seq, 0.0) for seq in seqs)) for seqs in lists]
)


@given(LISTS, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_the_lists(lists, random):
    shuffled = list(lists)
    random.shuffle(shuffled)

    assert reciprocal_rank_fusion(shuffled, 60) == reciprocal_rank_fusion(lists, 60)


@given(LISTS)
def test_fusion_returns_every_seq_once_best_first(lists):
    fused = reciprocal_rank_fusion(lists, 60)

    assert {seq for seq, _ in fused} == {seq for one in lists for seq, _ in one.hits}
    assert len({seq for seq, _ in fused}) == len(fused)
    assert [score for _, score in fused] == sorted((s for _, s in fused), reverse=True)


@given(LISTS, st.integers(1, 19))
def test_fusion_rewards_a_better_rank(lists, place):
    first, *others = lists
    if place >= len(first.hits):
        return
    hits = list(first.hits)
    hits[place - 1], hits[place] = hits[place], hits[place - 1]
    seq = first.hits[place][0]

    before = dict(reciprocal_rank_fusion(lists, 60))[seq]
    after = dict(reciprocal_rank_fusion([ScoredList("dense", tuple(hits)), *others], 60))[seq]

    assert after > before
