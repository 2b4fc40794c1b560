"""Measures of a ranking against gold, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

CUTOFFS = (1, 5, 10, 20, 100)
MEASURES = (*(f"recall@{k}" for k in CUTOFFS), "ndcg@10", "mrr")
RESAMPLES = 1000
SEED = 20260101
"""Intervals must not move between two runs over the same rankings."""


def measure(ranking: Sequence[str], gold: Collection[str]) -> tuple[float, ...]:
    """Return one value per measure; ``ranking`` holds each id once, ``gold`` is not empty."""
    places = [rank for rank, found in enumerate(ranking, start=1) if found in gold]
    recalls = [sum(rank <= k for rank in places) / len(gold) for k in CUTOFFS]
    gain = sum(_discount(rank) for rank in places if rank <= 10)
    best = sum(_discount(rank) for rank in range(1, min(10, len(gold)) + 1))
    return (*recalls, gain / best, 1 / places[0] if places else 0.0)


def summarise(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the mean of each measure with the ends of its bootstrap 95% interval."""
    values = np.asarray(rows, dtype=np.float64)
    picks = np.random.default_rng(SEED).integers(len(values), size=(RESAMPLES, len(values)))
    means = np.stack([values[pick].mean(axis=0) for pick in picks])
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    summary: dict[str, float] = {"questions": len(values)}
    for at, name in enumerate(MEASURES):
        summary[name] = round(float(values[:, at].mean()), 4)
        summary[f"{name} low"] = round(float(low[at]), 4)
        summary[f"{name} high"] = round(float(high[at]), 4)
    return summary


def table_lines(title: str, rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a table of summaries: one line of values per row, one of intervals beneath it."""
    lines = [f"{title:26}" + "".join(f"{name:>15}" for name in MEASURES)]
    for name, summary in rows.items():
        values = "".join(f"{summary[measured]:>15.3f}" for measured in MEASURES)
        spans = "".join(
            f"{summary[f'{measured} low']:.3f}-{summary[f'{measured} high']:.3f}".rjust(15)
            for measured in MEASURES
        )
        lines += [f"  {name:24}{values}", f"{'':26}{spans}"]
    return lines


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
