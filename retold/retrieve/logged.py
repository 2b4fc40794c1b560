"""Candidates as the search log keeps them, complete enough to be decided again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retold.models import Boost, Candidate, GeneratorHit, LexicalMatch, LexicalTerm
from retold.store.candidates import CandidateRow
from retold.store.codec import from_us

FIELDS = (
    "seq",
    "record_id",
    "type",
    "source_kind",
    "status",
    "scope",
    "subject_entity_id",
    "session_id",
    "event_us",
    "dense",
    "lexical",
    "terms",
    "total_terms",
    "entity",
    "entity_id",
    "cosine",
    "bm25",
    "fused_score",
    "fused_rank",
    "freshness",
    "boosts",
    "score",
    "share",
)
"""What is kept of a candidate, written once per row of the log.

Hits are [rank, score], terms [word, is identifier, is entity alias], boosts [name, amount, reason],
moments microseconds.
"""


def pool_to_log(
    pool: Sequence[Candidate], rows: Mapping[int, CandidateRow], scopes: Mapping[int, str]
) -> list[tuple[Any, ...]]:
    """Return each pool member as it stood before the gate: values in the order of ``FIELDS``.

    ``scopes`` are names by code. Records that hold the same words share one match, so its terms
    are written out once.
    """
    matches = {id(match): match for one in pool if (match := one.lexical_match) is not None}
    terms = {key: _terms_to_log(match) for key, match in matches.items()}
    return [
        _candidate_to_log(
            one,
            row := rows[one.seq],
            scopes[row.scope_code],
            terms.get(id(one.lexical_match), ()),
        )
        for one in pool
    ]


def _candidate_to_log(
    candidate: Candidate, row: CandidateRow, scope: str, terms: Sequence[Any]
) -> tuple[Any, ...]:
    match = candidate.lexical_match
    return (
        candidate.seq,
        candidate.record_id,
        candidate.type,
        candidate.source_kind,
        candidate.status,
        scope,
        row.subject_entity_id,
        row.session_id,
        row.event_us,
        _hit_to_log(candidate.dense),
        _hit_to_log(candidate.lexical),
        terms,
        match and match.total_terms,
        _hit_to_log(candidate.entity),
        candidate.entity_id,
        candidate.cosine,
        candidate.bm25,
        candidate.fused_score,
        candidate.fused_rank,
        candidate.freshness_multiplier,
        candidate.boosts and tuple(map(tuple, candidate.boosts)),
        candidate.score,
        match and match.share,
    )


def _terms_to_log(match: LexicalMatch) -> list[tuple[str, bool, bool]]:
    return [(term.value, term.is_identifier, term.is_entity_alias) for term in match.terms]


def candidate_from_log(values: Sequence[Any], names: Sequence[str] = FIELDS) -> Candidate:
    """Return what ``pool_to_log`` was given of a member, without the row's own facts.

    A row of an earlier release lacks fields that came later; they take their defaults.
    """
    value = dict(zip(names, values, strict=True))
    total = value["total_terms"]
    terms = tuple(LexicalTerm(*term) for term in value["terms"])
    return Candidate(
        seq=value["seq"],
        record_id=value["record_id"],
        type=value["type"],
        source_kind=value["source_kind"],
        status=value["status"],
        event_at=from_us(value["event_us"]),
        dense=_hit_from_log(value["dense"]),
        lexical=_hit_from_log(value["lexical"]),
        lexical_match=None if total is None else LexicalMatch(terms, total, value.get("share")),
        entity=_hit_from_log(value["entity"]),
        entity_id=value["entity_id"],
        cosine=value.get("cosine"),
        bm25=value.get("bm25"),
        fused_score=value["fused_score"],
        fused_rank=value["fused_rank"],
        freshness_multiplier=value["freshness"],
        boosts=tuple(Boost(*boost) for boost in value.get("boosts", ())),
        score=value["score"],
    )


def _hit_to_log(hit: GeneratorHit | None) -> tuple[int, float] | None:
    return None if hit is None else (hit.rank, hit.score)


def _hit_from_log(value: list[Any] | None) -> GeneratorHit | None:
    return None if value is None else GeneratorHit(int(value[0]), float(value[1]))
