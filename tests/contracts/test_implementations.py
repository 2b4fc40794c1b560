"""Every double and every implementation that ships keeps the contract of its port.

Those that need torch run their contract beside their own tests.
"""

import sqlite3
from contextlib import ExitStack

import pytest

from retold import Overrides
from retold.config import parse_config, profile_config
from retold.errors import ProviderOutage
from retold.hosted import HostedCompletions, RunBudget
from retold.index.embedder import QueryCache, embedder_from_config
from retold.ingest.extraction.extractor import StructuredLLMExtractor
from retold.ingest.extraction.reviewer import StructuredLLMCandidateReviewer
from retold.ingest.lexical_judge import LexicalJudge
from retold.models import ReviewDecision, Scope
from retold.operations.own_completions import OwnCompletions
from retold.policy.activation import NoActivator
from retold.policy.day_budget import DayBudget
from retold.protocols import Embedder
from retold.queue import HueyQueue, NoQueue, ThreadQueue, make_storage
from retold.retrieve.hosted_rewrite import HostedLLMQueryRewriter
from retold.retrieve.rerank import NoReranker
from retold.retrieve.rewrite import NoRewriter
from retold.store import Store
from retold.testing import (
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
    contracts,
    make_proposal,
)
from retold.util import new_id, system_clock
from tests import extraction_model
from tests.loopback import LoopbackModel, Reply

PORTS = {
    "embedder": contracts.EmbedderContract,
    "judge": contracts.JudgeContract,
    "rewriter": contracts.RewriterContract,
    "reranker": contracts.RerankerContract,
    "queue": contracts.JobQueueContract,
    "activator": contracts.RecordActivatorContract,
    "content_policy": contracts.ContentPolicyContract,
    "completions": contracts.CompletionClientContract,
    "clock": contracts.ClockContract,
    "id_source": contracts.IdSourceContract,
    "extractor": contracts.ExtractorContract,
    "candidate_reviewer": contracts.CandidateReviewerContract,
    "budget": contracts.BudgetContract,
    "token embedder": contracts.TokenEmbedderContract,
}
NOT_GIVEN = {"budget", "token embedder"}
"""A port that a caller hands to a call, and one that an embedder may offer besides."""


def test_every_port_that_can_be_overridden_has_a_contract():
    """A port added to ``Overrides`` makes this fail until it has one."""
    assert set(PORTS) - NOT_GIVEN == set(Overrides.__slots__)
    assert {contract.__name__ for contract in PORTS.values()} == set(contracts.__all__)


@pytest.fixture(scope="module")
def packaged() -> Embedder:
    """Load the model once for all its behaviours."""
    return embedder_from_config(profile_config("offline").embedding)


class TestPackagedEmbedder(contracts.EmbedderContract, contracts.TokenEmbedderContract):
    @pytest.fixture
    def embedder(self, packaged):
        return packaged

    @pytest.fixture
    def token_embedder(self, packaged):
        return packaged


class TestQueryCache(contracts.EmbedderContract, contracts.TokenEmbedderContract):
    @pytest.fixture
    def embedder(self):
        return QueryCache(FakeEmbedder(dims=32), entries=4)

    @pytest.fixture
    def token_embedder(self, embedder):
        return embedder


class TestFakeEmbedder(contracts.EmbedderContract, contracts.TokenEmbedderContract):
    @pytest.fixture(params=[True, False], ids=["loaded", "loads with the first call"])
    def embedder(self, request):
        return FakeEmbedder(dims=64, is_loaded=request.param)

    @pytest.fixture
    def token_embedder(self, embedder):
        return embedder


class TestLexicalJudge(contracts.JudgeContract):
    @pytest.fixture
    def judge(self):
        return LexicalJudge()


class TestFakeJudge(contracts.JudgeContract):
    @pytest.fixture(params=[0.7, None], ids=["scores", "declines"])
    def judge(self, request):
        return FakeJudge({("Likes tea", "Hates tea"): "contradicts"}, default_support=request.param)


class TestNoReranker(contracts.RerankerContract):
    @pytest.fixture
    def reranker(self):
        return NoReranker()


class TestFakeReranker(contracts.RerankerContract):
    @pytest.fixture
    def reranker(self):
        return FakeReranker({("what does she drink", "Likes green tea"): 0.9})


class TestNoRewriter(contracts.RewriterContract):
    @pytest.fixture
    def rewriter(self):
        return NoRewriter()


class TestFakeRewriter(contracts.RewriterContract):
    @pytest.fixture(params=[{}, {"green tea": "does she like green tea"}], ids=["same", "other"])
    def rewriter(self, request):
        return FakeRewriter(request.param)


class TestHostedRewriter(contracts.RewriterContract):
    @pytest.fixture
    def rewriter(self):
        client = FakeCompletionClient(extraction_model.repeat_queries)
        cfg = profile_config("offline").retrieval.rewrite
        return HostedLLMQueryRewriter(client, cfg, [Scope("user", "ana")])


class TestTableExtractor(contracts.ExtractorContract):
    @pytest.fixture
    def extractor(self):
        moved = make_proposal("The user lives in Lisbon", "We moved to Lisbon", evidence_turn=43)
        return TableExtractor({"peanuts": [make_proposal()], "Lisbon": [moved]})


class TestStructuredLLMExtractor(contracts.ExtractorContract):
    @pytest.fixture
    def extractor(self):
        client = FakeCompletionClient(extraction_model.propose_every_line)
        return StructuredLLMExtractor(client, profile_config("offline").ingestion)


