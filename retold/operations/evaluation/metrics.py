"""Measures of a ranking against gold, with bootstrap intervals. Pure: no store, no files."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

CUTOFFS: Final = (1, 5, 10, 20, 100)
MEASURES: Final = (*(f"recall@{k}" for k in CUTOFFS), "ndcg@10", "mrr")
NDCG_DEPTH: Final = 10
RESAMPLES: Final = 1000
SEED: Final = 20260101
"""Intervals must not move between two runs over the same rankings."""
INTERVAL_PERCENTILES: Final = (2.5, 97.5)

Seeded = Callable[[int], "np.random.Generator"]
"""Make a source of chance from a seed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the ends of its bootstrap 95% interval, over ``count`` questions."""

    mean: float
    low: float
    high: float
    count: int


def measure(ranking: Sequence[str], gold: Collection[str]) -> tuple[float, ...]:
    """Return one value per measure; ``ranking`` holds each id once, ``gold`` is not empty.

    Recall is the part of gold among the first k; nDCG@10 has binary gains; the reciprocal rank is
    that of the first gold in the whole ranking, 0.0 where it holds none.
    """
    places = [rank for rank, found in enumerate(ranking, start=1) if found in gold]
    recalls = [sum(rank <= k for rank in places) / len(gold) for k in CUTOFFS]
    gain = sum(_discount(rank) for rank in places if rank <= NDCG_DEPTH)
    best = sum(_discount(rank) for rank in range(1, min(NDCG_DEPTH, len(gold)) + 1))
    return (*recalls, gain / best, 1 / places[0] if places else 0.0)


def estimates(
    rows: Sequence[Sequence[float]], *, seeded: Seeded = np.random.default_rng
) -> list[Estimate]:
    """Return the mean of each column with its interval.

    ``rows`` holds one row per question, at least one, all of one width. ``RESAMPLES`` draws with
    replacement, whole rows at a time, begin at ``SEED``: equal rows give equal intervals.
    """
    values = np.asarray(rows, dtype=np.float64)
    picks = seeded(SEED).integers(len(values), size=(RESAMPLES, len(values)))
    means = np.stack([values[pick].mean(axis=0) for pick in picks])
    low, high = np.percentile(means, INTERVAL_PERCENTILES, axis=0)
    return [
        Estimate(float(values[:, at].mean()), float(low[at]), float(high[at]), len(values))
        for at in range(values.shape[1])
    ]


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
