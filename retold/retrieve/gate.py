"""Which candidates are relevant enough to remain, with the reason for each."""

from __future__ import annotations

from collections.abc import Sequence

from retold.config.retrieval import GateConfig
from retold.models import Candidate
from retold.retrieve.floors import Floors, below, channel_count, too_weak
from retold.retrieve.null_gate import decide_by_null, missed_null
from retold.retrieve.signals import GatedOut, GateOutcome, QuerySignals

__all__ = [
    "GateOutcome",
    "GatedOut",
    "QuerySignals",
    "below",
    "decide",
    "exclude_source_kinds",
    "missed",
    "missed_floors",
]


def decide(signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig) -> GateOutcome:
    """Split the candidates by the gate that is configured; a kind that is unset means floors.

    Uses nothing but its arguments, so a logged search can be decided again with other numbers.
    """
    if cfg.kind == "null_z":
        return decide_by_null(signals, candidates, cfg)
    return _decide_by_floors(signals, candidates, cfg)


def missed(signals: QuerySignals, candidate: Candidate, cfg: GateConfig) -> str:
    """Return all that a candidate missed which step 1 dropped."""
    if cfg.kind == "null_z":
        return missed_null(signals, candidate, cfg)
    return missed_floors(signals, candidate, cfg)


def _decide_by_floors(
    signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig
) -> GateOutcome:
    """Split the candidates by the floors that apply to who issued the search.

    Step 0 drops excluded source kinds, step 1 asks for one signal above its absolute floor, step
    2 compares survivors found by as many channels.
    """
    step_1 = Floors(signals, cfg.floors(signals.trigger))
    verdicts = [step_1.verdict(candidate) for candidate in candidates]
    tops: dict[int, float] = {}
    for candidate, (passed, _) in zip(candidates, verdicts, strict=True):
        if passed:
            count = channel_count(candidate)
            tops[count] = max(tops.get(count, 0.0), candidate.fused_score)
    kept: list[Candidate] = []
    gated_out: list[GatedOut] = []
    for candidate, (passed, reason) in zip(candidates, verdicts, strict=True):
        if not passed:
            gated_out.append((candidate, reason))
            continue
        weak = too_weak(step_1.floors, candidate, tops[channel_count(candidate)])
        if weak is None:
            kept.append(candidate._replace(gate_reason=reason))
        else:
            gated_out.append((candidate, weak))
    return GateOutcome(tuple(kept), tuple(gated_out))


def exclude_source_kinds(
    signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig
) -> GateOutcome:
    """Apply only the source-kind policy, for a cross-encoder that replaces the floors."""
    step_1 = Floors(signals, cfg.floors(signals.trigger))
    kept: list[Candidate] = []
    gated_out: list[GatedOut] = []
    for candidate in candidates:
        excluded = step_1.excluded(candidate)
        if excluded:
            gated_out.append((candidate, excluded))
        else:
            kept.append(candidate._replace(gate_reason="floors left to the cross-encoder"))
    return GateOutcome(tuple(kept), tuple(gated_out))


def missed_floors(signals: QuerySignals, candidate: Candidate, cfg: GateConfig) -> str:
    """Return every absolute floor the candidate misses, in the order dense, lexical, entity."""
    return Floors(signals, cfg.floors(signals.trigger)).missed(candidate)
