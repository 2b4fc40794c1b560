"""Near-identical candidates collapse into the one ranked first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from retold.models import ACTIVE_STATUSES, Candidate

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A candidate that was dropped because one ranked above it says the same."""

    dropped: Candidate
    kept: Candidate
    cosine: float


@dataclass(frozen=True, slots=True)
class DedupOutcome:
    """``kept`` keeps the order of the input."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Duplicate, ...]


def collapse_duplicates(
    candidates: Sequence[Candidate],
    cosine: Callable[[int, int], float | None],
    floor: float,
    *,
    apart: Collection[Pair] = (),
) -> DedupOutcome:
    """Walk the candidates in order and drop each that is as similar as ``floor`` to a kept one.

    ``cosine`` takes two seqs and answers None when one of them has no vector. Two records that
    contradict each other are often near-identical in wording, as are a fact and the version it
    replaced: pairs in ``apart`` (smaller seq first), and an active with an inactive record, never
    collapse.
    """
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for candidate in candidates:
        twin = _first_twin(candidate, kept, cosine, floor, apart)
        if twin is None:
            kept.append(candidate)
        else:
            dropped.append(Duplicate(candidate, *twin))
    return DedupOutcome(tuple(kept), tuple(dropped))


def _first_twin(
    candidate: Candidate,
    kept: Sequence[Candidate],
    cosine: Callable[[int, int], float | None],
    floor: float,
    apart: Collection[Pair],
) -> tuple[Candidate, float] | None:
    for other in kept:
        similarity = cosine(candidate.seq, other.seq)
        if (
            similarity is not None
            and similarity >= floor
            and _is_active(candidate) == _is_active(other)
            and (min(candidate.seq, other.seq), max(candidate.seq, other.seq)) not in apart
        ):
            return other, similarity
    return None


def _is_active(candidate: Candidate) -> bool:
    return candidate.status in ACTIVE_STATUSES
