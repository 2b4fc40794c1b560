"""The optional cross-encoder pass over a shortlist, bounded in time."""

from __future__ import annotations

import logging
import math
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retold.config.retrieval import RerankerConfig
from retold.errors import RerankError
from retold.models import Candidate, RerankStatus
from retold.protocols import Reranker
from retold.retrieve.gate import below

logger = logging.getLogger(__name__)


class NoReranker:
    """The reranker of a deployment without one."""

    name = "none"

    def score(self, query: str, docs: Sequence[str]) -> Sequence[float]:
        """Return 0.0 for every document; nothing calls it while reranking is off."""
        del query
        return [0.0] * len(docs)


@dataclass(frozen=True, slots=True)
class Reranked:
    """One scored candidate and the place, from 0, of the query that scored it best."""

    candidate: Candidate
    query: int


@dataclass(frozen=True, slots=True)
class RerankOutcome:
    """The order to go on with.

    ``scored`` is None unless the pass was applied. ``left_out`` holds what the shortlist limit or
    the floor removed, with the reason. ``error`` names the class of a failure.
    """

    status: RerankStatus
    ranked: tuple[Candidate, ...]
    scored: tuple[Reranked, ...] | None = None
    left_out: tuple[tuple[Candidate, str], ...] = ()
    error: str | None = field(default=None)


def rerank(
    candidates: Sequence[Candidate],
    queries: Sequence[str],
    contents: Mapping[int, str],
    reranker: Reranker,
    cfg: RerankerConfig,
) -> RerankOutcome:
    """Score every query with every shortlisted record and order by the record's best score.

    ``contents`` holds the text of the first ``cfg.candidates`` candidates by seq. A pass that is
    late or fails leaves the order as it was (``fallback``) or raises RerankError (``fail``).
    """
    shortlist = tuple(candidates[: cfg.candidates])
    if not cfg.enabled:
        return RerankOutcome("disabled", tuple(candidates))
    if not shortlist:
        return RerankOutcome("applied", (), ())
    docs = [contents[candidate.seq] for candidate in shortlist]
    try:
        scores = _score_within(reranker, queries, docs, cfg.timeout_ms)
    except TimeoutError:
        return _failed("timeout", candidates, f"no answer within {cfg.timeout_ms} ms", cfg)
    except Exception as error:  # whatever an integrator's model raises
        return _failed("failed", candidates, type(error).__name__, cfg)
    return _ordered(shortlist, candidates[cfg.candidates :], scores, cfg)


def _ordered(
    shortlist: Sequence[Candidate],
    beyond: Sequence[Candidate],
    scores: Sequence[Sequence[float]],
    cfg: RerankerConfig,
) -> RerankOutcome:
    best = [max(range(len(scores)), key=lambda q: scores[q][i]) for i in range(len(shortlist))]
    order = sorted(range(len(shortlist)), key=lambda i: (-scores[best[i]][i], i))
    scored = tuple(
        Reranked(
            shortlist[i]._replace(
                rerank_score=scores[best[i]][i],
                rank_before_rerank=i + 1,
                rank_after_rerank=place,
            ),
            best[i],
        )
        for place, i in enumerate(order, start=1)
    )
    floor = cfg.floor if cfg.floor is not None else 0.0
    kept = tuple(one.candidate for one in scored if (one.candidate.rerank_score or 0.0) >= floor)
    weak = tuple(
        (one.candidate, f"rerank floor: {below(one.candidate.rerank_score or 0.0, floor)}")
        for one in scored
        if (one.candidate.rerank_score or 0.0) < floor
    )
    limit = f"rerank shortlist: not among the first {cfg.candidates}"
    return RerankOutcome("applied", kept, scored, (*((one, limit) for one in beyond), *weak))


def _failed(
    status: RerankStatus, candidates: Sequence[Candidate], error: str, cfg: RerankerConfig
) -> RerankOutcome:
    if cfg.on_failure == "fail":
        raise RerankError(f"the reranker did not finish ({error}) and reranker.on_failure is fail")
    logger.warning("the reranker did not finish", extra={"status": status, "error": error})
    return RerankOutcome(status, tuple(candidates), error=error)


def _score_within(
    reranker: Reranker, queries: Sequence[str], docs: Sequence[str], timeout_ms: int
) -> list[list[float]]:
    """Return one list of scores per query. Raises TimeoutError; a late thread is abandoned.

    The thread sees only texts, so nothing it does later can reach this search.
    """
    answers: queue.SimpleQueue[list[list[float]] | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put([_scores(reranker, query, docs) for query in queries])
        except Exception as error:  # handed to the waiting thread
            answers.put(error)

    threading.Thread(target=work, name="retold-rerank", daemon=True).start()
    try:
        answer = answers.get(timeout=timeout_ms / 1000)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _scores(reranker: Reranker, query: str, docs: Sequence[str]) -> list[float]:
    scores = [float(score) for score in reranker.score(query, docs)]
    if len(scores) != len(docs) or not all(math.isfinite(score) for score in scores):
        raise RerankError("the reranker did not answer with one finite score per document")
    return scores
