"""A reranker with known scores, which can also hang or fail."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from retold.errors import RerankError

FORGOTTEN_SECONDS = 60.0
"""When a hanging call gives up, so that a test that forgets ``release`` ends with an error."""


class FakeReranker:
    """Score (query, document) pairs from a table; ``default`` stands for unlisted pairs.

    ``calls`` holds (query, documents) of every call.
    """

    __test__ = False

    def __init__(
        self,
        scores: Mapping[tuple[str, str], float] | None = None,
        *,
        default: float = 0.0,
        name: str = "retold/fake-reranker@1",
    ) -> None:
        """Take scores in [0, 1]."""
        self.scores = dict(scores or {})
        self.default = default
        self._name = name
        self._error: Exception | None = None
        self._released = threading.Event()
        self._released.set()
        self.entered = threading.Event()
        """Set as soon as a call has begun; cleared by ``hang``."""
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    @property
    def name(self) -> str:
        """Name the model."""
        return self._name

    def hang(self) -> None:
        """Make the next calls wait until ``release``."""
        self.entered.clear()
        self._released.clear()

    def release(self) -> None:
        """Let hanging calls go on."""
        self._released.set()

    def fail(self, error: Exception | None = None) -> None:
        """Raise from every call from now on, RerankError by default."""
        self._error = error or RerankError("the fake reranker was told to fail")

    def heal(self) -> None:
        """Take back ``fail``."""
        self._error = None

    def score(self, query: str, docs: Sequence[str]) -> list[float]:
        """Return one score per document, in order; higher is better."""
        self.calls.append((query, tuple(docs)))
        self.entered.set()
        if not self._released.wait(FORGOTTEN_SECONDS):
            raise RerankError("nobody released the fake reranker")
        if self._error is not None:
            raise self._error
        return [self.scores.get((query, doc), self.default) for doc in docs]
