"""The canonical memory row."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from retold.models.identity import Scope

MemoryType = Literal["semantic", "episodic", "procedural"]
MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
SourceKind = Literal[
    "user_statement", "system", "tool_result", "session_summary", "agent_inference"
]
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
RecordStatus = Literal["provisional", "confirmed", "superseded", "expired", "deleted"]
RECORD_STATUSES: tuple[RecordStatus, ...] = get_args(RecordStatus)
ACTIVE_STATUSES: tuple[RecordStatus, ...] = ("provisional", "confirmed")
EvidenceSource = Literal["session", "tool_call", "document", "host"]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """What every record that an application receives has, however it was asked for.

    The results of a search hold a ``Record``; ``get``, ``history`` and ``list`` answer with a
    ``RecordView``, which adds conflicts and lineage: code that takes a MemoryRecord takes both.
    ``content`` is None for a forgotten record, which no search finds. ``subject`` is ``<entity
    id>/<attribute>`` for display; None when a host write has no subject. ``version`` is the place
    in a lineage. ``temporary`` marks a statement that holds only for a while. ``closed_at`` is
    when the store stopped believing it.
    """

    id: str
    type: MemoryType
    version: int
    content: str | None = field(repr=False)
    subject: str | None = field(repr=False)
    attribute: str | None = field(repr=False)
    scope: Scope
    source_kind: SourceKind
    source_ref: str | None
    creator_agent_id: str
    evidence: str | None = field(repr=False)
    created_at: datetime
    event_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    review_at: datetime | None
    closed_at: datetime | None
    confidence: float
    status: RecordStatus
    supersedes_id: str | None
    reinforcements: int
    last_reinforced_at: datetime | None
    temporary: bool
    activation: Literal["conditional", "ambient"]
    category: str | None
    tags: tuple[str, ...] = field(repr=False)
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record(MemoryRecord):
    """A stored row: one claim, what backs it and where it stands in its life.

    ``seq`` is the store's integer key; ``id`` the public UUIDv7. ``revision`` counts updates of
    this row.
    """

    content: str = field(repr=False)
    seq: int
    revision: int
    subject_entity_id: str | None
    attribute_derived: bool
    review_flagged_at: datetime | None
    token_count: int
    index_version: int

    @property
    def is_active(self) -> bool:
        """Return whether the row is provisional or confirmed; expiry is not looked at."""
        return self.status in ACTIVE_STATUSES

    def status_at(self, now: datetime) -> RecordStatus:
        """Return the status, which is ``expired`` for an active row from ``expires_at`` on.

        Nothing has to sweep a row for it to be gone. The statements of ``candidates.sql`` and
        ``records.sql`` that speak of a status say the same.
        """
        if self.is_active and self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return self.status


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two records that disagree and cannot replace each other."""

    record_id: str
    other_id: str
    kind: str
    rule: str
    score: float | None
    noted_at: datetime


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One observation behind a record.

    ``source_id`` names the independent source (conversation, tool call, document, host call);
    ``locator`` the turn number; ``span`` the character range in that turn. ``counted`` says
    whether it counts towards confirmation. ``score`` is None when support was not scored.
    """

    source_type: EvidenceSource
    source_id: str
    locator: int | None
    span: tuple[int, int] | None
    quote: str | None = field(repr=False)
    source_kind: SourceKind
    score: float | None
    judge: str | None
    noted_at: datetime
    counted: bool
    user_id: str | None = None
