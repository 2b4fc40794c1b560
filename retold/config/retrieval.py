"""Settings of the search pipeline."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, model_validator

from retold.config.base import Block, SourceKinds, Text, key
from retold.config.model_names import HostedModel
from retold.models import GateFamily, SourceKind, Trigger, TriggerMode

Preset = Literal["design", "measured"]
FusionKind = Literal["rrf", "convex"]
GateKind = Literal["floors", "null_z"]
FreshnessKind = Literal["multiplicative", "additive", "off"]
EntityRole = Literal["list", "tie_break"]
DuplicateHandling = Literal["collapse", "group"]
Context = Literal["facts", "turns"]


class RerankerConfig(Block):
    """The optional cross-encoder pass after duplicate collapse."""

    enabled: bool = key(False, "Reorder the surviving candidates with a cross-encoder.")
    model: Text = key("BAAI/bge-reranker-v2-m3", "Cross-encoder that scores query and record.")
    candidates: int = key(30, "Most records sent to the cross-encoder.", "records", ge=1)
    floor: float | None = key(
        None,
        "Lowest best score a record needs to be returned; null means not calibrated.",
        "score 0 to 1",
        ge=0,
        le=1,
    )
    budget_mean_ms: int = key(
        100,
        "Expected mean cost of 30 candidates, compared by the benchmark.",
        "ms",
        ge=1,
        waits=True,
    )
    batch_size: int = key(32, "Pairs per forward pass.", "pairs", ge=1)
    mode: Literal["rrf_cross_encoder", "cross_encoder_only"] = key(
        "rrf_cross_encoder",
        "Score what passed the floors, or replace the floors by the cross-encoder's own.",
    )
    timeout_ms: int = key(2000, "Bound on the pass, a cold model load included.", "ms", ge=1)
    on_failure: Literal["fallback", "fail"] = key(
        "fallback", "Serve the fused order, or raise, when the pass fails or is late."
    )

    @model_validator(mode="after")
    def _enabled_needs_a_floor(self) -> RerankerConfig:
        if self.enabled and self.floor is None:
            raise ValueError("an enabled reranker needs a calibrated reranker.floor")
        return self


class RewriteConfig(Block):
    """The optional rewriting of raw queries by a hosted model."""

    enabled: bool = key(False, "Rewrite queries with a hosted model before searching.")
    model: HostedModel = key("claude-haiku-4-5-20251001", "Model that rewrites.")
    max_context_chars: int = key(
        2000, "Most characters of the current turns sent to the rewriter.", "characters", ge=0
    )
    timeout_ms: int = key(800, "Wait before the raw query is used instead.", "ms", ge=1)
    max_output_tokens: int = key(512, "Cap on the rewriter's reply.", "tokens", ge=1)


class TriggerConfig(Block):
    """Who calls the search."""

    mode: TriggerMode = key(
        "tool_only",
        "The model through its tool, the host once per user turn, or both; decides what the policy "
        "text says and whether the model is offered memory_search.",
    )
    auto_k: int = key(4, "Most records of a host-issued search.", "records", ge=1, waits=True)
    auto_min_query_chars: int = key(
        12, "Shorter user turns start no host-issued search.", "characters", ge=0, waits=True
    )


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("must be an IANA time zone that this machine knows, or UTC") from None
    return value


TimeZone = Annotated[Text, AfterValidator(_time_zone)]


class FusionConfig(Block):
    """How what the channels found becomes one ranking."""

    kind: FusionKind | None = key(
        None,
        "By rank, or as a weighted sum of scaled cosine and bm25; null is rrf in design and convex "
        "in measured.",
    )
    alpha: float = key(0.6, "Weight of the cosine in a convex fusion.", "fraction", ge=0, le=1)
    alpha_uncovered: float = key(
        0.3,
        "Weight of the cosine for a query in a script that the embedder does not read.",
        "fraction",
        ge=0,
        le=1,
    )


class Bm25Config(Block):
    """How often a word stands in a record and how long that is, in the score of its words."""

    k1: float | None = key(
        None,
        "How much a word counts more the more often it stands there; null is 1.2, and 0.9 for "
        "facts in measured.",
        "factor",
        ge=0,
        le=10,
    )
    b: float | None = key(
        None,
        "How much the length of a record lowers its score; null is 0.75, and 0.4 for facts in "
        "measured.",
        "fraction",
        ge=0,
        le=1,
    )


class EntitiesConfig(Block):
    """What it counts that a record is about somebody or something the query names."""

    role: EntityRole | None = key(
        None,
        "A ranking of its own, or at most a tie-break; null is list in design and tie_break in "
        "measured.",
    )
    tie_break: float = key(
        0.02, "Most that a named entity adds to a fused score.", "score", ge=0, le=1
    )


class BoostsConfig(Block):
    """What is added to fused scores; a weight of 0 switches a boost off."""

    date_interval: float | None = key(
        None,
        "Added to records whose event lies in a time that the query names; null is 0 in design and "
        "0.3 in measured.",
        "score",
        ge=0,
        le=1,
    )
    session: float | None = key(
        None,
        "Weight of the best score in a record's session; null is 0 in design and 0.3 in measured.",
        "score",
        ge=0,
        le=1,
    )
    session_min_records: int = key(2, "Smaller sessions support nothing.", "records", ge=1)
    session_max_records: int = key(40, "Larger sessions support nothing.", "records", ge=1)
    neighbour: float = key(
        0.5,
        "Part of a neighbouring turn's score that a turn has at least, in context turns.",
        "fraction",
        ge=0,
        le=1,
    )
    session_text: float = key(
        0.3,
        "Weight of the bm25 of a whole session, in context turns, instead of session.",
        "score",
        ge=0,
        le=1,
    )


class LateInteractionConfig(Block):
    """Ranking the best of the pool anew by how well single words match, as ColBERT does.

    Needs an embedder that offers token vectors, such as that of the profile offline.
    """

    enabled: bool = key(
        False,
        "Store a vector for each word of a record, and rank the best candidates by them besides; "
        "records written before keep their scores until `retold token-vectors` has filled them in.",
    )
    weight: float = key(
        0.6, "Part of a fused score that the match of single words decides.", "fraction", ge=0, le=1
    )
    candidates: int = key(
        50,
        "Best candidates that are ranked anew; the others keep their scores.",
        "records",
        ge=1,
        le=50,
    )


class DenseFloorConfig(Block):
    """The lowest cosine of a dense-only candidate, by kind of record."""

    semantic: float = key(0.45, "Floor for facts.", "cosine", ge=-1, le=1)
    episodic: float = key(0.40, "Floor for events.", "cosine", ge=-1, le=1)
    procedural: float = key(0.45, "Floor for procedures.", "cosine", ge=-1, le=1)
    session_summary: float = key(
        0.50, "Floor for generated session summaries, instead of episodic.", "cosine", ge=-1, le=1
    )

    def of(self, family: GateFamily) -> float:
        """Return the floor of one kind of record."""
        floor: float = getattr(self, family)
        return floor


class AutoDenseFloorConfig(DenseFloorConfig):
    """The lowest cosine of a dense-only candidate in a host-issued search."""

    semantic: float = key(0.55, "Floor for facts.", "cosine", ge=-1, le=1)
    episodic: float = key(0.50, "Floor for events.", "cosine", ge=-1, le=1)
    procedural: float = key(0.55, "Floor for procedures.", "cosine", ge=-1, le=1)
    session_summary: float = key(
        0.50, "Floor for generated session summaries, instead of episodic.", "cosine", ge=-1, le=1
    )


class GateFloors(Protocol):
    """The floors one search is held to, whoever issued it."""

    @property
    def dense_floor(self) -> DenseFloorConfig:
        """Return the lowest cosine of a dense-only candidate by kind of record."""
        ...

    @property
    def lexical_min_term_fraction(self) -> float:
        """Return the share of query terms a lexical-only candidate must hold."""
        ...

    @property
    def lexical_min_matched_terms(self) -> int:
        """Return the fewest matched terms, unless one is an alias or an identifier."""
        ...

    @property
    def relative_floor(self) -> float:
        """Return the share of the strongest score within one channel count."""
        ...

    @property
    def entity_exempt(self) -> bool:
        """Return whether an exact entity match alone passes the gate."""
        ...

    @property
    def exclude_source_kinds(self) -> tuple[SourceKind, ...]:
        """Return the source kinds that are dropped before any floor."""
        ...


class AutoGateConfig(Block):
    """The floors of host-issued searches; they replace the normal ones altogether."""

    dense_floor: AutoDenseFloorConfig = AutoDenseFloorConfig()
    lexical_min_term_fraction: float = key(
        0.6, "Share of the query terms a lexical-only candidate holds.", "fraction", ge=0, le=1
    )
    lexical_min_matched_terms: int = key(
        2, "Fewest matched terms, unless one is an alias or identifier.", "terms", ge=0
    )
    relative_floor: float = key(
        0.6, "Share of the top score among candidates of as many channels.", "fraction", ge=0, le=1
    )
    exclude_source_kinds: SourceKinds = key(
        ("session_summary",), "Source kinds that never arrive unasked."
    )
    entity_exempt: Literal[False] = key(
        False, "A host-issued search never lets an entity match alone pass; only false is valid."
    )


class NullZConfig(Block):
    """How much nearer than an unrelated prompt's the closest record must be, in deviations."""

    explicit: float = key(
        1.0,
        "Least Z of a search that a model or a person asked for.",
        "standard deviations",
    )
    auto: float = key(2.0, "Least Z of a host-issued search.", "standard deviations")
    unk_weight: float = key(
        2.0,
        "How much the share of words that no readable record holds lowers the signal, in "
        "deviations of the bank's cosines.",
        "standard deviations",
        ge=0,
    )
    relative_cut: float = key(
        0.5,
        "Share of the best score that a returned record has.",
        "fraction",
        ge=0,
        le=1,
    )

    def threshold(self, trigger: Trigger) -> float:
        """Return the least Z of one search by who issued it."""
        return self.auto if trigger == "auto" else self.explicit


