"""What each column holds, so that erasure can miss none.

``content`` is what people or agents said, or what lets it be guessed: blank it. ``identity``
names a person, an agent or the source of a claim: replace it by a pseudonym. ``metadata`` is
numbers, moments, codes and random ids: it may stay. A test compares this with the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

ColumnKind = Literal["content", "identity", "metadata"]

FULL_TEXT_TABLE = "records_fts"
"""The full-text index; its shadow tables carry this name and an underscore."""


def _table(*, content: str = "", identity: str = "", metadata: str = "") -> dict[str, ColumnKind]:
    kinds: dict[str, ColumnKind] = {}
    kinds |= dict.fromkeys(content.split(), "content")
    kinds |= dict.fromkeys(identity.split(), "identity")
    kinds |= dict.fromkeys(metadata.split(), "metadata")
    return kinds


COLUMNS: Mapping[str, Mapping[str, ColumnKind]] = MappingProxyType(
    {
        # Holds the display names of provisioned users beside the counters.
        "store_meta": _table(content="value", identity="key"),
        "scopes": _table(identity="id", metadata="code kind"),
        "grants": _table(identity="agent_id", metadata="scope_code can_read can_write"),
        "entities": _table(
            content="canonical",
            identity="principal_user_id",
            metadata="seq id kind scope_code status merged_into created_at",
        ),
        "entity_aliases": _table(content="alias_norm", metadata="entity_seq scope_code"),
        "records": _table(
            content="content subject attribute evidence tags",
            identity="source_ref creator_agent_id",
            metadata="seq id type version revision subject_entity_seq attribute_derived scope_code"
            " source_kind created_at created_us event_at event_us expires_at expires_us valid_from"
            " valid_from_us valid_until valid_until_us review_at review_flagged_at closed_at"
            " closed_us confidence status supersedes_seq superseded_by_seq reinforcements"
            " last_reinforced_at temporary activation category token_count index_version",
        ),
        "removed_rows": _table(metadata="seq index_version"),
        "record_entities": _table(metadata="record_seq entity_seq role"),
        "record_conflicts": _table(metadata="record_seq other_seq kind rule score noted_at"),
        "record_evidence": _table(
            content="quote",
            identity="source_id user_id",
            metadata="seq record_seq source_type session_seq locator span_start span_end"
            " source_kind score judge noted_at counted",
        ),
        "suppressed_evidence": _table(
            identity="user_id",
            metadata="seq session_seq turn span_start span_end record_seq noted_at",
        ),
        # A vector can be inverted to something close to its text.
        "embeddings": _table(content="vector", metadata="seq model version dims index_version"),
        # One vector per word is closer still to the text.
        "token_vectors": _table(content="codes", metadata="seq vector_version"),
        FULL_TEXT_TABLE: _table(content="content subject aliases"),
        # The digest of a short transcript can be guessed.
        "sessions": _table(
            content="content_hash",
            identity="external_id agent_id user_id project_id",
            metadata="seq id segment conversation_id recorded started_at last_turn_at ended_at"
            " ended_by extraction_requested_at extraction_stage extraction_mode"
            " extraction_started_at extraction_token extraction_attempts extraction_next_at"
            " extraction_failed_at extraction_error extracted_at",
        ),
        "session_turns": _table(
            content="content",
            identity="name external_key",
            metadata="session_seq turn role origin tool_name at blanked_at",
        ),
        "session_profiles": _table(
            identity="agent_id user_id",
            metadata="session_seq record_ids truncated created_at",
        ),
        "extraction_drafts": _table(
            content="draft",
            metadata="seq session_seq position kind prompt_version created_at",
        ),
        "extraction_rejections": _table(
            content="candidate", metadata="seq session_seq reason noted_at"
        ),
        # With its salt the digest of a short payload can be guessed; the chain needs neither.
        "events": _table(
            content="payload payload_salt",
            metadata="seq id at kind payload_digest prev_hash hash",
        ),
        "event_refs": _table(
            identity="actor user_id", metadata="seq record_id entity_id session_id"
        ),
        # The session is the internal one, but rows of earlier releases hold the host's own id.
        "search_log": _table(
            content="request context rewritten_queries candidates lexical gate_inputs reranked"
            " explanations",
            identity="agent_id user_id session_id readable_scopes",
            metadata="seq id at trigger detail rewrite_status dense entity fused"
            " freshness gated_out deduped_out reranked_out rerank_status rerank_error budget_out"
            " returned empty_reason degraded config_flags pipeline pipeline_version warm"
            " timings_ms",
        ),
        "turn_decisions": _table(
            content="gaps",
            identity="agent_id user_id session_id",
            metadata="seq id at turn disposition shadow profile_record_ids inventory"
            " gap_status candidate_ids verdicts admitted_ids admission_status requested_budget_ms"
            " effective_budget_ms timings_ms failures config bundle_hash"
            " bundle_retrieval_verified usage",
        ),
        "reviews": _table(
            content="payload",
            identity="resolver",
            metadata="seq id kind record_seq proposed status reason confidence policy_version"
            " created_at resolved_at resolution",
        ),
        "bundle_fitness": _table(
            identity="recorded_by",
            metadata="seq id bundle_hash bundle suite_version passed evidence recorded_at",
        ),
        "job_runs": _table(metadata="job token leased_until last_ok cursor done total target"),
        "provider_state": _table(metadata="provider base_url state failures open_until updated_at"),
        "budget_usage": _table(metadata="provider day tokens calls"),
        "scrub_jobs": _table(metadata="seq receipt_id state requested_at finished_at report"),
        "erasure_ledger": _table(
            identity="target_digest selectors", metadata="seq id at target_kind reason"
        ),
        "migration_issues": _table(metadata="migration_version record_seq issue acknowledged_at"),
    }
)
