"""Candidates with every field defaulted, so that a test names only what matters."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from retold.models import Candidate, GeneratorHit, LexicalMatch, LexicalTerm
from retold.store.candidates import CandidateRow
from retold.store.codec import to_us

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def hit(score: float, rank: int = 1) -> GeneratorHit:
    return GeneratorHit(rank, score)


def match(
    plain: int = 0,
    total: int = 1,
    *,
    identifiers: int = 0,
    aliases: int = 0,
    share: float | None = None,
) -> LexicalMatch:
    kinds = [(False, False)] * plain + [(True, False)] * identifiers + [(False, True)] * aliases
    terms = tuple(LexicalTerm(f"t{n}", *flags) for n, flags in enumerate(kinds))
    return LexicalMatch(terms, total, share)


def candidate(seq: int = 1, **fields: Any) -> Candidate:
    lexical = fields.get("lexical_match")
    defaults: dict[str, Any] = {
        "record_id": f"00000000-0000-7000-8000-{seq:012d}",
        "type": "semantic",
        "source_kind": "user_statement",
        "status": "confirmed",
        "event_at": NOW,
        "lexical": hit(1.0) if lexical is not None and lexical.terms else None,
        "fused_score": 1.0 / 61,
        "fused_rank": seq,
        "score": fields.get("fused_score", 1.0 / 61),
    }
    return Candidate(seq=seq, **(defaults | fields))


def candidate_row(seq: int = 1, **fields: Any) -> CandidateRow:
    """Return the row of ``candidate(seq)``."""
    one = candidate(seq)
    row = CandidateRow(
        one.seq,
        one.record_id,
        one.type,
        one.source_kind,
        one.status,
        scope_code=1,
        event_us=to_us(one.event_at),
        expires_us=None,
        chars=20,
        subject_entity_id=None,
        session_id=None,
    )
    return row._replace(**fields)
