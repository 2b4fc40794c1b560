"""Near-identical candidates form a group that the one ranked first stands for."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from retold.models import ACTIVE_STATUSES, Candidate
from retold.retrieve.dedup import Cosines, DedupOutcome, Duplicate, Pair
from retold.text.substance import folded, substance_of


@dataclass(frozen=True, slots=True)
class Twin:
    """What a candidate that may have a twin says, and whom it is about.

    ``subject`` is equal for candidates about the same person or thing, and for all about nobody.
    """

    content: str = field(repr=False)
    subject: Hashable = None


def possible_twins(
    candidates: Sequence[Candidate],
    cosines: Cosines,
    texts: Mapping[int, str],
    floor: float,
) -> list[int]:
    """Return the keys of candidates that may have a twin: as near as ``floor``, or equal in words.

    ``cosines`` is as for ``collapse_duplicates``. ``texts`` are the indexed words of candidates by
    key, as far as they are known: what is equal but for case and space is equal there.
    """
    near = np.asarray(cosines >= floor)
    np.fill_diagonal(near, val=False)
    places = set(np.flatnonzero(near.any(axis=1)).tolist())
    by_text: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        text = texts.get(candidate.seq)
        if text:
            by_text.setdefault(text, []).append(place)
    for same in by_text.values():
        if len(same) > 1:
            places.update(same)
    return [candidates[place].seq for place in sorted(places)]


def group_duplicates(
    candidates: Sequence[Candidate],
    cosines: Cosines,
    twins: Mapping[int, Twin],
    floor: float,
    *,
    apart: Collection[Pair] = (),
) -> DedupOutcome:
    """Walk the candidates in order; each joins the first kept one that says the same.

    That is one as similar as ``floor`` that has the same names, numbers and turning words in the
    same order, or one that is equal but for case and white space. ``twins`` holds what
    ``possible_twins`` asked for; whoever is not in it stays alone. Two about different subjects,
    pairs in ``apart``, in either order, and an active with an inactive record never join. Those
    kept have their ``group_size``; ``cosine`` of a duplicate is NaN where a vector is missing.
    """
    walk = _Walk(candidates, cosines, twins, floor, {frozenset(pair) for pair in apart})
    for place in range(len(candidates)):
        walk.take(place)
    kept = tuple(
        candidates[place] if size == 1 else candidates[place]._replace(group_size=size)
        for place, size in walk.sizes.items()
    )
    return DedupOutcome(kept, tuple(walk.dropped))


class _Walk:
    """The groups so far: by what their members must agree in, places in ascending order."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        cosines: Cosines,
        twins: Mapping[int, Twin],
        floor: float,
        apart: Collection[frozenset[int]],
    ) -> None:
        self._candidates, self._cosines, self._twins = candidates, cosines, twins
        self._floor, self._apart = floor, apart
        self._alike: dict[Hashable, list[int]] = {}
        self._equal: dict[Hashable, list[int]] = {}
        self.sizes: dict[int, int] = {}
        self.dropped: list[Duplicate] = []

    def take(self, place: int) -> None:
        """Let one candidate join a group or begin one."""
        one = self._candidates[place]
        twin = self._twins.get(one.seq)
        if twin is None:
            self.sizes[place] = 1
            return
        whose = (one.status in ACTIVE_STATUSES, twin.subject)
        alike = self._alike.setdefault((*whose, substance_of(twin.content)), [])
        equal = self._equal.setdefault((*whose, folded(twin.content)), [])
        near = (kept for kept in alike if self._cosines[place, kept] >= self._floor)
        found = [*self._first(one, near), *self._first(one, equal)]
        if not found:
            alike.append(place)
            equal.append(place)
            self.sizes[place] = 1
            return
        first = min(found)
        self.sizes[first] += 1
        cosine = float(self._cosines[place, first])
        self.dropped.append(Duplicate(one, self._candidates[first], cosine))

    def _first(self, one: Candidate, places: Iterable[int]) -> list[int]:
        """Return the first of some places that is not held apart, if any."""
        free = (
            place
            for place in places
            if frozenset((one.seq, self._candidates[place].seq)) not in self._apart
        )
        return list(islice(free, 1))
