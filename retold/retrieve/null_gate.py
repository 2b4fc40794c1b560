"""The gate on the query: its closest record against what an unrelated prompt finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Final

from retold.config.retrieval import GateConfig
from retold.models import Candidate
from retold.retrieve.floors import Floors, below
from retold.retrieve.signals import GatedOut, GateOutcome, NullSignals, QuerySignals

_Verdict = Callable[[Candidate], tuple[bool, str]]

_BEARS_ON_THE_QUERY: Final = frozenset({"date_interval", "neighbour", "late_interaction"})
_UNRELATED: Final = "the closest record is no nearer than what an unrelated prompt finds"


def decide_by_null(
    signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig
) -> GateOutcome:
    """Split the candidates by one decision about the query, then by their scores.

    Step 0 drops excluded source kinds. Step 1 lets everything pass when some query has a Z of at
    least the threshold of who issued the search. A query without a Z opens the gate to those
    candidates only whose words reach the lexical floors; an exact entity match opens it to none.
    Step 2 drops survivors below a part of the best fused score, or of what single words left of
    all of them, so that it never drops the best. The time that a query names, a matching turn next
    to it and the match of its single words count for a record there; the company of its session,
    its age and who it is about only order what passes.
    """
    step_1 = _step_1(signals, cfg)
    verdicts = [(*step_1(candidate), _own_score(candidate)) for candidate in candidates]
    least = _least_score(candidates, verdicts, cfg.null_z.relative_cut)
    kept: list[Candidate] = []
    gated_out: list[GatedOut] = []
    for candidate, (passed, reason, score) in zip(candidates, verdicts, strict=True):
        if passed and score >= least:
            kept.append(candidate._replace(gate_reason=reason))
            continue
        if passed:
            share = f"{cfg.null_z.relative_cut:g} x the best"
            reason = f"step 2, relative cut: score {below(score, least)} = {share}"
        gated_out.append((candidate, reason))
    return GateOutcome(tuple(kept), tuple(gated_out))


def missed_null(signals: QuerySignals, candidate: Candidate, cfg: GateConfig) -> str:
    """Return why step 1 dropped a candidate: what the query misses, then what its words miss."""
    floors = Floors(signals, cfg.floors(signals.trigger))
    reasons = []
    null = signals.null
    if null is not None and null.z is not None:
        reasons.append(_no_nearer(null, cfg.null_z.threshold(signals.trigger)))
    if null is None or null.is_partial:
        reasons.append(f"{_without_z(signals)}, so words decide; {floors.missed_words(candidate)}")
    return "; ".join(reasons)


def _step_1(signals: QuerySignals, cfg: GateConfig) -> _Verdict:
    floors = Floors(signals, cfg.floors(signals.trigger))
    least = cfg.null_z.threshold(signals.trigger)
    null = signals.null
    z = None if null is None else null.z
    stands_out = None if z is None or z < least else f"passed on query: Z {_reached(z, least)}"
    words_count = null is None or null.is_partial
    closed = None if words_count or null is None else f"step 1, query: {_no_nearer(null, least)}"

    def verdict(candidate: Candidate) -> tuple[bool, str]:
        excluded = floors.excluded(candidate)
        if excluded is not None:
            return False, excluded
        if stands_out is not None:
            return True, stands_out
        if closed is not None:
            return False, closed
        words = floors.passed_words(candidate)
        if words is not None:
            return True, f"passed on {words}"
        return False, f"step 1, query: {missed_null(signals, candidate, cfg)}"

    return verdict


def _reached(z: float, least: float) -> str:
    """Return ``z >= least`` with as many decimals as make it true."""
    shown = (f"{z:.{decimals}f}" for decimals in range(1, 9))
    return f"{next((text for text in shown if float(text) >= least), repr(z))} >= {least:g}"


def _no_nearer(null: NullSignals, least: float) -> str:
    return _UNRELATED if null.z is None else f"{_UNRELATED}: Z {below(null.z, least)}"


def _least_score(
    candidates: Sequence[Candidate], verdicts: Sequence[tuple[bool, str, float]], share: float
) -> float:
    """Return what a candidate needs at step 2, which the best one of step 1 always has."""
    passing = [pair for pair in zip(candidates, verdicts, strict=True) if pair[1][0]]
    if not passing:
        return 0.0
    best_fused = max(candidate.fused_score for candidate, _ in passing)
    best_own = max(score for _, (_, _, score) in passing)
    return min(share * min(best_fused, best_own), best_own)


def _own_score(candidate: Candidate) -> float:
    if not candidate.boosts:
        return candidate.fused_score
    return candidate.fused_score + fsum(
        [boost.amount for boost in candidate.boosts if boost.name in _BEARS_ON_THE_QUERY]
    )


def _without_z(signals: QuerySignals) -> str:
    if "dense" not in signals.channels:
        return "dense did not run"
    if signals.null is not None and all(one.is_read for one in signals.null.queries):
        return "no readable record has a vector"
    return "the embedder does not read the script of the query"
