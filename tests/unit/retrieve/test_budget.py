"""What fits into k and the token budget."""

from __future__ import annotations

import pytest

from retold.retrieve.budget import BudgetOutcome, fill_budget, result_tokens
from retold.retrieve.conflicts import Entry
from tests.unit.retrieve.pool import candidate


def fill(entries: list[Entry], costs: dict[int, int], k: int, budget: int) -> BudgetOutcome:
    return fill_budget(entries, costs, k=k, token_budget=budget)


def chosen(outcome: BudgetOutcome) -> list[int]:
    return [placed.candidate.seq for placed in outcome.chosen]


@pytest.mark.parametrize(("chars", "tokens"), [(0, 30), (3, 30), (4, 31), (1000, 280)])
def test_result_costs_a_quarter_of_its_characters_and_an_envelope(chars: int, tokens: int) -> None:
    assert result_tokens(chars) == tokens


def test_budget_stops_after_k() -> None:
    entries = [Entry(candidate(seq)) for seq in (1, 2, 3)]

    outcome = fill(entries, dict.fromkeys((1, 2, 3), 40), k=2, budget=1000)

    assert chosen(outcome) == [1, 2]
    assert [(left.candidate.seq, left.reason) for left in outcome.left_out] == [
        (3, "k: 2 results are already chosen")
    ]
    assert outcome.chosen[1].note == "fit at position 2 of 2, 80 tokens used"


def test_budget_skips_what_does_not_fit_and_tries_the_next() -> None:
    entries = [Entry(candidate(seq)) for seq in (1, 2, 3)]

    outcome = fill(entries, {1: 60, 2: 90, 3: 40}, k=8, budget=100)

    assert chosen(outcome) == [1, 3]
    assert outcome.left_out[0].reason == "tokens: 90 more than the 40 of 100 left"
    assert outcome.tokens == 100


def test_pair_is_admitted_as_a_unit_and_takes_one_slot() -> None:
    pair = Entry(candidate(1), beside=(candidate(2),))

    outcome = fill([pair, Entry(candidate(3))], dict.fromkeys((1, 2, 3), 40), k=2, budget=500)

    assert chosen(outcome) == [2, 1, 3]
    assert outcome.chosen[0].note.startswith("beside the record it conflicts with")


def test_pair_is_left_out_as_a_unit() -> None:
    """Fails when ``fill_budget`` looks at the cost of the candidate alone."""
    pair = Entry(candidate(1), beside=(candidate(2),))

    outcome = fill([pair, Entry(candidate(3))], dict.fromkeys((1, 2, 3), 40), k=2, budget=70)

    assert chosen(outcome) == [3]
    assert [left.candidate.seq for left in outcome.left_out] == [2, 1]


def test_stronger_counterpart_above_survives_k_of_one() -> None:
    entries = [Entry(candidate(2)), Entry(candidate(1), needs=(2,))]

    assert chosen(fill(entries, {1: 40, 2: 40}, k=1, budget=500)) == [2]


def test_record_is_left_out_when_its_counterpart_did_not_fit() -> None:
    entries = [Entry(candidate(2)), Entry(candidate(1), needs=(2,))]

    outcome = fill(entries, {1: 40, 2: 900}, k=4, budget=500)

    assert chosen(outcome) == []
    assert outcome.left_out[1].reason == "the record it conflicts with did not fit"
