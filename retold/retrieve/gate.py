"""Which candidates are relevant enough to remain, with the reason for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from retold.config.retrieval import GateConfig, GateFloors
from retold.models import Candidate, Channel, GateFamily, LexicalMatch, Trigger
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
    step_1 = _Step1(signals, cfg.floors(signals.trigger))
    kept: list[Candidate] = []
    dropped: list[tuple[int, Candidate]] = []
    survivors: list[tuple[int, Candidate]] = []
    tops: dict[int, float] = {}
    for place, candidate in enumerate(candidates):
        passed, reason = step_1.verdict(candidate)
        judged = evolve(candidate, gate_reason=reason)
        if not passed:
            dropped.append((place, judged))
            continue
        survivors.append((place, judged))
        count = _channel_count(candidate)
        tops[count] = max(tops.get(count, 0.0), candidate.fused_score)
    for place, candidate in survivors:
        weak = _too_weak(step_1.floors, candidate, tops[_channel_count(candidate)])
        if weak is None:
            kept.append(candidate)
        else:
            dropped.append((place, evolve(candidate, gate_reason=weak)))
    dropped.sort(key=itemgetter(0))
    return GateOutcome(tuple(kept), tuple(candidate for _, candidate in dropped))


def exclude_source_kinds(
    signals: QuerySignals, candidates: Sequence[Candidate], cfg: GateConfig
) -> GateOutcome:
    """Apply only the source-kind policy, for a cross-encoder that replaces the floors."""
    step_1 = _Step1(signals, cfg.floors(signals.trigger))
    kept: list[Candidate] = []
    dropped: list[Candidate] = []
    for candidate in candidates:
        excluded = step_1.excluded(candidate)
        if excluded:
            dropped.append(evolve(candidate, gate_reason=excluded))
        else:
            kept.append(evolve(candidate, gate_reason="floors left to the cross-encoder"))
    return GateOutcome(tuple(kept), tuple(dropped))


def missed_floors(signals: QuerySignals, candidate: Candidate, cfg: GateConfig) -> str:
    """Return every absolute floor the candidate misses, in the order dense, lexical, entity."""
    return _Step1(signals, cfg.floors(signals.trigger)).missed(candidate)


def below(value: float, floor: float) -> str:
    """Return ``value < floor`` with as many decimals, at least two, as make the two differ."""
    for decimals in range(2, 9):
        left, right = f"{value:.{decimals}f}", f"{floor:.{decimals}f}"
        if left != right:
            return f"{left} < {right}"
    return f"{value!r} < {floor!r}"


def _channel_count(candidate: Candidate) -> int:
    found = (candidate.dense, candidate.lexical, candidate.entity)
    return len(found) - found.count(None)


def _too_weak(floors: GateFloors, candidate: Candidate, top: float) -> str | None:
    """Return why a candidate falls at step 2, beside the top of as many channels, or None."""
    if floors.entity_exempt and candidate.entity is not None:
        return None
    least = floors.relative_floor * top
    if candidate.fused_score >= least:
        return None
    return (
        f"step 2, relative floor: fused {below(candidate.fused_score, least)} = "
        f"{floors.relative_floor:g} x the top of {_channel_count(candidate)}-channel candidates"
    )


class _Step1:
    """The absolute floors of one search, read from the configuration once."""

    def __init__(self, signals: QuerySignals, floors: GateFloors) -> None:
        self.floors = floors
        self._signals = signals
        self._excluded = frozenset(floors.exclude_source_kinds)
        self._exempt = floors.entity_exempt
        self._fraction = floors.lexical_min_term_fraction
        self._least_terms = floors.lexical_min_matched_terms
        self._dense: dict[GateFamily, float] = {}
        self._absent_dense = (
            "no dense match" if "dense" in signals.channels else "dense did not run"
        )

    def verdict(self, candidate: Candidate) -> tuple[bool, str]:
        """Return whether the candidate passes steps 0 and 1, with the reason."""
        if candidate.source_kind in self._excluded:
            return False, self.excluded(candidate) or ""
        passed = self._passed(candidate)
        if passed:
            return True, f"passed on {passed}"
        return False, f"step 1, absolute floors: {self.missed(candidate)}"

    def excluded(self, candidate: Candidate) -> str | None:
        """Return why the candidate's source kind excludes it, if it does."""
        if candidate.source_kind not in self._excluded:
            return None
        return (
            f"step 0, source kind: {candidate.source_kind} is excluded from "
            f"{self._signals.trigger} search"
        )

    def missed(self, candidate: Candidate) -> str:
        """Return every absolute floor the candidate misses."""
        entity = (
            "no entity match" if candidate.entity is None else "an entity match is no reason here"
        )
        return f"{self._missed_dense(candidate)}; {self._missed_lexical(candidate)}; {entity}"

    def _floor(self, family: GateFamily) -> float:
        floor = self._dense.get(family)
        if floor is None:
            floor = self._dense[family] = self.floors.dense_floor.of(family)
        return floor

    def _passed(self, candidate: Candidate) -> str | None:
        if candidate.entity is not None and self._exempt:
            return "entity: exact match"
        if candidate.dense is not None:
            family = candidate.family
            floor = self._floor(family)
            if candidate.dense.score >= floor:
                return f"dense: {candidate.dense.score:.2f} >= {floor:.2f} ({family})"
        return self._passed_lexical(candidate.lexical_match)

    def _passed_lexical(self, match: LexicalMatch | None) -> str | None:
        if match is None or not match.terms:
            return None
        matched = len(match.terms)
        if matched < self._fraction * match.total_terms:
            return None
        counted = f"lexical: {matched}/{match.total_terms} terms"
        if matched >= self._least_terms:
            return counted
        if any(term.is_identifier for term in match.terms):
            return f"{counted}, one an identifier"
        if any(term.is_entity_alias for term in match.terms):
            return f"{counted}, one an entity alias"
        return None

    def _missed_dense(self, candidate: Candidate) -> str:
        if candidate.dense is None:
            return self._absent_dense
        family = candidate.family
        return f"dense {below(candidate.dense.score, self._floor(family))} ({family})"

    def _missed_lexical(self, candidate: Candidate) -> str:
        match = candidate.lexical_match
        if match is None or not match.terms:
            return "no lexical match"
        matched = len(match.terms)
        text = f"lexical {matched}/{match.total_terms} terms"
        if matched < self._fraction * match.total_terms:
            text += f" < {self._fraction:g}"
        if matched < self._least_terms:
            text += f", {matched} matched < {self._least_terms}"
        return text
