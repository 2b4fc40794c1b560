"""Several scored lists become one ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from retold.models import Channel


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
    fused = [(seq, fsum(parts)) for seq, parts in shares.items()]
    fused.sort(key=lambda item: (-item[1], item[0]))
    return fused
