"""Laws of the gate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retold.config.retrieval import AutoGateConfig, DenseFloorConfig, GateConfig
from retold.retrieve.gate import QuerySignals, decide
from tests.unit.retrieve.pool import candidate, hit, match

FRACTIONS = st.floats(0, 1)


@st.composite
def candidates(draw, seq):
    fields = {
        "type": draw(st.sampled_from(("semantic", "episodic", "procedural"))),
        "source_kind": draw(st.sampled_from(("user_statement", "session_summary"))),
        "fused_score": draw(st.floats(0.001, 0.05)),
    }
    if draw(st.booleans()):
        fields["dense"] = hit(draw(st.floats(-1, 1)))
    if draw(st.booleans()):
        matched = draw(st.integers(0, 4))
        fields["lexical_match"] = match(matched, matched + draw(st.integers(1, 4)))
    if draw(st.booleans()):
        fields["entity"] = hit(0.0)
    return candidate(seq, **fields)


@st.composite
def pools(draw):
    return [draw(candidates(seq)) for seq in range(1, draw(st.integers(0, 9)) + 1)]


@st.composite
def gates(draw):
    floor = draw(st.floats(-1, 1))
    floors = {name: floor for name in ("semantic", "episodic", "procedural", "session_summary")}
    return GateConfig(
        dense_floor=DenseFloorConfig(**floors),
        relative_floor=draw(FRACTIONS),
        lexical_min_term_fraction=draw(FRACTIONS),
        auto=AutoGateConfig(relative_floor=draw(FRACTIONS)),
    )


SIGNALS = st.sampled_from(("tool", "auto")).map(
    lambda trigger: QuerySignals(trigger, ("dense", "lexical", "entity"))
)


@given(SIGNALS, pools(), gates())
def test_gate_splits_the_pool_in_order_with_a_reason_for_each(signals, pool, cfg):
    outcome = decide(signals, pool, cfg)
    kept, dropped = ([c.seq for c in part] for part in (outcome.kept, outcome.dropped))

    assert kept == sorted(kept)
    assert dropped == sorted(dropped)
    assert sorted(kept + dropped) == [c.seq for c in pool]
    assert all(c.gate_reason.startswith("passed on ") for c in outcome.kept)
    assert all(c.gate_reason.startswith("step ") for c in outcome.dropped)


@given(SIGNALS, pools(), gates())
def test_gate_decides_its_survivors_again_alike(signals, pool, cfg):
    kept = decide(signals, pool, cfg).kept

    assert decide(signals, kept, cfg).kept == kept


@given(pools(), gates())
def test_host_issued_search_never_shows_an_excluded_kind(pool, cfg):
    kept = decide(QuerySignals("auto", ("dense",)), pool, cfg).kept

    assert all(one.source_kind != "session_summary" for one in kept)
