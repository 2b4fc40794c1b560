"""What the generators found, made into candidates."""

from __future__ import annotations

from retold.retrieve.assemble import Scored, assemble_pool, outside_pool
from retold.retrieve.fusion import ScoredList
from tests.unit.retrieve.pool import candidate_row, hit, match

ROWS = {seq: candidate_row(seq) for seq in (1, 2, 3)}


def test_candidate_has_the_facts_of_its_row_and_what_each_generator_says() -> None:
    lists = [
        ScoredList("dense", ((1, 0.9), (2, 0.8))),
        ScoredList("lexical", ((2, 3.5),)),
        ScoredList("entity", ((2, 0.0),)),
    ]

    (first, _) = assemble_pool(
        [Scored(2, 0.03, cosine=0.8, bm25=3.5), Scored(1, 0.02)],
        lists,
        ROWS,
        {2: match(1, 2)},
        {2: "e1"},
        decay={},
    )

    assert first == outside_pool(ROWS[2])._replace(
        dense=hit(0.8, rank=2),
        lexical=hit(3.5),
        lexical_match=match(1, 2),
        entity=hit(0.0),
        entity_id="e1",
        cosine=0.8,
        bm25=3.5,
        fused_score=0.03,
        fused_rank=1,
        score=0.03,
    )


def test_decay_lowers_the_score_after_boosts_and_decides_the_order() -> None:
    scored = [Scored(1, 0.03, boosted=0.04), Scored(2, 0.025)]

    pool = assemble_pool(scored, [], ROWS, {}, {}, decay={1: 0.5})

    assert [(c.seq, c.score, c.fused_score, c.freshness_multiplier) for c in pool] == [
        (2, 0.025, 0.025, None),
        (1, 0.02, 0.03, 0.5),
    ]


def test_equal_scores_keep_the_order_of_fusion() -> None:
    scored = [Scored(3, 0.02), Scored(1, 0.02), Scored(2, 0.02)]

    pool = assemble_pool(scored, [], ROWS, {}, {}, decay={})

    assert [(c.seq, c.fused_rank) for c in pool] == [(3, 1), (1, 2), (2, 3)]


def test_rank_is_that_of_the_fusion_where_members_were_left_out() -> None:
    (found,) = assemble_pool([Scored(2, 0.02, rank=7)], [], ROWS, {}, {}, decay={})

    assert found.fused_rank == 7


def test_a_found_row_that_was_not_fused_is_left_out() -> None:
    lists = [ScoredList("dense", ((3, 0.9), (1, 0.8)))]

    (found,) = assemble_pool([Scored(1, 0.02)], lists, ROWS, {}, {}, decay={})

    assert (found.seq, found.dense) == (1, hit(0.8, rank=2))
