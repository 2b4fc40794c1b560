"""What the generators found becomes one ranked pool of candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, get_args

from retold.models import Boost, Candidate, Channel, GeneratorHit, LexicalMatch
from retold.retrieve.fusion import ScoredList
from retold.store.candidates import CandidateRow
from retold.store.codec import from_us


class Scored(NamedTuple):
    """A member of the pool: its fused score, what it comes from, and the score after boosts.

    ``cosine`` and ``bm25`` are None for a fusion by rank, ``cosine`` too without a vector;
    ``boosted`` None means that nothing was boosted. ``rank`` is its place by the fused score,
    counted from 1; 0 says that nothing was left out before it.
    """

    seq: int
    fused: float
    cosine: float | None = None
    bm25: float | None = None
    boosted: float | None = None
    boosts: tuple[Boost, ...] = ()
    rank: int = 0


def without_absent(scored: ScoredList, rows: Mapping[int, CandidateRow]) -> ScoredList:
    """Return the list without rows the snapshot does not offer, so that ranks have no holes."""
    return ScoredList(scored.name, tuple(hit for hit in scored.hits if hit[0] in rows))


def assemble_pool(
    fused: Sequence[Scored],
    lists: Sequence[ScoredList],
    rows: Mapping[int, CandidateRow],
    matches: Mapping[int, LexicalMatch],
    entity_of: Mapping[int, str],
    *,
    decay: Mapping[int, float],
) -> tuple[Candidate, ...]:
    """Return one candidate per fused row, best score first, equal ones in the order of fusion.

    Each has the rank and score that every generator gave it; a row that is in a list and not among
    the fused ones is left out. ``decay`` holds what the scores of some rows are multiplied by.
    """
    pool = {one.seq for one in fused}
    hits = {scored.name: _hits(scored, pool) for scored in lists}
    dense, lexical, entity = (hits.get(name, {}) for name in get_args(Channel))
    candidates = []
    for place, (seq, score, cosine, bm25, boosted, boosts, rank) in enumerate(fused, start=1):
        row, multiplier = rows[seq], decay.get(seq)
        before = score if boosted is None else boosted
        # By place, in the order of the fields: by name takes three times as long.
        candidates.append(
            Candidate(
                seq,
                row.record_id,
                row.type,
                row.source_kind,
                row.status,
                from_us(row.event_us),
                dense.get(seq),
                lexical.get(seq),
                matches.get(seq) if seq in lexical else None,
                entity.get(seq),
                entity_of.get(seq) if seq in entity else None,
                cosine,
                bm25,
                score,
                rank or place,
                multiplier,
                boosts,
                before if multiplier is None else before * multiplier,
            )
        )
    # A sort keeps the order of equals, backwards too.
    return tuple(sorted(candidates, key=attrgetter("score"), reverse=True))


def outside_pool(row: CandidateRow) -> Candidate:
    """Return a candidate for a row that no generator found; its rank is 0."""
    event_at = from_us(row.event_us)
    return Candidate(row.seq, row.record_id, row.type, row.source_kind, row.status, event_at)


def _hits(scored: ScoredList, pool: Collection[int]) -> dict[int, GeneratorHit]:
    """Return the places of the pool's members in one list."""
    return {
        seq: GeneratorHit(rank, float(score))
        for rank, (seq, score) in enumerate(scored.hits, start=1)
        if seq in pool
    }
