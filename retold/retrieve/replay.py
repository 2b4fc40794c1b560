"""Decide a logged search again, from its log row alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, get_args

import numpy as np

from retold.config.retrieval import GateConfig
from retold.errors import InvalidInput
from retold.models import Candidate, Channel
from retold.retrieve.assemble import Scored
from retold.retrieve.fusion import Scale, Unrelated, fuse_scaled, scale_of
from retold.retrieve.gate import GateOutcome, QuerySignals, decide, exclude_source_kinds
from retold.retrieve.late_interaction import LateScores, moved
from retold.retrieve.logged import candidate_from_log
from retold.retrieve.signals import NullSignals

PIPELINE_VERSION = "1"
"""Rises when the meaning of a logged column changes; ``replay`` refuses other versions."""


def logged_candidates(row: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """Return the pool of a logged search, in the order in which the gate saw it.

    ``row`` maps columns to stored values, as the search log repository returns it. Raises
    InvalidInput for a row of another pipeline version and for one logged as a summary.
    """
    if row["pipeline_version"] != PIPELINE_VERSION:
        raise InvalidInput(
            f"search {row['id']!r} was logged by pipeline {row['pipeline_version']!r}; "
            f"this release replays {PIPELINE_VERSION!r}"
        )
    if row["detail"] != "full":
        raise InvalidInput(f"search {row['id']!r} was logged with logs.detail: {row['detail']}")
    logged = json.loads(row["candidates"])
    return tuple(candidate_from_log(values, logged["fields"]) for values in logged["rows"])


def replay_gate(row: Mapping[str, Any], cfg: GateConfig | None = None) -> GateOutcome:
    """Return the gate's decision on a logged search: the recorded one, or one by other numbers.

    A ``cfg`` whose ``kind`` is unset takes the kind that ran. No store, index or model is looked
    at. Raises InvalidInput for null_z on a search that was not compared with unrelated prompts.
    """
    candidates = logged_candidates(row)
    inputs = json.loads(row["gate_inputs"])
    null = inputs.get("null")
    signals = QuerySignals(
        inputs["trigger"],
        tuple(inputs["channels"]),
        tuple(inputs["term_counts"]),
        null and NullSignals.from_json(null),
    )
    recorded = GateConfig.model_validate(inputs["floors"])
    gate = recorded if cfg is None else cfg
    if gate.kind is None:
        gate = gate.model_copy(update={"kind": recorded.kind or "floors"})
    if gate.kind == "null_z" and signals.null is None:
        raise InvalidInput(
            f"search {row['id']!r} was not compared with unrelated prompts; "
            "only a search with gate null_z can be decided by it again"
        )
    step = exclude_source_kinds if inputs["mode"] == "exclude_source_kinds" else decide
    return step(signals, candidates, gate)


def replay_fusion(
    row: Mapping[str, Any], rrf_k: int | None = None, *, alpha: float | None = None
) -> list[tuple[str, float]]:
    """Return (record id, fused score), best first, as recorded or fused in another way.

    ``rrf_k`` fuses by rank with that constant, ``alpha`` by score with that weight of the cosine;
    with neither it is the fusion that ran. Raises InvalidInput for both, and for ``alpha`` on a
    search whose pool was not scored by both channels.
    """
    if rrf_k is not None and alpha is not None:
        raise InvalidInput("give rrf_k or alpha, not both")
    candidates = logged_candidates(row)
    ran = json.loads(row["pipeline"])["fusion"]
    logged = json.loads(row["candidates"])
    recorded = logged.get("alpha")
    if alpha is None and rrf_k is None and ran["kind"] == "convex":
        alpha = recorded
    if alpha is None:
        return _by_rank(row, candidates, ran["rrf_k"] if rrf_k is None else rrf_k)
    if recorded is None:
        raise InvalidInput(f"search {row['id']!r} was fused by rank; its scores were not kept")
    return _by_score(candidates, alpha, logged)


def replay_late_interaction(
    row: Mapping[str, Any], weight: float | None = None
) -> list[tuple[str, float]]:
    """Return (record id, score), best first, as recorded or with another weight of single words.

    Scores are those before freshness multiplies them; 0 is the order without late interaction.
    Raises InvalidInput for a search in which it did not run, and as ``logged_candidates``.
    """
    candidates = sorted(logged_candidates(row), key=lambda one: one.fused_rank)
    logged = json.loads(row["candidates"]).get("late_interaction")
    if logged is None:
        raise InvalidInput(f"search {row['id']!r} was ranked without late interaction")
    late = LateScores.from_json(logged)
    ids = {one.seq: one.record_id for one in candidates}
    chosen = late.weight if weight is None else weight
    found = moved([_without_late(one) for one in candidates], late.similarities, chosen)
    ranked = sorted(found, key=lambda one: -(one.boosted or 0.0))
    return [(ids[one.seq], one.boosted or 0.0) for one in ranked]


def _without_late(candidate: Candidate) -> Scored:
    score = candidate.fused_score
    for boost in candidate.boosts:
        if boost.name != "late_interaction":
            score += boost.amount
    return Scored(candidate.seq, candidate.fused_score, boosted=score)


def _by_rank(
    row: Mapping[str, Any], candidates: Sequence[Candidate], k: int
) -> list[tuple[str, float]]:
    """Fuse by the logged ranks, which have holes where members were left out of the pool."""
    role = json.loads(row["pipeline"])["generators"]["entity"].get("role", "list")
    names = [name for name in get_args(Channel) if name != "entity" or role == "list"]
    shares = [
        (one, [1.0 / (k + hit.rank) for name in names if (hit := getattr(one, name))])
        for one in candidates
    ]
    return _best_first((one, fsum(parts)) for one, parts in shares if parts)


def _by_score(
    candidates: Sequence[Candidate], alpha: float, logged: Mapping[str, Any]
) -> list[tuple[str, float]]:
    """Fuse by the logged scale; a row of an earlier release holds all that the scale comes from."""
    cosines = np.array([np.nan if one.cosine is None else one.cosine for one in candidates])
    bm25 = np.array([one.bm25 or 0.0 for one in candidates])
    if logged.get("scale") is not None:
        scale = Scale(*logged["scale"])
    else:
        unrelated = logged.get("unrelated")
        scale = scale_of(cosines, bm25, unrelated and Unrelated(*unrelated))
    scores = fuse_scaled(cosines, bm25, alpha, scale).tolist()
    return _best_first(zip(candidates, scores, strict=True))


def _best_first(scored: Iterable[tuple[Candidate, float]]) -> list[tuple[str, float]]:
    order = sorted(scored, key=lambda pair: (-pair[1], pair[0].seq))
    return [(candidate.record_id, score) for candidate, score in order]
