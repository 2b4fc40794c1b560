"""Fakes with behaviour, one for each port that a test replaces."""

from retold.testing.fakes.completions import FakeBudget, FakeCompletionClient
from retold.testing.fakes.embedder import FakeEmbedder
from retold.testing.fakes.extraction import FakeCandidateReviewer, TableExtractor
from retold.testing.fakes.host import FakeContentPolicy, FakeQueue
from retold.testing.fakes.judge import FakeJudge
from retold.testing.fakes.reranker import FakeReranker
from retold.testing.fakes.rewriter import FakeRewriter
from retold.testing.fakes.source import CountingIds, FakeClock

__all__ = [
    "CountingIds",
    "FakeBudget",
    "FakeCandidateReviewer",
    "FakeClock",
    "FakeCompletionClient",
    "FakeContentPolicy",
    "FakeEmbedder",
    "FakeJudge",
    "FakeQueue",
    "FakeReranker",
    "FakeRewriter",
    "TableExtractor",
]
