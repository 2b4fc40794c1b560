"""What an extractor proposes from a transcript, and what a reviewer says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, get_args

from retold.models.completion import TokenUsage
from retold.models.entity import EntityKind, EntityMention
from retold.models.identity import Principal, Scope
from retold.models.record import MemoryType, SourceKind
from retold.models.session import Turn

RejectionReason = Literal[
    "malformed_candidate",
    "over_candidate_limit",
    "duplicate_candidate",
    "invalid_content",
    "foreign_scope",
    "invalid_subject",
    "entity_ambiguous",
    "evidence_not_found",
    "evidence_forgotten",
    "evidence_too_short",
    "instruction_text",
    "naive_temporal_value",
    "unsupported_temporal_metadata",
    "unsupported_date",
    "invalid_temporal_range",
    "review_at_before_evidence",
    "review_rejected",
    "invalid_review_revision",
]
REJECTION_REASONS: tuple[RejectionReason, ...] = get_args(RejectionReason)
ReviewOutcome = Literal["accept", "revise", "downgrade", "reject"]
REVIEW_OUTCOMES: tuple[ReviewOutcome, ...] = get_args(ReviewOutcome)
"""From the most generous to the strictest."""
NO_USAGE: Final = TokenUsage()
LeftOutReason = Literal["not_evidence", "blank", "cut", "over_budget"]


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """A person or thing that the principal may read."""

    entity_id: str
    kind: EntityKind
    scope: Scope
    canonical: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """An active record that a model is shown, so that a new value finds its attribute.

    ``about`` is the canonical name of its subject, None when that is the principal.
    """

    record_id: str
    type: MemoryType
    scope: Scope
    attribute: str = field(repr=False)
    content: str = field(repr=False)
    about: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """What one extraction may know and where its candidates go.

    ``scope`` is the destination of every candidate. ``updatable_scopes`` are those the principal
    may read and write now; a record elsewhere can neither be shown nor updated. ``names`` are the
    principal's.
    """

    principal: Principal
    scope: Scope
    updatable_scopes: frozenset[Scope]
    names: tuple[str, ...] = field(default=(), repr=False)
    entities: tuple[KnownEntity, ...] = ()
    records: tuple[KnownRecord, ...] = ()

    @property
    def shown_records(self) -> tuple[KnownRecord, ...]:
        """Return the records that may be updated, in order; a model sees these and no others."""
        return tuple(record for record in self.records if record.scope in self.updatable_scopes)


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A claim as a model proposed it; nothing in it is to be believed.

    ``evidence_turn`` is a turn number of the session and a hint only; None when the model cited no
    line. ``updates`` is the id of a record that was shown. Moments may be naive here.
    """

    type: MemoryType
    content: str = field(repr=False)
    attribute: str | None = field(repr=False)
    source_kind: SourceKind
    evidence: str = field(repr=False)
    evidence_turn: int | None = None
    mentions: tuple[EntityMention, ...] = field(default=(), repr=False)
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    review_at: datetime | None = None
    confidence: float | None = None
    updates: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedCandidate:
    """A proposal that goes no further.

    ``position`` counts from 0 over everything the extractor proposed. ``detail`` names fields and
    ids, never content. ``candidate`` is None when it could not be read; ``entity_ids`` are those
    an ambiguous name may mean. ``review_reason`` is the reviewer's own words.
    """

    position: int
    reason: RejectionReason
    detail: str | None = None
    candidate: CandidateRecord | None = field(default=None, repr=False)
    entity_ids: tuple[str, ...] = ()
    review_reason: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What happened in a session, for somebody who was not there."""

    content: str = field(repr=False)
    decisions: tuple[str, ...] = field(default=(), repr=False)
    mentions: tuple[EntityMention, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A turn that a model did not see, or saw only ``cut``: ``chars`` of it are missing."""

    turn: int
    reason: LeftOutReason
    chars: int


@dataclass(frozen=True, slots=True)
class ExtractionOutput:
    """What came of one session's transcript.

    ``positions`` gives each candidate's place in everything proposed, ``rejected`` those that
    could not be read. ``summary`` is None when no usable one came.
    """

    candidates: tuple[CandidateRecord, ...]
    summary: SessionSummary | None = field(repr=False)
    rejected: tuple[RejectedCandidate, ...] = ()
    positions: tuple[int, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    usage: TokenUsage = NO_USAGE
    prompt_version: str = ""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One candidate before a reviewer, with the turn that holds its quote.

    ``live_records`` are active records of the same subject in the destination scope.
    """

    candidate: CandidateRecord
    turn: Turn
    live_records: tuple[KnownRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """What a reviewer may see: the session's turns in order, and the principal's names.

    ``scope`` is where the candidates go.
    """

    transcript: tuple[Turn, ...] = field(repr=False)
    scope: Scope
    names: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class CandidateRevision:
    """The fields a reviewer wants otherwise; those that are None stay as they are."""

    content: str | None = field(default=None, repr=False)
    attribute: str | None = field(default=None, repr=False)
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    review_at: datetime | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A reviewer's word on one candidate. ``revision`` is given for ``revise`` and never else."""

    outcome: ReviewOutcome
    reason: str = field(repr=False)
    revision: CandidateRevision | None = None


@dataclass(frozen=True, slots=True)
class ReviewOutput:
    """One decision per candidate, in their order."""

    decisions: tuple[ReviewDecision, ...]
    usage: TokenUsage = NO_USAGE
    prompt_version: str = ""
