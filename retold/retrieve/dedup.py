"""Near-identical candidates collapse into the one ranked first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from retold.models import ACTIVE_STATUSES, Candidate

Pair = tuple[int, int]
Cosines = Callable[[int, Sequence[int]], Iterable[float]]
"""Takes a seq and others; returns one cosine for each, NaN where a vector is missing."""


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
    cosines: Cosines,
    floor: float,
    *,
    apart: Collection[Pair] = (),
) -> DedupOutcome:
    """Walk the candidates in order and drop each that is as similar as ``floor`` to a kept one.

    Two records that contradict each other are often near-identical in wording, as are a fact and
    the version it replaced: pairs in ``apart``, in either order, and an active with an inactive
    record, never collapse.
    """
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for candidate in candidates:
        twin = _first_twin(candidate, kept, cosines, floor, apart) if kept else None
        if twin is None:
            kept.append(candidate)
        else:
            dropped.append(Duplicate(candidate, *twin))
    return DedupOutcome(tuple(kept), tuple(dropped))


def _first_twin(
    candidate: Candidate,
    kept: Sequence[Candidate],
    cosines: Cosines,
    floor: float,
    apart: Collection[Pair],
) -> tuple[Candidate, float] | None:
    measured = cosines(candidate.seq, [other.seq for other in kept])
    for other, cosine in zip(kept, measured, strict=True):
        if cosine >= floor and _may_collapse(candidate, other, apart):
            return other, float(cosine)
    return None


def _may_collapse(one: Candidate, other: Candidate, apart: Collection[Pair]) -> bool:
    held_apart = (one.seq, other.seq) in apart or (other.seq, one.seq) in apart
    both_alike = (one.status in ACTIVE_STATUSES) == (other.status in ACTIVE_STATUSES)
    return both_alike and not held_apart
