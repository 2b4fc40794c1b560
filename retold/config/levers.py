"""The levers of one configuration, with what was left unset filled in from its preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, TypeVar

from retold.config.base import JSON, plain
from retold.config.retrieval import (
    Context,
    DuplicateHandling,
    EntityRole,
    FreshnessKind,
    FusionKind,
    GateConfig,
    GateKind,
    Preset,
    RetrievalConfig,
)


@dataclass(frozen=True, slots=True)
class Bm25Lever:
    """How repeats of a word and the length of a record count."""

    k1: float
    b: float


@dataclass(frozen=True, slots=True)
class FusionLever:
    """How the channels are fused; ``rrf_k`` belongs to rrf, the weights to convex."""

    kind: FusionKind
    rrf_k: int
    alpha: float
    alpha_uncovered: float


@dataclass(frozen=True, slots=True)
class EntityLever:
    """What a named entity counts."""

    role: EntityRole
    tie_break: float


@dataclass(frozen=True, slots=True)
class BoostLever:
    """What is added to fused scores; 0 is off. The last two are for context turns."""

    date_interval: float
    session: float
    session_min_records: int
    session_max_records: int
    neighbour: float
    session_text: float


@dataclass(frozen=True, slots=True)
class LateLever:
    """Whether the best candidates are ranked anew word by word, how much that counts, how many."""

    enabled: bool
    weight: float
    candidates: int


@dataclass(frozen=True, slots=True)
class FreshnessLever:
    """How age lowers a score: the first two numbers are additive's, the others multiplicative's."""

    kind: FreshnessKind
    weight: float
    half_life_part: float
    episodic_half_life_days: float
    floor: float


@dataclass(frozen=True, slots=True)
class Levers:
    """Every choice of the pipeline, none unset; fields have the names of their keys.

    ``gate`` is the configured block with ``gate_kind`` as its kind; a ``pool_limit`` of None is no
    limit.
    """

    preset: Preset
    per_generator_k: int
    pool_limit: int | None
    bm25: Bm25Lever
    fusion: FusionLever
    entities: EntityLever
    boosts: BoostLever
    late_interaction: LateLever
    freshness: FreshnessLever
    gate_kind: GateKind
    gate: GateConfig
    duplicates: DuplicateHandling
    dedup_cosine: float
    context: Context
    time_zone: str

    def to_json(self) -> dict[str, JSON]:
        """Return the levers as JSON values, without the gate's numbers."""
        return {name: plain(value) for name, value in asdict(self).items() if name != "gate"}


@dataclass(frozen=True, slots=True)
class _Unset:
    """What each lever is in one preset when its key is null; ``bm25`` holds for facts."""

    per_generator_k: int
    pool_limit: int | None
    bm25: Bm25Lever
    fusion: FusionKind
    entities: EntityRole
    date_interval: float
    session: float
    freshness: FreshnessKind
    gate: GateKind
    duplicates: DuplicateHandling
    dedup_cosine: float


FTS5_BM25: Final = Bm25Lever(k1=1.2, b=0.75)
"""FTS5's own constants."""

_PRESETS: Final[Mapping[Preset, _Unset]] = {
    "design": _Unset(
        per_generator_k=30,
        pool_limit=None,
        bm25=FTS5_BM25,
        fusion="rrf",
        entities="list",
        date_interval=0.0,
        session=0.0,
        freshness="multiplicative",
        gate="floors",
        duplicates="collapse",
        dedup_cosine=0.92,
    ),
    "measured": _Unset(
        per_generator_k=100,
        pool_limit=50,
        bm25=Bm25Lever(k1=0.9, b=0.4),
        fusion="convex",
        entities="tie_break",
        date_interval=0.3,
        session=0.3,
        freshness="additive",
        gate="null_z",
        duplicates="group",
        dedup_cosine=0.97,
    ),
}


def resolve_levers(retrieval: RetrievalConfig) -> Levers:
    """Return the levers of a configuration: a set key wins, an unset one follows the preset."""
    unset = _PRESETS[retrieval.preset]
    gate_kind = _or(retrieval.gate.kind, unset.gate)
    # A long turn says more than one thing; a long fact needs more words for one.
    bm25 = unset.bm25 if retrieval.context == "facts" else FTS5_BM25
    fusion, boosts, freshness = retrieval.fusion, retrieval.boosts, retrieval.freshness
    late = retrieval.late_interaction
    return Levers(
        preset=retrieval.preset,
        per_generator_k=_or(retrieval.per_generator_k, unset.per_generator_k),
        pool_limit=_or(retrieval.pool_limit, unset.pool_limit),
        bm25=Bm25Lever(_or(retrieval.bm25.k1, bm25.k1), _or(retrieval.bm25.b, bm25.b)),
        fusion=FusionLever(
            _or(fusion.kind, unset.fusion), retrieval.rrf_k, fusion.alpha, fusion.alpha_uncovered
        ),
        entities=EntityLever(
            _or(retrieval.entities.role, unset.entities), retrieval.entities.tie_break
        ),
        boosts=BoostLever(
            _or(boosts.date_interval, unset.date_interval),
            _or(boosts.session, unset.session),
            boosts.session_min_records,
            boosts.session_max_records,
            boosts.neighbour,
            boosts.session_text,
        ),
        late_interaction=LateLever(late.enabled, late.weight, late.candidates),
        freshness=FreshnessLever(
            _or(freshness.kind, unset.freshness),
            freshness.weight,
            freshness.half_life_part,
            freshness.episodic_half_life_days,
            freshness.floor,
        ),
        gate_kind=gate_kind,
        gate=retrieval.gate.model_copy(update={"kind": gate_kind}),
        duplicates=_or(retrieval.duplicates, unset.duplicates),
        dedup_cosine=_or(retrieval.dedup_cosine, unset.dedup_cosine),
        context=retrieval.context,
        time_zone=retrieval.time_zone,
    )


_Value = TypeVar("_Value")


def _or(value: _Value | None, unset: _Value) -> _Value:
    return unset if value is None else value
