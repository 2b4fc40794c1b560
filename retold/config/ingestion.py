"""Settings of the write path."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Self

from pydantic import model_validator

from retold.config.base import Block, Text, TextList, key
from retold.config.model_names import HostedModel
from retold.models import SourceKind

LEXICAL_JUDGE = "lexical"
"""The model name that selects the rule judge, which needs no model at all."""

MOST_DAYS = 36_525
MOST_MINUTES = 525_600
"""A century and a year: much further from now, moments leave the calendar."""

MULTI_VALUED_ATTRIBUTES = (
    "likes",
    "dislikes",
    "allergy",
    "allergies",
    "hobby",
    "hobbies",
    "skill",
    "skills",
    "language",
    "languages",
    "tool",
    "tools",
    "pet",
    "pets",
    "child",
    "children",
    "contact",
    "contacts",
)


class EquivalenceConfig(Block):
    """The judge that compares two claims."""

    model: Text = key(
        "cross-encoder/nli-deberta-v3-small",
        f"Model that compares claims; {LEXICAL_JUDGE} is the rule judge without a model.",
    )
    entail_floor: float = key(
        0.70,
        "Lowest entailment, both ways, that makes two claims the same to a model.",
        "score",
        ge=0,
        le=1,
    )
    contradict_floor: float = key(
        0.70,
        "Lowest contradiction, either way, that makes a conflict to a model.",
        "score",
        ge=0,
        le=1,
    )

    @property
    def is_lexical(self) -> bool:
        """Return whether the rule judge is asked for."""
        return self.model == LEXICAL_JUDGE


class EvidenceConfig(Block):
    """What makes a quote substantial and supportive."""

    min_characters: int = key(15, "Shortest quote that is evidence.", "characters", ge=0)
    min_words: int = key(3, "Fewest words of a quote that is evidence.", "words", ge=0)
    entail_floor: float = key(
        0.70, "Lowest score of a quote that supports a direct claim.", "score", ge=0, le=1
    )


class IngestionConfig(Block):
    """How claims are checked, compared, kept and extracted."""

    dedup_candidate_cosine: float = key(
        0.85, "Similarity at which records about others are compared.", "cosine", ge=-1, le=1
    )
    attribute_alias_cosine: float = key(
        0.80,
        "Similarity at which records of other attributes are compared.",
        "cosine",
        ge=-1,
        le=1,
    )
    max_nearby_records: int = key(
        3, "Most similar records about others that one write looks at.", "records", ge=1
    )
    max_event_ahead_minutes: int = key(
        5, "Facts and procedures dated further ahead are refused.", "minutes", ge=0, le=MOST_MINUTES
    )
    multi_valued_attributes: TextList = key(
        MULTI_VALUED_ATTRIBUTES, "Attributes (globs) that hold several current values at once."
    )
    equivalence: EquivalenceConfig = EquivalenceConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    provisional_ttl_days: int = key(30, "Life of a provisional record.", "days", ge=1, le=MOST_DAYS)
    summary_ttl_days: int = key(
        180, "Life of a generated session summary.", "days", ge=1, le=MOST_DAYS
    )
    reinforcements_to_confirm: int = key(
        2, "Independent reinforcements that confirm a provisional record.", "count", ge=1
    )
    max_entity_attributes: int = key(
        64, "Most active attributes of one entity that a write compares.", "records", ge=1
    )
    extract_on_session_end: bool = key(
        False,
        "Ask for extraction of sessions that only went idle.",
    )
    extraction_model: HostedModel = key(
        "claude-haiku-4-5-20251001", "Model that extracts candidates."
    )
    extraction_max_candidates: int = key(
        20, "Most candidates of one session's extraction.", "candidates", ge=0
    )
    review_model: HostedModel = key("claude-haiku-4-5-20251001", "Model that reviews candidates.")
    temporal_review_batch_size: int = key(
        100, "Most due records of one review pass.", "records", ge=1
    )
    extraction_timeout_ms: int = key(60_000, "Bound on one extractor call.", "ms", ge=1)
    review_timeout_ms: int = key(30_000, "Bound on one reviewer call.", "ms", ge=1)
    hosted_max_output_tokens: int = key(
        4096, "Cap on one extractor or reviewer reply.", "tokens", ge=1
    )
    extraction_window_tokens: int = key(
        24_000,
        "Most of a transcript that one extractor call sees; a longer one comes in windows.",
        "estimated tokens",
        ge=1000,
    )
    extraction_max_windows: int = key(
        4,
        "Most extractor calls for one session; what they do not reach is left out.",
        "calls",
        ge=1,
    )
    extraction_max_turn_tokens: int = key(
        4000,
        "Longer turns are shown with a gap in their middle.",
        "estimated tokens",
        ge=100,
    )
    review_batch_tokens: int = key(
        16_000,
        "Most that one reviewer call sees; more candidates are shared out over several calls.",
        "estimated tokens",
        ge=1000,
    )
    extraction_context_max_entities: int = key(
        200, "Most readable aliases handed to the extractor.", "entities", ge=0
    )
    extraction_context_max_subjects: int = key(
        200, "Most writable subjects handed to the extractor.", "subjects", ge=0
    )
    extraction_claim_timeout_minutes: int = key(
        30, "A worker's claim on a session lasts this long.", "minutes", ge=1, le=MOST_MINUTES
    )
    summary_max_chars: int = key(
        1200, "Cap on a session summary, its decisions included.", "characters", ge=1
    )
    session_idle_timeout_minutes: int = key(
        30,
        "Silence after which a session without an end signal splits.",
        "minutes",
        ge=1,
        le=MOST_MINUTES,
    )

    @model_validator(mode="after")
    def _claim_outlasts_a_call(self) -> Self:
        longest_ms = max(self.extraction_timeout_ms, self.review_timeout_ms)
        if self.extraction_claim_timeout_minutes * 60_000 <= longest_ms:
            raise ValueError(
                "extraction_claim_timeout_minutes must be longer than extraction_timeout_ms and "
                "review_timeout_ms"
            )
        return self

    def is_multi_valued(self, attribute: str) -> bool:
        """Return whether a normalised attribute may hold several current values."""
        return any(fnmatchcase(attribute, glob) for glob in self.multi_valued_attributes)


class SourceRankConfig(Block):
    """Authority by source; a record may replace one of equal or lower rank."""

    user_statement: int = key(4, "Rank of what a user said.", "rank", ge=1)
    system: int = key(3, "Rank of what the host wrote.", "rank", ge=1)
    tool_result: int = key(2, "Rank of what a tool returned.", "rank", ge=1)
    session_summary: int = key(2, "Rank of a generated summary.", "rank", ge=1)
    agent_inference: int = key(1, "Rank of what an agent concluded.", "rank", ge=1)

    def of(self, source_kind: SourceKind) -> int:
        """Return the rank of one source kind; higher wins."""
        rank: int = getattr(self, source_kind)
        return rank


class PolicyConfig(Block):
    """Which source wins a disagreement."""

    source_rank: SourceRankConfig = SourceRankConfig()
