"""Doubles for tests of applications that use Retold; public and covered by semantic versioning.

Nothing here imports pytest except ``retold.testing.contracts``, which is imported on its own.
"""

from retold.testing.builders import (
    MOMENT,
    make_candidate,
    make_extraction_context,
    make_principal,
    make_proposal,
    make_record,
    make_request,
    make_search,
    make_turns,
)
from retold.testing.fakes import (
    CountingIds,
    FakeBudget,
    FakeCandidateReviewer,
    FakeClock,
    FakeCompletionClient,
    FakeContentPolicy,
    FakeEmbedder,
    FakeJudge,
    FakeQueue,
    FakeReranker,
    FakeRewriter,
    TableExtractor,
)
from retold.testing.lab import MemoryLab

__all__ = [
    "MOMENT",
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
    "MemoryLab",
    "TableExtractor",
    "make_candidate",
    "make_extraction_context",
    "make_principal",
    "make_proposal",
    "make_record",
    "make_request",
    "make_search",
    "make_turns",
]
