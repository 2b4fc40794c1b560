"""Near-identical candidates collapse into the one ranked first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retold.models import ACTIVE_STATUSES, Candidate

Pair = tuple[int, int]
Cosines = npt.NDArray[np.float32]
"""(n, n): the cosine of every two candidates, NaN where one of them has no vector."""


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


def holds_near(cosines: Cosines, floor: float) -> bool:
    """Return whether any two different candidates are as similar as ``floor``."""
    near = np.asarray(cosines >= floor)
    np.fill_diagonal(near, val=False)
    return bool(near.any())


def collapse_duplicates(
    candidates: Sequence[Candidate],
    cosines: Cosines,
    floor: float,
    *,
    apart: Collection[Pair] = (),
) -> DedupOutcome:
    """Walk the candidates in order and drop each that is as similar as ``floor`` to a kept one.

    ``cosines`` has one row and column per candidate, in the order of ``candidates``.
    Two records that contradict each other are often near-identical in wording, as are a fact and
    the version it replaced: pairs in ``apart``, in either order, and an active with an inactive
    record, never collapse.
    """
    near = (cosines >= floor).tolist()
    places: list[int] = []
    dropped: list[Duplicate] = []
    for place, candidate in enumerate(candidates):
        twin = next(
            (
                earlier
                for earlier in places
                if near[place][earlier] and _may_collapse(candidate, candidates[earlier], apart)
            ),
            None,
        )
        if twin is None:
            places.append(place)
        else:
            cosine = float(cosines[place, twin])
            dropped.append(Duplicate(candidate, candidates[twin], cosine))
    return DedupOutcome(tuple(candidates[place] for place in places), tuple(dropped))


def _may_collapse(one: Candidate, other: Candidate, apart: Collection[Pair]) -> bool:
    held_apart = (one.seq, other.seq) in apart or (other.seq, one.seq) in apart
    both_alike = (one.status in ACTIVE_STATUSES) == (other.status in ACTIVE_STATUSES)
    return both_alike and not held_apart
