"""What happened during one search, stage by stage: the source of its log row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any, Literal, get_args

import orjson

from retold.models import (
    Candidate,
    Channel,
    Explanation,
    Principal,
    Scope,
    SearchRequest,
)
from retold.retrieve.budget import LeftOut
from retold.retrieve.dedup import Duplicate
from retold.retrieve.explain import explanation_to_log
from retold.retrieve.fusion import Scale, Unrelated
from retold.retrieve.gate import GatedOut, QuerySignals
from retold.retrieve.late_interaction import LateScores
from retold.retrieve.logged import FIELDS, pool_to_log
from retold.retrieve.replay import PIPELINE_VERSION
from retold.retrieve.rerank import RerankOutcome
from retold.retrieve.rewrite import Rewritten
from retold.store.candidates import CandidateRow
from retold.store.codec import to_text, to_text_or_none
from retold.util import Timer

GateMode = Literal["floors", "null_z", "exclude_source_kinds"]
"""Who decided on relevance: the kind of gate, or the cross-encoder."""
Stage = Literal[
    "rewrite",
    "embed",
    "scopes",
    "index_refresh",
    "filter",
    "dense",
    "lexical",
    "entity",
    "fuse",
    "boost",
    "freshness",
    "gate",
    "dedup",
    "rerank",
    "budget",
    "final_check",
    "explain",
    "log",
]
STAGES: tuple[Stage, ...] = get_args(Stage)
LOGGED_STAGES: tuple[Stage, ...] = STAGES[:-1]
"""The row cannot hold the time of its own insert."""


def _encode(value: Any) -> str:  # noqa: ANN401  # any JSON value
    return orjson.dumps(value).decode()


@dataclass(slots=True)
class SearchTrace:
    """The one mutable object of a search: one attribute per thing the log keeps.

    Explanations and the log row are both read from here, so they cannot disagree. ``session_id``
    is the internal id of the caller's conversation, None while it has none: the host's own id may
    say who somebody is. ``keeps_words`` False is a conversation without a transcript. ``alpha`` is
    the weight of the cosine in this search, None for a fusion by rank; ``unrelated`` is what
    counted as nothing in common, as far as it was known, and ``scale`` what the scores of that
    fusion were made by. ``late`` is None where late interaction did not run.
    """

    search_id: str
    at: datetime
    principal: Principal
    request: SearchRequest = field(repr=False)
    warm: bool
    timer: Timer = field(repr=False)
    context: str | None = field(repr=False)
    session_id: str | None = None
    keeps_words: bool = True
    rewritten: Rewritten = field(init=False, repr=False)
    scopes: tuple[Scope, ...] = ()
    codes: Mapping[Scope, int] = field(default_factory=dict)
    index_refresh: str = "unavailable"
    rows: dict[int, CandidateRow] = field(default_factory=dict, repr=False)
    pool: tuple[Candidate, ...] = field(default=(), repr=False)
    signals: QuerySignals = field(init=False)
    gate_mode: GateMode = "floors"
    alpha: float | None = None
    unrelated: Unrelated | None = None
    scale: Scale | None = None
    late: LateScores | None = None
    gated_out: tuple[GatedOut, ...] = field(default=(), repr=False)
    passed: tuple[Candidate, ...] = field(default=(), repr=False)
    duplicates: tuple[Duplicate, ...] = field(default=(), repr=False)
    rerank: RerankOutcome = field(default_factory=lambda: RerankOutcome("disabled", ()), repr=False)
    left_out: tuple[LeftOut, ...] = field(default=(), repr=False)
    returned: tuple[tuple[str, Explanation], ...] = field(default=(), repr=False)
    empty_reason: str | None = None
    degraded: list[str] = field(default_factory=list)

    def stage(self, name: Stage) -> AbstractContextManager[None]:
        """Time what happens inside under this name."""
        return self.timer.stage(name)

    def to_row(
        self,
        detail: Literal["full", "summary"],
        settings: LoggedSettings,
    ) -> dict[str, Any]:
        """Return the log row. ``summary`` leaves out every list but what was returned.

        A conversation that keeps no transcript leaves no words here either: its row is a summary
        without phrases, names and context.
        """
        detail = detail if self.keeps_words else "summary"
        full = self._stages() if detail == "full" else _EMPTY_STAGES
        return {
            "id": self.search_id,
            "at": to_text(self.at),
            "agent_id": self.principal.agent_id,
            "user_id": self.principal.user_id,
            "session_id": self.session_id,
            "trigger": self.request.trigger,
            "detail": detail,
            "request": _encode(_request(self.request, keeps_words=self.keeps_words)),
            "context": self.context if self.keeps_words else None,
            "rewrite_status": self.rewritten.status,
            "rewritten_queries": _encode(self.rewritten.queries)
            if self.keeps_words and self.rewritten.status in ("applied", "unchanged")
            else None,
            "readable_scopes": _encode([str(scope) for scope in self.scopes]),
            **full,
            "gate_inputs": settings.gate_inputs(self.signals, self.gate_mode),
            "rerank_status": self.rerank.status,
            "rerank_error": self.rerank.error,
            "returned": _encode([record_id for record_id, _ in self.returned]),
            "empty_reason": self.empty_reason,
            "degraded": _encode(self.degraded),
            "config_flags": settings.flags(self.index_refresh),
            "pipeline": settings.pipeline,
            "pipeline_version": PIPELINE_VERSION,
            "warm": int(self.warm),
            "timings_ms": _encode(self.timings(LOGGED_STAGES)),
        }

    def timings(self, stages: Sequence[Stage] = STAGES) -> dict[str, float]:
        """Return milliseconds per stage, in pipeline order, and their ``total``."""
        timings: dict[str, float] = {
            name: round(self.timer.stages.get(name, 0.0), 4) for name in stages
        }
        timings["total"] = round(self.timer.total_ms(), 4)
        return timings

    def _stages(self) -> dict[str, str | None]:
        pool = sorted(self.pool, key=attrgetter("fused_rank"))
        return {
            "candidates": _encode(self._candidates()),
            **{name: _encode(ranking) for name, ranking in _rankings(pool).items()},
            "fused": _encode([(one.record_id, one.fused_score) for one in pool]),
            "freshness": _encode(
                {
                    one.record_id: one.freshness_multiplier
                    for one in pool
                    if one.freshness_multiplier is not None
                }
            ),
            "gated_out": _encode([(one.record_id, reason) for one, reason in self.gated_out]),
            "deduped_out": _encode(
                [[one.dropped.record_id, one.kept.record_id, one.cosine] for one in self.duplicates]
            ),
            "reranked": _encode_reranked(self.rerank),
            "reranked_out": _encode(
                [[one.record_id, reason, one.rerank_score] for one, reason in self.rerank.left_out]
            ),
            "budget_out": _encode([[one.candidate.record_id, one.reason] for one in self.left_out]),
            "explanations": _encode(
                [explanation_to_log(record_id, why) for record_id, why in self.returned]
            ),
        }

    def _candidates(self) -> dict[str, Any]:
        names = {code: str(scope) for scope, code in self.codes.items()}
        return {
            "fields": FIELDS,
            "alpha": self.alpha,
            "unrelated": self.unrelated and list(self.unrelated),
            "scale": self.scale and list(self.scale),
            "late_interaction": self.late and self.late.to_json(),
            "rows": pool_to_log(self.pool, self.rows, names),
        }


class LoggedSettings:
    """The settings each log row repeats, as JSON text that is made once per retriever."""

    def __init__(
        self, flags: Mapping[str, Any], pipeline: Mapping[str, Any], gate: Mapping[str, Any]
    ) -> None:
        self.pipeline = _encode(pipeline)
        self._flags = _encode(flags)
        self._gate = _encode(gate)

    def flags(self, index_refresh: str) -> str:
        """Return ``config_flags``: the settings and what the refresh of the index did."""
        return f'{self._flags[:-1]},"index_refresh":{_encode(index_refresh)}}}'

    def gate_inputs(self, signals: QuerySignals, mode: str) -> str:
        """Return what the gate decided on, besides the candidates."""
        inputs = {
            "mode": mode,
            "trigger": signals.trigger,
            "channels": signals.channels,
            "term_counts": signals.term_counts,
            "null": signals.null and signals.null.to_json(),
        }
        return f'{_encode(inputs)[:-1]},"floors":{self._gate}}}'


_EMPTY_STAGES: Mapping[str, str | None] = {
    "candidates": "[]",
    "dense": "[]",
    "lexical": "[]",
    "entity": "[]",
    "fused": "[]",
    "freshness": "{}",
    "gated_out": "[]",
    "deduped_out": "[]",
    "reranked": None,
    "reranked_out": "[]",
    "budget_out": "[]",
    "explanations": "[]",
}


def _rankings(pool: Iterable[Candidate]) -> dict[Channel, list[tuple[Any, ...]]]:
    """Return (record id, rank, score and what the channel adds) of each channel, by rank."""
    found: dict[Channel, list[tuple[Any, ...]]] = {"dense": [], "lexical": [], "entity": []}
    for one in pool:
        if (hit := one.dense) is not None:
            found["dense"].append((one.record_id, hit.rank, hit.score))
        if (hit := one.lexical) is not None:
            match = one.lexical_match
            counts = () if match is None else (len(match.terms), match.total_terms)
            found["lexical"].append((one.record_id, hit.rank, hit.score, *counts))
        if (hit := one.entity) is not None:
            found["entity"].append((one.record_id, hit.rank, hit.score, one.entity_id))
    for ranking in found.values():
        ranking.sort(key=itemgetter(1))
    return found


def _encode_reranked(outcome: RerankOutcome) -> str | None:
    """Return what the reranker said of each candidate it read; None where it was not applied."""
    if outcome.scored is None:
        return None
    return _encode(
        [
            {
                "record_id": one.candidate.record_id,
                "rank_before": one.candidate.rank_before_rerank,
                "rank_after": one.candidate.rank_after_rerank,
                "score": one.candidate.rerank_score,
                "query": one.query,
            }
            for one in outcome.scored
        ]
    )


def _request(request: SearchRequest, *, keeps_words: bool) -> dict[str, Any]:
    return {
        "queries": request.queries if keeps_words else (),
        "k": request.k,
        "types": request.types,
        "entities": request.entities if keeps_words else None,
        "since": to_text_or_none(request.since),
        "until": to_text_or_none(request.until),
        "include_history": request.include_history,
        "known_at": to_text_or_none(request.known_at),
        "as_of": to_text_or_none(request.as_of),
        "trigger": request.trigger,
    }
