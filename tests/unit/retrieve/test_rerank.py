"""The reranking stage around any model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retold.config.retrieval import RerankerConfig
from retold.errors import RerankError
from retold.protocols import QueryRewriter, Reranker
from retold.retrieve.rerank import NoReranker, rerank
from retold.retrieve.rewrite import NoRewriter
from retold.testing import FakeReranker
from tests.unit.retrieve.pool import candidate

CFG = RerankerConfig(enabled=True, floor=0.5)
POOL = [candidate(seq) for seq in (1, 2, 3)]
CONTENTS = {1: "a", 2: "b", 3: "c"}


class Odd:
    """A model that answers with too little."""

    name = "odd"

    def score(self, query: str, docs: Sequence[str]) -> list[float]:
        return [float("nan")] * len(docs) if query == "nan" else [0.9]


def test_disabled_stage_changes_nothing_and_calls_nothing() -> None:
    fake = FakeReranker()

    outcome = rerank(POOL, ["q"], {}, fake, RerankerConfig())

    assert (outcome.status, outcome.ranked, outcome.scored) == ("disabled", tuple(POOL), None)
    assert fake.calls == []


def test_record_keeps_its_best_score_over_the_queries() -> None:
    fake = FakeReranker({("q1", "a"): 0.6, ("q2", "a"): 0.7, ("q1", "b"): 0.9, ("q2", "b"): 0.1})

    outcome = rerank(POOL[:2], ["q1", "q2"], CONTENTS, fake, CFG)

    assert [
        (c.seq, c.rerank_score, c.rank_before_rerank, c.rank_after_rerank) for c in outcome.ranked
    ] == [
        (2, 0.9, 2, 1),
        (1, 0.7, 1, 2),
    ]
    assert outcome.scored is not None
    assert [one.query for one in outcome.scored] == [0, 1]


def test_equal_scores_keep_the_order_before() -> None:
    outcome = rerank(POOL, ["q"], CONTENTS, FakeReranker(default=0.8), CFG)

    assert [c.seq for c in outcome.ranked] == [1, 2, 3]


def test_nothing_to_rerank_is_applied_to_nothing() -> None:
    assert rerank([], ["q"], {}, FakeReranker(), CFG).scored == ()


@pytest.mark.parametrize("query", ["nan", "short"])
def test_unusable_scores_are_a_failure(query: str) -> None:
    outcome = rerank(POOL, [query], CONTENTS, Odd(), CFG)

    assert (outcome.status, outcome.error) == ("failed", "RerankError")
    assert outcome.ranked == tuple(POOL)


def test_failure_raises_when_so_configured() -> None:
    with pytest.raises(RerankError):
        rerank(POOL, ["nan"], CONTENTS, Odd(), CFG.model_copy(update={"on_failure": "fail"}))


def test_stand_ins_keep_the_ports_contracts() -> None:
    assert isinstance(NoReranker(), Reranker)
    assert isinstance(NoRewriter(), QueryRewriter)
    assert NoReranker().score("q", ["a", "b"]) == [0.0, 0.0]
    assert NoRewriter().rewrite(["a", "b"], "context").queries == ("a", "b")
