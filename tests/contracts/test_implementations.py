"""The shipped implementations keep the contracts that users of ``retold.testing`` are given."""

import pytest

from retold.config import profile_config
from retold.index.embedder import QueryCache, embedder_from_config
from retold.ingest.lexical_judge import LexicalJudge
from retold.protocols import Embedder, EquivalenceJudge, QueryRewriter
from retold.retrieve.rewrite import NoRewriter
from retold.testing import FakeEmbedder
from retold.testing.contracts import EmbedderContract, JudgeContract, RewriterContract


@pytest.fixture(scope="module")
def packaged() -> Embedder:
    """Load the model once for all its behaviours."""
    return embedder_from_config(profile_config("offline").embedding)


class TestPackagedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, packaged) -> Embedder:
        return packaged


class TestQueryCache(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return QueryCache(FakeEmbedder(dims=32), entries=4)


class TestLexicalJudge(JudgeContract):
    @pytest.fixture
    def judge(self) -> EquivalenceJudge:
        return LexicalJudge()


class TestNoRewriter(RewriterContract):
    @pytest.fixture
    def rewriter(self) -> QueryRewriter:
        return NoRewriter()
