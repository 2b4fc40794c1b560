"""The floors of LLD 10.5: what one candidate must reach, whatever the others have."""

from __future__ import annotations

from typing import get_args

from retold.config.retrieval import GateFloors
from retold.models import Candidate, GateFamily, LexicalMatch
from retold.retrieve.signals import QuerySignals


def below(value: float, floor: float) -> str:
    """Return ``value < floor`` with as many decimals, at least two, as make the two differ."""
    left, right = f"{value:.2f}", f"{floor:.2f}"
    return f"{left} < {right}" if left != right else _just_below(value, floor)


def _just_below(value: float, floor: float) -> str:
    for decimals in range(3, 9):
        left, right = f"{value:.{decimals}f}", f"{floor:.{decimals}f}"
        if left != right:
            return f"{left} < {right}"
    return f"{value!r} < {floor!r}"


def channel_count(candidate: Candidate) -> int:
    """Return how many channels have the candidate in their list."""
    found = (candidate.dense, candidate.lexical, candidate.entity)
    return len(found) - found.count(None)


def too_weak(floors: GateFloors, candidate: Candidate, top: float) -> str | None:
    """Return why a candidate falls at step 2, beside the top of as many channels, or None."""
    if floors.entity_exempt and candidate.entity is not None:
        return None
    least = floors.relative_floor * top
    if candidate.fused_score >= least:
        return None
    return (
        f"step 2, relative floor: fused {below(candidate.fused_score, least)} = "
        f"{floors.relative_floor:g} x the top of {channel_count(candidate)}-channel candidates"
    )


class Floors:
    """The absolute floors of one search, read from the configuration once."""

    def __init__(self, signals: QuerySignals, floors: GateFloors) -> None:
        self.floors = floors
        self._signals = signals
        self._excluded = frozenset(floors.exclude_source_kinds)
        self._exempt = floors.entity_exempt
        self._fraction = floors.lexical_min_term_fraction
        self._least_terms = floors.lexical_min_matched_terms
        self._dense = {name: floors.dense_floor.of(name) for name in get_args(GateFamily)}
        self._missed_by_words: dict[tuple[int, int, float | None] | None, str] = {}
        self._absent_dense = (
            "no dense match" if "dense" in signals.channels else "dense did not run"
        )

    def verdict(self, candidate: Candidate) -> tuple[bool, str]:
        """Return whether the candidate passes steps 0 and 1, with the reason."""
        if candidate.source_kind in self._excluded:
            return False, self.excluded(candidate) or ""
        if candidate.entity is not None and self._exempt:
            return True, "passed on entity: exact match"
        is_near, dense = self._near(candidate)
        passed = dense if is_near else self._passed_lexical(candidate.lexical_match)
        if passed:
            return True, f"passed on {passed}"
        return False, f"step 1, absolute floors: {self._missed(candidate, dense)}"

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
        _, dense = self._near(candidate)
        return self._missed(candidate, dense)

    def _missed(self, candidate: Candidate, dense: str) -> str:
        entity = (
            "no entity match" if candidate.entity is None else "an entity match is no reason here"
        )
        return f"{dense}; {self.missed_words(candidate)}; {entity}"

    def passed_words(self, candidate: Candidate) -> str | None:
        """Return how the words of a candidate alone let it pass; None when they do not.

        A query that was measured by stretches is held to the part of them that was found.
        """
        match = candidate.lexical_match
        if match is None or match.share is None:
            return self._passed_lexical(match)
        if match.share < self._fraction:
            return None
        part = "all of it" if match.share == 1.0 else f"{match.share:.2f} of the query"
        return self._counted(match, f"lexical: {part}")

    def missed_words(self, candidate: Candidate) -> str:
        """Return what the words of a candidate miss, where they alone decide.

        Most candidates of a search miss the same, so it is put into words once.
        """
        match = candidate.lexical_match
        counts = None if match is None else (len(match.terms), match.total_terms, match.share)
        missed = self._missed_by_words.get(counts)
        if missed is None:
            missed = self._missed_by_words[counts] = self._missed_words(match)
        return missed

    def _missed_words(self, match: LexicalMatch | None) -> str:
        if match is None or match.share is None or not match.terms:
            return self._missed_lexical(match)
        text = f"lexical {match.share:.2f} of the query"
        if match.share < self._fraction:
            text = f"lexical {below(match.share, self._fraction)} of the query"
        return text + self._too_few(match)

    def _near(self, candidate: Candidate) -> tuple[bool, str]:
        """Return whether the cosine of a candidate reaches its floor, in words too."""
        dense = candidate.dense
        if dense is None:
            return False, self._absent_dense
        family = candidate.family
        floor = self._dense[family]
        if dense.score >= floor:
            return True, f"dense: {dense.score:.2f} >= {floor:.2f} ({family})"
        return False, f"dense {below(dense.score, floor)} ({family})"

    def _passed_lexical(self, match: LexicalMatch | None) -> str | None:
        if match is None or not match.terms:
            return None
        matched = len(match.terms)
        if matched < self._fraction * match.total_terms:
            return None
        return self._counted(match, f"lexical: {matched}/{match.total_terms} terms")

    def _counted(self, match: LexicalMatch, counted: str) -> str | None:
        """Return what was counted when the terms are enough, or one of them is by itself."""
        if len(match.terms) >= self._least_terms:
            return counted
        if any(term.is_identifier for term in match.terms):
            return f"{counted}, one an identifier"
        if any(term.is_entity_alias for term in match.terms):
            return f"{counted}, one an entity alias"
        return None

    def _missed_lexical(self, match: LexicalMatch | None) -> str:
        if match is None or not match.terms:
            return "no lexical match"
        matched = len(match.terms)
        text = f"lexical {matched}/{match.total_terms} terms"
        if matched < self._fraction * match.total_terms:
            text += f" < {self._fraction:g}"
        return text + self._too_few(match)

    def _too_few(self, match: LexicalMatch) -> str:
        matched = len(match.terms)
        return f", {matched} matched < {self._least_terms}" if matched < self._least_terms else ""
