"""Decide a logged search again, from its log row alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from retold.config.retrieval import GateConfig
from retold.errors import InvalidInput
from retold.models import Candidate, Channel, GeneratorHit
from retold.retrieve.fusion import ScoredList, reciprocal_rank_fusion
from retold.retrieve.gate import GateOutcome, QuerySignals, decide, exclude_source_kinds
from retold.retrieve.logged import candidate_from_log

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
    """Return the gate's decision on a logged search: the recorded one, or one by other floors.

    No store, index or model is looked at.
    """
    candidates = logged_candidates(row)
    inputs = json.loads(row["gate_inputs"])
    signals = QuerySignals(
        inputs["trigger"], tuple(inputs["channels"]), tuple(inputs["term_counts"])
    )
    floors = GateConfig.model_validate(inputs["floors"]) if cfg is None else cfg
    step = exclude_source_kinds if inputs["mode"] == "exclude_source_kinds" else decide
    return step(signals, candidates, floors)


def replay_fusion(row: Mapping[str, Any], rrf_k: int | None = None) -> list[tuple[str, float]]:
    """Return (record id, fused score), best first, with the recorded constant or another one."""
    candidates = logged_candidates(row)
    k = json.loads(row["pipeline"])["fusion"]["rrf_k"] if rrf_k is None else rrf_k
    ids = {candidate.seq: candidate.record_id for candidate in candidates}
    rankings = [_ranking(candidates, name) for name in get_args(Channel)]
    return [(ids[seq], score) for seq, score in reciprocal_rank_fusion(rankings, k)]


def _ranking(candidates: Sequence[Candidate], name: Channel) -> ScoredList:
    hits: list[tuple[int, GeneratorHit]] = [
        (candidate.seq, hit) for candidate in candidates if (hit := getattr(candidate, name))
    ]
    hits.sort(key=lambda pair: pair[1].rank)
    return ScoredList(name, tuple((seq, hit.score) for seq, hit in hits))
