"""What every query rewriter must do."""

from __future__ import annotations

import pytest

from retold.models import RewriteResult
from retold.protocols import QueryRewriter

QUERIES = ("what about her?", "green tea", "花生")


class RewriterContract:
    """Override ``rewriter`` with one whose model, if it has any, answers."""

    @pytest.fixture
    def rewriter(self) -> QueryRewriter:
        """Return the implementation under test."""
        pytest.fail("override the fixture `rewriter`")

    def test_rewriter_is_one(self, rewriter: QueryRewriter) -> None:
        """It has every member of the port."""
        assert isinstance(rewriter, QueryRewriter)

    @pytest.mark.parametrize("context", [None, "They talked about Priya."])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_rewriter_returns_as_many_queries_as_it_got(
        self, rewriter: QueryRewriter, count: int, context: str | None
    ) -> None:
        """With and without context."""
        result = rewriter.rewrite(QUERIES[:count], context)

        assert isinstance(result, RewriteResult)
        assert len(result.queries) == count
        assert all(query.strip() for query in result.queries)

    def test_rewriter_says_unchanged_when_nothing_changed(self, rewriter: QueryRewriter) -> None:
        """``applied`` means that at least one query is another one."""
        result = rewriter.rewrite(QUERIES, None)

        if result.status != "failed":
            assert (result.queries == QUERIES) == (result.status == "unchanged")