class GateConfig(Block):
    """The gate; the floors here are those of searches that a model or a person asked for."""

    kind: GateKind | None = key(
        None,
        "A floor for each record, or one decision about the query; null is floors in design and "
        "null_z in measured.",
    )
    null_z: NullZConfig = NullZConfig()
    dense_floor: DenseFloorConfig = DenseFloorConfig()
    lexical_min_term_fraction: float = key(
        0.5, "Share of the query terms a lexical-only candidate holds.", "fraction", ge=0, le=1
    )
    lexical_min_matched_terms: int = key(
        2, "Fewest matched terms, unless one is an alias or identifier.", "terms", ge=0
    )
    relative_floor: float = key(
        0.5, "Share of the top score among candidates of as many channels.", "fraction", ge=0, le=1
    )
    entity_exempt: bool = key(True, "Let an exact entity match pass without any floor.")
    auto: AutoGateConfig = AutoGateConfig()

    @property
    def exclude_source_kinds(self) -> tuple[SourceKind, ...]:
        """Return nothing: a search that was asked for excludes no source kind."""
        return ()

    def floors(self, trigger: Trigger) -> GateFloors:
        """Return the floors for one search by who issued it."""
        return self.auto if trigger == "auto" else self


class FreshnessConfig(Block):
    """How age lowers a score."""

    kind: FreshnessKind | None = key(
        None,
        "Decay of episodic scores, a bonus for recent events of any kind, or neither; null is "
        "multiplicative in design and additive in measured.",
    )
    weight: float = key(0.05, "Most that recency adds to a fused score.", "score", ge=0, le=1)
    half_life_part: float = key(
        0.25,
        "Age that halves the bonus, as a part of the time that the readable records span.",
        "fraction",
        gt=0,
        le=1,
    )
    episodic_half_life_days: float = key(
        30, "Event age that halves an episodic score.", "days", gt=0
    )
    floor: float = key(0.5, "Lowest decay multiplier.", "fraction", ge=0, le=1)


