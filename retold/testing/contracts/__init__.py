"""What every implementation of a port must do, as pytest classes to inherit from.

Subclass a contract in your tests, override its fixture, and pytest runs the rules::

    class TestMyEmbedder(EmbedderContract):
        @pytest.fixture
        def embedder(self):
            return MyEmbedder()

Importing this package needs pytest.
"""

from retold.testing.contracts.activator import RecordActivatorContract
from retold.testing.contracts.budget import BudgetContract
from retold.testing.contracts.completions import CompletionClientContract
from retold.testing.contracts.content_policy import ContentPolicyContract
from retold.testing.contracts.embedder import EmbedderContract
from retold.testing.contracts.extractor import ExtractorContract
from retold.testing.contracts.judge import JudgeContract
from retold.testing.contracts.queue import JobQueueContract
from retold.testing.contracts.reranker import RerankerContract
from retold.testing.contracts.reviewer import CandidateReviewerContract
from retold.testing.contracts.rewriter import RewriterContract
from retold.testing.contracts.source import ClockContract, IdSourceContract
from retold.testing.contracts.token_embedder import TokenEmbedderContract

__all__ = [
    "BudgetContract",
    "CandidateReviewerContract",
    "ClockContract",
    "CompletionClientContract",
    "ContentPolicyContract",
    "EmbedderContract",
    "ExtractorContract",
    "IdSourceContract",
    "JobQueueContract",
    "JudgeContract",
    "RecordActivatorContract",
    "RerankerContract",
    "RewriterContract",
    "TokenEmbedderContract",
]
