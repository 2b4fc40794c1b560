"""The floors of LLD 10.5 as a table."""

from __future__ import annotations

from typing import Any

import pytest

from retold.config.retrieval import AutoGateConfig, GateConfig
from retold.retrieve.gate import (
    QuerySignals,
    below,
    decide,
    exclude_source_kinds,
    missed_floors,
)
from tests.unit.retrieve.pool import candidate, hit, match

CFG = GateConfig()
TOOL = QuerySignals("tool", ("dense", "lexical", "entity"))
AUTO = QuerySignals("auto", ("dense", "lexical", "entity"))


def reason(signals: QuerySignals = TOOL, cfg: GateConfig = CFG, **fields: Any) -> tuple[bool, str]:
    outcome = decide(signals, [candidate(**fields)], cfg)
    return bool(outcome.kept), str((outcome.kept or outcome.dropped)[0].gate_reason)


@pytest.mark.parametrize(
    ("fields", "passes", "says"),
    [
        ({"type": "episodic", "dense": hit(0.42)}, True, "dense: 0.42 >= 0.40 (episodic)"),
        ({"type": "semantic", "dense": hit(0.42)}, False, "dense 0.42 < 0.45 (semantic)"),
        ({"type": "procedural", "dense": hit(0.42)}, False, "0.42 < 0.45 (procedural)"),
        (
            {"type": "episodic", "source_kind": "session_summary", "dense": hit(0.42)},
            False,
            "0.42 < 0.50 (session_summary)",
        ),
        ({"lexical_match": match(1, 1)}, False, "lexical 1/1 terms, 1 matched < 2"),
        ({"lexical_match": match(identifiers=1, total=1)}, True, "one an identifier"),
        ({"lexical_match": match(aliases=1, total=2)}, True, "one an entity alias"),
        ({"lexical_match": match(2, 4)}, True, "lexical: 2/4 terms"),
        ({"lexical_match": match(2, 5)}, False, "lexical 2/5 terms < 0.5"),
        (
            {"lexical_match": match(identifiers=1, total=3)},
            False,
            "lexical 1/3 terms < 0.5, 1 matched < 2",
        ),
        ({"entity": hit(0.0)}, True, "entity: exact match"),
        ({}, False, "no dense match; no lexical match; no entity match"),
    ],
)
def test_gate_applies_the_absolute_floors(fields: dict[str, Any], passes: bool, says: str) -> None:
    kept, why = reason(**fields)

    assert kept is passes
    assert says in why


def test_lexical_agreement_opens_the_gate_below_the_dense_floor() -> None:
    """B60."""
    kept, why = reason(dense=hit(0.30), lexical_match=match(2, 2))

    assert kept
    assert why == "passed on lexical: 2/2 terms"


def test_relative_floor_drops_a_weak_candidate_among_as_many_channels() -> None:
    """Fails when ``_relative`` no longer compares with the top of the group."""
    both = {"dense": hit(0.9), "lexical_match": match(2, 2)}
    pool = [
        candidate(1, fused_score=0.030, **both),
        candidate(2, fused_score=0.014, **both),
        candidate(3, fused_score=0.014, dense=hit(0.9)),
    ]

    outcome = decide(TOOL, pool, CFG)

    assert [c.seq for c in outcome.kept] == [1, 3]
    assert "step 2, relative floor: fused 0.014 < 0.015 = 0.5 x" in str(
        outcome.dropped[0].gate_reason
    )


def test_relative_floor_spares_entity_hits() -> None:
    pool = [
        candidate(1, fused_score=0.030, dense=hit(0.9), entity=hit(0.0)),
        candidate(2, fused_score=0.001, dense=hit(0.9), entity=hit(0.0)),
    ]

    assert [c.seq for c in decide(TOOL, pool, CFG).kept] == [1, 2]


def test_relative_floor_does_nothing_to_a_single_survivor() -> None:
    assert decide(TOOL, [candidate(fused_score=0.0001, dense=hit(0.9))], CFG).kept


def test_dropped_candidates_do_not_raise_the_relative_floor() -> None:
    pool = [
        candidate(1, fused_score=0.9, dense=hit(0.1)),
        candidate(2, fused_score=0.01, dense=hit(0.9)),
    ]

    assert [c.seq for c in decide(TOOL, pool, CFG).kept] == [2]


def test_host_issued_search_excludes_source_kinds_before_any_floor() -> None:
    kept, why = reason(AUTO, type="episodic", source_kind="session_summary", dense=hit(0.99))

    assert not kept
    assert why == "step 0, source kind: session_summary is excluded from auto search"


def test_host_issued_search_uses_its_own_floors() -> None:
    assert reason(TOOL, dense=hit(0.50))[0]
    assert reason(AUTO, dense=hit(0.50)) == (
        False,
        "step 1, absolute floors: dense 0.50 < 0.55 (semantic); no lexical match; no entity match",
    )
    assert not reason(AUTO, lexical_match=match(2, 4))[0]


def test_host_issued_search_knows_no_entity_exemption() -> None:
    kept, why = reason(AUTO, entity=hit(0.0))

    assert not kept
    assert "an entity match is no reason here" in why


def test_entity_match_is_no_exemption_when_switched_off() -> None:
    assert not reason(cfg=GateConfig(entity_exempt=False), entity=hit(0.0))[0]


def test_gate_says_when_the_dense_channel_did_not_run() -> None:
    signals = QuerySignals("tool", ("lexical", "entity"))

    assert missed_floors(signals, candidate(), CFG).startswith("dense did not run")


def test_cross_encoder_only_applies_the_source_kind_policy_alone() -> None:
    pool = [candidate(1), candidate(2, source_kind="session_summary")]

    assert len(exclude_source_kinds(TOOL, pool, CFG).kept) == 2
    assert [c.seq for c in exclude_source_kinds(AUTO, pool, CFG).kept] == [1]


def test_gate_leaves_its_input_alone() -> None:
    given = candidate(dense=hit(0.9))

    decide(TOOL, [given], CFG)

    assert given.gate_reason is None


@pytest.mark.parametrize(
    ("value", "floor", "text"),
    [(0.38, 0.45, "0.38 < 0.45"), (0.4499, 0.45, "0.4499 < 0.4500"), (0.0, 1e-12, "0.0 < 1e-12")],
)
def test_comparison_shows_decimals_that_differ(value: float, floor: float, text: str) -> None:
    assert below(value, floor) == text


def test_auto_gate_refuses_an_entity_exemption() -> None:
    with pytest.raises(ValueError, match="entity_exempt"):
        AutoGateConfig(entity_exempt=True)  # type: ignore[arg-type]
