"""Laws of the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.budget import fill_budget
from retold.retrieve.conflicts import pair_counterparts
from tests.unit.retrieve.pool import candidate


@st.composite
def cases(draw):
    seqs = draw(st.permutations(range(1, 13)))
    pool = [
        candidate(seq, status=draw(st.sampled_from(("confirmed", "provisional")))) for seq in seqs
    ]
    ranked = pool[: draw(st.integers(0, 12))]
    counterparts = {
        one.seq: draw(st.sampled_from(pool))
        for one in pool
        if one.status == "provisional" and draw(st.booleans())
    }
    counterparts = {seq: other for seq, other in counterparts.items() if other.seq != seq}
    tokens = {seq: draw(st.integers(30, 300)) for seq in range(1, 13)}
    return ranked, counterparts, tokens, draw(st.integers(1, 10)), draw(st.integers(1, 1500))


@given(cases())
def test_budget_never_exceeds_k_or_tokens_and_never_splits_a_pair(case):
    ranked, counterparts, tokens, k, token_budget = case
    entries = pair_counterparts(ranked, counterparts)

    outcome = fill_budget(entries, tokens, k=k, token_budget=token_budget)
    shown = [placed.candidate.seq for placed in outcome.chosen]
    left = [one.candidate.seq for one in outcome.left_out]

    assert sum(tokens[seq] for seq in shown) == outcome.tokens <= token_budget
    assert sum(entry.candidate.seq in shown for entry in entries) <= k
    assert len(set(shown)) == len(shown)
    assert sorted(shown + left) == sorted({one.seq for one in ranked} | set(shown + left))
    for seq in shown:
        if seq in counterparts:
            assert counterparts[seq].seq in shown


@given(cases())
def test_budget_keeps_the_order_of_the_ranking_apart_from_counterparts(case):
    ranked, _, tokens, k, token_budget = case
    entries = pair_counterparts(ranked, {})

    outcome = fill_budget(entries, tokens, k=k, token_budget=token_budget)
    places = [ranked.index(placed.candidate) for placed in outcome.chosen]

    assert places == sorted(places)
