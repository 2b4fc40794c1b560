"""What the generators found becomes one ranked pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retold.models import Candidate, GeneratorHit, LexicalMatch
from retold.retrieve.evolve import candidate_of
from retold.retrieve.fusion import ScoredList
from retold.store.candidates import CandidateRow
from retold.store.codec import from_us


def without_absent(scored: ScoredList, rows: Mapping[int, CandidateRow]) -> ScoredList:
    """Return the list without rows the snapshot does not offer, so that ranks have no holes."""
    return ScoredList(scored.name, tuple(hit for hit in scored.hits if hit[0] in rows))


def assemble_pool(
    fused: Sequence[tuple[int, float]],
    lists: Sequence[ScoredList],
    rows: Mapping[int, CandidateRow],
    matches: Mapping[int, LexicalMatch],
    entity_of: Mapping[int, str],
) -> tuple[Candidate, ...]:
    """Return one candidate per fused row, best first, with every generator's rank and score."""
    found: dict[int, dict[str, Any]] = {seq: _facts(rows[seq]) for seq, _ in fused}
    for scored in lists:
        for rank, (seq, score) in enumerate(scored.hits, start=1):
            found[seq][scored.name] = GeneratorHit(rank, float(score))
    for rank, (seq, score) in enumerate(fused, start=1):
        values = found[seq]
        if "lexical" in values:
            values["lexical_match"] = matches.get(seq)
        if "entity" in values:
            values["entity_id"] = entity_of.get(seq)
        values["fused_score"] = values["score"] = score
        values["fused_rank"] = rank
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
