"""Provisional records and the stronger records they contradict."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.retrieve.conflicts import Entry, choose_counterpart, pair_counterparts
from tests.unit.retrieve.pool import NOW, candidate

RANK = {
    "user_statement": 4,
    "system": 3,
    "tool_result": 2,
    "session_summary": 2,
    "agent_inference": 1,
}.__getitem__
WEAK = candidate(1, status="provisional", source_kind="agent_inference")


def seqs(entries: tuple[Entry, ...]) -> list[tuple[list[int], int, list[int]]]:
    return [([c.seq for c in e.beside], e.candidate.seq, list(e.needs)) for e in entries]


@pytest.mark.parametrize(
    ("other", "qualifies"),
    [
        (candidate(2, status="confirmed"), True),
        (candidate(2, status="confirmed", source_kind="agent_inference"), True),
        (candidate(2, status="provisional", source_kind="tool_result"), True),
        (
            candidate(
                2,
                status="provisional",
                source_kind="agent_inference",
                event_at=NOW - timedelta(days=1),
            ),
            False,
        ),
    ],
    ids=["confirmed", "confirmed of equal rank", "higher rank", "same rank, older"],
)
def test_counterpart_is_confirmed_or_of_higher_authority(other: object, qualifies: bool) -> None:
    chosen = choose_counterpart(WEAK, [other], RANK)  # type: ignore[list-item]

    assert (chosen is other) is qualifies


def test_counterpart_is_the_strongest_of_several() -> None:
    others = [
        candidate(2, status="provisional", source_kind="user_statement"),
        candidate(3, status="confirmed", source_kind="tool_result"),
        candidate(4, status="confirmed", source_kind="user_statement"),
    ]

    assert choose_counterpart(WEAK, others, RANK) is others[2]


def test_confirmed_candidate_needs_no_counterpart() -> None:
    assert choose_counterpart(candidate(1), [candidate(2)], RANK) is None


def test_counterpart_ranked_above_keeps_its_own_place() -> None:
    strong, weak = candidate(2), WEAK

    assert seqs(pair_counterparts([strong, weak], {1: strong})) == [([], 2, []), ([], 1, [2])]


def test_counterpart_ranked_below_is_pulled_forward() -> None:
    strong, other = candidate(2), candidate(3)

    paired = pair_counterparts([WEAK, other, strong], {1: strong})

    assert seqs(paired) == [([2], 1, []), ([], 3, [])]


def test_counterpart_outside_the_ranking_is_added() -> None:
    assert seqs(pair_counterparts([WEAK], {1: candidate(9)})) == [([9], 1, [])]


def test_ranked_counterpart_contributes_its_own_evidence() -> None:
    ranked = candidate(2, gate_reason="passed")

    (entry,) = pair_counterparts([WEAK, ranked], {1: candidate(2)})

    assert entry.beside[0] is ranked


def test_counterpart_of_two_records_is_shown_once() -> None:
    strong = candidate(3)
    second = candidate(2, status="provisional")

    paired = pair_counterparts([WEAK, second], {1: strong, 2: strong})

    assert seqs(paired) == [([3], 1, []), ([], 2, [3])]


def test_counterparts_follow_each_other_and_end_in_a_circle() -> None:
    middle, strong = candidate(2, status="provisional"), candidate(3)

    assert seqs(pair_counterparts([WEAK], {1: middle, 2: strong, 3: WEAK})) == [([3, 2], 1, [])]
