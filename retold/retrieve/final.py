"""The last look at what was chosen, in a snapshot of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retold.models import Candidate, Record, Scope, SearchRequest
from retold.retrieve.assemble import outside_pool
from retold.retrieve.lookup import with_readable_links
from retold.retrieve.snapshot import may_be_shown, unresolved_conflicts, wants_history
from retold.store import Transaction
from retold.store.candidates import CandidateRepository

Outweighs = Callable[[Candidate, Sequence[Candidate]], Candidate | None]
"""Return the one of some rivals that must be shown beside a candidate, if any."""


@dataclass(frozen=True, slots=True)
class FinalLook:
    """What may still be shown, by seq, and the public ids that each record disagrees with now."""

    records: Mapping[int, Record] = field(repr=False)
    conflicts: Mapping[int, tuple[str, ...]]


def look_again(
    tx: Transaction,
    scope_codes: Mapping[Scope, int],
    request: SearchRequest,
    seqs: Sequence[int],
    outweighs: Outweighs,
) -> FinalLook:
    """Return those of the chosen records that the caller may still be shown.

    ``scope_codes`` are the scopes the caller may read now: a record that was forgotten, or whose
    grant was taken away, since the search began is gone, and nothing names it. A provisional
    record whose stronger side is gone may stand alone, for nothing contradicts it any more; one
    that a stronger record contradicts which is not shown goes.
    """
    records = _still_shown(tx, scope_codes, request, seqs)
    codes = frozenset(scope_codes.values())
    conflicts, rivals = unresolved_conflicts(tx, request, codes, records.values())
    if not conflicts:
        return FinalLook(records, {})
    rows = CandidateRepository(tx).rows(records)
    known = {seq: outside_pool(row) for seq, row in (rivals | rows).items()}
    shown = set(records)
    while alone := {seq for seq in shown if _is_alone(seq, shown, conflicts, known, outweighs)}:
        shown -= alone
    return FinalLook(
        {seq: record for seq, record in records.items() if seq in shown},
        {
            seq: tuple(known[other].record_id for other in others)
            for seq, others in conflicts.items()
        },
    )


def _still_shown(
    tx: Transaction,
    scope_codes: Mapping[Scope, int],
    request: SearchRequest,
    seqs: Sequence[int],
) -> dict[int, Record]:
    """Return the records with their status of this moment, links cut to readable ones."""
    history = wants_history(request)
    records = [
        record if record.status == status else replace(record, status=status)
        for record in tx.records.by_seqs(seqs).values()
        if record.scope in scope_codes
        and may_be_shown(status := record.status_at(tx.now), history=history)
    ]
    if not records:
        return {}
    return {record.seq: record for record in with_readable_links(tx, records, scope_codes.values())}


def _is_alone(
    seq: int,
    shown: set[int],
    conflicts: Mapping[int, Sequence[int]],
    known: Mapping[int, Candidate],
    outweighs: Outweighs,
) -> bool:
    """Return whether records outweigh this one and none of them is shown."""
    rivals = [known[other] for other in conflicts.get(seq, ())]
    if not rivals or outweighs(known[seq], rivals) is None:
        return False
    return outweighs(known[seq], [one for one in rivals if one.seq in shown]) is None
