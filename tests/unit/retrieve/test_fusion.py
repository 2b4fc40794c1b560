"""Reciprocal rank fusion on small lists."""

from __future__ import annotations

import pytest

from retold.retrieve.fusion import ScoredList, reciprocal_rank_fusion


def ranked(name: str, *seqs: int) -> ScoredList:
    return ScoredList(name, tuple((seq, 0.0) for seq in seqs))  # type: ignore[arg-type]


def test_fusion_adds_one_share_per_list_by_rank() -> None:
    fused = dict(reciprocal_rank_fusion([ranked("dense", 7, 8), ranked("lexical", 8)], k=60))

    assert fused == {7: pytest.approx(1 / 61), 8: pytest.approx(1 / 62 + 1 / 61)}


def test_fusion_works_when_a_generator_found_nothing() -> None:
    fused = reciprocal_rank_fusion([ranked("dense"), ranked("lexical", 3, 4), ranked("entity")], 60)

    assert [seq for seq, _ in fused] == [3, 4]


def test_fusion_of_nothing_is_empty() -> None:
    assert reciprocal_rank_fusion([], 60) == []


def test_fusion_orders_equal_scores_by_seq() -> None:
    fused = reciprocal_rank_fusion([ranked("dense", 9), ranked("lexical", 2)], k=60)

    assert [seq for seq, _ in fused] == [2, 9]
