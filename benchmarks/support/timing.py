"""Milliseconds of many calls, as their median and their 95th percentile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 in milliseconds."""
    p50, p95 = np.percentile(values, (50, 95))
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def stage_spreads(calls: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return the spread of every stage over the calls, in the order of the first call."""
    return {name: spread([call.get(name, 0.0) for call in calls]) for name in calls[0]}
