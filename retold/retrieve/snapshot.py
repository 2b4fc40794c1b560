"""What one read snapshot lets a caller see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retold.errors import StoreError
from retold.index.columns import Eligible
from retold.models import ACTIVE_STATUSES, Record, RecordStatus, Scope, SearchRequest
from retold.retrieve.lookup import with_readable_links
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, CandidateRow
from retold.store.codec import to_us


@dataclass(frozen=True, slots=True)
class Readable:
    """The scopes a caller may read, with their codes, and the rows eligible for the request."""

    codes: Mapping[Scope, int]
    eligible: Eligible

    def scope_of(self, row: CandidateRow) -> Scope:
        """Return the row's scope. Raises StoreError when it is not one of the caller's.

        A scope never changes, so such a row means that a generator ignored eligibility: better no
        answer than a leak.
        """
        for scope, code in self.codes.items():
            if code == row.scope_code:
                return scope
        raise StoreError("a generator offered a record of another scope; nothing was returned")


def wants_history(request: SearchRequest) -> bool:
    """Return whether superseded and expired rows are eligible too."""
    return request.include_history or request.known_at is not None or request.as_of is not None


def may_be_shown(
    status: RecordStatus, expires_us: int | None, now_us: int, *, history: bool
) -> bool:
    """Return whether a row may be shown now; deleted ones never are."""
    if history:
        return status != "deleted"
    return status in ACTIVE_STATUSES and (expires_us is None or expires_us > now_us)


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
    tx: Transaction, request: SearchRequest, seqs: Iterable[int]
) -> dict[int, CandidateRow]:
    """Return what the snapshot says about rows found, without those it does not offer.

    The index may be ahead of the snapshot, so status and expiry are looked at again.
    """
    wanted = list(seqs)
    if not wanted:
        return {}
    now_us, history = to_us(tx.now), wants_history(request)
    return {
        seq: row
        for seq, row in CandidateRepository(tx).rows(wanted).items()
        if may_be_shown(row.status, row.expires_us, now_us, history=history)
    }


def unresolved_conflicts(
    tx: Transaction, readable: Readable, rows: Iterable[CandidateRow]
) -> dict[int, tuple[int, ...]]:
    """Return, in both directions, which rows disagree: both sides active and eligible."""
    active = {row.seq for row in rows if row.status in ACTIVE_STATUSES}
    if not active:
        return {}
    noted = [
        row
        for row in tx.records.conflicts_of(sorted(active))
        if row.other_status in ACTIVE_STATUSES
    ]
    if not noted:
        return {}
    eligible = readable.eligible.contains_all([row.other_seq for row in noted]).tolist()
    pairs: dict[int, dict[int, None]] = {}
    for row, is_eligible in zip(noted, eligible, strict=True):
        if is_eligible:
            pairs.setdefault(row.record_seq, {})[row.other_seq] = None
            pairs.setdefault(row.other_seq, {})[row.record_seq] = None
    return {seq: tuple(others) for seq, others in pairs.items()}


def final_records(
    tx: Transaction,
    scope_codes: Mapping[Scope, int],
    request: SearchRequest,
    seqs: Sequence[int],
) -> dict[int, Record]:
    """Return those records that the caller may still be shown, links cut to readable ones.

    ``scope_codes`` are the scopes the caller may read now: a record that was forgotten, or whose
    grant was taken away, since the search began is gone.
    """
    now_us, history = to_us(tx.now), wants_history(request)
    records = [
        record
        for record in tx.records.by_seqs(seqs).values()
        if record.scope in scope_codes
        and may_be_shown(
            record.status,
            None if record.expires_at is None else to_us(record.expires_at),
            now_us,
            history=history,
        )
    ]
    if not records:
        return {}
    return {record.seq: record for record in with_readable_links(tx, records, scope_codes.values())}
