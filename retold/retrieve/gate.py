"""Which candidates are relevant enough to remain, with the reason for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retold.config.retrieval import GateConfig, GateFloors
from retold.models import Candidate, Channel, Trigger
from retold.retrieve.evolve import evolve


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """What the gate knows about the request as a whole.

    ``channels`` are the generators that ran, whether or not they found anything. ``term_counts``
    holds the number of lexical terms of each query. Nothing here counts stored rows.
    """

    trigger: Trigger
    channels: tuple[Channel, ...]
    term_counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """Both parts keep the order of the input; ``gate_reason`` is set on every candidate."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]


def decide(signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig) -> GateOutcome:
    """Split the candidates by the floors that apply to who issued the search.

    Step 0 drops excluded source kinds, step 1 asks for one signal above its absolute floor, step
    2 compares survivors found by as many channels. Uses nothing but its arguments, so a logged
    search can be decided again with other floors.
    """
    floors = cfg.floors(signals.trigger)
    first = [_absolute(signals, floors, candidate) for candidate in candidates]
    tops: dict[int, float] = {}
    for candidate, passed in first:
        if passed:
            count = _channel_count(candidate)
            tops[count] = max(tops.get(count, 0.0), candidate.fused_score)
    second = [
        _relative(floors, candidate, tops[_channel_count(candidate)])
        if passed
        else (candidate, False)
        for candidate, passed in first
    ]
    return _outcome(second)


def exclude_source_kinds(
    signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig
) -> GateOutcome:
    """Apply only the source-kind policy, for a cross-encoder that replaces the floors."""
    floors = cfg.floors(signals.trigger)
    return _outcome(
        [
            (evolve(candidate, gate_reason=excluded), False)
            if (excluded := _excluded(signals, floors, candidate))
            else (evolve(candidate, gate_reason="floors left to the cross-encoder"), True)
            for candidate in candidates
        ]
    )


def missed_floors(signals: QuerySignals, candidate: Candidate, cfg: GateConfig) -> str:
    """Return every absolute floor the candidate misses, in the order dense, lexical, entity."""
    return _missed(signals, cfg.floors(signals.trigger), candidate)


def below(value: float, floor: float) -> str:
    """Return ``value < floor`` with as many decimals, at least two, as make the two differ."""
    for decimals in range(2, 9):
        left, right = f"{value:.{decimals}f}", f"{floor:.{decimals}f}"
        if left != right:
            return f"{left} < {right}"
    return f"{value!r} < {floor!r}"


def _outcome(decided: Sequence[tuple[Candidate, bool]]) -> GateOutcome:
    return GateOutcome(
        tuple(candidate for candidate, passed in decided if passed),
        tuple(candidate for candidate, passed in decided if not passed),
    )


def _absolute(
    signals: QuerySignals, floors: GateFloors, candidate: Candidate
) -> tuple[Candidate, bool]:
    excluded = _excluded(signals, floors, candidate)
    if excluded:
        return evolve(candidate, gate_reason=excluded), False
    passed = _passed(floors, candidate)
    if passed:
        return evolve(candidate, gate_reason=f"passed on {passed}"), True
    missed = _missed(signals, floors, candidate)
    return evolve(candidate, gate_reason=f"step 1, absolute floors: {missed}"), False


def _relative(floors: GateFloors, candidate: Candidate, top: float) -> tuple[Candidate, bool]:
    if floors.entity_exempt and candidate.entity is not None:
        return candidate, True
    least = floors.relative_floor * top
    if candidate.fused_score >= least:
        return candidate, True
    count = _channel_count(candidate)
    reason = (
        f"step 2, relative floor: fused {below(candidate.fused_score, least)} = "
        f"{floors.relative_floor:g} x the top of {count}-channel candidates"
    )
    return evolve(candidate, gate_reason=reason), False


def _channel_count(candidate: Candidate) -> int:
    found = (candidate.dense, candidate.lexical, candidate.entity)
    return len(found) - found.count(None)


def _excluded(signals: QuerySignals, floors: GateFloors, candidate: Candidate) -> str | None:
    if candidate.source_kind not in floors.exclude_source_kinds:
        return None
    return f"step 0, source kind: {candidate.source_kind} is excluded from {signals.trigger} search"


def _passed(floors: GateFloors, candidate: Candidate) -> str | None:
    if candidate.entity is not None and floors.entity_exempt:
        return "entity: exact match"
    family = candidate.family
    if candidate.dense is not None:
        floor = floors.dense_floor.of(family)
        if candidate.dense.score >= floor:
            return f"dense: {candidate.dense.score:.2f} >= {floor:.2f} ({family})"
    return _passed_lexical(floors, candidate)


def _passed_lexical(floors: GateFloors, candidate: Candidate) -> str | None:
    match = candidate.lexical_match
    if match is None or not match.terms or not _fraction_holds(floors, candidate):
        return None
    matched = len(match.terms)
    counted = f"lexical: {matched}/{match.total_terms} terms"
    if matched >= floors.lexical_min_matched_terms:
        return counted
    if any(term.is_identifier for term in match.terms):
        return f"{counted}, one an identifier"
    if any(term.is_entity_alias for term in match.terms):
        return f"{counted}, one an entity alias"
    return None


def _fraction_holds(floors: GateFloors, candidate: Candidate) -> bool:
    match = candidate.lexical_match
    return match is not None and (
        len(match.terms) >= floors.lexical_min_term_fraction * match.total_terms
    )


def _missed(signals: QuerySignals, floors: GateFloors, candidate: Candidate) -> str:
    return "; ".join(
        (
            _missed_dense(signals, floors, candidate),
            _missed_lexical(floors, candidate),
            "no entity match" if candidate.entity is None else "an entity match is no reason here",
        )
    )


def _missed_dense(signals: QuerySignals, floors: GateFloors, candidate: Candidate) -> str:
    if candidate.dense is not None:
        family = candidate.family
        return f"dense {below(candidate.dense.score, floors.dense_floor.of(family))} ({family})"
    return "no dense match" if "dense" in signals.channels else "dense did not run"


def _missed_lexical(floors: GateFloors, candidate: Candidate) -> str:
    match = candidate.lexical_match
    if match is None or not match.terms:
        return "no lexical match"
    matched = len(match.terms)
    text = f"lexical {matched}/{match.total_terms} terms"
    if not _fraction_holds(floors, candidate):
        text += f" < {floors.lexical_min_term_fraction:g}"
    if matched < floors.lexical_min_matched_terms:
        text += f", {matched} matched < {floors.lexical_min_matched_terms}"
    return text
