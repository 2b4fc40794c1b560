"""What a write asks for and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from retold.models.entity import EntityMention
from retold.models.identity import Scope
from retold.models.record import MemoryType, RecordStatus, SourceKind

WriteKind = Literal[
    "created",
    "reinforced",
    "already_reinforced",
    "superseded",
    "superseded_on_arrival",
    "conflict",
    "flagged",
]


@dataclass(frozen=True, slots=True)
class HostSource:
    """Where a trusted host took a claim from; counts as one independent source per ``id``."""

    type: Literal["tool_call", "document", "host"]
    id: str
    quote: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One claim to store.

    ``scope`` None means the principal's default scope. ``evidence`` is a verbatim quote of the
    principal's conversation. ``replaces`` None follows the attribute's cardinality, False adds
    beside whatever is there, True treats the attribute as single-valued. ``temporary`` marks a
    statement that ends by itself. ``allow_inference`` False makes unsupported evidence an error
    instead of a downgrade. ``host_source`` is set by trusted hosts only.
    """

    type: MemoryType
    content: str = field(repr=False)
    attribute: str | None = field(default=None, repr=False)
    scope: Scope | None = None
    source_kind: SourceKind = "user_statement"
    evidence: str | None = field(default=None, repr=False)
    evidence_turn: int | None = None
    mentions: tuple[EntityMention, ...] = ()
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    review_at: datetime | None = None
    tags: tuple[str, ...] = field(default=(), repr=False)
    replaces: bool | None = None
    confidence: float | None = None
    allow_inference: bool = True
    dedup: bool = True
    host_source: HostSource | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a write.

    ``record_id`` is the live record: the new one, or the one that was reinforced. ``outcome`` is
    the code, such as ``created`` or ``superseded:<old id>``. ``note`` is None unless
    something about the claim was lowered or dropped. ``index_version`` is the version the write
    committed; 0 when nothing that the indexes see has changed.
    """

    record_id: str
    status: RecordStatus
    kind: WriteKind
    outcome: str
    note: str | None
    other_ids: tuple[str, ...]
    source_kind: SourceKind
    timings_ms: Mapping[str, float] = field(default_factory=dict, repr=False)
    activation: str = "conditional"
    activation_reason: str | None = None
    index_version: int = 0