class TestFakeCandidateReviewer(contracts.CandidateReviewerContract):
    @pytest.fixture(params=["accept", "downgrade", "reject"])
    def reviewer(self, request):
        return FakeCandidateReviewer(default=ReviewDecision(request.param, "as told"))


class TestStructuredLLMCandidateReviewer(contracts.CandidateReviewerContract):
    @pytest.fixture
    def reviewer(self):
        client = FakeCompletionClient(extraction_model.accept_everything)
        return StructuredLLMCandidateReviewer(client, profile_config("offline").ingestion)


class TestRunBudget(contracts.BudgetContract):
    @pytest.fixture
    def budget(self):
        return RunBudget(1_000)


class TestDayBudget(contracts.BudgetContract):
    @pytest.fixture
    def budget(self, tmp_path):
        path = tmp_path / "memory.db"
        with Store.open(path, clock=FakeClock(), id_source=CountingIds()) as store:
            yield DayBudget(store, 1_000, max_wait_ms=10_000)


class TestFakeBudget(contracts.BudgetContract):
    @pytest.fixture
    def budget(self):
        return FakeBudget(1_000)


class TestNoQueue(contracts.JobQueueContract):
    @pytest.fixture
    def queue(self):
        return NoQueue()


class TestThreadQueue(contracts.JobQueueContract):
    @pytest.fixture
    def queue(self):
        queue = ThreadQueue(lambda session_id: None, max_pending=4)
        yield queue
        assert queue.close(self.patience_seconds)

    @pytest.fixture
    def unreachable_queue(self):
        def fail(session_id):
            raise OSError(28, "no space left")

        queue = ThreadQueue(fail, max_pending=4)
        yield queue
        assert queue.close(self.patience_seconds)


class TestHueyQueue(contracts.JobQueueContract):
    @pytest.fixture
    def file(self, tmp_path):
        """Make a queue file as a consumer does."""
        storage = make_storage("extraction", tmp_path / "queue", timeout_seconds=1)
        storage.initialize_schema()
        storage.close()
        return tmp_path / "queue"

    @pytest.fixture
    def queue(self, file):
        return HueyQueue(file, timeout_ms=5000, max_pending=100)

    @pytest.fixture(params=["locked", "damaged"])
    def unreachable_queue(self, file, request):
        if request.param == "damaged":
            file.write_bytes(b"no database at all" * 1000)
        holder = sqlite3.connect(file, isolation_level=None)
        if request.param == "locked":
            holder.execute("begin exclusive")
        yield HueyQueue(file, timeout_ms=50, max_pending=100)
        holder.close()


class TestFakeQueue(contracts.JobQueueContract):
    @pytest.fixture
    def queue(self):
        return FakeQueue()


class TestNoActivator(contracts.RecordActivatorContract):
    @pytest.fixture
    def activator(self):
        return NoActivator()


class TestFakeContentPolicy(contracts.ContentPolicyContract):
    @pytest.fixture
    def policy(self):
        return FakeContentPolicy(
            {"ana@example.org": "(address)"}, refuse={"4111 1111 1111 1111": "card number"}
        )


def hosted_client(provider, url):
    """Return a client whose provider is a model on this machine."""
    place = {"base_url": url if provider == "anthropic" else f"{url}/v1", "api_key_env": None}
    settings = {provider: place, "default_provider": provider}
    return HostedCompletions(parse_config({"hosted": settings}).hosted)


@pytest.fixture(params=["anthropic", "openai", "openrouter", "custom"])
def provider(request):
    return request.param


class TestHostedCompletions(contracts.CompletionClientContract):
    model = "some-model"

    @pytest.fixture
    def completions(self, provider):
        with LoopbackModel(lambda _: Reply('{"answer": "yes, it is so"}')) as model:
            client = hosted_client(provider, model.url)
            yield client
            client.close()

    @pytest.fixture
    def failing_completions(self, provider):
        with LoopbackModel(lambda seen: Reply(f"No: {seen.user}")) as model:
            client = hosted_client(provider, model.url)
            yield client
            client.close()


class TestOwnCompletions(contracts.CompletionClientContract):
    model = "some-model"

    @pytest.fixture
    def own(self, tmp_path):
        with ExitStack() as stack:

            def make(answer):
                model = stack.enter_context(LoopbackModel(answer))
                place = {"base_url": f"{model.url}/v1"}
                settings = {"hosted": {"custom": place, "default_provider": "custom"}}
                store = stack.enter_context(Store.open(tmp_path / "memory.sqlite"))
                client = OwnCompletions(parse_config(settings), store, system_clock)
                stack.callback(client.close)
                return client

            yield make

    @pytest.fixture
    def completions(self, own):
        return own(lambda _: Reply('{"answer": "yes, it is so"}'))

    @pytest.fixture
    def failing_completions(self, own):
        return own(lambda seen: Reply(f"No: {seen.user}"))


class TestFakeCompletionClient(contracts.CompletionClientContract):
    @pytest.fixture
    def completions(self):
        return FakeCompletionClient(lambda request: {"answer": "yes, it is so"})

    @pytest.fixture(params=["over", "error"])
    def failing_completions(self, request):
        return FakeCompletionClient(() if request.param == "over" else [ProviderOutage()])


class TestSystemClock(contracts.ClockContract):
    @pytest.fixture
    def clock(self):
        return system_clock


class TestFakeClock(contracts.ClockContract):
    @pytest.fixture
    def clock(self):
        return FakeClock()


class TestNewId(contracts.IdSourceContract):
    @pytest.fixture
    def id_source(self):
        return new_id


class TestCountingIds(contracts.IdSourceContract):
    @pytest.fixture
    def id_source(self):
        return CountingIds()
