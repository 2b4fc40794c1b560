"""The gate on the query as a table."""

from __future__ import annotations

from typing import Any

import pytest

from retold.config.retrieval import GateConfig
from retold.models import Boost
from retold.retrieve.gate import QuerySignals, decide, missed
from retold.retrieve.signals import BankStatistics, NullQuery, NullSignals
from tests.unit.retrieve.pool import candidate, hit, match

CFG = GateConfig(kind="null_z")
ALL = ("dense", "lexical", "entity")


def signals(
    *zs: float | None, trigger: Any = "tool", channels: Any = ALL, is_read: bool = False
) -> QuerySignals:
    """Make the signals of queries; one without a Z is not read unless ``is_read``."""
    queries = tuple(
        NullQuery(0.3, 0.5, z) if z is not None else NullQuery(None, 0.5, None, is_read) for z in zs
    )
    banks = {"plain": BankStatistics(0.2, 0.1, 0.1)}
    return QuerySignals(trigger, channels, (3,), NullSignals("1", banks, queries))


def reason(asked: QuerySignals, **fields: Any) -> tuple[bool, str]:
    fields = {"fused_score": 0.9} | fields
    outcome = decide(asked, [candidate(**fields)], CFG)
    return bool(outcome.kept), str((outcome.kept or outcome.dropped)[0].gate_reason)


NEARER = "the closest record is no nearer than what an unrelated prompt finds: Z"


@pytest.mark.parametrize(
    ("asked", "fields", "passes", "says"),
    [
        (signals(1.4), {}, True, "passed on query: Z 1.4 >= 1"),
        (signals(0.4), {}, False, f"step 1, query: {NEARER} 0.40 < 1.00"),
        (signals(1.4, trigger="auto"), {}, False, f"{NEARER} 1.40 < 2.00"),
        (signals(2.0, trigger="auto"), {}, True, "Z 2.0 >= 2"),
        (signals(0.2, 1.1), {}, True, "Z 1.1 >= 1"),
        (signals(0.4), {"entity": hit(0.0)}, False, NEARER),
        (signals(0.4), {"dense": hit(0.99)}, False, NEARER),
        (signals(0.4), {"lexical_match": match(3, 3)}, False, NEARER),
        (signals(None), {"lexical_match": match(2, 4)}, True, "passed on lexical: 2/4 terms"),
        (signals(None), {"lexical_match": match(2, 5)}, False, "lexical 2/5 terms < 0.5"),
        (
            signals(None),
            {"lexical_match": match(2, 9, share=0.5)},
            True,
            "passed on lexical: 0.50 of the query",
        ),
        (
            signals(None),
            {"lexical_match": match(9, 9, share=0.49)},
            False,
            "so words decide; lexical 0.49 < 0.50 of the query",
        ),
        (
            signals(None),
            {"lexical_match": match(1, 1, share=1.0)},
            False,
            "lexical 1.00 of the query, 1 matched < 2",
        ),
        (
            signals(None),
            {"lexical_match": match(identifiers=1, share=1.0)},
            True,
            "lexical: all of it, one an identifier",
        ),
        (signals(None), {"entity": hit(0.0)}, False, "does not read the script of the query"),
        (signals(None), {"dense": hit(0.99)}, False, "so words decide; no lexical match"),
        (
            signals(None, channels=("lexical", "entity")),
            {},
            False,
            "dense did not run, so words decide; no lexical match",
        ),
        (signals(None, is_read=True), {}, False, "no readable record has a vector, so words"),
        (signals(0.4, None), {"lexical_match": match(2, 4)}, True, "passed on lexical"),
        (signals(0.4, None), {}, False, f"{NEARER} 0.40 < 1.00; the embedder does not read"),
        (
            signals(9.0, trigger="auto"),
            {"source_kind": "session_summary"},
            False,
            "step 0, source kind: session_summary is excluded from auto search",
        ),
    ],
)
def test_one_decision_about_the_query(
    asked: QuerySignals, fields: dict[str, Any], passes: bool, says: str
) -> None:
    """Fails for an entity match when its exemption from the floors is kept."""
    kept, why = reason(asked, **fields)

    assert kept is passes
    assert says in why


@pytest.mark.parametrize(
    ("z", "least", "says"),
    [(10.71, 1.0, "Z 10.7 >= 1"), (1.25, 1.25, "Z 1.25 >= 1.25"), (1.451, 1.45, "Z 1.5 >= 1.45")],
)
def test_what_opened_the_gate_is_never_shown_below_the_threshold(
    z: float, least: float, says: str
) -> None:
    """Thresholds of `retold calibrate` have two decimals."""
    cfg = GateConfig.model_validate({"kind": "null_z", "null_z": {"explicit": least}})
    (kept,) = decide(signals(z), [candidate(fused_score=0.9)], cfg).kept

    assert kept.gate_reason == f"passed on query: {says}"


def test_the_cut_compares_with_the_best_fused_score() -> None:
    pool = [candidate(seq, fused_score=score) for seq, score in ((1, 0.8), (2, 0.4), (3, 0.39))]
    outcome = decide(signals(1.4), pool, CFG)

    assert [one.seq for one in outcome.kept] == [1, 2]
    assert outcome.dropped[0].gate_reason == (
        "step 2, relative cut: score 0.39 < 0.40 = 0.5 x the best"
    )


@pytest.mark.parametrize(
    ("name", "passes"),
    [("date_interval", True), ("neighbour", True), ("session", False), ("recency", False)],
)
def test_only_what_bears_on_the_query_lifts_a_record_over_the_cut(name: Any, passes: bool) -> None:
    """A record that shares its session with a good one is not thereby an answer."""
    weak = candidate(2, fused_score=0.3, score=0.6, boosts=(Boost(name, 0.3, ""),))
    outcome = decide(signals(1.4), [candidate(1, fused_score=0.9), weak], CFG)

    assert (2 in [one.seq for one in outcome.kept]) is passes


def test_the_cut_always_leaves_the_best_whatever_single_words_take_from_it() -> None:
    """Fails when what the best fused record had before is all that others are compared with."""

    def kept(*members: tuple[float, float]) -> list[int]:
        pool = [
            candidate(seq, fused_score=fused, boosts=(Boost("late_interaction", amount, ""),))
            for seq, (fused, amount) in enumerate(members, start=1)
        ]
        return [one.seq for one in decide(signals(1.4), pool, CFG).kept]

    assert kept((1.0, -0.9), (0.1, 0.2), (0.1, -0.1)) == [2]
    assert kept((0.1, -0.3), (0.1, -0.2)) == [2]


def test_an_excluded_record_sets_no_measure_for_the_others() -> None:
    pool = [
        candidate(1, fused_score=1.0, source_kind="session_summary"),
        candidate(2, fused_score=0.4),
    ]
    outcome = decide(signals(2.5, trigger="auto"), pool, CFG)

    assert [one.seq for one in outcome.kept] == [2]


def test_what_a_query_missed_is_said_in_plain_words() -> None:
    assert missed(signals(0.4), candidate(), CFG) == f"{NEARER} 0.40 < 1.00"


def test_no_comparison_means_that_words_decide() -> None:
    asked = QuerySignals("tool", ALL, (2,), None)

    assert decide(asked, [candidate(lexical_match=match(2, 2))], CFG).kept
    assert decide(asked, [candidate(dense=hit(0.99))], CFG).kept == ()
