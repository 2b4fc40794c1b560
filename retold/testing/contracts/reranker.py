"""What every reranker must do."""

from __future__ import annotations

import pytest

from retold.protocols import Reranker

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
