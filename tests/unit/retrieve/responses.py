"""Responses with every field defaulted."""

from __future__ import annotations

from typing import Any

from retold.models import (
    Explanation,
    Record,
    Scope,
    SearchResponse,
    SearchResult,
)
from tests.unit.retrieve.pool import NOW, hit, match

SEARCH_ID = "0193d5c0-0000-7000-8000-000000000000"


def make_record(number: int = 1, **fields: Any) -> Record:
    defaults: dict[str, Any] = {
        "seq": number,
        "id": f"0193d5c0-0000-7000-8000-{number:012x}",
        "type": "semantic",
        "version": 1,
        "revision": 1,
        "content": "Prefers concise technical explanations without preamble.",
        "subject": None,
        "subject_entity_id": None,
        "attribute": None,
        "attribute_derived": False,
        "scope": Scope("user", "aditya"),
        "source_kind": "user_statement",
        "source_ref": None,
        "creator_agent_id": "helper",
        "evidence": None,
        "created_at": NOW,
        "event_at": NOW,
        "confidence": 0.95,
        "status": "confirmed",
        "supersedes_id": None,
        "reinforcements": 0,
        "temporary": False,
        "activation": "conditional",
        "category": None,
        "token_count": 0,
        "index_version": 1,
        "tags": (),
        "entity_ids": (),
    }
    absent = dict.fromkeys(
        (
            "expires_at",
            "valid_from",
            "valid_until",
            "review_at",
            "review_flagged_at",
            "closed_at",
            "last_reinforced_at",
        )
    )
    return Record(**(absent | defaults | fields))


def make_explanation(**fields: Any) -> Explanation:
    defaults: dict[str, Any] = {
        "raw_queries": ("how short",),
        "rewritten_queries": None,
        "rewrite_status": "disabled",
        "matched_by": ("dense", "lexical"),
        "dense": hit(0.71, 2),
        "lexical": hit(3.2),
        "lexical_match": match(3, 3),
        "entity": None,
        "fused_rank": 1,
        "fused_score": 0.03,
        "freshness_multiplier": None,
        "rerank": None,
        "gate": "passed on dense: 0.71 >= 0.45 (semantic)",
        "dedup": "kept",
        "budget": "fit at position 1 of 8, 44 tokens used",
        "source_kind": "user_statement",
        "status": "confirmed",
        "created_at": NOW,
        "event_at": NOW,
        "entity_ids": (),
        "conflicts_with": (),
        "summary": "matched: dense 0.71 (rank 2), lexical 3/3 (rank 1); fused rank 1; "
        "passed gate on dense",
    }
    return Explanation(**(defaults | fields))


def make_result(number: int = 1, *, entity: str | None = None, **fields: Any) -> SearchResult:
    if entity is not None:
        fields["entity_ids"] = (entity,)
    return SearchResult(make_record(number, **fields), 0.03, make_explanation())


def make_response(results: tuple[SearchResult, ...], **fields: Any) -> SearchResponse:
    defaults: dict[str, Any] = {
        "search_id": SEARCH_ID,
        "raw_queries": ("how short",),
        "rewritten_queries": None,
        "rewrite_status": "disabled",
        "results": results,
        "empty_reason": None if results else "nothing above the gate",
    }
    return SearchResponse(**(defaults | fields))