class RetrievalConfig(Block):
    """The search pipeline, in the order its stages run."""

    preset: Preset = key(
        "design",
        "What an unset lever means: the pipeline as it was designed, or the one that measured "
        "best.",
    )
    rewrite: RewriteConfig = RewriteConfig()
    trigger: TriggerConfig = TriggerConfig()
    per_generator_k: int | None = key(
        None,
        "Longest list of each candidate generator; null is 30 in design and 100 in measured.",
        "records",
        ge=1,
    )
    pool_limit: int | None = key(
        None,
        "Candidates that remain after the boosts for the gate and the log, never fewer than twice "
        "the k of a search; null is all in design and 50 in measured.",
        "records",
        ge=1,
    )
    max_alias_tokens: int = key(4, "Longest entity alias looked for in a query.", "tokens", ge=1)
    rrf_k: int = key(60, "Fusion constant: a list adds 1 / (rrf_k + rank).", "ranks", ge=1)
    bm25: Bm25Config = Bm25Config()
    fusion: FusionConfig = FusionConfig()
    entities: EntitiesConfig = EntitiesConfig()
    boosts: BoostsConfig = BoostsConfig()
    late_interaction: LateInteractionConfig = LateInteractionConfig()
    time_zone: TimeZone = key("UTC", "IANA time zone in which a day that a query names begins.")
    context: Context = key(
        "facts",
        "What most records are: short facts, or raw turns, which their neighbours explain.",
    )
    default_k: int = key(8, "Records returned when the caller names no k.", "records", ge=1)
    token_budget: int = key(1500, "Ceiling on the result a model is shown.", "tokens", ge=1)
    duplicates: DuplicateHandling | None = key(
        None,
        "Drop all but the best of near-identical records, or show one for the group; null is "
        "collapse in design and group in measured.",
    )
    dedup_cosine: float | None = key(
        None,
        "Records this similar are near-identical; null is 0.92 in design and 0.97 in measured.",
        "cosine",
        ge=-1,
        le=1,
    )
    gate: GateConfig = GateConfig()
    freshness: FreshnessConfig = FreshnessConfig()
