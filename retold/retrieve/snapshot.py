"""What one read snapshot lets a caller see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from retold.errors import StoreError
from retold.index.columns import Eligible
from retold.index.vector import VectorIndex
from retold.models import (
    ACTIVE_STATUSES,
    RECORD_STATUSES,
    Record,
    RecordStatus,
    Scope,
    SearchRequest,
)
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, CandidateRow

_NOT_DELETED: Final = tuple(status for status in RECORD_STATUSES if status != "deleted")


@dataclass(frozen=True, slots=True)
class Readable:
    """The scopes a caller may read, with their codes, and the rows eligible for the request."""

    codes: Mapping[Scope, int]
    eligible: Eligible

    def refuse_foreign(self, rows: Iterable[CandidateRow]) -> None:
        """Raise StoreError when a row lies in none of the caller's scopes.

        A scope never changes, so such a row means that a generator ignored eligibility: better no
        answer than a leak.
        """
        if not {row.scope_code for row in rows}.issubset(self.codes.values()):
            raise StoreError("a generator offered a record of another scope; nothing was returned")


def wants_history(request: SearchRequest) -> bool:
    """Return whether superseded and expired rows are eligible too."""
    return request.include_history or request.known_at is not None or request.as_of is not None


def may_be_shown(status: RecordStatus, *, history: bool) -> bool:
    """Return whether a row of this status may be shown; deleted ones never are."""
    return status in _shown(history=history)


def _shown(*, history: bool) -> Collection[RecordStatus]:
    return _NOT_DELETED if history else ACTIVE_STATUSES


def believed_seqs(
    tx: Transaction, request: SearchRequest, scope_codes: Sequence[int]
) -> list[int] | None:
    """Return the rows of the moments asked for; None when the request asks for the present.

    ``known_at`` asks what the store believed then, ``as_of`` what was true then; both together
    what it believed then and what by today's knowledge was true then.
    """
    sets: list[set[int]] = []
    moments: tuple[tuple[str, datetime | None], ...] = (
        ("known_at", request.known_at),
        ("as_of", request.as_of),
    )
    for which, at in moments:
        if at is not None:
            sets.append(
                set(
                    tx.records.seqs_at(
                        which,
                        at,
                        scope_codes,
                        types=request.types,
                        since=request.since,
                        until=request.until,
                    )
                )
            )
    return sorted(set.intersection(*sets)) if sets else None


def rows_offered(
    tx: Transaction, index: VectorIndex, request: SearchRequest, seqs: Collection[int]
) -> dict[int, CandidateRow]:
    """Return what the snapshot says about rows found, without those it does not offer.

    A generator may be ahead of the snapshot, so status and expiry are looked at again.
    """
    if not seqs:
        return {}
    shown = _shown(history=wants_history(request))
    return {seq: row for seq, row in index.rows_of(tx, seqs).items() if row.status in shown}


def unresolved_conflicts(
    tx: Transaction,
    request: SearchRequest,
    scope_codes: Collection[int],
    rows: Iterable[CandidateRow | Record],
) -> tuple[dict[int, tuple[int, ...]], dict[int, CandidateRow]]:
    """Return, in both directions, which rows disagree, and the rows on the other side.

    Both sides are active. The other one is readable, and known at the moment a request about the
    past names; types and window are not asked of it, or they would hide that a claim is disputed.
    """
    active = {row.seq for row in rows if row.status in ACTIVE_STATUSES}
    noted = tx.records.conflicts_of(sorted(active)) if active else []
    if not noted:
        return {}, {}
    anywhere = replace(request, types=None, since=None, until=None)
    believed = believed_seqs(tx, anywhere, tuple(scope_codes))
    others = {row.other_seq for row in noted}
    if believed is not None:
        others.intersection_update(believed)
    rivals = {
        seq: row
        for seq, row in CandidateRepository(tx).rows(sorted(others)).items()
        if row.status in ACTIVE_STATUSES and row.scope_code in scope_codes
    }
    pairs: dict[int, dict[int, None]] = {}
    for one in noted:
        if one.other_seq in rivals:
            pairs.setdefault(one.record_seq, {})[one.other_seq] = None
            pairs.setdefault(one.other_seq, {})[one.record_seq] = None
    return {seq: tuple(found) for seq, found in pairs.items()}, rivals
