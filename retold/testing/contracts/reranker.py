"""What every reranker must do."""

from __future__ import annotations

import pytest

from retold.protocols import Reranker
from retold.testing.contracts.concurrency import side_by_side

QUERY = "what does she drink"
DOCS = ("Likes green tea", "The build takes nine minutes.", "我喜欢茶", "")


class RerankerContract:
    """Override ``reranker``."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Return the implementation under test."""
        pytest.fail("override the fixture `reranker`")

    def test_reranker_is_one(self, reranker: Reranker) -> None:
        """It has every member of the port and a name."""
        assert isinstance(reranker, Reranker)
        assert reranker.name

    def test_reranker_scores_every_document_between_0_and_1(self, reranker: Reranker) -> None:
        """One score per document."""
        scores = reranker.score(QUERY, DOCS)

        assert len(scores) == len(DOCS)
        assert all(0.0 <= score <= 1.0 for score in scores)

    def test_reranker_keeps_the_order_of_the_documents(self, reranker: Reranker) -> None:
        """A score belongs to the document at its place."""
        forward = list(reranker.score(QUERY, DOCS))
        backward = list(reranker.score(QUERY, DOCS[::-1]))

        assert backward[::-1] == pytest.approx(forward, abs=1e-4)

    def test_reranker_scores_no_documents(self, reranker: Reranker) -> None:
        """Nothing in, nothing out."""
        assert list(reranker.score(QUERY, ())) == []

    def test_reranker_repeats_itself(self, reranker: Reranker) -> None:
        """The same call gives the same numbers."""
        assert list(reranker.score(QUERY, DOCS)) == list(reranker.score(QUERY, DOCS))

    def test_reranker_serves_several_threads(self, reranker: Reranker) -> None:
        """Side by side every document gets the score that it gets alone."""
        inputs = [DOCS[at % len(DOCS)] for at in range(8)]
        alone = [list(reranker.score(QUERY, [doc])) for doc in inputs]
        together = side_by_side(lambda doc: list(reranker.score(QUERY, [doc])), inputs)

        assert together == [pytest.approx(one, abs=1e-4) for one in alone]
