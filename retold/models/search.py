"""What a search asks for, how each candidate fared, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from retold.models.record import MemoryType, Record, RecordStatus, SourceKind

Trigger = Literal["tool", "auto"]
TriggerMode = Literal["tool_only", "auto", "hybrid"]
TRIGGER_MODES: tuple[TriggerMode, ...] = get_args(TriggerMode)
RewriteStatus = Literal["disabled", "applied", "unchanged", "failed"]
RerankStatus = Literal["disabled", "applied", "timeout", "failed"]
Channel = Literal["dense", "lexical", "entity"]
BoostName = Literal[
    "date_interval",
    "session",
    "recency",
    "entity",
    "neighbour",
    "session_text",
    "late_interaction",
]
GateFamily = Literal["semantic", "episodic", "procedural", "session_summary"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search, as the agent wrote it.

    ``queries`` holds 1 to 3 phrases. ``context`` comes from the host, never from the model.
    ``since <= event_at < until``. ``known_at`` asks what the store believed then; ``as_of`` what
    was true then. ``k`` is at least 1.
    """

    queries: tuple[str, ...] = field(repr=False)
    k: int
    context: str | None = field(default=None, repr=False)
    types: tuple[MemoryType, ...] | None = None
    entities: tuple[str, ...] | None = field(default=None, repr=False)
    since: datetime | None = None
    until: datetime | None = None
    include_history: bool = False
    known_at: datetime | None = None
    as_of: datetime | None = None
    trigger: Trigger = "tool"


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """Queries to search with, in the order of the raw ones."""

    queries: tuple[str, ...] = field(repr=False)
    status: Literal["applied", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class GeneratorHit:
    """A place in one generator's list: 1-based ``rank``; ``score`` is cosine, bm25 or 0.0."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class LexicalTerm:
    """A query term found in a record."""

    value: str = field(repr=False)
    is_identifier: bool
    is_entity_alias: bool


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    """The matched terms of the best query, out of ``total_terms`` it had.

    ``share`` is the part of what it says that the record says too, from 0 to 1, where a query in an
    unspaced script was measured by longer stretches than pairs of characters; None elsewhere.
    """

    terms: tuple[LexicalTerm, ...]
    total_terms: int
    share: float | None = None

    @property
    def part(self) -> float:
        """Return the part of the query that was found: ``share``, or else that of its terms."""
        return len(self.terms) / self.total_terms if self.share is None else self.share


class Boost(NamedTuple):
    """What one lever added to a fused score: its name, how much, and why in plain words.

    Late interaction alone may take something away: its amount is negative then.
    ``reason`` holds our own words and numbers only, never a record's or a query's. A tuple, because
    a search makes hundreds.
    """

    name: BoostName
    amount: float
    reason: str


class Candidate(NamedTuple):
    """A record on its way through the pipeline; stages return changed copies.

    ``dense``, ``lexical`` and ``entity`` are places in the channels' lists. ``cosine`` and
    ``bm25`` are the same measures for every member of the pool, found by that channel or not;
    None where a fusion by rank did not need them or the record has no vector.

    ``fused_score`` is the ranking score before freshness and ``boosts``, ``score`` after them;
    ``group_size`` counts the record and the duplicates it stands for. ``gate_reason``
    says why it passed or what dropped it. A tuple, because a search makes some sixty.
    """

    seq: int
    record_id: str
    type: MemoryType
    source_kind: SourceKind
    status: RecordStatus
    event_at: datetime
    dense: GeneratorHit | None = None
    lexical: GeneratorHit | None = None
    lexical_match: LexicalMatch | None = None
    entity: GeneratorHit | None = None
    entity_id: str | None = None
    cosine: float | None = None
    bm25: float | None = None
    fused_score: float = 0.0
    fused_rank: int = 0
    freshness_multiplier: float | None = None
    boosts: tuple[Boost, ...] = ()
    score: float = 0.0
    group_size: int = 1
    gate_reason: str | None = None
    rerank_score: float | None = None
    rank_before_rerank: int | None = None
    rank_after_rerank: int | None = None

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Return the generators that found it, in the order dense, lexical, entity."""
        hits: tuple[tuple[Channel, GeneratorHit | None], ...] = (
            ("dense", self.dense),
            ("lexical", self.lexical),
            ("entity", self.entity),
        )
        return tuple(name for name, hit in hits if hit is not None)

    @property
    def family(self) -> GateFamily:
        """Return the key of the dense floor that applies."""
        return "session_summary" if self.source_kind == "session_summary" else self.type


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one record was returned."""

    raw_queries: tuple[str, ...] = field(repr=False)
    rewritten_queries: tuple[str, ...] | None = field(repr=False)
    rewrite_status: RewriteStatus
    matched_by: tuple[Channel, ...]
    dense: GeneratorHit | None
    lexical: GeneratorHit | None
    lexical_match: LexicalMatch | None
    entity: GeneratorHit | None
    fused_rank: int
    fused_score: float
    freshness_multiplier: float | None
    rerank: tuple[int, int, float] | None
    gate: str
    dedup: str
    budget: str
    source_kind: SourceKind
    status: RecordStatus
    created_at: datetime
    event_at: datetime
    entity_ids: tuple[str, ...]
    conflicts_with: tuple[str, ...]
    summary: str = field(repr=False)
    boosts: tuple[Boost, ...] = ()
    group_size: int = 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One returned record with its score (after freshness, or the reranker's)."""

    record: Record
    score: float
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one search.

    ``empty_reason`` is set exactly when ``results`` is empty. ``degraded`` names channels that
    did not run and why; an outage is never an empty answer alone. ``log`` says whether the log
    row is stored, follows from the queue, is off, or failed. ``waiting_sessions`` counts the
    caller's own sessions whose extraction was asked for and is still to come.
    """

    search_id: str
    raw_queries: tuple[str, ...] = field(repr=False)
    rewritten_queries: tuple[str, ...] | None = field(repr=False)
    rewrite_status: RewriteStatus
    results: tuple[SearchResult, ...]
    empty_reason: str | None
    degraded: tuple[str, ...] = ()
    log: Literal["written", "deferred", "failed", "off"] = "written"
    timings_ms: Mapping[str, float] = field(default_factory=dict, repr=False)
    text: str = field(default="", repr=False)
    waiting_sessions: int = 0
