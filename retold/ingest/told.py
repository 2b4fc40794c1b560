"""What the very same words have told before, so that hearing them again brings nothing back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from retold.ingest.plan import Applied, Plan
from retold.models import ACTIVE_STATUSES, Record, Verdict
from retold.store import Transaction
from retold.text import normalize_ws


def told_records(tx: Transaction, plan: Plan) -> tuple[Record, ...]:
    """Return the records of the claim's type and scopes that its words have backed, oldest first.

    Forgotten ones are left out: their words are refused elsewhere.
    """
    turn, span = plan.backing.check.turn, plan.backing.check.span
    if turn is None or span is None:
        return ()
    seqs = tx.evidence.seqs_told_by(turn.session_id, turn.turn, span)
    return tuple(
        record
        for record in tx.records.by_seqs(seqs).values()
        if record.type == plan.request.type and record.scope in plan.setting.scan_scopes
    )


def untold(told: Sequence[Record], plan: Plan, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return the contents that only a judge can hold against the claim and that lack a verdict."""
    contents = (record.content for record in told if not _is_plainly_told(record, plan))
    return [content for content in dict.fromkeys(contents) if content not in verdicts]


def history_of(
    told: Sequence[Record], plan: Plan, verdicts: Mapping[str, Verdict], now: datetime
) -> Applied | None:
    """Return the record that says what the claim says and is history by now; None without one.

    Words that are read again would otherwise undo what was said or decided since: a superseded or
    expired record would come back. While one of those that say it is active, the rules of a write
    apply. Every verdict that ``untold`` asks for is there.
    """
    same = [
        record
        for record in told
        if _is_plainly_told(record, plan) or verdicts[record.content].label == "same"
    ]
    if not same or any(record.status_at(now) in ACTIVE_STATUSES for record in same):
        return None
    latest = same[-1]
    return Applied(
        record_id=latest.id,
        status=latest.status,
        kind="already_reinforced",
        other_ids=(latest.id,),
        source_kind=latest.source_kind,
        touched=(),
    )


def _is_plainly_told(record: Record, plan: Plan) -> bool:
    """Return whether a record is what the claim says: its text, or its one value of a name."""
    if normalize_ws(record.content) == normalize_ws(plan.request.content):
        return True
    is_one_value = record.type != "episodic" and not plan.multi_valued
    return is_one_value and record.attribute == plan.key.attribute
