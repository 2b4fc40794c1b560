"""Reasons, in words made of numbers."""

from __future__ import annotations

from typing import Any

import pytest

from retold.config.retrieval import GateConfig
from retold.models import Boost, Candidate
from retold.retrieve.budget import LeftOut
from retold.retrieve.dedup import Duplicate
from retold.retrieve.explain import explain, explain_empty
from retold.retrieve.gate import QuerySignals, decide
from tests.unit.retrieve.pool import candidate, hit, match
from tests.unit.retrieve.responses import make_record

CFG = GateConfig()
SIGNALS = QuerySignals("tool", ("dense", "lexical", "entity"), (4,))


def why(**fields: Any) -> Any:
    given = candidate(1, **fields)
    return why_of(given, Duplicate(candidate(2), given, 0.94))


def why_of(given: Candidate, duplicate: Duplicate) -> Any:
    return explain(
        given,
        make_record(1),
        raw_queries=("q",),
        rewritten_queries=None,
        rewrite_status="disabled",
        duplicates=(duplicate,),
        budget="fit at position 1 of 8, 44 tokens used",
        conflicts_with=(),
    )


def empty(**fields: Any) -> str:
    nothing: dict[str, Any] = {
        "gated_out": (),
        "survivors": 0,
        "weak": (),
        "left_out": (),
        "signals": SIGNALS,
        "cfg": CFG,
        "degraded": (),
    }
    return explain_empty(**(nothing | fields))


def test_summary_names_channels_ranks_and_the_passing_signal() -> None:
    found = why(
        dense=hit(0.71, 2),
        lexical=hit(3.0, 1),
        lexical_match=match(3, 3),
        entity=hit(0.0, 4),
        gate_reason="passed on dense: 0.71 >= 0.45 (semantic)",
    )

    assert found.summary == (
        "matched: dense 0.71 (rank 2), lexical 3/3 (rank 1), entity (rank 4); fused rank 1; "
        "passed gate on dense"
    )
    assert found.dedup == f"kept over {candidate(2).record_id} at cosine 0.94"


def test_summary_names_in_plain_words_what_raised_a_record() -> None:
    boosts = (
        Boost("date_interval", 0.3, "its time lies in one that the query names"),
        Boost("session", 0.151, "its conversation holds a good match"),
        Boost("recency", 0.004, "recent: this part halves every 9 days"),
    )
    found = why(dense=hit(0.71), boosts=boosts, gate_reason="passed on meaning: 3.1 >= 2")

    assert found.summary == (
        "matched: dense 0.71 (rank 1); fused rank 1; "
        "raised by the time asked for +0.30, its conversation +0.15; passed gate on meaning"
    )
    assert found.boosts == boosts
    assert why(boosts=(Boost("neighbour", 0.4, ""),)).summary == (
        "matched: only beside a match; fused rank 1; raised by the turn beside it +0.40"
    )


def test_a_turn_that_only_stood_beside_a_match_is_no_counterpart_without_boosts() -> None:
    assert why(fused_rank=7).summary == "matched: only beside a match; fused rank 7"


def test_a_duplicate_without_a_vector_was_equal_in_words() -> None:
    given = candidate(1)
    found = why_of(given, Duplicate(candidate(2), given, float("nan")))

    assert found.dedup == f"kept over {candidate(2).record_id} at equal words"


def test_counterpart_from_outside_the_pool_is_explained_as_such() -> None:
    found = why(fused_rank=0)

    assert found.summary == "matched: only as a counterpart"
    assert found.gate == "shown beside the record it conflicts with; not gated"


def test_empty_reason_names_every_missed_floor_of_the_best_candidate() -> None:
    pool = [
        candidate(1, dense=hit(0.38), lexical_match=match(1, 4), fused_score=0.03),
        candidate(2, dense=hit(0.40), fused_score=0.02),
    ]
    gated = decide(SIGNALS, pool, CFG).gated_out

    assert empty(gated_out=gated) == (
        "nothing above the gate: best dense 0.38 < 0.45 (semantic); "
        "best lexical 1/4 terms < 0.5, 1 matched < 2; no entity match; "
        "best rejected score 0.0300, dense 0.40"
    )


def test_empty_reason_names_a_source_kind_that_never_arrives_unasked() -> None:
    pool = [candidate(1, source_kind="session_summary", dense=hit(0.9))]
    gated = decide(QuerySignals("auto", ("dense",)), pool, CFG).gated_out

    assert "session_summary is excluded from auto search" in empty(gated_out=gated)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "no readable record matched in any channel that ran"),
        (
            {"survivors": 1, "weak": ((candidate(), "rerank floor: 0.10 < 0.50"),)},
            "the reranker rejected every candidate; best: rerank floor: 0.10 < 0.50",
        ),
        (
            {"survivors": 1, "left_out": (LeftOut(candidate(), "tokens: 90 more than ..."),)},
            "nothing fits the budget; best: tokens: 90 more than ...",
        ),
        ({"survivors": 1}, "what was found is no longer readable or active"),
        (
            {"degraded": ("dense: no embedder",)},
            "no readable record matched in any channel that ran; degraded dense: no embedder",
        ),
    ],
    ids=["nothing found", "reranker", "budget", "final check", "degraded"],
)
def test_empty_reason_names_the_last_stage_that_removed_something(
    fields: dict[str, Any], expected: str
) -> None:
    assert empty(**fields) == expected
