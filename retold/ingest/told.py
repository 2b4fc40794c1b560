"""What the very same words have told before, so that hearing them again brings nothing back."""

from __future__ import annotations

from retold.ingest.plan import Applied, Plan
from retold.models import ACTIVE_STATUSES, Record
from retold.store import Transaction
from retold.text import normalize_ws


def told_before(tx: Transaction, plan: Plan) -> Applied | None:
    """Return the record that a claim's words backed and that is history by now; None without one.

    Words that are read again would otherwise undo what was said or decided since: a superseded or
    expired record would come back. While one of the records that they told is active, the rules
    of a write apply. Forgotten words are refused elsewhere.
    """
    turn, span = plan.backing.check.turn, plan.backing.check.span
    if turn is None or span is None:
        return None
    seqs = tx.evidence.seqs_told_by(turn.session_id, turn.turn, span)
    told = [record for record in tx.records.by_seqs(seqs).values() if _is_told(record, plan)]
    if not told or any(record.status_at(tx.now) in ACTIVE_STATUSES for record in told):
        return None
    latest = told[-1]
    return Applied(
        record_id=latest.id,
        status=latest.status,
        kind="already_reinforced",
        other_ids=(latest.id,),
        source_kind=latest.source_kind,
        touched=(),
    )


def _is_told(record: Record, plan: Plan) -> bool:
    """Return whether a record is what the claim says: its text, or its one value of a name."""
    if record.type != plan.request.type or record.scope not in plan.setting.scan_scopes:
        return False
    if normalize_ws(record.content) == normalize_ws(plan.request.content):
        return True
    is_one_value = record.type != "episodic" and not plan.multi_valued
    return is_one_value and record.attribute == plan.key.attribute
