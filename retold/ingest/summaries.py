"""The one record that tells what happened in a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from retold.config import RetoldConfig
from retold.ingest import evidence
from retold.ingest.decision import Insert, Supersede
from retold.ingest.embedding import Embedded
from retold.ingest.links import links_of, resolver_for
from retold.ingest.persistence import Persistence
from retold.ingest.plan import Applied, Backing, Plan, Setting, Source
from retold.ingest.subject import NO_ATTRIBUTE, Key
from retold.ingest.trace import WriteTrace
from retold.models import EntityMention, Session, SourceKind, Turn, WriteRequest
from retold.store import Transaction
from retold.store.lexical import prepared

KIND: Final[SourceKind] = "session_summary"


def summary_request(
    text: str, ended_at: datetime, mentions: Sequence[EntityMention], actor: str
) -> WriteRequest:
    """Return the write of a summary of a segment that ended at a moment.

    Whom it is about is the principal; people and things are mentioned by name.
    """
    return WriteRequest(
        "episodic",
        text,
        source_kind=KIND,
        mentions=tuple(
            replace(each, role="mentions") for each in mentions if each.entity_id is None
        ),
        event_at=ended_at,
        actor=actor,
    )


def ended_at(segment: Session, turns: Sequence[Turn], silence: timedelta) -> datetime:
    """Return when what a segment tells of was over.

    That is its end, but for history that was taken in later, and for a conversation that nobody
    ended: there it is the time of the last turn. ``silence`` is the longest within a segment.
    """
    assert segment.ended_at is not None  # only ended segments are extracted
    last = max((turn.at for turn in turns), default=segment.ended_at)
    return last if segment.ended_at - last > silence else segment.ended_at


def summary_plan(
    request: WriteRequest, setting: Setting, embedded: Embedded, *, named: bool
) -> Plan:
    """Return the plan of a summary: nothing backs it but the segment as a whole."""
    assert request.event_at is not None  # the segment has ended
    return Plan(
        request=request,
        setting=setting,
        backing=Backing(
            replace(evidence.no_evidence(), source_kind=KIND), None, KIND, verified=False
        ),
        key=Key(NO_ATTRIBUTE, derived=False),
        multi_valued=False,
        temporary=False,
        event_at=request.event_at,
        indexed=prepared(request.content),
        vector=embedded.vector,
        tokens=embedded.tokens,
        named=named,
    )


def store_summary(
    tx: Transaction, plan: Plan, segment: Session, cfg: RetoldConfig, trace: WriteTrace
) -> Applied | None:
    """Store the summary in place of the segment's earlier one.

    None when nothing changed: it says the same, or it was forgotten and stays so. Raises
    EntityAmbiguous when it is not clear who the principal is.
    """
    ref = f"session:{segment.id}"
    if tx.records.has_forgotten_of_source(ref, KIND):
        return None
    before = tx.records.get_live_by_source_ref(ref, KIND)
    if before is not None and before.content == plan.request.content:
        return None
    persistence = Persistence(
        tx,
        plan,
        links_of(plan, resolver_for(tx, plan, create=True)),
        Source("session", segment.conversation_id, ref, segment.id),
        cfg=cfg.ingestion,
        policy=cfg.policy,
        trace=trace,
    )
    decision = Insert() if before is None else Supersede(before, "rerun")
    return persistence.apply(decision, {"source_kind": KIND})
