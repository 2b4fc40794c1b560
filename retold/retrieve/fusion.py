"""Several scored lists become one ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.models import Channel

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredList:
    """What one generator found: (seq, score) pairs, best first, each seq once.

    ``score`` is what the generator measured: cosine, bm25 (higher is better), 0.0 for entities.
    A fusion by rank ignores it; a fusion by score needs it.
    """

    name: Channel
    hits: tuple[tuple[int, float], ...] = ()


def reciprocal_rank_fusion(lists: Sequence[ScoredList], k: int) -> list[tuple[int, float]]:
    """Return (seq, fused score) pairs, best first: each list adds 1 / (k + rank), rank from 1.

    The result does not depend on the order of the lists; equal scores order by seq. An empty list
    adds nothing.
    """
    shares: defaultdict[int, list[float]] = defaultdict(list)
    for scored in lists:
        for rank, (seq, _) in enumerate(scored.hits, start=1):
            shares[seq].append(1.0 / (k + rank))
    fused = sorted([(seq, fsum(parts)) for seq, parts in shares.items()])
    # A sort keeps the order of equals, backwards too.
    fused.sort(key=itemgetter(1), reverse=True)
    return fused


def largest_rrf_score(lists: int, k: int) -> float:
    """Return the score of a record that is first in each of so many lists."""
    return lists / (k + 1)


LEAST_EVIDENCE: Final = 0.5
"""The bm25 of one word that somewhat more than a third of the records hold. A pool whose best is
less has been found by words like "user" in a small store."""


class Unrelated(NamedTuple):
    """Mean and deviation of the cosines of texts that have nothing in common, to one embedder."""

    cosine: float
    spread: float


class Scale(NamedTuple):
    """What a fusion by score makes of a pool's numbers, logged so that it can be done again.

    A cosine of ``low`` counts 0 and one of ``low + width`` counts 1; with a width of 0 all count 1.
    bm25 counts as a part of ``most``.
    """

    low: float
    width: float
    most: float


def scale_of(cosines: Scores, bm25: Scores, unrelated: Unrelated | None = None) -> Scale:
    """Return the scale of a pool, see ``convex_fusion``; ``cosines`` NaN without a vector."""
    most = max(float(bm25.max(initial=0.0)), LEAST_EVIDENCE)
    known = cosines[~np.isnan(cosines)]
    if len(known) == 0:
        return Scale(0.0, 0.0, most)
    low, high = float(known.min()), float(known.max())
    if unrelated is None:
        return Scale(low, high - low, most)
    low = min(low, unrelated.cosine)
    return Scale(low, max(high - low, unrelated.spread), most)


def fuse_scaled(cosines: Scores, bm25: Scores, alpha: float, scale: Scale) -> Scores:
    """Return what ``convex_fusion`` returns for members of a pool with this scale."""
    dense = (cosines - scale.low) / scale.width if scale.width > 0.0 else np.ones(len(cosines))
    dense[np.isnan(cosines)] = 0.0
    fused: Scores = alpha * dense + (1.0 - alpha) * (bm25 / scale.most)
    return fused


def convex_fusion(
    cosines: Scores, bm25: Scores, alpha: float, unrelated: Unrelated | None = None
) -> Scores:
    """Return the fused score in [0, 1] of each member of a pool, in order.

    ``alpha`` times the scaled cosine plus the rest times bm25 as a part of the pool's best.
    Cosines are scaled so that the pool's best is 1 and its least is 0. Where ``unrelated`` is
    known, 0 is what unrelated texts have if that is less, so that the second of two good records is
    not worthless; and 1 is at least their spread above 0, so that noise is not told apart.
    ``cosines`` are NaN for a record without a vector, whose part is 0; equal ones are all 1 where
    nothing lower is known. ``bm25`` is 0 for a record that holds none of the words, and counts as a
    part of ``LEAST_EVIDENCE`` at least: words that most records hold tell nothing.
    """
    return fuse_scaled(cosines, bm25, alpha, scale_of(cosines, bm25, unrelated))
