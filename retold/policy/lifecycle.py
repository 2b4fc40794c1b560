"""Source ranks, first status, expiry, authority and reinforcement; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from retold.config import IngestionConfig, PolicyConfig
from retold.models import MemoryType, Record, RecordStatus, SourceKind

INITIAL_CONFIDENCE: Mapping[SourceKind, float] = {
    "user_statement": 0.95,
    "system": 0.9,
    "tool_result": 0.85,
    "session_summary": 0.8,
    "agent_inference": 0.6,
}
"""LLD 6.2; kept for audit, never a ranking signal."""

MAX_CONFIDENCE = 0.99
CONFIDENCE_STEP = 0.1


@dataclass(frozen=True, slots=True)
class Standing:
    """What authority compares, for a claim that is not stored yet or for a stored one."""

    source_kind: SourceKind
    event_at: datetime
    created_at: datetime

    @classmethod
    def of(cls, record: Record) -> Standing:
        """Return the standing of a stored record."""
        return cls(record.source_kind, record.event_at, record.created_at)


@dataclass(frozen=True, slots=True)
class Observation:
    """A later sighting of a claim that is already stored.

    ``verified`` says that a located quote, or a host, supports it; ``independent`` that its source
    does not count for the record yet. Both together make it count towards confirmation.
    """

    source_kind: SourceKind
    source_ref: str | None
    evidence: str | None = field(repr=False)
    verified: bool
    independent: bool

    @property
    def counted(self) -> bool:
        """Return whether it counts towards confirmation."""
        return self.verified and self.independent


def rank(source_kind: SourceKind, policy: PolicyConfig) -> int:
    """Return the authority of a source kind; higher wins."""
    return policy.source_rank.of(source_kind)


def has_authority(new: Standing, old: Standing, policy: PolicyConfig) -> bool:
    """Return whether ``new`` may replace ``old``: by rank, then event time, then arrival."""
    new_rank, old_rank = rank(new.source_kind, policy), rank(old.source_kind, policy)
    if new_rank != old_rank:
        return new_rank > old_rank
    if new.event_at != old.event_at:
        return new.event_at > old.event_at
    return new.created_at >= old.created_at


def authority_key(record: Record, policy: PolicyConfig) -> tuple[int, datetime, datetime, int]:
    """Return a sort key; the greatest key is the authority incumbent."""
    return (
        rank(record.source_kind, policy),
        record.event_at,
        record.created_at,
        record.seq,
    )


def initial_status(source_kind: SourceKind, type_: MemoryType) -> RecordStatus:
    """Return the first status. Instructions that a tool returned start provisional."""
    if source_kind == "agent_inference":
        return "provisional"
    if source_kind == "tool_result" and type_ == "procedural":
        return "provisional"
    return "confirmed"


def expiry_of(
    source_kind: SourceKind,
    status: RecordStatus,
    now: datetime,
    cfg: IngestionConfig,
    *,
    temporary: bool = False,
    valid_until: datetime | None = None,
) -> datetime | None:
    """Return when a record written, seen again or confirmed now leaves retrieval; None is never.

    Unconfirmed and generated ones have their time to live. A statement that ends by itself leaves
    at its stated end, else after the provisional time, whatever its status; the earlier counts.
    """
    unconfirmed = now + timedelta(days=cfg.provisional_ttl_days)
    end: datetime | None = None
    if status == "provisional":
        end = unconfirmed
    elif source_kind == "session_summary":
        end = now + timedelta(days=cfg.summary_ttl_days)
    if not temporary:
        return end
    own = valid_until or unconfirmed
    return own if end is None else min(own, end)


def reinforced(
    record: Record,
    observation: Observation,
    now: datetime,
    *,
    cfg: IngestionConfig,
    policy: PolicyConfig,
    may_promote: bool = True,
) -> Record:
    """Return the record after an observation (LLD 6.4); the same object when nothing changes.

    A counted one adds confidence and refreshes a provisional expiry. A verified one of higher rank
    replaces the provenance and, when its kind starts confirmed, promotes at once and clears the
    expiry. ``may_promote`` False keeps a provisional conflict provisional.
    """
    upgrades = observation.verified and rank(observation.source_kind, policy) > rank(
        record.source_kind, policy
    )
    if not (observation.counted or upgrades):
        return record
    after = record
    if observation.counted:
        after = replace(
            after,
            reinforcements=record.reinforcements + 1,
            last_reinforced_at=now,
            confidence=min(MAX_CONFIDENCE, record.confidence + CONFIDENCE_STEP),
        )
    if upgrades:
        after = replace(
            after,
            source_kind=observation.source_kind,
            source_ref=observation.source_ref,
            evidence=observation.evidence,
        )
    if record.status != "provisional":
        return after
    if may_promote and _earns_confirmation(after, upgrades=upgrades, cfg=cfg):
        return confirmed(after, now, cfg)
    return replace(after, expires_at=_renewed_expiry(after, now, cfg))


def _earns_confirmation(record: Record, *, upgrades: bool, cfg: IngestionConfig) -> bool:
    """Return whether a reinforced provisional record is confirmed now.

    Instructions from tool output never are by repetition alone (completions 3).
    """
    if initial_status(record.source_kind, record.type) == "confirmed" and upgrades:
        return True
    from_tool = record.type == "procedural" and record.source_kind == "tool_result"
    return record.reinforcements >= cfg.reinforcements_to_confirm and not from_tool


def confirmed(record: Record, now: datetime, cfg: IngestionConfig) -> Record:
    """Return the record confirmed; only what ends by itself still expires."""
    after = replace(record, status="confirmed")
    return replace(after, expires_at=_renewed_expiry(after, now, cfg))


def _renewed_expiry(record: Record, now: datetime, cfg: IngestionConfig) -> datetime | None:
    return expiry_of(
        record.source_kind,
        record.status,
        now,
        cfg,
        temporary=record.temporary,
        valid_until=record.valid_until,
    )
