"""The rules that one proposal is held against, each with the reason it refuses by; pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from retold.errors import InvalidInput
from retold.ingest import evidence
from retold.ingest.admission import validated
from retold.ingest.evidence import EvidenceRules, ForgottenSpan
from retold.ingest.extraction.instructions import speaks_to_reader
from retold.ingest.extraction.temporal import is_plan, spoken_times, unsupported_dates
from retold.ingest.subject import attribute_key, primary_mention, require_own_subject
from retold.models import (
    CandidateRecord,
    EvidenceCheck,
    ExtractionContext,
    KnownRecord,
    RejectionReason,
    Turn,
    WriteRequest,
)
from retold.policy.grants import belongs_to
from retold.text import normalize_alias
from retold.text.frames import holds_memory_output

ACTOR: Final = "extractor"
BOUNDS: Final = ("valid_from", "valid_until", "review_at")
MOMENTS: Final = ("event_at", *BOUNDS)


@dataclass(frozen=True, slots=True)
class CandidateRules:
    """The settings that candidates are held against."""

    evidence: EvidenceRules
    max_candidates: int
    max_event_ahead: timedelta


@dataclass(frozen=True, slots=True)
class Ground:
    """What a claim may rest on: eligible turns, less words that were forgotten or are ``void``."""

    turns: tuple[Turn, ...]
    context: ExtractionContext
    rules: CandidateRules
    forgotten: tuple[ForgottenSpan, ...] = ()
    void: tuple[ForgottenSpan, ...] = ()


class Rejection(Exception):
    """A rule said no. ``detail`` names a field or an id, never content."""

    def __init__(self, reason: RejectionReason, detail: str | None = None) -> None:
        """Take the reason."""
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def request_of(candidate: CandidateRecord, context: ExtractionContext) -> WriteRequest:
    """Return the write that stores a candidate; the ingestor scores its support again."""
    return WriteRequest(
        candidate.type,
        candidate.content,
        attribute=candidate.attribute,
        scope=context.scope,
        source_kind=candidate.source_kind,
        evidence=candidate.evidence,
        evidence_turn=candidate.evidence_turn,
        mentions=candidate.mentions,
        event_at=candidate.event_at,
        valid_from=candidate.valid_from,
        valid_until=candidate.valid_until,
        review_at=candidate.review_at,
        confidence=candidate.confidence,
        actor=ACTOR,
    )


def require_aware(candidate: CandidateRecord) -> None:
    """Refuse a moment without an offset."""
    for name in MOMENTS:
        moment = getattr(candidate, name)
        if moment is not None and moment.utcoffset() is None:
            raise Rejection("naive_temporal_value", name)


def require_content(candidate: CandidateRecord, context: ExtractionContext) -> None:
    """Refuse what the ingestor would refuse, and what repeats the memory's own words."""
    request = request_of(candidate, context)
    try:
        validated(replace(request, valid_from=None, valid_until=None))
    except InvalidInput as invalid:
        raise Rejection("invalid_content", _field(invalid)) from None
    if holds_memory_output(candidate.content) or holds_memory_output(candidate.evidence):
        raise Rejection("invalid_content", "memory output")
    if speaks_to_reader(candidate.content):
        raise Rejection("instruction_text", "content")


def require_subject(candidate: CandidateRecord, context: ExtractionContext) -> None:
    """Refuse an attribute of which nothing remains, and another's name without ``about``."""
    try:
        attribute_key(candidate.type, candidate.content, candidate.attribute)
        if primary_mention(candidate.mentions) is None:
            require_own_subject(candidate.content, context.names)
    except InvalidInput as invalid:
        raise Rejection("invalid_subject", _field(invalid)) from None


def located(candidate: CandidateRecord, ground: Ground) -> EvidenceCheck:
    """Return where the quote stands. Words of forgotten records and void ones are no evidence."""

    def check(without: Collection[ForgottenSpan]) -> EvidenceCheck:
        return evidence.locate(
            ground.turns,
            candidate.evidence,
            candidate.source_kind,
            rules=ground.rules.evidence,
            turn_hint=candidate.evidence_turn,
            forgotten=without,
        )

    found = check((*ground.forgotten, *ground.void))
    if found.found:
        return found
    if found.note == evidence.NOT_FOUND:
        raise Rejection("evidence_not_found")
    raise Rejection("instruction_text" if check(ground.forgotten).found else "evidence_forgotten")


def require_length(check: EvidenceCheck, candidate: CandidateRecord, rules: CandidateRules) -> None:
    """Refuse a quote that says too little, unless it is all that was said."""
    is_long = evidence.is_substantial(candidate.evidence, rules.evidence.cfg)
    if not is_long and not evidence.is_whole_turn(check):
        raise Rejection("evidence_too_short")


def require_supported_times(candidate: CandidateRecord, turn: Turn) -> None:
    """Refuse bounds, and dates in the claim, that the quote does not speak of."""
    times = spoken_times(candidate.evidence, turn.at)
    given = {name: getattr(candidate, name) for name in BOUNDS}
    stated = {name: moment for name, moment in given.items() if moment is not None}
    for name, moment in stated.items():
        if not times or not times.covers(moment):
            raise Rejection("unsupported_temporal_metadata", name)
        if moment > turn.at and not is_plan(candidate.evidence, turn.at):
            raise Rejection("unsupported_temporal_metadata", name)
    if "review_at" in stated and stated["review_at"] < turn.at:
        raise Rejection("review_at_before_evidence")
    first, last = stated.get("valid_from"), stated.get("valid_until")
    if first is not None and last is not None and first >= last:
        raise Rejection("invalid_temporal_range")
    if unsupported_dates(candidate.content, candidate.evidence, turn.at):
        raise Rejection("unsupported_date")


def event_time(candidate: CandidateRecord, turn: Turn, rules: CandidateRules) -> datetime | None:
    """Return the event time if it was said; without one the time of the turn counts.

    Facts and procedures are dated when they were said, never ahead.
    """
    moment = candidate.event_at
    if moment is None:
        return None
    if candidate.type != "episodic" and moment - turn.at > rules.max_event_ahead:
        return None
    return moment if spoken_times(candidate.evidence, turn.at).covers(moment) else None


def updated_record(candidate: CandidateRecord, context: ExtractionContext) -> KnownRecord | None:
    """Return the record a candidate may update: one that was shown, of its type and subject."""
    found = [one for one in context.shown_records if one.record_id == candidate.updates]
    if not found or found[0].type != candidate.type:
        return None
    if not belongs_to(context.principal, found[0].scope):
        return None
    mention = primary_mention(candidate.mentions)
    subject = None if mention is None else normalize_alias(mention.text)
    if subject in {normalize_alias(name) for name in context.names}:
        subject = None
    about = found[0].about
    return found[0] if subject == (about and normalize_alias(about)) else None


def _field(invalid: InvalidInput) -> str | None:
    named = invalid.details.get("field")
    return named if isinstance(named, str) else None
