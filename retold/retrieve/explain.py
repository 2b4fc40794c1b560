"""Why a record was returned, and why none was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Final

from retold.config.retrieval import GateConfig
from retold.models import BoostName, Candidate, Explanation, GeneratorHit, Record, RewriteStatus
from retold.retrieve.budget import LeftOut
from retold.retrieve.dedup import Duplicate
from retold.retrieve.gate import GatedOut, QuerySignals, missed

_STEP_1 = "step 1,"
_SHOWN_AMOUNT = 0.005
_BOOSTS: Final[Mapping[BoostName, str]] = {
    "date_interval": "the time asked for",
    "session": "its conversation",
    "recency": "being recent",
    "entity": "who is named",
    "neighbour": "the turn beside it",
    "session_text": "its conversation's words",
    "late_interaction": "its single words",
}
"""What raised a record, in the words of the summary; ``Boost.reason`` says why in full."""


def explain(
    candidate: Candidate,
    record: Record,
    *,
    raw_queries: tuple[str, ...],
    rewritten_queries: tuple[str, ...] | None,
    rewrite_status: RewriteStatus,
    duplicates: Sequence[Duplicate],
    budget: str,
    conflicts_with: tuple[str, ...],
) -> Explanation:
    """Return the explanation of one result; ``duplicates`` are all that the search dropped."""
    rerank = None
    if candidate.rank_before_rerank is not None and candidate.rank_after_rerank is not None:
        rerank = (
            candidate.rank_before_rerank,
            candidate.rank_after_rerank,
            candidate.rerank_score or 0.0,
        )
    gate = candidate.gate_reason or "not gated"
    if gate.startswith(("not gated", "step ")):
        gate = f"shown beside the record it conflicts with; {gate}"
    return Explanation(
        raw_queries=raw_queries,
        rewritten_queries=rewritten_queries,
        rewrite_status=rewrite_status,
        matched_by=candidate.channels,
        dense=candidate.dense,
        lexical=candidate.lexical,
        lexical_match=candidate.lexical_match,
        entity=candidate.entity,
        fused_rank=candidate.fused_rank,
        fused_score=candidate.fused_score,
        freshness_multiplier=candidate.freshness_multiplier,
        rerank=rerank,
        gate=gate,
        dedup=_dedup(candidate, duplicates),
        budget=budget,
        source_kind=record.source_kind,
        status=record.status,
        created_at=record.created_at,
        event_at=record.event_at,
        entity_ids=record.entity_ids,
        conflicts_with=conflicts_with,
        summary=_summary(candidate, gate),
        boosts=candidate.boosts,
        group_size=candidate.group_size,
    )


def explanation_to_log(record_id: str, explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as a JSON value, with the record it belongs to.

    The queries and what became of them are the same for every result; the row holds them once.
    """
    match = explanation.lexical_match
    return {
        "record_id": record_id,
        "matched_by": explanation.matched_by,
        "dense": _hit_to_log(explanation.dense),
        "lexical": _hit_to_log(explanation.lexical),
        "lexical_match": match
        and {
            "terms": [[t.value, t.is_identifier, t.is_entity_alias] for t in match.terms],
            "total_terms": match.total_terms,
        },
        "entity": _hit_to_log(explanation.entity),
        "fused_rank": explanation.fused_rank,
        "fused_score": explanation.fused_score,
        "freshness_multiplier": explanation.freshness_multiplier,
        "rerank": explanation.rerank,
        "gate": explanation.gate,
        "dedup": explanation.dedup,
        "budget": explanation.budget,
        "source_kind": explanation.source_kind,
        "status": explanation.status,
        "created_at": explanation.created_at.isoformat(timespec="microseconds"),
        "event_at": explanation.event_at.isoformat(timespec="microseconds"),
        "entity_ids": explanation.entity_ids,
        "conflicts_with": explanation.conflicts_with,
        "summary": explanation.summary,
        "boosts": [[one.name, one.amount, one.reason] for one in explanation.boosts],
        "group_size": explanation.group_size,
    }


