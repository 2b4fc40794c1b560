"""What every implementation of a port must do, as pytest classes to inherit from.

Subclass a contract in your tests, override its one fixture, and pytest runs the behaviours::

    class TestMyEmbedder(EmbedderContract):
        @pytest.fixture
        def embedder(self):
            return MyEmbedder()

Importing this package needs pytest.
"""

from retold.testing.contracts.embedder import EmbedderContract
from retold.testing.contracts.judge import JudgeContract
from retold.testing.contracts.reranker import RerankerContract
from retold.testing.contracts.rewriter import RewriterContract

__all__ = ["EmbedderContract", "JudgeContract", "RerankerContract", "RewriterContract"]
