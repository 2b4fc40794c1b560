"""Domain values with every field defaulted, so that a test shows only the fields that matter.

Each builder takes the fields of its type as keyword arguments; an unknown one is a TypeError.
"""
# ruff: noqa: ANN401  # a builder's keywords have the types of the fields they are named after

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from retold.models import (
    Candidate,
    CandidateRecord,
    ExtractionContext,
    GeneratorHit,
    Principal,
    Record,
    Scope,
    SearchRequest,
    Turn,
    TurnRole,
    WriteRequest,
)
from retold.testing.fakes.source import START, CountingIds

MOMENT = START
"""When everything happens unless a test says otherwise; also where FakeClock starts."""

Said = str | tuple[TurnRole, str]
"""A turn's text, the user's when no role stands before it."""


def make_principal(**fields: Any) -> Principal:
    """Return user ``ana`` with agent ``helper`` in session ``s1``."""
    return replace(Principal("helper", "ana", session_id="s1"), **fields)


def make_record(seq: int = 1, **fields: Any) -> Record:
    """Return a confirmed semantic record in ``user:ana`` that nothing but ``seq`` tells apart.

    ``id``, and ``subject`` where entity and attribute are given, follow from the other fields.
    """
    record = Record(
        seq=seq,
        id=CountingIds.nth(seq),
        type="semantic",
        version=1,
        revision=1,
        content=f"Claim number {seq}",
        subject=None,
        subject_entity_id=None,
        attribute=None,
        attribute_derived=False,
        scope=Scope("user", "ana"),
        source_kind="user_statement",
        source_ref=None,
        creator_agent_id="helper",
        evidence=None,
        created_at=MOMENT,
        event_at=MOMENT,
        expires_at=None,
        valid_from=None,
        valid_until=None,
        review_at=None,
        review_flagged_at=None,
        closed_at=None,
        confidence=1.0,
        status="confirmed",
        supersedes_id=None,
        reinforcements=0,
        last_reinforced_at=None,
        temporary=False,
        activation="conditional",
        category=None,
        token_count=3,
        index_version=seq,
        tags=(),
        entity_ids=(),
    )
    record = replace(record, **fields)
    if "subject" not in fields and record.subject_entity_id is not None:
        subject = f"{record.subject_entity_id}/{record.attribute or '-'}"
        record = replace(record, subject=subject)
    return record


def make_candidate(seq: int = 1, **fields: Any) -> Candidate:
    """Return a candidate that the dense generator found at rank ``seq``."""
    record = make_record(seq)
    found: dict[str, Any] = {
        "seq": seq,
        "record_id": record.id,
        "type": record.type,
        "source_kind": record.source_kind,
        "status": record.status,
        "event_at": record.event_at,
        "dense": GeneratorHit(rank=seq, score=0.9),
        "fused_score": 1.0 / (60 + seq),
        "fused_rank": seq,
        "score": 1.0 / (60 + seq),
    }
    return Candidate(**(found | fields))


def make_turns(*said: Said, session_id: str = CountingIds.nth(1)) -> tuple[Turn, ...]:
    """Return turns numbered from 1, a minute apart; plain text is the user's.

    ``("tool", text)`` turns get the origin ``tool``. Without arguments there is one user turn.
    """
    turns = []
    for number, each in enumerate(said or ("I like green tea.",), start=1):
        role, content = _role_and_content(each)
        turns.append(
            Turn(
                session_id=session_id,
                turn=number,
                role=role,
                content=content,
                at=MOMENT + timedelta(minutes=number),
                origin="tool" if role == "tool" else "dialogue",
                tool_name="lookup" if role == "tool" else None,
            )
        )
    return tuple(turns)


def _role_and_content(said: Said) -> tuple[TurnRole, str]:
    return ("user", said) if isinstance(said, str) else said


def make_request(content: str = "Likes green tea", **fields: Any) -> WriteRequest:
    """Return a write of one semantic claim under the attribute ``likes``."""
    return replace(WriteRequest("semantic", content, attribute="likes"), **fields)


def make_search(queries: str | Sequence[str] = "green tea", **fields: Any) -> SearchRequest:
    """Return a search for up to eight records; one query may be given as plain text."""
    asked = (queries,) if isinstance(queries, str) else tuple(queries)
    return replace(SearchRequest(asked, k=8), **fields)


def make_proposal(
    content: str = "The user likes green tea", evidence: str = "I like green tea.", **fields: Any
) -> CandidateRecord:
    """Return a semantic candidate that claims to be the user's own statement."""
    candidate = CandidateRecord(
        "semantic", content, attribute="likes", source_kind="user_statement", evidence=evidence
    )
    return replace(candidate, **fields)


def make_extraction_context(**fields: Any) -> ExtractionContext:
    """Return what an extraction for user ``ana`` may know: nothing yet, writing to ``user:ana``."""
    principal = make_principal()
    own = frozenset({principal.user_scope, principal.private_scope})
    context = ExtractionContext(principal, principal.user_scope, own, names=("ana",))
    return replace(context, **fields)
