"""A provisional record is shown with the stronger record it contradicts, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from retold.models import Candidate, SourceKind


@dataclass(frozen=True, slots=True)
class Entry:
    """One primary result and what must be shown with it.

    ``beside`` are counterparts pulled forward: they stand before the candidate, take no k slot and
    are admitted or left out together with it. ``needs`` are counterparts with a place of their own
    further up: the entry is left out when one of them was.
    """

    candidate: Candidate
    beside: tuple[Candidate, ...] = ()
    needs: tuple[int, ...] = ()

    @property
    def members(self) -> tuple[Candidate, ...]:
        """Return all that is shown or left out together, in the order of showing."""
        return (*self.beside, self.candidate)


def choose_counterpart(
    candidate: Candidate, others: Iterable[Candidate], source_rank: Callable[[SourceKind], int]
) -> Candidate | None:
    """Return the strongest of the conflicting records that outweighs a provisional candidate.

    One that is confirmed, or has the higher authority (source rank, then event time, then order
    of writing), qualifies; None when there is none or the candidate is not provisional.
    """
    if candidate.status != "provisional":
        return None

    def authority(one: Candidate) -> tuple[int, float, int]:
        return (source_rank(one.source_kind), one.event_at.timestamp(), one.seq)

    own = authority(candidate)
    stronger = [o for o in others if o.status == "confirmed" or authority(o) > own]
    return max(stronger, key=lambda o: (o.status == "confirmed", authority(o)), default=None)


def pair_counterparts(
    ranked: Sequence[Candidate], counterparts: Mapping[int, Candidate]
) -> tuple[Entry, ...]:
    """Return the ranked candidates as entries, counterparts beside or required.

    ``counterparts`` maps the seq of a provisional record to the record that outweighs it, whether
    or not that one is among the ranked. A counterpart that ranks above keeps its own place; one
    below is pulled forward, which removes its own entry; one not ranked at all is added.
    """
    if not counterparts:
        return tuple(map(Entry, ranked))
    place = {candidate.seq: candidate for candidate in ranked}
    placed: set[int] = set()
    entries: list[Entry] = []
    for candidate in ranked:
        if candidate.seq in placed:
            continue
        beside: list[Candidate] = []
        needs: list[int] = []
        seen = {candidate.seq}
        current = candidate
        while (found := counterparts.get(current.seq)) is not None and found.seq not in seen:
            current = place.get(found.seq, found)
            seen.add(current.seq)
            if current.seq in placed:
                needs.append(current.seq)
                break
            beside.insert(0, current)
        placed |= {candidate.seq, *(one.seq for one in beside)}
        entries.append(Entry(candidate, tuple(beside), tuple(needs)))
    return tuple(entries)
