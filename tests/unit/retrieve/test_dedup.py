"""Collapse of near-identical candidates."""

from __future__ import annotations

from retold.retrieve.dedup import collapse_duplicates
from tests.unit.retrieve.pool import candidate


def cosines(*pairs: tuple[int, int, float]) -> object:
    table = {frozenset(pair[:2]): pair[2] for pair in pairs}
    return lambda one, two: table.get(frozenset((one, two)))


def test_dedup_keeps_the_higher_ranked_of_two() -> None:
    pool = [candidate(1), candidate(2), candidate(3)]

    outcome = collapse_duplicates(pool, cosines((1, 3, 0.95), (1, 2, 0.5)), 0.92)  # type: ignore[arg-type]

    assert [c.seq for c in outcome.kept] == [1, 2]
    assert [(d.dropped.seq, d.kept.seq, d.cosine) for d in outcome.dropped] == [(3, 1, 0.95)]


def test_dedup_compares_with_kept_records_only() -> None:
    pool = [candidate(1), candidate(2), candidate(3)]

    outcome = collapse_duplicates(pool, cosines((1, 2, 0.95), (2, 3, 0.95)), 0.92)  # type: ignore[arg-type]

    assert [c.seq for c in outcome.kept] == [1, 3]


def test_dedup_never_merges_a_pair_that_is_held_apart() -> None:
    outcome = collapse_duplicates(
        [candidate(2), candidate(1)],
        lambda one, two: 0.99,
        0.92,
        apart={(1, 2)},
    )

    assert len(outcome.kept) == 2


def test_dedup_never_drops_a_current_record_for_its_history() -> None:
    pool = [candidate(1, status="superseded"), candidate(2)]

    assert len(collapse_duplicates(pool, lambda one, two: 0.99, 0.92).kept) == 2


def test_dedup_keeps_a_record_without_a_vector() -> None:
    assert len(collapse_duplicates([candidate(1), candidate(2)], lambda a, b: None, 0.92).kept) == 2