def explain_empty(
    *,
    gated_out: Sequence[GatedOut],
    survivors: int,
    weak: Sequence[tuple[Candidate, str]],
    left_out: Sequence[LeftOut],
    signals: QuerySignals,
    cfg: GateConfig,
    degraded: Sequence[str],
) -> str:
    """Return why a response holds nothing.

    The last stage that removed something speaks: the gate with every floor that the best
    candidate missed, else the reranker, the budget or the final check. Channels that did not run
    are always named, so that an outage never reads as "no memories".
    """
    if survivors == 0:
        reason = _gate_reason(gated_out, signals, cfg)
    elif weak and len(weak) >= survivors:
        reason = f"the reranker rejected every candidate; best: {weak[0][1]}"
    elif left_out:
        reason = f"nothing fits the budget; best: {left_out[0].reason}"
    else:
        reason = "what was found is no longer readable or active"
    return "; ".join((reason, *(f"degraded {channel}" for channel in degraded)))


def _gate_reason(gated_out: Sequence[GatedOut], signals: QuerySignals, cfg: GateConfig) -> str:
    if not gated_out:
        return "no readable record matched in any channel that ran"
    best, reason = gated_out[0]
    if reason.startswith(_STEP_1):
        reason = _best(missed(signals, best, cfg))
    return f"nothing above the gate: {reason}; best rejected {_best_scores(gated_out)}"


def _best(missed: str) -> str:
    """Write ``best`` before each measured floor, as LLD 10.5 words it."""
    parts = missed.split("; ")
    return "; ".join(
        f"best {part}" if part.startswith(("dense ", "lexical ")) and "<" in part else part
        for part in parts
    )


def _best_scores(gated_out: Sequence[GatedOut]) -> str:
    scores = [f"score {max(one.score for one, _ in gated_out):.4f}"]
    dense = [one.dense.score for one, _ in gated_out if one.dense is not None]
    if dense:
        scores.append(f"dense {max(dense):.2f}")
    return ", ".join(scores)


def _dedup(candidate: Candidate, duplicates: Sequence[Duplicate]) -> str:
    over = [
        f"kept over {one.dropped.record_id} at {_likeness(one.cosine)}"
        for one in duplicates
        if one.kept.seq == candidate.seq
    ]
    return "; ".join(over) or "kept"


def _likeness(cosine: float) -> str:
    return "equal words" if isnan(cosine) else f"cosine {cosine:.2f}"


def _raised(candidate: Candidate) -> str:
    """Return which boosts moved a record by as much as is shown, with how much."""
    moved: dict[str, list[str]] = {"raised": [], "lowered": []}
    for boost in candidate.boosts:
        if abs(boost.amount) >= _SHOWN_AMOUNT:
            verb = "raised" if boost.amount > 0 else "lowered"
            moved[verb].append(f"{_BOOSTS[boost.name]} {boost.amount:+.2f}")
    return "".join(f"; {verb} by {', '.join(one)}" for verb, one in moved.items() if one)


def _summary(candidate: Candidate, gate: str) -> str:
    """Return the line a model reads; it holds numbers and our own words only."""
    parts = []
    if candidate.dense is not None:
        parts.append(f"dense {candidate.dense.score:.2f} (rank {candidate.dense.rank})")
    if candidate.lexical is not None:
        match = candidate.lexical_match
        share = f"{len(match.terms)}/{match.total_terms} " if match is not None else ""
        parts.append(f"lexical {share}(rank {candidate.lexical.rank})")
    if candidate.entity is not None:
        parts.append(f"entity (rank {candidate.entity.rank})")
    alone = "only beside a match" if candidate.fused_rank else "only as a counterpart"
    matched = ", ".join(parts) or alone
    rank = f"; fused rank {candidate.fused_rank}" if candidate.fused_rank else ""
    passed = f"; passed gate on {gate.removeprefix('passed on ').partition(':')[0]}"
    shown = passed if gate.startswith("passed on ") else ""
    return f"matched: {matched}{rank}{_raised(candidate)}{shown}"


def _hit_to_log(hit: GeneratorHit | None) -> Mapping[str, Any] | None:
    return None if hit is None else {"rank": hit.rank, "score": hit.score}
