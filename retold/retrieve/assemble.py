"""What the generators found becomes one ranked pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from retold.models import Boost, Candidate, GeneratorHit, LexicalMatch
from retold.retrieve.evolve import candidate_of
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
) -> tuple[Candidate, ...]:
    """Return one candidate per fused row, best fused first, with each generator's rank and score.

    A row that is in a list and not among the fused ones is left out.
    """
    found: dict[int, dict[str, Any]] = {one.seq: _facts(rows[one.seq]) for one in fused}
    for scored in lists:
        for rank, (seq, score) in enumerate(scored.hits, start=1):
            if seq in found:
                found[seq][scored.name] = GeneratorHit(rank, float(score))
    for place, one in enumerate(fused, start=1):
        seq, values = one.seq, found[one.seq]
        if "lexical" in values:
            values["lexical_match"] = matches.get(seq)
        if "entity" in values:
            values["entity_id"] = entity_of.get(seq)
        values["fused_score"] = one.fused
        values["score"] = one.fused if one.boosted is None else one.boosted
        values["fused_rank"] = one.rank or place
        values["cosine"], values["bm25"], values["boosts"] = one.cosine, one.bm25, one.boosts
    return tuple(map(candidate_of, found.values()))


def outside_pool(row: CandidateRow) -> Candidate:
    """Return a candidate for a row that no generator found; its rank is 0."""
    return candidate_of(_facts(row))


def _facts(row: CandidateRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "record_id": row.record_id,
        "type": row.type,
        "source_kind": row.source_kind,
        "status": row.status,
        "event_at": from_us(row.event_us),
    }
