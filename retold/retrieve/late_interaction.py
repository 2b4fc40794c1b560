"""The best of the pool, ranked once more by how well single words match; off unless configured.

A query and a record are compared token by token (``retold.index.token_vectors``), which tells
apart what one vector for a whole text blurs. What it says is fitted to the fused scores that the
records have already, to their mean and spread, and takes the place of a part of them; what boosts
added stays. So it moves records among one another, and one without token vectors, which keeps its
score, neither gains nor loses by lacking them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retold.config.levers import LateLever
from retold.index.token_vectors import (
    TokenVectorCache,
    late_similarity,
    packed_texts,
    require_token_embedder,
)
from retold.models import Boost
from retold.protocols import Embedder, Vectors
from retold.retrieve.assemble import Scored
from retold.store import Transaction
from retold.store.meta import EmbeddingIdentity
from retold.store.token_vectors import PackedTokens

Amounts = npt.NDArray[np.float64]

_FULL_SPREAD: Final = 0.04
"""Standard deviation of similarities from which they count in full: in 99 of 100 questions about
LoCoMo and RealMem that of 50 candidates is larger. What differs less is mostly chance, above all
between two or three records."""
_ROUNDING: Final = 1e-6
_BETTER: Final = "word by word it matches the query better than as a whole"
_WORSE: Final = "word by word it matches the query less well than as a whole"


@dataclass(frozen=True, slots=True)
class LateScores:
    """What was compared in one search, so that the log can be decided again.

    ``similarities`` holds by record key the best over the queries, -1 to 1.
    """

    weight: float
    similarities: Mapping[int, float] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return what ``from_json`` takes."""
        return {"weight": self.weight, "similarities": list(self.similarities.items())}

    @classmethod
    def from_json(cls, logged: Mapping[str, Any]) -> LateScores:
        """Return what was logged."""
        return cls(logged["weight"], {int(seq): one for seq, one in logged["similarities"]})


class LateInteraction:
    """Compares queries with records token by token; safe across threads."""

    def __init__(self, embedder: Embedder, lever: LateLever) -> None:
        """Take the embedder. Raises ConfigError when it offers no token vectors."""
        self._embedder = require_token_embedder(embedder)
        self._identity = EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)
        self._lever = lever
        self._cache = TokenVectorCache(self._identity)

    @property
    def candidates(self) -> int:
        """Return how many members of the pool are ranked anew at most."""
        return self._lever.candidates

    def embed(self, queries: Sequence[str]) -> tuple[Vectors, tuple[PackedTokens, ...]]:
        """Return the vectors of queries and those of their tokens, from one pass of the model."""
        embedded = self._embedder.embed_queries_with_tokens(queries)
        packed = packed_texts(embedded, len(queries), self._identity.dims)
        return embedded.vectors, tuple(packed)

    def rank(
        self, tx: Transaction, queries: Sequence[PackedTokens], scored: Sequence[Scored]
    ) -> tuple[list[Scored], LateScores]:
        """Return the pool in its order with new scores, and what they come from.

        ``scored`` are rows that the caller may see: token vectors are read of no others. Without
        queries, which is when the embedder reads none of them, nothing changes.
        """
        listed = sorted(scored, key=_best_first)[: self._lever.candidates] if queries else []
        stored = self._cache.read(tx, [one.seq for one in listed])
        similarities = _compared(queries, stored)
        return moved(scored, similarities, self._lever.weight), LateScores(
            self._lever.weight, similarities
        )


def _compared(
    queries: Sequence[PackedTokens], stored: Mapping[int, PackedTokens]
) -> dict[int, float]:
    """Return each record's similarity with the query that it matches best."""
    if not stored or not queries:
        return {}
    best = [late_similarity(query, list(stored.values())) for query in queries]
    return dict(zip(stored, np.maximum.reduce(best).tolist(), strict=True))


def late_interaction_of(embedder: Embedder | None, lever: LateLever) -> LateInteraction | None:
    """Return what compares token by token; None where that is off or nothing is embedded."""
    if embedder is None or not lever.enabled:
        return None
    return LateInteraction(embedder, lever)


def moved(
    scored: Sequence[Scored], similarities: Mapping[int, float], weight: float
) -> list[Scored]:
    """Return the same members in the same order, those with a similarity with a new score."""
    listed = sorted((one for one in scored if one.seq in similarities), key=_best_first)
    amounts = late_amounts(
        np.array([one.fused for one in listed]),
        np.array([similarities[one.seq] for one in listed]),
        weight,
    )
    changed = {
        one.seq: _changed(one, amount)
        for one, amount in zip(listed, amounts.tolist(), strict=True)
        if amount
    }
    return [changed.get(one.seq, one) for one in scored]


def late_amounts(scores: Amounts, similarities: Amounts, weight: float) -> Amounts:
    """Return what is added to each fused score, (n,) float64, below 0 for what matches less well.

    The similarities are stretched to the mean and the standard deviation of the scores and take
    the place of ``weight`` of them, of less where they hardly differ. One record tells nothing.
    """
    spread = float(similarities.std()) if len(scores) else 0.0
    if spread < _ROUNDING:
        return np.zeros(len(scores))
    stretched = scores.mean() + (similarities - similarities.mean()) * (scores.std() / spread)
    amounts: Amounts = weight * min(1.0, spread / _FULL_SPREAD) * (stretched - scores)
    return amounts


def _score(one: Scored) -> float:
    return one.fused if one.boosted is None else one.boosted


def _best_first(one: Scored) -> tuple[float, int]:
    return -_score(one), one.seq


def _changed(one: Scored, amount: float) -> Scored:
    # Made anew: ``_replace`` takes longer than all products.
    boost = Boost("late_interaction", amount, _BETTER if amount > 0 else _WORSE)
    return Scored(
        one.seq,
        one.fused,
        one.cosine,
        one.bm25,
        _score(one) + amount,
        (*one.boosts, boost),
        one.rank,
    )
